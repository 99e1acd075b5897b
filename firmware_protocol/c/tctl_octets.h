/* Numbers, texts and counts to and from the octets of a payload: little-endian, never past the end (SPEC M-1, M-2). */
#ifndef TCTL_OCTETS_H
#define TCTL_OCTETS_H

#include <stdbool.h>
#include <stdint.h>

struct tctl_writer {
    uint8_t *octets; /* long enough: the declaration bounds every message */
    uint8_t at;
    bool bad; /* a value was out of range */
};

struct tctl_reader {
    const uint8_t *octets;
    uint8_t at;
    uint8_t end;
    bool bad; /* the octets ended early, or a value was out of range */
};

/* A value that the declaration narrows to lo … hi. */
uint32_t tctl_within(bool *bad, uint32_t value, uint32_t lo, uint32_t hi);

void tctl_put8(struct tctl_writer *w, uint32_t value);
void tctl_put16(struct tctl_writer *w, uint32_t value);
void tctl_put32(struct tctl_writer *w, uint32_t value);
void tctl_put64(struct tctl_writer *w, uint64_t value);
void tctl_put8_within(struct tctl_writer *w, uint32_t value, uint32_t lo, uint32_t hi);
void tctl_put_octets(struct tctl_writer *w, const uint8_t *octets, uint8_t count, uint8_t most);

uint8_t tctl_get8(struct tctl_reader *r);
uint16_t tctl_get16(struct tctl_reader *r);
uint32_t tctl_get32(struct tctl_reader *r);
uint64_t tctl_get64(struct tctl_reader *r);
uint8_t tctl_get8_within(struct tctl_reader *r, uint32_t lo, uint32_t hi);

/* The count in front of a list. */
uint8_t tctl_get_count(struct tctl_reader *r, uint8_t most);

/* Octets, or a text, behind their count. A text that is no UTF-8 has `?` where it is broken (M-4). */
uint8_t tctl_get_octets(struct tctl_reader *r, uint8_t *octets, uint8_t most);
uint8_t tctl_get_text(struct tctl_reader *r, uint8_t *text, uint8_t most);

/* Two's complement without leaning on how the compiler converts. */
int16_t tctl_signed16(uint16_t value);
int32_t tctl_signed32(uint32_t value);

#endif
