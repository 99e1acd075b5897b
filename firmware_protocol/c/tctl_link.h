/* The device's end of the table wire, without an operating system, a heap or a clock of its own (SPEC chapters 3 to 11).

   How a firmware drives it:

       static struct tctl_link link;
       tctl_start(&link, &board, &identity, boot_id, TCTL_RESET_CAUSE_POWER_ON);
       for (;;) {
           tctl_receive(&link, octets, count);     what the UART has brought, any number at a time
           ... the machine: tctl_send(&link, &event), tctl_finish(&link, cmd_id, result, detail) ...
           tctl_tell_state(&link, digest, status); when they changed
           tctl_poll(&link);                       each turn; writes what is to be written
           sleep at most tctl_wait_us(&link), or until the UART interrupts
       }

   All functions are to be called from one thread: not from an interrupt, and tctl_receive and tctl_poll not from a callback. */
#ifndef TCTL_LINK_H
#define TCTL_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "tctl_frame.h"
#include "tctl_memory.h"
#include "tctl_ring.h"
#include "tctl_timer.h"

/* Memory for events that the host has not acknowledged: a button takes 13 octets, a frame full of tiles 57. */
#ifndef TCTL_EVENT_BYTES
#define TCTL_EVENT_BYTES 352U
#endif

/* Memory for answers and log lines: room for three of the longest lets a host ask three things at once. An answer without room is
   dropped and will be asked again (L-22): to wait for room would make a Stop behind the request wait too. */
#ifndef TCTL_BULK_BYTES
#define TCTL_BULK_BYTES 176U
#endif

#define TCTL_WINDOW 4U

enum tctl_state {
    TCTL_CONNECTING, /* no host yet; Announce goes out */
    TCTL_UP,
    TCTL_FAILED, /* the host has gone; Announce goes out */
    TCTL_REFUSED /* the host speaks another major */
};

enum tctl_reason {
    TCTL_REASON_NONE,
    TCTL_REASON_TRIES,  /* five tries without acknowledgement */
    TCTL_REASON_SILENT, /* nothing heard: stop all motion */
    TCTL_REASON_HELLO   /* the host has begun anew */
};

enum tctl_log {
    TCTL_LOG_NOISE,     /* octets that are no frame */
    TCTL_LOG_DAMAGED,   /* a frame with a wrong CRC, as it stood on the line */
    TCTL_LOG_MALFORMED, /* message id and payload that do not fit the declaration */
    TCTL_LOG_UNKNOWN    /* message id and payload that this version does not know */
};

/* What the link needs of a board. All are called from within the functions below; `self` is handed to each. */
struct tctl_board {
    void *self;
    /* A free-running clock in µs; it wraps. */
    uint32_t (*now_us)(void *self);
    /* Take all of these octets for the line, or none and return false: they are offered again with the next tctl_poll. */
    bool (*write)(void *self, const uint8_t *octets, uint8_t count);
    /* An Action or Stop to begin now (end each with tctl_finish), a request to answer with tctl_send, Watchdog or TimeRequest
       to look at. It counts as accepted when the call returns. */
    void (*on_message)(void *self, const struct tctl_message *message);
    /* A desired state: show it. Every state is in force when the call returns, also one that this table cannot show. */
    void (*on_display)(void *self, const struct tctl_message *message);
    /* The link came up, failed or was refused. After TCTL_REASON_SILENT all motion stops (SPEC chapter 7). */
    void (*on_link)(void *self, enum tctl_state state, enum tctl_reason reason);
    /* For a debug port; NULL where there is none. */
    void (*on_log)(void *self, enum tctl_log what, const uint8_t *octets, uint8_t count);
};

struct tctl_identity {
    uint32_t version;      /* one octet each of major, minor, patch, 0 from the top */
    uint32_t capabilities; /* TCTL_CAPABILITY_… */
};

struct tctl_flight {
    uint32_t sent_us;
    uint16_t place; /* of its record */
    bool event;     /* in the ring of events, not in that of bulk */
    bool again;     /* written more than once (L-11) */
};

/* Figures for Stats; nothing here decides anything. */
struct tctl_figures {
    uint32_t frames_received;
    uint32_t frames_sent;
    uint32_t retransmits;
    uint32_t crc_errors;
    uint32_t noise;
    uint32_t actions;
    uint16_t links;
    uint16_t events_lost;
    uint16_t unknown;
    uint16_t malformed;
    uint16_t free_memory; /* the board may set it */
    uint8_t buffer_high;
};

/* Look, but leave it to the functions below. Small fields come first: they are reached by short instructions. */
struct tctl_link {
    const struct tctl_board *board;
    const struct tctl_identity *identity;
    uint8_t state;    /* enum tctl_state */
    uint8_t due;      /* what is to be written */
    uint8_t flying;   /* DATA frames without acknowledgement */
    uint8_t repeats;  /* the last so many of them are to be written again */
    uint8_t next_seq; /* of the next DATA frame */
    uint8_t expected; /* seq of the next DATA frame of the host */
    uint8_t window;
    uint8_t tries;
    uint8_t minor;
    uint8_t max_payload;
    bool blocked;   /* the board would not take the last frame */
    bool announced; /* once at least */
    uint8_t reset_cause;
    uint16_t rest_us; /* of the millisecond under way */
    uint16_t held;    /* events not acknowledged */
    uint16_t lost;    /* events without room since the last EventsLost */
    uint16_t state_digest;
    uint16_t status;
    struct tctl_ring events;
    struct tctl_ring bulk;
    uint32_t now;
    uint32_t nonce;
    uint32_t timer_at;
    uint32_t last_heard;
    uint32_t silence_us;
    uint32_t heartbeat_at;
    uint32_t announce_at;
    uint32_t announced_at;
    uint32_t uptime_ms;
    uint32_t event_no;
    uint32_t answer_nonce; /* of the Hello that a HelloAck is due for */
    uint32_t boot_id;
    uint32_t last_finished;
    uint32_t time_token;
    uint32_t time_uptime_ms;
    struct tctl_figures figures;
    struct tctl_timer timer;
    struct tctl_flight flight[TCTL_WINDOW]; /* by the low bits of seq */
    struct tctl_deeds deeds;
    struct tctl_displays displays;
    struct tctl_decoder decoder;
    uint8_t event_octets[TCTL_EVENT_BYTES];
    uint8_t bulk_octets[TCTL_BULK_BYTES];
};

/* The device starts. `boot_id` from a counter in flash or from noise; 0 when the board has neither. */
void tctl_start(struct tctl_link *link, const struct tctl_board *board, const struct tctl_identity *identity, uint32_t boot_id,
                uint8_t reset_cause);

void tctl_receive(struct tctl_link *link, const uint8_t *octets, uint32_t count);
void tctl_poll(struct tctl_link *link);

/* µs until tctl_poll has something to do; 0: now. */
uint32_t tctl_wait_us(const struct tctl_link *link);

/* An event: kept until the host has it, in any state; returns its event_no, 0 when it found no room and is lost (E-6).
   An answer or a log line: 1, or 0 when no link is up or there is no room. A value out of range: 0. */
uint32_t tctl_send(struct tctl_link *link, const struct tctl_message *message);

/* An action ended: remembers and reports it; returns what tctl_send says of the ActionResult. */
uint32_t tctl_finish(struct tctl_link *link, uint32_t cmd_id, uint8_t result, uint16_t detail);

/* For the heartbeat: tctl_state_digest() of the table and TCTL_STATUS_… flags. */
void tctl_tell_state(struct tctl_link *link, uint16_t state_digest, uint16_t status);

/* Octets left for events; an event takes TCTL_RECORD + TCTL_EVENT_HEADER and its fields. */
uint16_t tctl_event_room(const struct tctl_link *link);

/* Nothing waits to be written or acknowledged. */
bool tctl_idle(const struct tctl_link *link);

#endif
