/* The panel: a second serial line on which a person or a script does what people do at a table, one command a line. What happens at
   the table is written there too: "walls up", "dice 3 4", "honba 2", "link up". */
#include "table.h"

#include <stddef.h>

static const char HELP[] = "start [SEAT]        press start\n"
                           "dice [SEAT]         press dice\n"
                           "updown [SEAT]       press up/down: the lid opens or closes\n"
                           "press BUTTON SEAT   press any button by its number in SPEC.md\n"
                           "load A B            what the next roll will show\n"
                           "hand A B            people threw their own dice\n"
                           "speed N             motors N times as fast as real ones\n"
                           "jam / clear         what moves jams; a person frees it\n"
                           "show                where everything stands\n"
                           "reset               restart the board\n";

static bool same(const char *a, const char *b)
{
    uint32_t i = 0U;

    while ((a[i] != '\0') && (a[i] == b[i])) {
        i++;
    }
    return a[i] == b[i];
}

/* Cuts the first word off; an empty one at the end. */
static char *word(char **rest)
{
    char *at = *rest;
    char *from;

    while (*at == ' ') {
        at++;
    }
    from = at;
    while ((*at != ' ') && (*at != '\0')) {
        at++;
    }
    if (*at != '\0') {
        *at = '\0';
        at++;
    }
    *rest = at;
    return from;
}

/* A number of at most `most`; `missing` when the word is empty; UINT32_MAX when it is none of both. */
static uint32_t number(const char *text, uint32_t most, uint32_t missing)
{
    uint32_t value = 0U;
    uint32_t i;

    if (text[0] == '\0') {
        return missing;
    }
    for (i = 0U; text[i] != '\0'; i++) {
        if ((text[i] < '0') || (text[i] > '9') || (i > 5U)) {
            return UINT32_MAX;
        }
        value = (value * 10U) + (uint32_t)(text[i] - '0');
    }
    return (value <= most) ? value : UINT32_MAX;
}

static void show(struct table *table)
{
    static const char *const PHASES[] = {"unknown", "down", "rising", "up", "lowering", "building", "ready", "jammed"};

    table_say(table, "lid ");
    table_say(table, PHASES[table->state.lid]);
    table_say(table, ", walls ");
    table_say(table, PHASES[table->state.walls[0]]);
    table_say(table, (table->state.locked != 0U) ? ", locked" : ", unlocked");
    table_say(table, (table->state.fault != 0U) ? ", fault" : ", no fault");
    table_say(table, ", events ");
    table_say_number(table, table->link.event_no);
    table_say(table, ", held ");
    table_say_number(table, table->link.held);
    table_say(table, ", actions ");
    table_say_number(table, table->link.figures.actions);
    table_say(table, ", links ");
    table_say_number(table, table->link.figures.links);
    table_say(table, ", damaged ");
    table_say_number(table, table->link.figures.crc_errors);
    table_say(table, "\n");
}

static bool obey_numbers(struct table *table, const char *command, char *rest)
{
    char *first = word(&rest);
    char *second = word(&rest);
    bool known = true;

    if (same(command, "load") || same(command, "hand")) {
        uint32_t a = number(first, 6U, UINT32_MAX);
        uint32_t b = number(second, 6U, UINT32_MAX);

        known = (a >= 1U) && (a <= 6U) && (b >= 1U) && (b <= 6U);
        if (known && same(command, "hand")) {
            table_dice_by_hand(table, (uint8_t)a, (uint8_t)b);
        } else if (known) {
            table->loaded[0] = (uint8_t)a;
            table->loaded[1] = (uint8_t)b;
        } else {
            /* said below */
        }
    } else if (same(command, "speed")) {
        uint32_t speed = number(first, 60000U, UINT32_MAX);

        known = (speed >= 1U) && (speed <= 60000U);
        table->speed = known ? (uint16_t)speed : table->speed;
    } else if (same(command, "press")) {
        uint32_t button = number(first, 255U, UINT32_MAX);
        uint32_t seat = number(second, 255U, TCTL_SEAT_TABLE);

        known = (button <= 255U) && (seat <= 255U);
        if (known) {
            table_press(table, (uint8_t)button, (uint8_t)seat, (uint8_t)TCTL_PRESS_PRESSED);
        }
    } else {
        known = false;
    }
    return known;
}

static uint8_t button_of(const char *command)
{
    uint8_t button = 0U;

    if (same(command, "start")) {
        button = (uint8_t)TCTL_BUTTON_START;
    } else if (same(command, "dice")) {
        button = (uint8_t)TCTL_BUTTON_DICE;
    } else if (same(command, "updown")) {
        button = (uint8_t)TCTL_BUTTON_UP_DOWN;
    } else {
        /* none */
    }
    return button;
}

void panel_obey(struct table *table, char *line)
{
    char *rest = line;
    const char *command = word(&rest);
    uint8_t button = button_of(command);
    bool known = true;

    if (button != 0U) {
        uint32_t seat = number(word(&rest), 3U, TCTL_SEAT_TABLE);

        known = seat != UINT32_MAX;
        if (known) {
            table_press(table, button, (uint8_t)seat, (uint8_t)TCTL_PRESS_PRESSED);
        }
    } else if (same(command, "jam")) {
        table_jam(table);
    } else if (same(command, "clear")) {
        table_clear(table);
    } else if (same(command, "show")) {
        show(table);
    } else if (same(command, "help")) {
        table_say(table, HELP);
    } else if (same(command, "reset")) {
        table->port->reset(table->port->self);
    } else {
        known = obey_numbers(table, command, rest);
    }
    table_say(table, known ? "ok\n" : "? 'help' tells what the panel can do\n");
}
