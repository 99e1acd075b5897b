#include "tctl_memory.h"

#include <stddef.h>

#include "tctl_frame.h"

struct tctl_deed *tctl_deed_of(struct tctl_deeds *deeds, uint32_t cmd_id)
{
    struct tctl_deed *found = NULL;
    uint8_t i;

    for (i = 0U; i < deeds->count; i++) {
        if (deeds->known[i].cmd_id == cmd_id) {
            found = &deeds->known[i];
        }
    }
    return found;
}

bool tctl_deed_begin(struct tctl_deeds *deeds, uint32_t cmd_id)
{
    if (deeds->count == TCTL_ACTIONS) {
        uint8_t out = 0U;

        while ((out < TCTL_ACTIONS) && (deeds->known[out].state == (uint8_t)TCTL_ACTION_STATE_RUNNING)) {
            out++;
        }
        if (out == TCTL_ACTIONS) {
            return false;
        }
        deeds->count--;
        for (; out < deeds->count; out++) {
            deeds->known[out] = deeds->known[out + 1U];
        }
    }
    deeds->known[deeds->count].cmd_id = cmd_id;
    deeds->known[deeds->count].state = (uint8_t)TCTL_ACTION_STATE_RUNNING;
    deeds->known[deeds->count].result = 0U;
    deeds->known[deeds->count].detail = 0U;
    deeds->count++;
    return true;
}

static uint16_t rank(uint8_t id, uint8_t key)
{
    return (uint16_t)(((uint32_t)id << 8) | key);
}

void tctl_display_set(struct tctl_displays *displays, uint8_t id, uint8_t key, const uint8_t *payload, uint8_t count)
{
    uint16_t wanted = rank(id, key);
    uint8_t at = 0U;
    uint8_t i;

    while ((at < displays->count) && (rank(displays->shown[at].id, displays->shown[at].key) < wanted)) {
        at++;
    }
    if (at == TCTL_DISPLAYS) {
        return;
    }
    if ((at == displays->count) || (rank(displays->shown[at].id, displays->shown[at].key) != wanted)) {
        if (displays->count < TCTL_DISPLAYS) {
            displays->count++;
        }
        for (i = (uint8_t)(displays->count - 1U); i > at; i--) {
            displays->shown[i] = displays->shown[i - 1U];
        }
    }
    displays->shown[at].id = id;
    displays->shown[at].key = key;
    displays->shown[at].count = (uint8_t)(count + 1U);
    displays->shown[at].crc = tctl_crc_over(tctl_crc(0U, id), payload, count);
}

uint16_t tctl_display_digest(const struct tctl_displays *displays)
{
    uint16_t crc = TCTL_CRC_BEGIN;
    uint8_t i;
    uint8_t n;

    /* The CRC of a sequence is that of its first part pushed through as many zeros as the second part is long, XOR the second's
       own begun with 0: so one CRC per display is all that has to be kept. */
    for (i = 0U; i < displays->count; i++) {
        for (n = 0U; n < displays->shown[i].count; n++) {
            crc = tctl_crc(crc, 0U);
        }
        crc = (uint16_t)(crc ^ displays->shown[i].crc);
    }
    return crc;
}
