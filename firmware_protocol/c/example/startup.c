/* From reset to main on a bare Cortex-M3, and the few functions that a compiler expects of every environment. */
#include <stddef.h>
#include <stdint.h>

#include "startup.h"

/* Else the loops below would become calls of themselves. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

extern uint32_t data_begin[], data_end[], data_load[], bss_begin[], bss_end[], stack_begin[], stack_end[];

void reset(void);
void fault(void);
void *memcpy(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);

void *memcpy(void *to, const void *from, size_t count)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    size_t i;

    for (i = 0U; i < count; i++) {
        out[i] = in[i];
    }
    return to;
}

void *memset(void *to, int value, size_t count)
{
    uint8_t *out = to;
    size_t i;

    for (i = 0U; i < count; i++) {
        out[i] = (uint8_t)value;
    }
    return to;
}

uint32_t stack_untouched(void)
{
    uint32_t i = 0U;

    while ((&stack_begin[i] < stack_end) && (stack_begin[i] == STACK_PAINT)) {
        i++;
    }
    return i * 4U;
}

void reset(void)
{
    uint32_t i;
    uint32_t words = (uint32_t)(data_end - data_begin);

    for (i = 0U; i < words; i++) {
        data_begin[i] = data_load[i];
    }
    words = (uint32_t)(bss_end - bss_begin);
    for (i = 0U; i < words; i++) {
        bss_begin[i] = 0U;
    }
    /* All but what this function stands on. */
    words = (uint32_t)(stack_end - stack_begin) - 32U;
    for (i = 0U; i < words; i++) {
        stack_begin[i] = STACK_PAINT;
    }
    (void)main();
    for (;;) {
    }
}

/* A fault stops the table and leaves the rest to the watchdog; the host sees silence. */
void fault(void)
{
    for (;;) {
    }
}

typedef void (*vector)(void);

/* Numbers of the interrupts are the board's: application note 385. */
__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    vector system[15];
    vector board[4];
} VECTORS = {
    stack_end,
    {reset, fault, fault, fault, fault, fault, NULL, NULL, NULL, NULL, fault, fault, NULL, fault, on_tick},
    {on_wire_received, on_wire_sent, on_panel_received, on_panel_sent},
};
