#include "tctl_pages.h"

#include <stddef.h>

#include "tctl_inner.h"
#include "tctl_octets.h"

#define INFO_OCTETS 40U
#define STATE_FROM 5U /* version and pages stand in front of what the digest covers */
#define SCATTER UINT32_C(2654435761)

void tctl_answer_info(struct tctl_link *link, const struct tctl_info_request *request, const char *text)
{
    struct tctl_message answer;
    struct tctl_info_page *page = &answer.as.info_page;
    uint32_t from = (uint32_t)request->page * INFO_OCTETS;
    uint32_t length = 0U;

    answer.id = (uint8_t)TCTL_INFO_PAGE;
    page->key = request->key;
    page->page = request->page;
    page->data_count = 0U;
    while ((text != NULL) && (text[length] != '\0')) {
        if ((length >= from) && (page->data_count < INFO_OCTETS)) {
            page->data[page->data_count] = (uint8_t)text[length];
            page->data_count++;
        }
        length++;
    }
    page->pages = (uint8_t)((length + INFO_OCTETS - 1U) / INFO_OCTETS);
    (void)tctl_send(link, &answer);
}

void tctl_answer_snapshot(struct tctl_link *link, const struct tctl_snapshot_request *request, const struct tctl_snapshot_state *state,
                          const struct tctl_tiles *tiles)
{
    struct tctl_message answer;
    uint8_t pages = (tiles == NULL) ? 0U : tiles->pages(tiles->self);

    if ((request->page == 0U) || (request->page > pages) || (request->version != link->event_no)) {
        answer.id = (uint8_t)TCTL_SNAPSHOT_STATE;
        answer.as.snapshot_state = *state;
        answer.as.snapshot_state.version = link->event_no;
        answer.as.snapshot_state.pages = (uint8_t)(pages + 1U);
    } else {
        answer.id = (uint8_t)TCTL_SNAPSHOT_TILES;
        tiles->fill(tiles->self, request->page, &answer.as.snapshot_tiles);
        answer.as.snapshot_tiles.version = link->event_no;
        answer.as.snapshot_tiles.page = request->page;
    }
    (void)tctl_send(link, &answer);
}

uint16_t tctl_state_digest(const struct tctl_snapshot_state *state)
{
    struct tctl_message message;
    uint8_t payload[TCTL_MAX_PAYLOAD];
    uint8_t count;
    uint16_t digest = 0U;

    message.id = (uint8_t)TCTL_SNAPSHOT_STATE;
    message.as.snapshot_state = *state;
    message.as.snapshot_state.pages = 1U;
    count = tctl_pack(&message, (uint8_t)TCTL_MINOR, payload);
    if (count != TCTL_BAD) {
        digest = tctl_crc_over(TCTL_CRC_BEGIN, &payload[STATE_FROM], (uint8_t)(count - STATE_FROM));
    }
    return digest;
}

void tctl_series_begin(struct tctl_series *series, const struct tctl_test_emit *request, uint32_t now_us)
{
    series->next_us = now_us;
    series->number = 0U;
    series->left = request->count;
    series->interval_ms = request->interval_ms;
}

void tctl_series_run(struct tctl_series *series, struct tctl_link *link, uint32_t now_us)
{
    struct tctl_message event;

    event.id = (uint8_t)TCTL_TEST_EVENT;
    while ((series->left > 0U) && tctl_reached(now_us, series->next_us) && (tctl_event_room(link) >= TCTL_SERIES_ROOM)) {
        event.as.test_event.number = series->number;
        event.as.test_event.value = tctl_signed32(0U - (series->number * SCATTER));
        (void)tctl_send(link, &event);
        series->number++;
        series->left--;
        series->next_us += (uint32_t)series->interval_ms * 1000U;
    }
}
