/* An example table of level basic: start button, lift, dice, lock, beeper, displays for round, honba and deposits.

   The machine is a model: motions end after a time. On a real table each `*_until_us` is an end switch, and each place that says
   "motor" is where the motor goes. Everything else can stay. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "../tctl_link.h"
#include "../tctl_pages.h"

#define TABLE_LINE 40U

/* What the table needs of the board that it runs on. */
struct table_port {
    void *self;
    uint32_t (*now_us)(void *self);
    bool (*write)(void *self, const uint8_t *octets, uint8_t count); /* the wire: all or nothing */
    void (*say)(void *self, const char *text);                       /* the panel */
    void (*reset)(void *self);                                       /* restart the board */
};

enum table_motion { TABLE_STILL, TABLE_RAISING, TABLE_LOWERING, TABLE_OPENING, TABLE_CLOSING };

struct table {
    struct tctl_link link;
    struct tctl_board board;
    const struct table_port *port;
    struct tctl_snapshot_state state;
    struct tctl_series series;
    uint32_t random;
    uint32_t motion_until_us;
    uint32_t motion_cmd; /* 0: a button began it */
    uint32_t dice_until_us;
    uint32_t dice_cmd;
    uint16_t speed; /* times as fast as real motors */
    uint8_t motion; /* enum table_motion */
    bool dice_rolling;
    bool stopped;
    uint8_t loaded[2]; /* values of the next roll, 0 for chance */
    uint8_t test_mode;
    char line[TABLE_LINE]; /* of the panel, so far */
    uint8_t line_count;
};

/* `noise`: differs from start to start; 0 on a board that has nothing of the kind. */
void table_start(struct table *table, const struct table_port *port, uint32_t noise, uint8_t reset_cause, uint16_t speed);

/* Octets from the wire, and from the panel. */
void table_wire(struct table *table, const uint8_t *octets, uint32_t count);
void table_panel(struct table *table, const uint8_t *octets, uint32_t count);

/* Each turn of the main loop; returns µs until the next is wanted. */
uint32_t table_run(struct table *table);

/* What people do at the table: for the panel. */
void table_press(struct table *table, uint8_t button, uint8_t seat, uint8_t press);
void table_jam(struct table *table);
void table_clear(struct table *table);
void table_dice_by_hand(struct table *table, uint8_t a, uint8_t b);
void table_say(struct table *table, const char *text);
void table_say_number(struct table *table, uint32_t number);

/* panel.c: obeys one line of text. */
void panel_obey(struct table *table, char *line);

#endif
