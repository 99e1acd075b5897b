#include "tctl_octets.h"

void tctl_put8(struct tctl_writer *w, uint32_t value)
{
    w->octets[w->at] = (uint8_t)(value & 0xFFU);
    w->at++;
}

void tctl_put16(struct tctl_writer *w, uint32_t value)
{
    tctl_put8(w, value);
    tctl_put8(w, value >> 8);
}

void tctl_put32(struct tctl_writer *w, uint32_t value)
{
    tctl_put16(w, value);
    tctl_put16(w, value >> 16);
}

uint32_t tctl_within(bool *bad, uint32_t value, uint32_t lo, uint32_t hi)
{
    if ((value < lo) || (value > hi)) {
        *bad = true;
    }
    return value;
}

void tctl_put8_within(struct tctl_writer *w, uint32_t value, uint32_t lo, uint32_t hi)
{
    tctl_put8(w, tctl_within(&w->bad, value, lo, hi));
}

void tctl_put_octets(struct tctl_writer *w, const uint8_t *octets, uint8_t count, uint8_t most)
{
    uint8_t i;
    uint8_t n = count;

    if (n > most) {
        w->bad = true;
        n = 0U;
    }
    tctl_put8(w, n);
    for (i = 0U; i < n; i++) {
        tctl_put8(w, octets[i]);
    }
}

uint8_t tctl_get8(struct tctl_reader *r)
{
    uint8_t value = 0U;

    if (r->at < r->end) {
        value = r->octets[r->at];
        r->at++;
    } else {
        r->bad = true;
    }
    return value;
}

uint16_t tctl_get16(struct tctl_reader *r)
{
    uint32_t low = tctl_get8(r);

    return (uint16_t)(low | ((uint32_t)tctl_get8(r) << 8));
}

uint32_t tctl_get32(struct tctl_reader *r)
{
    uint32_t low = tctl_get16(r);

    return low | ((uint32_t)tctl_get16(r) << 16);
}

uint8_t tctl_get8_within(struct tctl_reader *r, uint32_t lo, uint32_t hi)
{
    return (uint8_t)tctl_within(&r->bad, tctl_get8(r), lo, hi);
}

uint8_t tctl_get_count(struct tctl_reader *r, uint8_t most)
{
    uint8_t count = tctl_get8(r);

    if (count > most) {
        r->bad = true;
        count = 0U;
    }
    return count;
}

uint8_t tctl_get_octets(struct tctl_reader *r, uint8_t *octets, uint8_t most)
{
    uint8_t i;
    uint8_t count = tctl_get_count(r, most);

    for (i = 0U; i < count; i++) {
        octets[i] = tctl_get8(r);
    }
    return count;
}

void tctl_put64(struct tctl_writer *w, uint64_t value)
{
    tctl_put32(w, (uint32_t)(value & UINT32_MAX));
    tctl_put32(w, (uint32_t)(value >> 32));
}

uint64_t tctl_get64(struct tctl_reader *r)
{
    uint64_t low = tctl_get32(r);

    return low | ((uint64_t)tctl_get32(r) << 32);
}

int16_t tctl_signed16(uint16_t value)
{
    return (value <= (uint16_t)INT16_MAX) ? (int16_t)value : (int16_t)(-(int32_t)(UINT16_MAX - value) - 1);
}

int32_t tctl_signed32(uint32_t value)
{
    return (value <= (uint32_t)INT32_MAX) ? (int32_t)value : (int32_t)(-(int32_t)(UINT32_MAX - value) - 1);
}

static bool continues(uint8_t octet)
{
    return (octet & 0xC0U) == 0x80U;
}

/* Octets of the UTF-8 character at the front, 0 when there is none (Unicode table 3-7). */
static uint8_t character(const uint8_t *text, uint8_t left)
{
    uint8_t lead = text[0];
    uint8_t need = 0U;
    uint8_t i;

    if (lead < 0x80U) {
        need = 1U;
    } else if ((lead >= 0xC2U) && (lead < 0xF5U)) {
        need = (lead < 0xE0U) ? 2U : ((lead < 0xF0U) ? 3U : 4U);
    } else {
        need = 0U;
    }
    if (need > left) {
        need = 0U;
    }
    for (i = 1U; i < need; i++) {
        if (!continues(text[i])) {
            need = 0U;
        }
    }
    if (need > 2U) {
        uint32_t head = ((uint32_t)lead << 8) | text[1];

        if ((head < 0xE0A0U) || ((head >= 0xEDA0U) && (head < 0xEE80U)) || ((head >= 0xF080U) && (head < 0xF090U)) || (head >= 0xF490U)) {
            need = 0U;
        }
    }
    return need;
}

uint8_t tctl_get_text(struct tctl_reader *r, uint8_t *text, uint8_t most)
{
    uint8_t count = tctl_get_octets(r, text, most);
    uint8_t at = 0U;

    while (at < count) {
        uint8_t n = character(&text[at], (uint8_t)(count - at));

        if (n == 0U) {
            text[at] = (uint8_t)'?';
            n = 1U;
        }
        at = (uint8_t)(at + n);
    }
    return count;
}
