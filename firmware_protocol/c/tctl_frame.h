/* Frames on the line: COBS between 00 delimiters, CRC-16/CCITT-FALSE, at most 64 octets (SPEC chapter 2).

   Both directions work in place. A decoded frame and a frame to be sent lie in one fixed buffer; nothing is copied twice. */
#ifndef TCTL_FRAME_H
#define TCTL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "generated/tablectl_messages.h"

/* Frame types: the low half of the control octet; the high half is the session (F-12). */
#define TCTL_FRAME_DATA 1U
#define TCTL_FRAME_ACK 2U
#define TCTL_FRAME_DATAGRAM 3U
#define TCTL_FRAME_LINK 4U

/* CRC-16/CCITT-FALSE: begin with TCTL_CRC_BEGIN; over "123456789" it is 0x29B1 (F-4). */
#define TCTL_CRC_BEGIN 0xFFFFU
uint16_t tctl_crc(uint16_t crc, uint8_t octet);
uint16_t tctl_crc_over(uint16_t crc, const uint8_t *octets, uint8_t count);

/* ---- receiving ---- */

enum tctl_found {
    TCTL_FOUND_NOTHING, /* a delimiter is still to come */
    TCTL_FOUND_FRAME,
    TCTL_FOUND_NOISE,  /* octets that are no frame: for the log (F-10) */
    TCTL_FOUND_DAMAGED /* the form of a frame and a wrong CRC */
};

/* Where a frame's parts lie in `octets` of a decoder that found one. */
#define TCTL_AT_CONTROL 1U
#define TCTL_AT_SEQ 2U
#define TCTL_AT_ACK 3U
#define TCTL_AT_ID 4U
#define TCTL_AT_PAYLOAD 5U
#define TCTL_AROUND_PAYLOAD 7U /* octets of a chunk that are no payload */

struct tctl_decoder {
    uint8_t octets[TCTL_MAX_FRAME]; /* 63 that wait for a delimiter (F-7), and the one too many that ends the waiting */
    uint8_t count;
    bool taken;    /* what lies here was found already */
    bool overlong; /* no frame can come before the next delimiter */
};

void tctl_decoder_reset(struct tctl_decoder *decoder);

/* One octet from the line. What was found lies in decoder->octets[0 … count) until the next call. */
enum tctl_found tctl_decode(struct tctl_decoder *decoder, uint8_t octet);

/* ---- sending ---- */

/* A frame to be sent: a spare delimiter, the COBS code octet, the body, the CRC, the delimiter. */
#define TCTL_WIRE (TCTL_MAX_FRAME + 1U)
#define TCTL_WIRE_CONTROL 2U
#define TCTL_WIRE_SEQ 3U
#define TCTL_WIRE_ACK 4U
#define TCTL_WIRE_ID 5U
#define TCTL_WIRE_PAYLOAD 6U

/* Header and payload stand in `wire`; adds all else. Returns the count of octets from wire[0]; the frame proper begins at wire[1]. */
uint8_t tctl_seal(uint8_t *wire, uint8_t payload_count);

#endif
