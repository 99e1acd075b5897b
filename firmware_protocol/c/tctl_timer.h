/* The retransmission timer: RFC 6298 on integer microseconds, with Karn's rule at its caller (SPEC L-10, L-11). */
#ifndef TCTL_TIMER_H
#define TCTL_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct tctl_timer {
    uint32_t srtt; /* smoothed round trip, µs */
    uint32_t rttvar;
    uint32_t base;
    uint8_t backoff; /* doublings since the last sample */
    bool sampled;
};

void tctl_timer_reset(struct tctl_timer *timer);
uint32_t tctl_timer_rto(const struct tctl_timer *timer); /* µs, 25 ms to 2 s */
void tctl_timer_sample(struct tctl_timer *timer, uint32_t rtt_us);
void tctl_timer_back_off(struct tctl_timer *timer);

#endif
