/* Messages that wait for the line or for their acknowledgement: records of any length, one behind the other, in fixed memory. */
#ifndef TCTL_RING_H
#define TCTL_RING_H

#include <stdbool.h>
#include <stdint.h>

/* A record is its payload count, the message id, the payload. Id 0 marks a record that is passed over. */
#define TCTL_RECORD 2U

struct tctl_ring {
    uint8_t *octets;
    uint16_t size;
    uint16_t head; /* where the oldest record begins */
    uint16_t used; /* octets of all records */
    uint16_t sent; /* octets of those that were written in this session */
};

void tctl_ring_init(struct tctl_ring *ring, uint8_t *octets, uint16_t size);

static inline uint16_t tctl_ring_free(const struct tctl_ring *ring)
{
    return (uint16_t)(ring->size - ring->used);
}

/* Appends a record whose payload is `head` and then `body`. The caller has looked whether it fits. */
void tctl_ring_put(struct tctl_ring *ring, uint8_t id, const uint8_t *head, uint8_t head_count, const uint8_t *body, uint8_t body_count);

/* Where in memory the first record stands that was not written; only when sent < used. */
uint16_t tctl_ring_unsent(const struct tctl_ring *ring);

/* Copies the payload of the record at a place in memory; returns its count. `id` gets the message id. */
uint8_t tctl_ring_read(const struct tctl_ring *ring, uint16_t place, uint8_t *id, uint8_t *payload);

void tctl_ring_mark_sent(struct tctl_ring *ring); /* the record of tctl_ring_unsent was written */
void tctl_ring_pass_over(struct tctl_ring *ring); /* the record of tctl_ring_unsent will never be written */
void tctl_ring_pop(struct tctl_ring *ring);       /* the oldest record is done with */
void tctl_ring_rewind(struct tctl_ring *ring);    /* nothing counts as written */
void tctl_ring_clear(struct tctl_ring *ring);

#endif
