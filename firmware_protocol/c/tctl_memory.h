/* What a device remembers: its last actions by cmd_id, and the desired states that are in force (SPEC chapters 7 and 8). */
#ifndef TCTL_MEMORY_H
#define TCTL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "generated/tablectl_messages.h"

#define TCTL_ACTIONS 8U /* */

/* Displays of which a state is remembered: round, honba, deposits, scores, four differences, lamps, test mode, and texts. */
#ifndef TCTL_DISPLAYS
#define TCTL_DISPLAYS 16U
#endif

struct tctl_deed {
    uint32_t cmd_id;
    uint16_t detail;
    uint8_t state; /* enum tctl_action_state */
    uint8_t result;
};

struct tctl_deeds {
    struct tctl_deed known[TCTL_ACTIONS]; /* oldest first */
    uint8_t count;
};

/* NULL: not remembered. */
struct tctl_deed *tctl_deed_of(struct tctl_deeds *deeds, uint32_t cmd_id);

/* Remembers an action as running, in place of the oldest finished one; false when eight are running. */
bool tctl_deed_begin(struct tctl_deeds *deeds, uint32_t cmd_id);

struct tctl_shown {
    uint16_t crc; /* of message id and payload, begun with 0 */
    uint8_t id;
    uint8_t key;
    uint8_t count; /* octets that the CRC is over */
};

struct tctl_displays {
    struct tctl_shown shown[TCTL_DISPLAYS]; /* in order of id and key */
    uint8_t count;
};

/* This state is in force now. With more displays than TCTL_DISPLAYS the last ones are forgotten and the digest never agrees. */
void tctl_display_set(struct tctl_displays *displays, uint8_t id, uint8_t key, const uint8_t *payload, uint8_t count);

/* The display_digest of a heartbeat (D-6). */
uint16_t tctl_display_digest(const struct tctl_displays *displays);

#endif
