/* What startup.c and a board's main share. */
#ifndef STARTUP_H
#define STARTUP_H

#include <stdint.h>

#define STACK_PAINT UINT32_C(0xA5A5A5A5)

int main(void);
void on_tick(void);
void on_wire_received(void);
void on_wire_sent(void);
void on_panel_received(void);
void on_panel_sent(void);

/* Octets of the stack that were never used. */
uint32_t stack_untouched(void);

#endif
