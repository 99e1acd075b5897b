#include "tctl_timer.h"

#define RTO_INITIAL 250000U
#define RTO_MIN 25000U
#define RTO_MAX 2000000U
#define GRANULARITY 1000U
#define SAMPLE_MAX 60000000U /* keeps the sums below 32 bits; a round trip of a minute says no more than one of two */

void tctl_timer_reset(struct tctl_timer *timer)
{
    timer->srtt = 0U;
    timer->rttvar = 0U;
    timer->base = RTO_INITIAL;
    timer->backoff = 0U;
    timer->sampled = false;
}

uint32_t tctl_timer_rto(const struct tctl_timer *timer)
{
    uint32_t rto = timer->base << timer->backoff;

    return (rto < RTO_MAX) ? rto : RTO_MAX;
}

void tctl_timer_sample(struct tctl_timer *timer, uint32_t rtt_us)
{
    uint32_t rtt = (rtt_us < SAMPLE_MAX) ? rtt_us : SAMPLE_MAX;
    uint32_t margin;

    if (timer->sampled) {
        uint32_t error = (timer->srtt > rtt) ? (timer->srtt - rtt) : (rtt - timer->srtt);

        timer->rttvar = ((3U * timer->rttvar) + error) / 4U;
        timer->srtt = ((7U * timer->srtt) + rtt) / 8U;
    } else {
        timer->srtt = rtt;
        timer->rttvar = rtt / 2U;
        timer->sampled = true;
    }
    margin = 4U * timer->rttvar;
    timer->base = timer->srtt + ((margin > GRANULARITY) ? margin : GRANULARITY);
    if (timer->base < RTO_MIN) {
        timer->base = RTO_MIN;
    }
    if (timer->base > RTO_MAX) {
        timer->base = RTO_MAX;
    }
    timer->backoff = 0U;
}

void tctl_timer_back_off(struct tctl_timer *timer)
{
    if (tctl_timer_rto(timer) < RTO_MAX) {
        timer->backoff++;
    }
}
