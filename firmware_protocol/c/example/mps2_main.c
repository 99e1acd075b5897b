/* The example table on a bare Cortex-M3, for QEMU's mps2-an385: UART0 is the wire, UART1 the panel, interrupts fill and drain rings. */
#include <stddef.h>

#include "startup.h"
#include "table.h"

#define WIRE_BASE 0x40004000U
#define PANEL_BASE 0x40005000U
#define DUAL_TIMER_BASE 0x40002000U
#define CLOCK_HZ 25000000U
#define BAUD 115200U
#define TICKS_A_MICROSECOND 25U
#define RING 512U /* a power of two */
#define BOOT_MAGIC UINT32_C(0x7AB1EC71)
#define SCATTER UINT32_C(2654435761)
#define MEASURE_US 1000000U

/* CMSDK APB UART */
#define UART_DATA 0U
#define UART_STATE 1U
#define UART_CONTROL 2U
#define UART_INTERRUPT 3U
#define UART_DIVIDER 4U
#define UART_STATE_SEND_FULL 1U
#define UART_STATE_RECEIVED 2U
#define UART_SENT 1U
#define UART_RECEIVED 2U
#define UART_ALL_ON 0x0FU /* sender, receiver and their interrupts */

/* CMSDK APB dual timer, timer 1 */
#define TIMER_LOAD 0U
#define TIMER_VALUE 1U
#define TIMER_CONTROL 2U
#define TIMER_FREE_32 0x82U

#define SYSTICK_CONTROL 0xE000E010U
#define NVIC_ENABLE 0xE000E100U
#define SYSTEM_RESET 0xE000ED0CU
#define SYSTEM_RESET_KEY 0x05FA0004U

struct ring {
    volatile uint16_t in;
    volatile uint16_t out;
    uint8_t octets[RING];
};

static struct table table;
static struct ring wire_in, wire_out, panel_in, panel_out;

/* Left alone at a restart. `noise` is written from outside: qemu -device loader,addr=0x20000000,data=N,data-len=4 */
__attribute__((section(".noinit"))) static struct {
    uint32_t noise;
    uint32_t magic;
    uint32_t boots;
} kept;

static volatile uint32_t *registers(uint32_t base)
{
    return (volatile uint32_t *)base;
}

static void interrupts_off(void)
{
    __asm volatile("cpsid i" ::: "memory");
}

static void interrupts_on(void)
{
    __asm volatile("cpsie i" ::: "memory");
}

/* Wakes also for an interrupt that is held off: none is missed. */
static void sleep(void)
{
    __asm volatile("wfi" ::: "memory");
}

/* ---------------------------------------------------------------- rings and UARTs */

static uint16_t waiting(const struct ring *ring)
{
    return (uint16_t)(ring->in - ring->out);
}

static void push(struct ring *ring, uint8_t octet)
{
    ring->octets[ring->in % RING] = octet;
    ring->in++;
}

static uint8_t pop(struct ring *ring)
{
    uint8_t octet = ring->octets[ring->out % RING];

    ring->out++;
    return octet;
}

static void received(uint32_t base, struct ring *ring)
{
    volatile uint32_t *uart = registers(base);

    uart[UART_INTERRUPT] = UART_RECEIVED;
    while ((uart[UART_STATE] & UART_STATE_RECEIVED) != 0U) {
        uint8_t octet = (uint8_t)uart[UART_DATA];

        if (waiting(ring) < RING) {
            push(ring, octet); /* else it is lost, and the link repeats it */
        }
    }
}

static void send_more(uint32_t base, struct ring *ring)
{
    volatile uint32_t *uart = registers(base);

    uart[UART_INTERRUPT] = UART_SENT;
    while ((waiting(ring) > 0U) && ((uart[UART_STATE] & UART_STATE_SEND_FULL) == 0U)) {
        uart[UART_DATA] = pop(ring);
    }
}

void on_wire_received(void)
{
    received(WIRE_BASE, &wire_in);
}

void on_wire_sent(void)
{
    send_more(WIRE_BASE, &wire_out);
}

void on_panel_received(void)
{
    received(PANEL_BASE, &panel_in);
}

void on_panel_sent(void)
{
    send_more(PANEL_BASE, &panel_out);
}

/* The tick only wakes the main loop. */
void on_tick(void)
{
}

static void start_sending(uint32_t base, struct ring *ring)
{
    interrupts_off();
    send_more(base, ring);
    interrupts_on();
}

static void uart_begin(uint32_t base)
{
    volatile uint32_t *uart = registers(base);

    uart[UART_DIVIDER] = CLOCK_HZ / BAUD;
    uart[UART_CONTROL] = UART_ALL_ON;
}

/* ---------------------------------------------------------------- the table's port */

static uint32_t now_us(void *self)
{
    static uint32_t last;
    static uint32_t rest;
    static uint32_t micros;
    uint32_t ticks = 0U - registers(DUAL_TIMER_BASE)[TIMER_VALUE]; /* it counts down */
    uint32_t since = (ticks - last) + rest;

    (void)self;
    last = ticks;
    micros += since / TICKS_A_MICROSECOND;
    rest = since % TICKS_A_MICROSECOND;
    return micros;
}

static bool write_wire(void *self, const uint8_t *octets, uint8_t count)
{
    bool room = ((uint32_t)waiting(&wire_out) + count) <= RING;
    uint8_t i;

    (void)self;
    if (room) {
        for (i = 0U; i < count; i++) {
            push(&wire_out, octets[i]);
        }
        start_sending(WIRE_BASE, &wire_out);
    }
    return room;
}

static void say(void *self, const char *text)
{
    uint32_t i;

    (void)self;
    for (i = 0U; text[i] != '\0'; i++) {
        if (waiting(&panel_out) == RING) {
            start_sending(PANEL_BASE, &panel_out);
        }
        if (waiting(&panel_out) < RING) {
            push(&panel_out, (uint8_t)text[i]);
        }
    }
    start_sending(PANEL_BASE, &panel_out);
}

static void restart(void *self)
{
    (void)self;
    *registers(SYSTEM_RESET) = SYSTEM_RESET_KEY;
}

/* ---------------------------------------------------------------- main */

/* Differs from start to start where there is noise; a board without it tells 0 (SPEC chapter 10). */
static uint32_t boot_id(void)
{
    uint32_t id = kept.noise + (kept.boots * SCATTER);

    return (kept.noise == 0U) ? 0U : ((id == 0U) ? 1U : id);
}

int main(void)
{
    static const struct table_port PORT = {NULL, now_us, write_wire, say, restart};
    uint8_t cause = (uint8_t)TCTL_RESET_CAUSE_SOFTWARE;
    uint32_t measured;

    if (kept.magic != BOOT_MAGIC) {
        kept.magic = BOOT_MAGIC;
        kept.boots = 0U;
        cause = (uint8_t)TCTL_RESET_CAUSE_POWER_ON;
    }
    kept.boots++;
    registers(DUAL_TIMER_BASE)[TIMER_LOAD] = UINT32_MAX;
    registers(DUAL_TIMER_BASE)[TIMER_CONTROL] = TIMER_FREE_32;
    registers(SYSTICK_CONTROL)[1] = (CLOCK_HZ / 1000U) - 1U;
    registers(SYSTICK_CONTROL)[2] = 0U;
    registers(SYSTICK_CONTROL)[0] = 7U;
    uart_begin(WIRE_BASE);
    uart_begin(PANEL_BASE);
    *registers(NVIC_ENABLE) = 0x0FU;
    measured = now_us(NULL);
    table_start(&table, &PORT, boot_id(), cause, 1U);
    for (;;) {
        uint32_t wait;
        uint8_t octet;

        while (waiting(&wire_in) > 0U) {
            octet = pop(&wire_in);
            table_wire(&table, &octet, 1U);
        }
        while (waiting(&panel_in) > 0U) {
            octet = pop(&panel_in);
            table_panel(&table, &octet, 1U);
        }
        wait = table_run(&table);
        if ((now_us(NULL) - measured) >= MEASURE_US) {
            measured += MEASURE_US;
            table.link.figures.free_memory = (uint16_t)stack_untouched();
        }
        interrupts_off();
        if ((wait > 0U) && (waiting(&wire_in) == 0U) && (waiting(&panel_in) == 0U)) {
            sleep();
        }
        interrupts_on();
    }
}
