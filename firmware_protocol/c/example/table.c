#include "table.h"

#include <stddef.h>

#define LIFT_US 4500000U
#define LID_US 1800000U
#define ROLL_US 2200000U
#define WALLS 4U

static const struct tctl_identity IDENTITY = {
    UINT32_C(0x01000000),
    TCTL_LEVEL_BASIC | TCTL_CAPABILITY_LOCK | TCTL_CAPABILITY_BEEP | TCTL_CAPABILITY_ROUND_DISPLAY | TCTL_CAPABILITY_DEPOSITS_DISPLAY |
        TCTL_CAPABILITY_SEAT_ROULETTE | TCTL_CAPABILITY_TEST,
};

void table_say(struct table *table, const char *text)
{
    table->port->say(table->port->self, text);
}

void table_say_number(struct table *table, uint32_t number)
{
    char digits[11];
    uint32_t at = sizeof digits - 1U;
    uint32_t rest = number;

    digits[at] = '\0';
    do {
        at--;
        digits[at] = (char)('0' + (char)(rest % 10U));
        rest /= 10U;
    } while (rest > 0U);
    table_say(table, &digits[at]);
}

static uint32_t now_of(const struct table *table)
{
    return table->port->now_us(table->port->self);
}

static bool passed(uint32_t now, uint32_t at)
{
    return (now - at) < UINT32_C(0x80000000);
}

/* xorshift: for dice of a model. Real dice need no number from a program. */
static uint8_t chance(struct table *table, uint8_t sides)
{
    table->random ^= table->random << 13;
    table->random ^= table->random >> 17;
    table->random ^= table->random << 5;
    return (uint8_t)(table->random % sides);
}

static bool walls_are(const struct table *table, uint8_t phase)
{
    return table->state.walls[0] == phase; /* the four move together */
}

/* ---------------------------------------------------------------- what is told to the host */

static void tell_state(struct table *table)
{
    uint16_t status = 0U;

    if ((table->motion != (uint8_t)TABLE_STILL) || table->dice_rolling) {
        status |= (uint16_t)TCTL_STATUS_MOVING;
    }
    if (table->state.locked != 0U) {
        status |= (uint16_t)TCTL_STATUS_LOCKED;
    }
    if (table->state.fault != 0U) {
        status |= (uint16_t)TCTL_STATUS_FAULT;
    }
    if (table->test_mode != 0U) {
        status |= (uint16_t)TCTL_STATUS_TEST_MODE;
    }
    if (table->stopped) {
        status |= (uint16_t)TCTL_STATUS_STOPPED;
    }
    tctl_tell_state(&table->link, tctl_state_digest(&table->state), status);
}

static void send(struct table *table, const struct tctl_message *event)
{
    tell_state(table);
    (void)tctl_send(&table->link, event);
}

static void finish(struct table *table, uint32_t cmd_id, uint8_t result, uint16_t detail)
{
    tell_state(table);
    if (cmd_id != 0U) {
        (void)tctl_finish(&table->link, cmd_id, result, detail);
    }
}

static const char *phase_name(uint8_t phase)
{
    static const char *const NAMES[] = {"unknown", "down", "rising", "up", "lowering", "building", "ready", "jammed"};

    return NAMES[phase];
}

static void walls_to(struct table *table, uint8_t phase, uint8_t jam, uint32_t cmd_id)
{
    struct tctl_message event = {.id = (uint8_t)TCTL_WALL_EVENT, .as.wall_event = {TCTL_SEAT_TABLE, phase, jam, cmd_id}};
    uint8_t i;

    for (i = 0U; i < WALLS; i++) {
        table->state.walls[i] = phase;
    }
    send(table, &event);
    table_say(table, "walls ");
    table_say(table, phase_name(phase));
    table_say(table, "\n");
}

static void lid_to(struct table *table, uint8_t phase, uint8_t jam, uint32_t cmd_id)
{
    struct tctl_message event = {.id = (uint8_t)TCTL_LID_EVENT, .as.lid_event = {phase, jam, cmd_id}};

    table->state.lid = phase;
    send(table, &event);
    table_say(table, "lid ");
    table_say(table, phase_name(phase));
    table_say(table, "\n");
}

/* ---------------------------------------------------------------- motions and their interlocks */

static void begin_motion(struct table *table, enum table_motion motion, uint32_t cmd_id, uint32_t duration_us)
{
    table->motion = (uint8_t)motion; /* motor on */
    table->motion_cmd = cmd_id;
    table->motion_until_us = now_of(table) + (duration_us / table->speed);
    table->stopped = false;
}

static void raise_walls(struct table *table, uint32_t cmd_id)
{
    if (table->motion != (uint8_t)TABLE_STILL) {
        finish(table, cmd_id, (uint8_t)TCTL_RESULT_REFUSED_BUSY, 0U);
    } else if ((table->state.lid != (uint8_t)TCTL_PHASE_DOWN) || (table->state.locked != 0U) || (table->state.fault != 0U) ||
               !walls_are(table, (uint8_t)TCTL_PHASE_READY)) {
        finish(table, cmd_id, (uint8_t)TCTL_RESULT_REFUSED_INTERLOCK, 0U);
    } else {
        begin_motion(table, TABLE_RAISING, cmd_id, LIFT_US);
        walls_to(table, (uint8_t)TCTL_PHASE_RISING, 0U, cmd_id);
    }
}

static void lower_walls(struct table *table, uint32_t cmd_id)
{
    if (table->motion != (uint8_t)TABLE_STILL) {
        finish(table, cmd_id, (uint8_t)TCTL_RESULT_REFUSED_BUSY, 0U);
    } else if ((table->state.locked != 0U) || walls_are(table, (uint8_t)TCTL_PHASE_READY)) {
        finish(table, cmd_id, (uint8_t)TCTL_RESULT_REFUSED_INTERLOCK, 0U);
    } else {
        table->state.fault = 0U; /* back to the end switch: the position is known again */
        begin_motion(table, TABLE_LOWERING, cmd_id, LIFT_US);
        walls_to(table, (uint8_t)TCTL_PHASE_LOWERING, 0U, cmd_id);
    }
}

static void move_lid(struct table *table)
{
    bool may = (table->motion == (uint8_t)TABLE_STILL) && (table->state.locked == 0U) && (table->state.fault == 0U);

    if (may && (table->state.lid == (uint8_t)TCTL_PHASE_DOWN)) {
        begin_motion(table, TABLE_OPENING, 0U, LID_US);
        lid_to(table, (uint8_t)TCTL_PHASE_RISING, 0U, 0U);
    } else if (may && (table->state.lid == (uint8_t)TCTL_PHASE_UP)) {
        begin_motion(table, TABLE_CLOSING, 0U, LID_US);
        lid_to(table, (uint8_t)TCTL_PHASE_LOWERING, 0U, 0U);
    } else {
        table_say(table, "the lid may not move now\n");
    }
}

static void end_motion(struct table *table)
{
    uint8_t motion = table->motion;
    uint32_t cmd_id = table->motion_cmd;

    table->motion = (uint8_t)TABLE_STILL; /* motor off */
    if (motion == (uint8_t)TABLE_RAISING) {
        walls_to(table, (uint8_t)TCTL_PHASE_UP, 0U, cmd_id);
    } else if (motion == (uint8_t)TABLE_LOWERING) {
        walls_to(table, (uint8_t)TCTL_PHASE_DOWN, 0U, cmd_id);
        walls_to(table, (uint8_t)TCTL_PHASE_READY, 0U, 0U);
    } else if (motion == (uint8_t)TABLE_OPENING) {
        lid_to(table, (uint8_t)TCTL_PHASE_UP, 0U, cmd_id);
    } else {
        lid_to(table, (uint8_t)TCTL_PHASE_DOWN, 0U, cmd_id);
        if (walls_are(table, (uint8_t)TCTL_PHASE_UP)) {
            /* People have taken the walls off the platform: it sinks and fetches the other set. */
            walls_to(table, (uint8_t)TCTL_PHASE_DOWN, 0U, 0U);
            walls_to(table, (uint8_t)TCTL_PHASE_READY, 0U, 0U);
        }
    }
    finish(table, cmd_id, (uint8_t)TCTL_RESULT_DONE, 0U);
}

/* All motion ends where it is; `result` tells the host why. */
static void break_off(struct table *table, uint8_t result, uint8_t jam)
{
    uint8_t motion = table->motion;
    uint32_t cmd_id = table->motion_cmd;

    if (motion != (uint8_t)TABLE_STILL) {
        table->motion = (uint8_t)TABLE_STILL; /* motor off */
        table->state.fault = 1U;
        if ((motion == (uint8_t)TABLE_RAISING) || (motion == (uint8_t)TABLE_LOWERING)) {
            walls_to(table, (uint8_t)TCTL_PHASE_JAMMED, jam, cmd_id);
        } else {
            lid_to(table, (uint8_t)TCTL_PHASE_JAMMED, jam, cmd_id);
        }
        finish(table, cmd_id, result, jam);
    }
}

static void roll(struct table *table, uint32_t cmd_id)
{
    struct tctl_message event = {.id = (uint8_t)TCTL_DICE_ROLLING, .as.dice_rolling = {cmd_id}};

    if (table->dice_rolling) {
        finish(table, cmd_id, (uint8_t)TCTL_RESULT_REFUSED_BUSY, 0U);
    } else {
        table->dice_rolling = true; /* motor on */
        table->dice_cmd = cmd_id;
        table->dice_until_us = now_of(table) + (ROLL_US / table->speed);
        send(table, &event);
    }
}

static void settle(struct table *table, uint8_t a, uint8_t b, uint8_t manual, uint32_t cmd_id)
{
    struct tctl_message event = {.id = (uint8_t)TCTL_DICE_SETTLED, .as.dice_settled = {a, b, manual, cmd_id}};

    send(table, &event);
    table_say(table, "dice ");
    table_say_number(table, a);
    table_say(table, " ");
    table_say_number(table, b);
    table_say(table, "\n");
}

static void end_roll(struct table *table)
{
    uint8_t a = (table->loaded[0] != 0U) ? table->loaded[0] : (uint8_t)(chance(table, 6U) + 1U);
    uint8_t b = (table->loaded[1] != 0U) ? table->loaded[1] : (uint8_t)(chance(table, 6U) + 1U);

    table->loaded[0] = 0U;
    table->loaded[1] = 0U;
    table->dice_rolling = false; /* motor off */
    settle(table, a, b, 0U, table->dice_cmd);
    finish(table, table->dice_cmd, (uint8_t)TCTL_RESULT_DONE, (uint16_t)((10U * a) + b));
}

/* ---------------------------------------------------------------- what the host asks */

static bool holds(const struct table *table, uint8_t require)
{
    uint32_t met = 0U;
    bool down = walls_are(table, (uint8_t)TCTL_PHASE_READY) || walls_are(table, (uint8_t)TCTL_PHASE_DOWN);

    met |= ((table->motion == (uint8_t)TABLE_STILL) && !table->dice_rolling) ? TCTL_REQUIRE_IDLE : 0U;
    met |= (table->state.lid == (uint8_t)TCTL_PHASE_DOWN) ? TCTL_REQUIRE_LID_DOWN : 0U;
    met |= (table->state.lid == (uint8_t)TCTL_PHASE_UP) ? TCTL_REQUIRE_LID_UP : 0U;
    met |= down ? TCTL_REQUIRE_WALLS_DOWN : 0U;
    met |= walls_are(table, (uint8_t)TCTL_PHASE_UP) ? TCTL_REQUIRE_WALLS_UP : 0U;
    met |= (table->state.locked == 0U) ? TCTL_REQUIRE_UNLOCKED : 0U;
    met |= (table->state.fault == 0U) ? TCTL_REQUIRE_NO_FAULT : 0U;
    return (require & ~met) == 0U;
}

static void lock(struct table *table, uint8_t locked, uint32_t cmd_id)
{
    struct tctl_message event = {.id = (uint8_t)TCTL_LOCK_EVENT, .as.lock_event = {locked, cmd_id}};

    if (table->state.locked != locked) {
        table->state.locked = locked;
        send(table, &event);
        table_say(table, (locked != 0U) ? "locked\n" : "unlocked\n");
    }
    finish(table, cmd_id, (uint8_t)TCTL_RESULT_DONE, 0U);
}

static void draw_seat(struct table *table, uint32_t cmd_id)
{
    struct tctl_message event = {.id = (uint8_t)TCTL_SEAT_ROULETTE, .as.seat_roulette = {chance(table, 4U)}};

    send(table, &event);
    finish(table, cmd_id, (uint8_t)TCTL_RESULT_DONE, event.as.seat_roulette.seat);
}

static void test(struct table *table, uint16_t number, uint32_t cmd_id)
{
    struct tctl_message event = {.id = (uint8_t)TCTL_TEST_EVENT, .as.test_event = {number, 0}};

    send(table, &event);
    finish(table, cmd_id, (uint8_t)TCTL_RESULT_DONE, number);
}

static bool can(uint8_t action)
{
    return (action >= (uint8_t)TCTL_ACTION_KIND_ROLL) && (action <= (uint8_t)TCTL_ACTION_KIND_TEST);
}

static void act(struct table *table, const struct tctl_action *action)
{
    if (!can(action->action)) {
        finish(table, action->cmd_id, (uint8_t)TCTL_RESULT_UNSUPPORTED, 0U);
        return;
    }
    if (!holds(table, action->require)) {
        finish(table, action->cmd_id, (uint8_t)TCTL_RESULT_REFUSED_PRECONDITION, 0U);
        return;
    }
    switch (action->action) {
    case TCTL_ACTION_KIND_ROLL:
        roll(table, action->cmd_id);
        break;
    case TCTL_ACTION_KIND_LIFT:
        raise_walls(table, action->cmd_id);
        break;
    case TCTL_ACTION_KIND_LOWER:
        lower_walls(table, action->cmd_id);
        break;
    case TCTL_ACTION_KIND_LOCK:
        lock(table, 1U, action->cmd_id);
        break;
    case TCTL_ACTION_KIND_UNLOCK:
        lock(table, 0U, action->cmd_id);
        break;
    case TCTL_ACTION_KIND_BEEP:
        table_say(table, "beep\n");
        finish(table, action->cmd_id, (uint8_t)TCTL_RESULT_DONE, action->arg);
        break;
    case TCTL_ACTION_KIND_SEAT_DRAW:
        draw_seat(table, action->cmd_id);
        break;
    default:
        test(table, action->arg, action->cmd_id);
        break;
    }
}

static void stop_roll(struct table *table)
{
    if (table->dice_rolling) {
        table->dice_rolling = false; /* motor off */
        finish(table, table->dice_cmd, (uint8_t)TCTL_RESULT_STOPPED, 0U);
    }
}

static void stop(struct table *table, uint32_t cmd_id)
{
    break_off(table, (uint8_t)TCTL_RESULT_STOPPED, (uint8_t)TCTL_JAM_POSITION_LOST);
    stop_roll(table);
    table->stopped = true;
    finish(table, cmd_id, (uint8_t)TCTL_RESULT_DONE, 0U);
}

static const char *text_of(uint8_t key)
{
    const char *text = NULL;

    if (key == (uint8_t)TCTL_INFO_KEY_MODEL) {
        text = "tablectl example table 見本卓";
    } else if (key == (uint8_t)TCTL_INFO_KEY_VENDOR) {
        text = "tablectl";
    } else if (key == (uint8_t)TCTL_INFO_KEY_FIRMWARE) {
        text = "1.0.0";
    } else {
        /* the table does not know */
    }
    return text;
}

static void test_emit(struct table *table, const struct tctl_test_emit *request)
{
    static const char REFUSED[] = "TestEmit outside test mode";
    struct tctl_message line;
    uint8_t i;

    if (table->test_mode != 0U) {
        tctl_series_begin(&table->series, request, now_of(table));
    } else {
        line.id = (uint8_t)TCTL_LOG_TEXT;
        line.as.log_text.level = (uint8_t)TCTL_LOG_LEVEL_WARNING;
        line.as.log_text.text_count = (uint8_t)(sizeof REFUSED - 1U);
        for (i = 0U; i < line.as.log_text.text_count; i++) {
            line.as.log_text.text[i] = (uint8_t)REFUSED[i];
        }
        (void)tctl_send(&table->link, &line);
    }
}

static void on_message(void *self, const struct tctl_message *message)
{
    struct table *table = self;

    switch (message->id) {
    case TCTL_ACTION:
        act(table, &message->as.action);
        break;
    case TCTL_STOP:
        stop(table, message->as.stop.cmd_id);
        break;
    case TCTL_INFO_REQUEST:
        tctl_answer_info(&table->link, &message->as.info_request, text_of(message->as.info_request.key));
        break;
    case TCTL_SNAPSHOT_REQUEST:
        tctl_answer_snapshot(&table->link, &message->as.snapshot_request, &table->state, NULL);
        break;
    case TCTL_TEST_EMIT:
        test_emit(table, &message->as.test_emit);
        break;
    default:
        break; /* signs of life: the link has seen to them */
    }
}

static void on_display(void *self, const struct tctl_message *message)
{
    struct table *table = self;

    switch (message->id) {
    case TCTL_SET_ROUND:
        table_say(table, "round ");
        table_say(table, (const char *[]){"E", "S", "W", "N"}[message->as.set_round.wind]);
        table_say_number(table, message->as.set_round.number);
        table_say(table, " dealer ");
        table_say_number(table, message->as.set_round.dealer);
        table_say(table, "\n");
        break;
    case TCTL_SET_HONBA:
        table_say(table, "honba ");
        table_say_number(table, message->as.set_honba.honba);
        table_say(table, "\n");
        break;
    case TCTL_SET_DEPOSITS:
        table_say(table, "deposits ");
        table_say_number(table, message->as.set_deposits.deposits);
        table_say(table, "\n");
        break;
    case TCTL_SET_TEST_MODE:
        table->test_mode = message->as.set_test_mode.on;
        if (table->test_mode == 0U) {
            table->series.left = 0U;
        }
        tell_state(table);
        break;
    default:
        break; /* a display that this table lacks */
    }
}

static void on_link(void *self, enum tctl_state state, enum tctl_reason reason)
{
    static const char *const NAMES[] = {"link waits\n", "link up\n", "link failed\n", "link refused: the host speaks another major\n"};
    struct table *table = self;

    table_say(table, NAMES[state]);
    /* Nobody watches what the host has set in motion (B-5). What people began at the table goes on: they are there. */
    if ((reason == TCTL_REASON_SILENT) && (table->motion_cmd != 0U)) {
        break_off(table, (uint8_t)TCTL_RESULT_STOPPED, (uint8_t)TCTL_JAM_POSITION_LOST);
    }
    if ((reason == TCTL_REASON_SILENT) && (table->dice_cmd != 0U)) {
        stop_roll(table);
    }
}

/* ---------------------------------------------------------------- what people do */

void table_press(struct table *table, uint8_t button, uint8_t seat, uint8_t press)
{
    struct tctl_message event = {.id = (uint8_t)TCTL_BUTTON_EVENT, .as.button_event = {button, seat, press}};

    send(table, &event);
    if ((press == (uint8_t)TCTL_PRESS_PRESSED) && (table->test_mode == 0U)) {
        if (button == (uint8_t)TCTL_BUTTON_DICE) {
            roll(table, 0U);
        } else if (button == (uint8_t)TCTL_BUTTON_UP_DOWN) {
            move_lid(table);
        } else {
            /* the host decides what it means */
        }
    }
}

void table_jam(struct table *table)
{
    if (table->motion == (uint8_t)TABLE_STILL) {
        table_say(table, "nothing moves that could jam\n");
    }
    break_off(table, (uint8_t)TCTL_RESULT_FAILED_JAM, (uint8_t)TCTL_JAM_TILE_STUCK);
}

void table_clear(struct table *table)
{
    table->state.fault = 0U;
    if (table->state.lid == (uint8_t)TCTL_PHASE_JAMMED) {
        lid_to(table, (uint8_t)TCTL_PHASE_DOWN, 0U, 0U);
    }
    if (walls_are(table, (uint8_t)TCTL_PHASE_JAMMED)) {
        walls_to(table, (uint8_t)TCTL_PHASE_READY, 0U, 0U);
    }
    tell_state(table);
}

void table_dice_by_hand(struct table *table, uint8_t a, uint8_t b)
{
    settle(table, a, b, 1U, 0U);
}

/* ---------------------------------------------------------------- life */

static uint32_t now_us(void *self)
{
    return now_of(self);
}

static bool write_wire(void *self, const uint8_t *octets, uint8_t count)
{
    const struct table *table = self;

    return table->port->write(table->port->self, octets, count);
}

void table_start(struct table *table, const struct table_port *port, uint32_t noise, uint8_t reset_cause, uint16_t speed)
{
    uint8_t *octets = (uint8_t *)table;
    uint32_t i;

    for (i = 0U; i < sizeof *table; i++) {
        octets[i] = 0U;
    }
    table->port = port;
    table->random = (noise == 0U) ? 1U : noise;
    table->speed = speed;
    table->state.lid = (uint8_t)TCTL_PHASE_DOWN;
    for (i = 0U; i < WALLS; i++) {
        table->state.walls[i] = (uint8_t)TCTL_PHASE_READY;
    }
    table->board.self = table;
    table->board.now_us = now_us;
    table->board.write = write_wire;
    table->board.on_message = on_message;
    table->board.on_display = on_display;
    table->board.on_link = on_link;
    tctl_start(&table->link, &table->board, &IDENTITY, noise, reset_cause);
    tell_state(table);
    table_say(table, "table 1.0.0 ready; 'help' tells what the panel can do\n");
}

void table_wire(struct table *table, const uint8_t *octets, uint32_t count)
{
    tctl_receive(&table->link, octets, count);
}

void table_panel(struct table *table, const uint8_t *octets, uint32_t count)
{
    uint32_t i;

    for (i = 0U; i < count; i++) {
        if ((octets[i] == (uint8_t)'\n') || (octets[i] == (uint8_t)'\r')) {
            table->line[table->line_count] = '\0';
            table->line_count = 0U;
            if (table->line[0] != '\0') {
                panel_obey(table, table->line);
            }
        } else if (table->line_count < (TABLE_LINE - 1U)) {
            table->line[table->line_count] = (char)octets[i];
            table->line_count++;
        } else {
            /* a line that no command is as long as */
        }
    }
}

static uint32_t sooner(uint32_t wait, uint32_t now, uint32_t at)
{
    uint32_t until = passed(now, at) ? 0U : (at - now);

    return (until < wait) ? until : wait;
}

uint32_t table_run(struct table *table)
{
    uint32_t now = now_of(table);
    uint32_t wait;

    if ((table->motion != (uint8_t)TABLE_STILL) && passed(now, table->motion_until_us)) {
        end_motion(table);
    }
    if (table->dice_rolling && passed(now, table->dice_until_us)) {
        end_roll(table);
    }
    tctl_series_run(&table->series, &table->link, now);
    tctl_poll(&table->link);
    wait = tctl_wait_us(&table->link);
    now = now_of(table);
    if (table->motion != (uint8_t)TABLE_STILL) {
        wait = sooner(wait, now, table->motion_until_us);
    }
    if (table->dice_rolling) {
        wait = sooner(wait, now, table->dice_until_us);
    }
    if ((table->series.left > 0U) && (tctl_event_room(&table->link) >= TCTL_SERIES_ROOM)) {
        wait = sooner(wait, now, table->series.next_us);
    }
    return wait;
}
