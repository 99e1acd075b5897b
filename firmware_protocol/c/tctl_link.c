#include "tctl_link.h"

#include <stddef.h>

#include "tctl_inner.h"

#define TRIES 5U
#define ANNOUNCE_US 1000000U
#define HEARTBEAT_US 1000000U
#define BLOCKED_US 1000U

_Static_assert(TCTL_BULK_BYTES >= TCTL_BULK_LONGEST, "TCTL_BULK_BYTES: no room for the longest reply");
_Static_assert((TCTL_EVENT_BYTES >= 128U) && (TCTL_EVENT_BYTES <= 32768U), "TCTL_EVENT_BYTES: 128 to 32768");

void tctl_inner_tick(struct tctl_link *link)
{
    uint32_t now = link->board->now_us(link->board->self);
    uint32_t micros = (now - link->now) + link->rest_us;

    link->now = now;
    link->uptime_ms += micros / 1000U;
    link->rest_us = (uint16_t)(micros % 1000U);
}

static uint8_t smaller(uint8_t a, uint8_t b)
{
    return (a < b) ? a : b;
}

static bool is_up(const struct tctl_link *link)
{
    return link->state == (uint8_t)TCTL_UP;
}

static void log_octets(struct tctl_link *link, enum tctl_log what, const uint8_t *octets, uint8_t count)
{
    if (link->board->on_log != NULL) {
        link->board->on_log(link->board->self, what, octets, count);
    }
}

/* ---------------------------------------------------------------- session */

void tctl_inner_open(struct tctl_link *link, uint32_t nonce, const struct tctl_hello *hello)
{
    link->state = (uint8_t)TCTL_UP;
    link->nonce = nonce;
    link->minor = smaller(hello->minor, (uint8_t)TCTL_MINOR);
    link->window = smaller(hello->window, (uint8_t)TCTL_WINDOW);
    link->max_payload = (uint8_t)(TCTL_MAX_PAYLOAD - (TCTL_MAX_FRAME - hello->max_frame));
    link->next_seq = 0U;
    link->expected = 0U;
    link->flying = 0U;
    link->repeats = 0U;
    link->tries = 0U;
    link->due = 0U;
    tctl_timer_reset(&link->timer);
    tctl_ring_rewind(&link->events);
    link->figures.links++;
}

void tctl_inner_down(struct tctl_link *link, enum tctl_reason reason)
{
    link->state = (uint8_t)TCTL_FAILED;
    link->flying = 0U;
    link->repeats = 0U;
    link->due = 0U;
    link->announce_at = link->last_heard;
    tctl_ring_clear(&link->bulk);
    link->board->on_link(link->board->self, TCTL_FAILED, reason);
}

/* ---------------------------------------------------------------- writing */

/* Header and payload of a frame that stands in `wire`; false: the board has no room for it now. */
static bool write_frame(struct tctl_link *link, uint8_t *wire, uint8_t control, uint8_t seq, uint8_t count, bool delimited)
{
    uint8_t type = control & 0x0FU;
    uint8_t end;
    bool taken;

    wire[TCTL_WIRE_CONTROL] = control;
    wire[TCTL_WIRE_SEQ] = seq;
    wire[TCTL_WIRE_ACK] = (type == TCTL_FRAME_LINK) ? 0U : link->expected;
    end = tctl_seal(wire, count);
    if (delimited) {
        taken = link->board->write(link->board->self, wire, end);
    } else {
        taken = link->board->write(link->board->self, &wire[1], (uint8_t)(end - 1U));
    }
    link->blocked = !taken;
    if (taken) {
        link->figures.frames_sent++;
        if (type != TCTL_FRAME_LINK) {
            link->due &= (uint8_t)~TCTL_DUE_ACK;
        }
    }
    return taken;
}

static uint8_t control_of(uint32_t nonce, uint8_t type)
{
    return (uint8_t)(((nonce & 0x0FU) << 4) | type);
}

/* A message that is no DATA, made at the moment it is written. */
static bool write_due(struct tctl_link *link, uint8_t due)
{
    uint8_t wire[TCTL_WIRE];
    struct tctl_message message;
    bool handshake = (due & (TCTL_DUE_HELLO_ACK | TCTL_DUE_ANNOUNCE)) != 0U;
    bool taken = true;

    if ((link->due & due) != 0U) {
        uint32_t nonce = (due == TCTL_DUE_HELLO_ACK) ? link->answer_nonce : 0U;
        uint8_t control = handshake ? control_of(nonce, TCTL_FRAME_LINK) : control_of(link->nonce, TCTL_FRAME_DATAGRAM);
        uint8_t minor = handshake ? (uint8_t)TCTL_MINOR : link->minor;

        tctl_inner_make_due(link, due, &message);
        wire[TCTL_WIRE_ID] = message.id;
        taken = write_frame(link, wire, control, 0U, tctl_pack(&message, minor, &wire[TCTL_WIRE_PAYLOAD]), handshake);
        if (taken) {
            link->due &= (uint8_t)~due;
        }
    }
    return taken;
}

static bool window_has_room(const struct tctl_link *link, uint8_t reserve)
{
    uint8_t size = (link->window > 1U) ? (uint8_t)(link->window - reserve) : 1U;

    return link->flying < size;
}

/* The payload of a record as this peer reads it; TCTL_BAD when it cannot. */
static uint8_t read_record(const struct tctl_link *link, bool event, uint16_t place, uint8_t *wire)
{
    const struct tctl_ring *ring = event ? &link->events : &link->bulk;
    uint8_t *payload = &wire[TCTL_WIRE_PAYLOAD];
    uint8_t count = tctl_ring_read(ring, place, &wire[TCTL_WIRE_ID], payload);

#if TCTL_MINOR > 0
    if ((link->minor < TCTL_MINOR) && (wire[TCTL_WIRE_ID] != 0U)) {
        uint8_t head = event ? (uint8_t)TCTL_EVENT_HEADER : 0U;
        struct tctl_message message;

        (void)tctl_unpack(wire[TCTL_WIRE_ID], &payload[head], (uint8_t)(count - head), &message);
        count = (uint8_t)(head + tctl_pack(&message, link->minor, &payload[head]));
        if (tctl_traits_of(wire[TCTL_WIRE_ID])->since > link->minor) {
            count = TCTL_BAD;
        }
    }
#endif
    return count;
}

static bool write_repeats(struct tctl_link *link)
{
    uint8_t wire[TCTL_WIRE];
    bool taken = true;

    while (taken && (link->repeats > 0U)) {
        uint8_t seq = (uint8_t)(link->next_seq - link->repeats);
        struct tctl_flight *flight = &link->flight[seq % TCTL_WINDOW];
        uint8_t count = read_record(link, flight->event, flight->place, wire);

        taken = write_frame(link, wire, control_of(link->nonce, TCTL_FRAME_DATA), seq, count, true);
        if (taken) {
            flight->again = true;
            link->repeats--;
            link->figures.retransmits++;
        }
    }
    return taken;
}

/* The next message of a ring; false: the board has no room for it now. */
static bool write_next(struct tctl_link *link, bool event)
{
    uint8_t wire[TCTL_WIRE];
    struct tctl_ring *ring = event ? &link->events : &link->bulk;
    uint16_t place = tctl_ring_unsent(ring);
    uint8_t count = read_record(link, event, place, wire);
    struct tctl_flight *flight = &link->flight[link->next_seq % TCTL_WINDOW];
    bool taken = true;

    if (wire[TCTL_WIRE_ID] == 0U) {
        tctl_ring_mark_sent(ring);
    } else if (count > link->max_payload) {
        tctl_ring_pass_over(ring);
        link->held = (uint16_t)(link->held - (event ? 1U : 0U));
    } else {
        taken = write_frame(link, wire, control_of(link->nonce, TCTL_FRAME_DATA), link->next_seq, count, false);
        if (taken) {
            tctl_ring_mark_sent(ring);
            flight->sent_us = link->now;
            flight->place = place;
            flight->event = event;
            flight->again = false;
            if (link->flying == 0U) {
                link->timer_at = link->now + tctl_timer_rto(&link->timer);
            }
            link->flying++;
            link->next_seq++;
        }
    }
    return taken;
}

static bool event_may_go(const struct tctl_link *link)
{
    return (link->events.sent < link->events.used) && window_has_room(link, 0U);
}

/* Bulk leaves the last place of the window free (L-21). */
static bool bulk_may_go(const struct tctl_link *link)
{
    return (link->bulk.sent < link->bulk.used) && window_has_room(link, 1U);
}

void tctl_inner_flush(struct tctl_link *link)
{
    uint8_t wire[TCTL_WIRE];
    bool taken = write_due(link, TCTL_DUE_HELLO_ACK) && write_due(link, TCTL_DUE_ANNOUNCE);

    if (!is_up(link)) {
        return;
    }
    taken = taken && write_repeats(link);
    while (taken && event_may_go(link)) {
        taken = write_next(link, true);
    }
    while (taken && bulk_may_go(link)) {
        taken = write_next(link, false);
    }
    taken = taken && write_due(link, TCTL_DUE_TIME) && write_due(link, TCTL_DUE_HEARTBEAT);
    if (taken && ((link->due & TCTL_DUE_ACK) != 0U)) {
        wire[TCTL_WIRE_ID] = 0U;
        (void)write_frame(link, wire, control_of(link->nonce, TCTL_FRAME_ACK), link->expected, 0U, false);
    }
}

/* ---------------------------------------------------------------- receiving */

/* A cumulative acknowledgement; one outside the window is ignored (L-8). */
static void on_ack(struct tctl_link *link, uint8_t ack)
{
    uint8_t oldest = (uint8_t)(link->next_seq - link->flying);
    uint8_t count = (uint8_t)(ack - oldest);
    const struct tctl_flight *fresh = NULL;
    uint8_t i;

    if ((count == 0U) || (count > link->flying)) {
        return;
    }
    for (i = 0U; i < count; i++) {
        const struct tctl_flight *flight = &link->flight[(uint8_t)(oldest + i) % TCTL_WINDOW];

        if (!flight->again) {
            fresh = flight;
        }
        if (flight->event) {
            tctl_ring_pop(&link->events);
            link->held--;
        } else {
            tctl_ring_pop(&link->bulk);
        }
    }
    if (fresh != NULL) {
        tctl_timer_sample(&link->timer, link->now - fresh->sent_us);
    }
    link->flying = (uint8_t)(link->flying - count);
    if (link->repeats > link->flying) {
        link->repeats = link->flying;
    }
    link->tries = 0U;
    link->timer_at = link->now + tctl_timer_rto(&link->timer);
}

/* The host has received what it cannot accept yet: patience, not failure (L-14). */
static void on_received(struct tctl_link *link, uint8_t following)
{
    uint8_t count = (uint8_t)(following - (uint8_t)(link->next_seq - link->flying));

    if ((count > 0U) && (count <= link->flying)) {
        link->tries = 0U;
    }
}

static void on_message(struct tctl_link *link, bool data, uint8_t id, const uint8_t *payload, uint8_t count)
{
    const struct tctl_traits *traits = tctl_traits_of(id);
    struct tctl_message message;

    if ((traits == NULL) || ((traits->flags & TCTL_FROM_HOST) == 0U) || (traits->kind == (uint8_t)TCTL_KIND_LINK) ||
        ((traits->kind != (uint8_t)TCTL_KIND_DATAGRAM) != data)) {
        link->figures.unknown++;
        log_octets(link, TCTL_LOG_UNKNOWN, payload - 1, (uint8_t)(count + 1U));
    } else if (tctl_unpack(id, payload, count, &message) == TCTL_BAD) {
        tctl_inner_malformed(link, id, payload, count);
    } else {
        tctl_inner_on_message(link, traits, &message, payload, count);
    }
}

static void on_data(struct tctl_link *link, uint8_t seq, uint8_t id, const uint8_t *payload, uint8_t count)
{
    if (seq == link->expected) {
        on_message(link, true, id, payload, count);
        link->expected++; /* accepted when it was acted on (L-4) */
    }
    link->due |= TCTL_DUE_ACK;
}

static void on_frame(struct tctl_link *link, const uint8_t *chunk, uint8_t chunk_count)
{
    const uint8_t *payload = &chunk[TCTL_AT_PAYLOAD];
    uint8_t count = (uint8_t)(chunk_count - TCTL_AROUND_PAYLOAD);
    uint8_t type = chunk[TCTL_AT_CONTROL] & 0x0FU;
    uint8_t id = chunk[TCTL_AT_ID];

    link->figures.frames_received++;
    link->last_heard = link->now;
    if (type == TCTL_FRAME_LINK) {
        tctl_inner_on_link_frame(link, id, payload, count);
    } else if (!is_up(link) || (chunk[TCTL_AT_CONTROL] >> 4) != (link->nonce & 0x0FU)) {
        tctl_inner_on_stale_frame(link);
    } else if ((type == TCTL_FRAME_DATA) || (type == TCTL_FRAME_ACK) || (type == TCTL_FRAME_DATAGRAM)) {
        on_ack(link, chunk[TCTL_AT_ACK]);
        if (type == TCTL_FRAME_DATA) {
            on_data(link, chunk[TCTL_AT_SEQ], id, payload, count);
        } else if (type == TCTL_FRAME_ACK) {
            on_received(link, chunk[TCTL_AT_SEQ]);
        } else {
            on_message(link, false, id, payload, count);
        }
    } else {
        link->figures.unknown++;
    }
}

void tctl_receive(struct tctl_link *link, const uint8_t *octets, uint32_t count)
{
    uint32_t i;

    tctl_inner_tick(link);
    for (i = 0U; i < count; i++) {
        enum tctl_found found = tctl_decode(&link->decoder, octets[i]);

        if (found == TCTL_FOUND_FRAME) {
            on_frame(link, link->decoder.octets, link->decoder.count);
        } else if (found == TCTL_FOUND_DAMAGED) {
            link->figures.crc_errors++;
            log_octets(link, TCTL_LOG_DAMAGED, link->decoder.octets, link->decoder.count);
        } else if (found == TCTL_FOUND_NOISE) {
            link->figures.noise += link->decoder.count;
            log_octets(link, TCTL_LOG_NOISE, link->decoder.octets, link->decoder.count);
        } else {
            /* the frame is still under way */
        }
    }
}

/* ---------------------------------------------------------------- time */

static void on_timeout(struct tctl_link *link)
{
    link->tries++;
    if (link->tries >= TRIES) {
        tctl_inner_down(link, TCTL_REASON_TRIES);
    } else {
        tctl_timer_back_off(&link->timer);
        link->timer_at = link->now + tctl_timer_rto(&link->timer);
        link->repeats = link->flying;
    }
}

void tctl_poll(struct tctl_link *link)
{
    tctl_inner_tick(link);
    if (is_up(link)) {
        if ((link->now - link->last_heard) >= link->silence_us) {
            tctl_inner_down(link, TCTL_REASON_SILENT);
        } else if ((link->flying > 0U) && tctl_reached(link->now, link->timer_at)) {
            on_timeout(link);
        } else {
            /* all is well */
        }
    }
    tctl_inner_tell_lost(link, 0U);
    if (is_up(link)) {
        if (tctl_reached(link->now, link->heartbeat_at)) {
            link->heartbeat_at = link->now + HEARTBEAT_US;
            link->due |= TCTL_DUE_HEARTBEAT;
        }
    } else if (tctl_reached(link->now, link->announce_at)) {
        link->announce_at = link->now + ANNOUNCE_US;
        link->announced_at = link->now;
        link->announced = true;
        link->due |= TCTL_DUE_ANNOUNCE;
    } else {
        /* not yet */
    }
    tctl_inner_flush(link);
}

static uint32_t sooner(uint32_t wait, uint32_t now, uint32_t at)
{
    uint32_t until = tctl_reached(now, at) ? 0U : (at - now);

    return (until < wait) ? until : wait;
}

uint32_t tctl_wait_us(const struct tctl_link *link)
{
    uint32_t now = link->board->now_us(link->board->self);
    bool waiting = link->due != 0U;
    uint32_t wait;

    if (is_up(link)) {
        waiting = waiting || (link->repeats > 0U) || event_may_go(link) || bulk_may_go(link);
        wait = sooner(UINT32_MAX, now, link->heartbeat_at);
        wait = sooner(wait, now, link->last_heard + link->silence_us);
        if (link->flying > 0U) {
            wait = sooner(wait, now, link->timer_at);
        }
    } else {
        wait = sooner(UINT32_MAX, now, link->announce_at);
    }
    if (waiting) {
        wait = sooner(wait, now, now + (link->blocked ? BLOCKED_US : 0U));
    }
    return wait;
}

/* ---------------------------------------------------------------- life */

void tctl_start(struct tctl_link *link, const struct tctl_board *board, const struct tctl_identity *identity, uint32_t boot_id,
                uint8_t reset_cause)
{
    uint8_t *octets = (uint8_t *)link;
    uint32_t i;

    for (i = 0U; i < sizeof *link; i++) {
        octets[i] = 0U;
    }
    link->board = board;
    link->identity = identity;
    link->boot_id = boot_id;
    link->reset_cause = reset_cause;
    link->state = (uint8_t)TCTL_CONNECTING;
    link->figures.free_memory = UINT16_MAX;
    tctl_ring_init(&link->events, link->event_octets, (uint16_t)sizeof link->event_octets);
    tctl_ring_init(&link->bulk, link->bulk_octets, (uint16_t)sizeof link->bulk_octets);
    tctl_decoder_reset(&link->decoder);
    link->now = board->now_us(board->self);
    link->last_heard = link->now;
    link->announce_at = link->now;
}

void tctl_tell_state(struct tctl_link *link, uint16_t state_digest, uint16_t status)
{
    link->state_digest = state_digest;
    link->status = status;
}

uint16_t tctl_event_room(const struct tctl_link *link)
{
    return tctl_ring_free(&link->events);
}

bool tctl_idle(const struct tctl_link *link)
{
    return (link->events.used == 0U) && (link->bulk.used == 0U) && (link->due == 0U) && (link->lost == 0U);
}
