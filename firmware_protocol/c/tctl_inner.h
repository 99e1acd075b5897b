/* Between the two halves of the link: tctl_link.c moves frames, tctl_device.c knows what they mean. Not for a firmware. */
#ifndef TCTL_INNER_H
#define TCTL_INNER_H

#include "tctl_link.h"

#define TCTL_DUE_ACK 1U
#define TCTL_DUE_HELLO_ACK 2U
#define TCTL_DUE_ANNOUNCE 4U
#define TCTL_DUE_HEARTBEAT 8U
#define TCTL_DUE_TIME 16U

/* The longest record of a reply. */
#define TCTL_BULK_LONGEST (TCTL_RECORD + TCTL_MAX_PAYLOAD)

/* `at` is not in the future (within half a turn of the clock). */
static inline bool tctl_reached(uint32_t now, uint32_t at)
{
    return (now - at) < UINT32_C(0x80000000);
}

/* tctl_link.c */
void tctl_inner_tick(struct tctl_link *link);
void tctl_inner_open(struct tctl_link *link, uint32_t nonce, const struct tctl_hello *hello);
void tctl_inner_down(struct tctl_link *link, enum tctl_reason reason);
void tctl_inner_flush(struct tctl_link *link);

/* tctl_device.c */
void tctl_inner_on_link_frame(struct tctl_link *link, uint8_t id, const uint8_t *payload, uint8_t count);
void tctl_inner_on_stale_frame(struct tctl_link *link);
void tctl_inner_on_message(struct tctl_link *link, const struct tctl_traits *traits, const struct tctl_message *message,
                           const uint8_t *payload, uint8_t count);
void tctl_inner_malformed(struct tctl_link *link, uint8_t id, const uint8_t *payload, uint8_t count);
void tctl_inner_make_due(struct tctl_link *link, uint8_t due, struct tctl_message *message);
void tctl_inner_tell_lost(struct tctl_link *link, uint32_t also);

#endif
