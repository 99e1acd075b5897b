#include "tctl_frame.h"

#define SHORTEST 7U /* code octet, header, CRC */

uint16_t tctl_crc(uint16_t crc, uint8_t octet)
{
    /* One octet at a time without a table: polynomial 0x1021 is 1 + x^5 + x^12. */
    uint32_t x = (((uint32_t)crc >> 8) ^ octet) & 0xFFU;

    x ^= x >> 4;
    return (uint16_t)((((uint32_t)crc << 8) ^ (x << 12) ^ (x << 5) ^ x) & 0xFFFFU);
}

uint16_t tctl_crc_over(uint16_t crc, const uint8_t *octets, uint8_t count)
{
    uint8_t i;
    uint16_t sum = crc;

    for (i = 0U; i < count; i++) {
        sum = tctl_crc(sum, octets[i]);
    }
    return sum;
}

/* COBS keeps every octet where it is: a chunk is a spare octet and the body, and each zero (and the spare octet) holds the
   distance to the next one. So both ways are a walk over the same octets. */
static void stuff(uint8_t *chunk, uint8_t count)
{
    uint8_t last = 0U;
    uint8_t i;

    for (i = 1U; i < count; i++) {
        if (chunk[i] == 0U) {
            chunk[last] = (uint8_t)(i - last);
            last = i;
        }
    }
    chunk[last] = (uint8_t)(count - last);
}

static void unstuff(uint8_t *chunk, uint8_t count)
{
    uint8_t at = chunk[0];

    while (at < count) {
        uint8_t code = chunk[at];

        chunk[at] = 0U;
        at = (uint8_t)(at + code);
    }
}

/* The codes lead exactly to the end. No code octet is 0: that is the delimiter. */
static bool whole(const uint8_t *chunk, uint8_t count)
{
    uint32_t at = 0U;

    while (at < count) {
        at += chunk[at];
    }
    return at == count;
}

static bool text(const uint8_t *chunk, uint8_t count)
{
    uint8_t i;
    bool only = true;

    for (i = 0U; i < count; i++) {
        uint8_t c = chunk[i];

        if (((c < 0x20U) || (c > 0x7EU)) && (c != 0x09U) && (c != 0x0AU) && (c != 0x0DU) && (c != 0x1BU)) {
            only = false;
        }
    }
    return only;
}

static enum tctl_found check(uint8_t *chunk, uint8_t count)
{
    enum tctl_found found = TCTL_FOUND_NOISE;

    if ((count >= SHORTEST) && (count < TCTL_MAX_FRAME) && whole(chunk, count)) {
        uint16_t crc;

        unstuff(chunk, count);
        crc = tctl_crc_over(TCTL_CRC_BEGIN, &chunk[1], (uint8_t)(count - 3U));
        if ((chunk[count - 2U] == (crc & 0xFFU)) && (chunk[count - 1U] == (crc >> 8))) {
            found = TCTL_FOUND_FRAME;
        } else {
            stuff(chunk, count);
            if (!text(chunk, count)) {
                found = TCTL_FOUND_DAMAGED;
            }
        }
    }
    return found;
}

void tctl_decoder_reset(struct tctl_decoder *decoder)
{
    decoder->count = 0U;
    decoder->taken = false;
    decoder->overlong = false;
}

enum tctl_found tctl_decode(struct tctl_decoder *decoder, uint8_t octet)
{
    enum tctl_found found = TCTL_FOUND_NOTHING;

    if (decoder->taken) {
        decoder->taken = false;
        decoder->count = 0U;
    }
    if (octet != 0U) {
        decoder->octets[decoder->count] = octet;
        decoder->count++;
        if (decoder->count == TCTL_MAX_FRAME) {
            decoder->overlong = true;
            found = TCTL_FOUND_NOISE;
        }
    } else {
        if (decoder->count > 0U) {
            found = decoder->overlong ? TCTL_FOUND_NOISE : check(decoder->octets, decoder->count);
        }
        decoder->overlong = false;
    }
    decoder->taken = found != TCTL_FOUND_NOTHING;
    return found;
}

uint8_t tctl_seal(uint8_t *wire, uint8_t payload_count)
{
    uint8_t end = (uint8_t)(TCTL_WIRE_PAYLOAD + payload_count);
    uint16_t crc = tctl_crc_over(TCTL_CRC_BEGIN, &wire[TCTL_WIRE_CONTROL], (uint8_t)(end - TCTL_WIRE_CONTROL));

    wire[end] = (uint8_t)(crc & 0xFFU);
    wire[end + 1U] = (uint8_t)(crc >> 8);
    wire[0] = 0U;
    stuff(&wire[1], (uint8_t)(end + 1U));
    wire[end + 2U] = 0U;
    return (uint8_t)(end + 3U);
}
