/* What does not fit into one frame: texts about the device and snapshots of its state (SPEC chapter 11); and the series of
   TestEvents that TestEmit asks for. Helpers for a firmware's on_message; the link does not need them. */
#ifndef TCTL_PAGES_H
#define TCTL_PAGES_H

#include "tctl_link.h"

/* Answers with a page of a text, UTF-8 and at most 255 pages of 40 octets; NULL: the table lacks it (S-1). */
void tctl_answer_info(struct tctl_link *link, const struct tctl_info_request *request, const char *text);

/* A table with readers lists its tiles, four a page, each page one zone and reader (S-4); any other passes NULL. */
struct tctl_tiles {
    void *self;
    uint8_t (*pages)(void *self);
    /* `number` from 1; fills zone, reader and tiles. */
    void (*fill)(void *self, uint8_t number, struct tctl_snapshot_tiles *page);
};

/* Answers with a page of the state; version and pages of `state` are filled in here (S-2, S-3). */
void tctl_answer_snapshot(struct tctl_link *link, const struct tctl_snapshot_request *request, const struct tctl_snapshot_state *state,
                          const struct tctl_tiles *tiles);

/* What tctl_tell_state wants (S-5). */
uint16_t tctl_state_digest(const struct tctl_snapshot_state *state);

/* Octets free among the events before a series goes on: it leaves some for what really happens. */
#define TCTL_SERIES_ROOM (64U + TCTL_RECORD + TCTL_EVENT_HEADER + 8U)

struct tctl_series {
    uint32_t next_us;
    uint32_t number;
    uint16_t left;
    uint16_t interval_ms;
};

/* A series begins: `count` 0 ends one. In test mode only; that is the firmware's to know. */
void tctl_series_begin(struct tctl_series *series, const struct tctl_test_emit *request, uint32_t now_us);

/* Sends what is due and finds room; each turn of the main loop. `value` of event n is n * -2654435761 modulo 2^32. */
void tctl_series_run(struct tctl_series *series, struct tctl_link *link, uint32_t now_us);

#endif
