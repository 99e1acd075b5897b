#include "tctl_ring.h"

static uint16_t wrapped(const struct tctl_ring *ring, uint32_t place)
{
    return (uint16_t)((place < ring->size) ? place : (place - ring->size));
}

static uint16_t length_at(const struct tctl_ring *ring, uint16_t place)
{
    return (uint16_t)(ring->octets[place] + TCTL_RECORD);
}

static void append(struct tctl_ring *ring, uint8_t octet)
{
    ring->octets[wrapped(ring, (uint32_t)ring->head + ring->used)] = octet;
    ring->used++;
}

static void drop_head(struct tctl_ring *ring)
{
    uint16_t length = length_at(ring, ring->head);

    ring->head = wrapped(ring, (uint32_t)ring->head + length);
    ring->used = (uint16_t)(ring->used - length);
    ring->sent = (ring->sent > length) ? (uint16_t)(ring->sent - length) : 0U;
}

static bool passed_over(const struct tctl_ring *ring, uint16_t place)
{
    return ring->octets[wrapped(ring, (uint32_t)place + 1U)] == 0U;
}

/* The oldest record is never one that is passed over. */
static void trim(struct tctl_ring *ring)
{
    while ((ring->used > 0U) && passed_over(ring, ring->head)) {
        drop_head(ring);
    }
}

void tctl_ring_init(struct tctl_ring *ring, uint8_t *octets, uint16_t size)
{
    ring->octets = octets;
    ring->size = size;
    tctl_ring_clear(ring);
}

void tctl_ring_put(struct tctl_ring *ring, uint8_t id, const uint8_t *head, uint8_t head_count, const uint8_t *body, uint8_t body_count)
{
    uint8_t i;

    append(ring, (uint8_t)(head_count + body_count));
    append(ring, id);
    for (i = 0U; i < head_count; i++) {
        append(ring, head[i]);
    }
    for (i = 0U; i < body_count; i++) {
        append(ring, body[i]);
    }
}

uint16_t tctl_ring_unsent(const struct tctl_ring *ring)
{
    return wrapped(ring, (uint32_t)ring->head + ring->sent);
}

uint8_t tctl_ring_read(const struct tctl_ring *ring, uint16_t place, uint8_t *id, uint8_t *payload)
{
    uint8_t count = ring->octets[place];
    uint8_t i;

    *id = ring->octets[wrapped(ring, (uint32_t)place + 1U)];
    for (i = 0U; i < count; i++) {
        payload[i] = ring->octets[wrapped(ring, (uint32_t)place + TCTL_RECORD + i)];
    }
    return count;
}

void tctl_ring_mark_sent(struct tctl_ring *ring)
{
    ring->sent = (uint16_t)(ring->sent + length_at(ring, tctl_ring_unsent(ring)));
}

void tctl_ring_pass_over(struct tctl_ring *ring)
{
    uint16_t place = tctl_ring_unsent(ring);

    ring->octets[wrapped(ring, (uint32_t)place + 1U)] = 0U;
    tctl_ring_mark_sent(ring);
    trim(ring);
}

void tctl_ring_pop(struct tctl_ring *ring)
{
    drop_head(ring);
    trim(ring);
}

void tctl_ring_rewind(struct tctl_ring *ring)
{
    ring->sent = 0U;
}

void tctl_ring_clear(struct tctl_ring *ring)
{
    ring->head = 0U;
    ring->used = 0U;
    ring->sent = 0U;
}
