/* The device's link as a program that another one steps through on a clock of its own.

   Built with sanitizers and driven over stdin and stdout by tests/wire/c_device.py, so that a fault ends this process and not the test.
   A request is its length (u32), an op, the time (u32 µs) and arguments; a reply is its length (u32), a head and records. All numbers are
   little-endian. This is the one file here that may use a heap: it runs on a computer. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tctl_link.h"
#include "../tctl_pages.h"

#define REQUEST_MOST (1U << 20)
#define REPLY_MOST (1U << 23)

static uint8_t request[REQUEST_MOST];
static uint8_t reply[REPLY_MOST];
static uint32_t reply_count;

static struct tctl_link *the_link; /* on the heap: a sanitizer guards its borders there */
static struct tctl_identity the_identity;
static struct tctl_decoder decoder;
static uint32_t clock_us;
static uint32_t budget = UINT32_MAX; /* octets that the "UART" still takes */
static uint32_t result;

static uint32_t get32(const uint8_t *octets)
{
    return octets[0] | ((uint32_t)octets[1] << 8) | ((uint32_t)octets[2] << 16) | ((uint32_t)octets[3] << 24);
}

static uint16_t get16(const uint8_t *octets)
{
    return (uint16_t)(octets[0] | ((uint32_t)octets[1] << 8));
}

static void put(uint32_t value, uint32_t octets)
{
    uint32_t i;

    for (i = 0U; i < octets; i++) {
        reply[reply_count] = (uint8_t)(value >> (8U * i));
        reply_count++;
    }
}

static void record(char what, uint8_t first, const uint8_t *octets, uint32_t count)
{
    if ((reply_count + count + 4U) > REPLY_MOST) {
        (void)fprintf(stderr, "step: the reply grew too long\n");
        exit(3);
    }
    put((uint8_t)what, 1U);
    put(first, 1U);
    put(count, 2U);
    if (count > 0U) {
        (void)memcpy(&reply[reply_count], octets, count);
        reply_count += count;
    }
}

/* ---------------------------------------------------------------- the board */

static uint32_t now_us(void *self)
{
    (void)self;
    return clock_us;
}

static bool write_line(void *self, const uint8_t *octets, uint8_t count)
{
    bool taken = count <= budget;

    (void)self;
    if (taken) {
        budget -= (budget == UINT32_MAX) ? 0U : count;
        record('w', 0U, octets, count);
    }
    return taken;
}

static void tell(char what, const struct tctl_message *message)
{
    uint8_t payload[TCTL_MAX_PAYLOAD];
    uint8_t count = tctl_pack(message, TCTL_MINOR, payload);

    record(what, message->id, payload, (count == TCTL_BAD) ? 0U : count);
}

static void on_message(void *self, const struct tctl_message *message)
{
    (void)self;
    tell('m', message);
}

static void on_display(void *self, const struct tctl_message *message)
{
    (void)self;
    tell('d', message);
}

static void on_link(void *self, enum tctl_state state, enum tctl_reason reason)
{
    uint8_t why = (uint8_t)reason;

    (void)self;
    record('l', (uint8_t)state, &why, 1U);
}

static void on_log(void *self, enum tctl_log what, const uint8_t *octets, uint8_t count)
{
    (void)self;
    record('g', (uint8_t)what, octets, count);
}

static const struct tctl_board BOARD = {NULL, now_us, write_line, on_message, on_display, on_link, on_log};

/* ---------------------------------------------------------------- ops */

static void start(const uint8_t *arguments)
{
    free(the_link);
    the_link = malloc(sizeof *the_link);
    if (the_link == NULL) {
        exit(3);
    }
    the_identity.capabilities = get32(&arguments[4]);
    the_identity.version = get32(&arguments[8]);
    tctl_start(the_link, &BOARD, &the_identity, get32(arguments), arguments[12]);
    tctl_decoder_reset(&decoder);
    budget = UINT32_MAX;
}

static void send(const uint8_t *arguments, uint32_t count)
{
    struct tctl_message message;

    if (tctl_unpack(arguments[0], &arguments[1], (uint8_t)(count - 1U), &message) == TCTL_BAD) {
        record('x', arguments[0], NULL, 0U);
    } else {
        result = tctl_send(the_link, &message);
    }
}

/* Reads a payload and writes it again. */
static void codec(const uint8_t *arguments, uint32_t count)
{
    struct tctl_message message;

    result = tctl_unpack(arguments[0], &arguments[1], (uint8_t)(count - 1U), &message);
    if (result != TCTL_BAD) {
        tell('c', &message);
    }
}

static void decode(const uint8_t *octets, uint32_t count)
{
    static const char NAMES[] = {'-', 'F', 'N', 'D'};
    uint32_t i;

    for (i = 0U; i < count; i++) {
        enum tctl_found found = tctl_decode(&decoder, octets[i]);

        if (found != TCTL_FOUND_NOTHING) {
            record(NAMES[found], 0U, decoder.octets, decoder.count);
        }
    }
    result = decoder.taken ? 0U : decoder.count;
}

/* Answers of the helpers for a firmware: a text, and a state with tiles. */
static const char *text_of;

static uint8_t tile_pages(void *self)
{
    (void)self;
    return 3U;
}

static void tile_page(void *self, uint8_t number, struct tctl_snapshot_tiles *page)
{
    (void)self;
    page->zone = (uint8_t)(0x20U | number);
    page->reader = number;
    page->tiles_count = 1U;
    page->tiles[0].slot = number;
    page->tiles[0].flags = 1U;
    page->tiles[0].tag = UINT64_C(0xE004000000000000) + number;
}

static void page(const uint8_t *arguments, uint32_t count)
{
    static const struct tctl_tiles TILES = {NULL, tile_pages, tile_page};
    struct tctl_message message;
    struct tctl_snapshot_state state = {0};

    (void)tctl_unpack(arguments[0], &arguments[1], (uint8_t)(count - 1U), &message);
    state.lid = TCTL_PHASE_DOWN;
    state.locked = 1U;
    state.trays[19] = 7U;
    if (message.id == TCTL_INFO_REQUEST) {
        tctl_answer_info(the_link, &message.as.info_request, text_of);
    } else {
        tctl_answer_snapshot(the_link, &message.as.snapshot_request, &state, &TILES);
    }
    result = tctl_state_digest(&state);
}

static void set_text(const uint8_t *octets, uint32_t count)
{
    static char text[4096];

    text_of = NULL;
    if (count > 0U) {
        (void)memcpy(text, octets, count - 1U);
        text[count - 1U] = '\0';
        text_of = text;
    }
}

/* A small letter: the same without the poll that follows. */
static void do_step(uint8_t letter, const uint8_t *arguments, uint32_t count)
{
    bool poll = letter < (uint8_t)'a';
    uint8_t op = poll ? letter : (uint8_t)(letter - 0x20U);

    switch (op) {
    case 'B':
        start(arguments);
        break;
    case 'R':
        tctl_receive(the_link, arguments, count);
        break;
    case 'P':
        break;
    case 'S':
        send(arguments, count);
        break;
    case 'F':
        result = tctl_finish(the_link, get32(arguments), arguments[4], get16(&arguments[5]));
        break;
    case 'T':
        tctl_tell_state(the_link, get16(arguments), get16(&arguments[2]));
        break;
    case 'W':
        budget = get32(arguments);
        break;
    case 'E':
        the_link->event_no = get32(arguments);
        break;
    case 'L':
        the_link->lost = (uint16_t)get32(arguments);
        break;
    case 'U':
        set_text(arguments, count);
        break;
    case 'A':
        page(arguments, count);
        break;
    case 'C':
        codec(arguments, count);
        break;
    case 'D':
        decode(arguments, count);
        break;
    default:
        (void)fprintf(stderr, "step: unknown op %u\n", op);
        exit(3);
    }
    if (poll && (op != 'B') && (op != 'C') && (op != 'D')) {
        tctl_poll(the_link);
    }
}

int main(void)
{
    uint8_t head[4];

    while (fread(head, 1U, sizeof head, stdin) == sizeof head) {
        uint32_t count = get32(head);

        if ((count < 5U) || (count > REQUEST_MOST) || (fread(request, 1U, count, stdin) != count)) {
            return 3;
        }
        clock_us = get32(&request[1]);
        reply_count = 4U + 12U;
        result = 0U;
        do_step(request[0], &request[5], count - 5U);
        count = reply_count;
        reply_count = 0U;
        put(count - 4U, 4U);
        put((the_link == NULL) ? 0U : tctl_wait_us(the_link), 4U);
        put(result, 4U);
        put((the_link == NULL) ? 0U : tctl_event_room(the_link), 2U);
        put((the_link == NULL) ? 0U : the_link->state, 1U);
        put(((the_link != NULL) && tctl_idle(the_link)) ? 1U : 0U, 1U);
        (void)fwrite(reply, 1U, count, stdout);
        (void)fflush(stdout);
    }
    free(the_link);
    return 0;
}
