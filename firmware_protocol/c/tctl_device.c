/* What a device answers and tells by itself: handshake, heartbeat, time, repeated actions, echo, figures. */
#include <stddef.h>

#include "tctl_inner.h"

#define ANNOUNCE_LEAST_US 100000U
#define SILENCE_US 5000000U /* until the first Watchdog (L-17) */
#define HELLO_HEAD 6U       /* nonce, major, minor: the same in every major (V-2) */
#define LOST_RECORD (TCTL_RECORD + TCTL_EVENT_HEADER + 2U)
#define MOST16 65535U

static uint8_t most8(uint32_t value)
{
    return (uint8_t)((value < 255U) ? value : 255U);
}

static void write32(uint8_t *octets, uint32_t value)
{
    octets[0] = (uint8_t)(value & 0xFFU);
    octets[1] = (uint8_t)((value >> 8) & 0xFFU);
    octets[2] = (uint8_t)((value >> 16) & 0xFFU);
    octets[3] = (uint8_t)(value >> 24);
}

static uint32_t read32(const uint8_t *octets)
{
    return octets[0] | ((uint32_t)octets[1] << 8) | ((uint32_t)octets[2] << 16) | ((uint32_t)octets[3] << 24);
}

void tctl_inner_malformed(struct tctl_link *link, uint8_t id, const uint8_t *payload, uint8_t count)
{
    (void)id; /* stands in front of the payload */
    link->figures.malformed++;
    if (link->board->on_log != NULL) {
        link->board->on_log(link->board->self, TCTL_LOG_MALFORMED, payload - 1, (uint8_t)(count + 1U));
    }
}

/* ---------------------------------------------------------------- events */

static void put_event(struct tctl_link *link, uint8_t id, const uint8_t *body, uint8_t count)
{
    uint8_t head[TCTL_EVENT_HEADER];

    link->event_no = (link->event_no == UINT32_MAX) ? 1U : (link->event_no + 1U); /* never 0: that means none */
    write32(&head[0], link->event_no);
    write32(&head[4], link->uptime_ms);
    tctl_ring_put(&link->events, id, head, (uint8_t)sizeof head, body, count);
    link->held++;
    if (most8(link->held) > link->figures.buffer_high) {
        link->figures.buffer_high = most8(link->held);
    }
}

/* Puts an EventsLost where the gap is, once there is room for it and for `also` octets behind it (E-6). */
void tctl_inner_tell_lost(struct tctl_link *link, uint32_t also)
{
    if ((link->lost > 0U) && (tctl_ring_free(&link->events) >= (LOST_RECORD + also))) {
        uint8_t body[2] = {(uint8_t)(link->lost & 0xFFU), (uint8_t)(link->lost >> 8)};

        link->lost = 0U;
        put_event(link, (uint8_t)TCTL_EVENTS_LOST, body, (uint8_t)sizeof body);
    }
}

static uint32_t add_event(struct tctl_link *link, uint8_t id, const uint8_t *body, uint8_t count)
{
    uint32_t length = TCTL_RECORD + TCTL_EVENT_HEADER + (uint32_t)count;
    uint32_t number = 0U;

    tctl_inner_tell_lost(link, length);
    if ((link->lost == 0U) && (tctl_ring_free(&link->events) >= length)) {
        put_event(link, id, body, count);
        number = link->event_no;
    } else {
        link->lost = (link->lost < MOST16) ? (uint16_t)(link->lost + 1U) : (uint16_t)MOST16;
        link->figures.events_lost = (link->figures.events_lost < MOST16) ? (uint16_t)(link->figures.events_lost + 1U) : (uint16_t)MOST16;
    }
    return number;
}

static uint32_t add_bulk(struct tctl_link *link, const struct tctl_traits *traits, const uint8_t *body, uint8_t count)
{
    uint32_t taken = 0U;

    if ((link->state == (uint8_t)TCTL_UP) && (traits->since <= link->minor) && (count <= link->max_payload) &&
        (tctl_ring_free(&link->bulk) >= (TCTL_RECORD + (uint32_t)count))) {
        tctl_ring_put(&link->bulk, traits->id, body, 0U, body, count);
        taken = 1U;
    }
    return taken;
}

uint32_t tctl_send(struct tctl_link *link, const struct tctl_message *message)
{
    const struct tctl_traits *traits = tctl_traits_of(message->id);
    uint8_t body[TCTL_MAX_PAYLOAD];
    uint8_t count = tctl_pack(message, (uint8_t)TCTL_MINOR, body);
    uint32_t number = 0U;

    if ((count != TCTL_BAD) && ((traits->flags & TCTL_FROM_DEVICE) != 0U)) {
        tctl_inner_tick(link);
        if (traits->kind == (uint8_t)TCTL_KIND_EVENT) {
            number = add_event(link, traits->id, body, count);
        } else if (traits->kind == (uint8_t)TCTL_KIND_BULK) {
            number = add_bulk(link, traits, body, count);
        } else {
            /* the link's own affair */
        }
    }
    return number;
}

/* ---------------------------------------------------------------- actions */

static uint32_t report(struct tctl_link *link, uint32_t cmd_id, uint8_t result, uint16_t detail, uint8_t repeated)
{
    struct tctl_message message;

    message.id = (uint8_t)TCTL_ACTION_RESULT;
    message.as.action_result.cmd_id = cmd_id;
    message.as.action_result.result = result;
    message.as.action_result.detail = detail;
    message.as.action_result.repeated = repeated;
    return tctl_send(link, &message);
}

uint32_t tctl_finish(struct tctl_link *link, uint32_t cmd_id, uint8_t result, uint16_t detail)
{
    struct tctl_deed *deed = tctl_deed_of(&link->deeds, cmd_id);

    if (deed != NULL) {
        deed->state = (uint8_t)TCTL_ACTION_STATE_FINISHED;
        deed->result = result;
        deed->detail = detail;
    }
    link->last_finished = cmd_id;
    return report(link, cmd_id, result, detail, 0U);
}

static bool expired(const struct tctl_link *link, uint32_t deadline_ms)
{
    return (deadline_ms != 0U) && (deadline_ms != link->uptime_ms) && tctl_reached(link->uptime_ms, deadline_ms);
}

/* At most once: true when the owner is to do it. */
static bool to_be_done(struct tctl_link *link, const struct tctl_message *message)
{
    bool stop = message->id == (uint8_t)TCTL_STOP;
    uint32_t cmd_id = stop ? message->as.stop.cmd_id : message->as.action.cmd_id;
    const struct tctl_deed *deed = tctl_deed_of(&link->deeds, cmd_id);
    bool todo = false;

    if (deed != NULL) {
        if (deed->state == (uint8_t)TCTL_ACTION_STATE_FINISHED) {
            (void)report(link, cmd_id, deed->result, deed->detail, 1U);
        }
    } else if (!stop && expired(link, message->as.action.deadline_ms)) {
        (void)tctl_deed_begin(&link->deeds, cmd_id);
        (void)tctl_finish(link, cmd_id, (uint8_t)TCTL_RESULT_EXPIRED, 0U);
    } else if (!tctl_deed_begin(&link->deeds, cmd_id) && !stop) {
        (void)tctl_finish(link, cmd_id, (uint8_t)TCTL_RESULT_REFUSED_BUSY, 0U);
    } else {
        link->figures.actions++;
        todo = true;
    }
    return todo;
}

/* ---------------------------------------------------------------- messages */

static void fill_status(struct tctl_link *link, uint32_t cmd_id, struct tctl_action_status *status)
{
    const struct tctl_deed *deed = tctl_deed_of(&link->deeds, cmd_id);

    status->cmd_id = cmd_id;
    status->state = (deed == NULL) ? (uint8_t)TCTL_ACTION_STATE_UNKNOWN : deed->state;
    status->result = (deed == NULL) ? 0U : deed->result;
    status->detail = (deed == NULL) ? 0U : deed->detail;
}

static void fill_stats(const struct tctl_link *link, struct tctl_stats *stats)
{
    stats->frames_received = link->figures.frames_received;
    stats->frames_sent = link->figures.frames_sent;
    stats->retransmits = link->figures.retransmits;
    stats->crc_errors = link->figures.crc_errors;
    stats->noise = link->figures.noise;
    stats->links = link->figures.links;
    stats->events_lost = link->figures.events_lost;
    stats->buffer_high = link->figures.buffer_high;
    stats->actions = link->figures.actions;
    stats->free_memory = link->figures.free_memory;
}

/* What the link answers itself; false: the owner's. */
static bool answered(struct tctl_link *link, const struct tctl_message *message)
{
    struct tctl_message answer;

    if (message->id == (uint8_t)TCTL_ACTION_QUERY) {
        answer.id = (uint8_t)TCTL_ACTION_STATUS;
        fill_status(link, message->as.action_query.cmd_id, &answer.as.action_status);
    } else if (message->id == (uint8_t)TCTL_TEST_ECHO) {
        answer = *message;
        answer.id = (uint8_t)TCTL_TEST_ECHO_REPLY;
    } else if (message->id == (uint8_t)TCTL_STATS_REQUEST) {
        answer.id = (uint8_t)TCTL_STATS;
        fill_stats(link, &answer.as.stats);
    } else {
        return false;
    }
    (void)tctl_send(link, &answer);
    return true;
}

static void on_datagram(struct tctl_link *link, const struct tctl_message *message)
{
    if (message->id == (uint8_t)TCTL_TIME_REQUEST) {
        if ((link->due & TCTL_DUE_TIME) != 0U) {
            tctl_inner_flush(link); /* each request has its reply */
        }
        link->time_token = message->as.time_request.token;
        link->time_uptime_ms = link->uptime_ms;
        link->due |= TCTL_DUE_TIME;
    } else if (message->id == (uint8_t)TCTL_WATCHDOG) {
        link->silence_us = message->as.watchdog.timeout_ms * 1000U;
    } else {
        /* of a later minor: the owner may know it */
    }
}

void tctl_inner_on_message(struct tctl_link *link, const struct tctl_traits *traits, const struct tctl_message *message,
                           const uint8_t *payload, uint8_t count)
{
    bool owners = true;

    if (traits->kind == (uint8_t)TCTL_KIND_SET) {
        link->board->on_display(link->board->self, message);
        tctl_display_set(&link->displays, message->id, ((traits->flags & TCTL_KEYED) != 0U) ? payload[0] : 0U, payload, count);
        owners = false;
    } else if (traits->kind == (uint8_t)TCTL_KIND_DATAGRAM) {
        on_datagram(link, message);
    } else if (traits->kind == (uint8_t)TCTL_KIND_BULK) {
        owners = !answered(link, message);
    } else {
        owners = to_be_done(link, message);
    }
    if (owners) {
        link->board->on_message(link->board->self, message);
    }
}

/* ---------------------------------------------------------------- handshake */

static void refuse(struct tctl_link *link)
{
    if (link->state == (uint8_t)TCTL_UP) {
        tctl_inner_down(link, TCTL_REASON_HELLO);
    }
    link->state = (uint8_t)TCTL_REFUSED;
    link->board->on_link(link->board->self, TCTL_REFUSED, TCTL_REASON_NONE);
}

/* Lets go of the events that the host has, when it knows this start of ours (E-4). */
static void release_events(struct tctl_link *link, const struct tctl_hello *hello)
{
    bool same = (link->boot_id != 0U) && (hello->boot_id == link->boot_id) && (hello->event_no != 0U);
    uint8_t payload[TCTL_MAX_PAYLOAD];
    uint8_t id;

    while (same && (link->events.used > 0U)) {
        (void)tctl_ring_read(&link->events, link->events.head, &id, payload);
        if (tctl_reached(hello->event_no, read32(payload))) {
            tctl_ring_pop(&link->events);
            link->held--;
        } else {
            same = false;
        }
    }
}

static void open(struct tctl_link *link, uint32_t nonce, const struct tctl_hello *hello)
{
    if (link->state == (uint8_t)TCTL_UP) {
        tctl_inner_down(link, TCTL_REASON_HELLO);
    }
    tctl_inner_open(link, nonce, hello);
    release_events(link, hello);
    link->heartbeat_at = link->now;
    link->silence_us = SILENCE_US;
    link->board->on_link(link->board->self, TCTL_UP, TCTL_REASON_NONE);
}

static void on_hello(struct tctl_link *link, const uint8_t *payload, uint8_t count)
{
    struct tctl_message message;
    uint32_t nonce = (count < HELLO_HEAD) ? 0U : read32(payload);
    bool answer = true;

    if ((count >= HELLO_HEAD) && (payload[4] != TCTL_MAJOR)) {
        refuse(link); /* only the head of another major's Hello means anything */
    } else if (tctl_unpack((uint8_t)TCTL_HELLO, payload, count, &message) == TCTL_BAD) {
        tctl_inner_malformed(link, (uint8_t)TCTL_HELLO, payload, count);
        answer = false;
    } else if ((nonce == link->nonce) && ((link->state == (uint8_t)TCTL_UP) || (link->state == (uint8_t)TCTL_FAILED))) {
        answer = link->state == (uint8_t)TCTL_UP; /* a copy of the Hello that opened this session (H-6) */
    } else {
        open(link, nonce, &message.as.hello);
    }
    if (answer) {
        link->answer_nonce = nonce;
        link->due |= TCTL_DUE_HELLO_ACK;
    }
}

void tctl_inner_on_link_frame(struct tctl_link *link, uint8_t id, const uint8_t *payload, uint8_t count)
{
    if (id == (uint8_t)TCTL_HELLO) {
        on_hello(link, payload, count);
    } else {
        link->figures.unknown++;
    }
}

/* The host believes in a link that is not: tell it soon (H-8). */
void tctl_inner_on_stale_frame(struct tctl_link *link)
{
    if (link->state != (uint8_t)TCTL_UP) {
        uint32_t soon = link->announced_at + ANNOUNCE_LEAST_US;

        if (!link->announced || tctl_reached(link->now, soon)) {
            soon = link->now;
        }
        if (tctl_reached(link->announce_at, soon)) {
            link->announce_at = soon;
        }
    }
}

/* ---------------------------------------------------------------- what a device says by itself */

static void fill_hello_ack(const struct tctl_link *link, struct tctl_hello_ack *ack)
{
    ack->nonce = link->answer_nonce;
    ack->major = (uint8_t)TCTL_MAJOR;
    ack->minor = (uint8_t)TCTL_MINOR;
    ack->schema_hash = TCTL_SCHEMA_HASH;
    ack->version = link->identity->version;
    ack->boot_id = link->boot_id;
    ack->reset_cause = link->reset_cause;
    ack->capabilities = link->identity->capabilities;
    ack->max_frame = (uint8_t)TCTL_MAX_FRAME;
    ack->window = (uint8_t)TCTL_WINDOW;
    ack->uptime_ms = link->uptime_ms;
    ack->event_no = link->event_no;
    ack->held = most8(link->held);
}

static void fill_announce(const struct tctl_link *link, struct tctl_announce *announce)
{
    announce->major = (uint8_t)TCTL_MAJOR;
    announce->minor = (uint8_t)TCTL_MINOR;
    announce->version = link->identity->version;
    announce->boot_id = link->boot_id;
    announce->reset_cause = link->reset_cause;
    announce->uptime_ms = link->uptime_ms;
}

static void fill_heartbeat(const struct tctl_link *link, struct tctl_heartbeat *heartbeat)
{
    heartbeat->uptime_ms = link->uptime_ms;
    heartbeat->boot_id = link->boot_id;
    heartbeat->event_no = link->event_no;
    heartbeat->cmd_id = link->last_finished;
    heartbeat->state_digest = link->state_digest;
    heartbeat->display_digest = tctl_display_digest(&link->displays);
    heartbeat->status = link->status;
    heartbeat->events_held = most8(link->held);
}

void tctl_inner_make_due(struct tctl_link *link, uint8_t due, struct tctl_message *message)
{
    if (due == TCTL_DUE_HELLO_ACK) {
        message->id = (uint8_t)TCTL_HELLO_ACK;
        fill_hello_ack(link, &message->as.hello_ack);
    } else if (due == TCTL_DUE_ANNOUNCE) {
        message->id = (uint8_t)TCTL_ANNOUNCE;
        fill_announce(link, &message->as.announce);
    } else if (due == TCTL_DUE_HEARTBEAT) {
        message->id = (uint8_t)TCTL_HEARTBEAT;
        fill_heartbeat(link, &message->as.heartbeat);
    } else {
        message->id = (uint8_t)TCTL_TIME_REPLY;
        message->as.time_reply.token = link->time_token;
        message->as.time_reply.uptime_ms = link->time_uptime_ms;
    }
}
