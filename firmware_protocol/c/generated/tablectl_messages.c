/* Written by `make generate` from firmware_protocol/messages.py. Do not edit. */
#include "tablectl_messages.h"

#include <stddef.h>

#include "../tctl_octets.h"

static const struct tctl_traits TRAITS[] = {
    {(uint8_t)TCTL_HELLO, (uint8_t)TCTL_KIND_LINK, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_HELLO_ACK, (uint8_t)TCTL_KIND_LINK, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_ANNOUNCE, (uint8_t)TCTL_KIND_LINK, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_HEARTBEAT, (uint8_t)TCTL_KIND_DATAGRAM, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_WATCHDOG, (uint8_t)TCTL_KIND_DATAGRAM, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_TIME_REQUEST, (uint8_t)TCTL_KIND_DATAGRAM, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_TIME_REPLY, (uint8_t)TCTL_KIND_DATAGRAM, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_INFO_REQUEST, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_INFO_PAGE, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_SNAPSHOT_REQUEST, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_SNAPSHOT_STATE, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_SNAPSHOT_TILES, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_LOG_TEXT, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_STATS_REQUEST, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_STATS, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_TEST_ECHO, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_TEST_ECHO_REPLY, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_TEST_EMIT, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_BUTTON_EVENT, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_LID_EVENT, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_WALL_EVENT, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_DICE_ROLLING, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_DICE_SETTLED, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_STICK_TRAY, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_RIICHI_SLOT, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_TILE_EVENT, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_TILE_COUNT_FAULT, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_TEMPERATURE, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_MOTOR_FAULT_EVENT, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_SEAT_ROULETTE, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_LOCK_EVENT, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_TEST_EVENT, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_ACTION_RESULT, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_EVENTS_LOST, (uint8_t)TCTL_KIND_EVENT, TCTL_FROM_DEVICE, 0U},
    {(uint8_t)TCTL_SET_ROUND, (uint8_t)TCTL_KIND_SET, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_SET_HONBA, (uint8_t)TCTL_KIND_SET, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_SET_DEPOSITS, (uint8_t)TCTL_KIND_SET, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_SET_SCORES, (uint8_t)TCTL_KIND_SET, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_SET_DIFFERENCES, (uint8_t)TCTL_KIND_SET, TCTL_FROM_HOST | TCTL_KEYED, 0U},
    {(uint8_t)TCTL_SET_LAMPS, (uint8_t)TCTL_KIND_SET, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_SET_TEXT, (uint8_t)TCTL_KIND_SET, TCTL_FROM_HOST | TCTL_KEYED, 0U},
    {(uint8_t)TCTL_SET_TEST_MODE, (uint8_t)TCTL_KIND_SET, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_ACTION, (uint8_t)TCTL_KIND_ACTION, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_STOP, (uint8_t)TCTL_KIND_URGENT, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_ACTION_QUERY, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_HOST, 0U},
    {(uint8_t)TCTL_ACTION_STATUS, (uint8_t)TCTL_KIND_BULK, TCTL_FROM_DEVICE, 0U},
};

const struct tctl_traits *tctl_traits_of(uint8_t id)
{
    const struct tctl_traits *found = NULL;
    size_t i;

    for (i = 0U; i < (sizeof TRAITS / sizeof TRAITS[0]); i++) {
        if (TRAITS[i].id == id) {
            found = &TRAITS[i];
        }
    }
    return found;
}

uint8_t tctl_pack(const struct tctl_message *message, uint8_t minor, uint8_t *payload)
{
    struct tctl_writer w = {payload, 0U, false};
    uint8_t i;

    (void)minor;
    switch (message->id) {
    case TCTL_HELLO:
        tctl_put32(&w, message->as.hello.nonce);
        tctl_put8(&w, message->as.hello.major);
        tctl_put8(&w, message->as.hello.minor);
        tctl_put32(&w, message->as.hello.schema_hash);
        tctl_put32(&w, message->as.hello.version);
        tctl_put8_within(&w, message->as.hello.max_frame, 16U, 64U);
        tctl_put8_within(&w, message->as.hello.window, 1U, 4U);
        tctl_put32(&w, message->as.hello.boot_id);
        tctl_put32(&w, message->as.hello.event_no);
        break;
    case TCTL_HELLO_ACK:
        tctl_put32(&w, message->as.hello_ack.nonce);
        tctl_put8(&w, message->as.hello_ack.major);
        tctl_put8(&w, message->as.hello_ack.minor);
        tctl_put32(&w, message->as.hello_ack.schema_hash);
        tctl_put32(&w, message->as.hello_ack.version);
        tctl_put32(&w, message->as.hello_ack.boot_id);
        tctl_put8(&w, message->as.hello_ack.reset_cause);
        tctl_put32(&w, message->as.hello_ack.capabilities);
        tctl_put8_within(&w, message->as.hello_ack.max_frame, 16U, 64U);
        tctl_put8_within(&w, message->as.hello_ack.window, 1U, 4U);
        tctl_put32(&w, message->as.hello_ack.uptime_ms);
        tctl_put32(&w, message->as.hello_ack.event_no);
        tctl_put8(&w, message->as.hello_ack.held);
        break;
    case TCTL_ANNOUNCE:
        tctl_put8(&w, message->as.announce.major);
        tctl_put8(&w, message->as.announce.minor);
        tctl_put32(&w, message->as.announce.version);
        tctl_put32(&w, message->as.announce.boot_id);
        tctl_put8(&w, message->as.announce.reset_cause);
        tctl_put32(&w, message->as.announce.uptime_ms);
        break;
    case TCTL_HEARTBEAT:
        tctl_put32(&w, message->as.heartbeat.uptime_ms);
        tctl_put32(&w, message->as.heartbeat.boot_id);
        tctl_put32(&w, message->as.heartbeat.event_no);
        tctl_put32(&w, message->as.heartbeat.cmd_id);
        tctl_put16(&w, message->as.heartbeat.state_digest);
        tctl_put16(&w, message->as.heartbeat.display_digest);
        tctl_put16(&w, message->as.heartbeat.status);
        tctl_put8(&w, message->as.heartbeat.events_held);
        break;
    case TCTL_WATCHDOG:
        tctl_put16(&w, tctl_within(&w.bad, message->as.watchdog.timeout_ms, 500U, UINT32_C(65535)));
        break;
    case TCTL_TIME_REQUEST:
        tctl_put32(&w, message->as.time_request.token);
        tctl_put32(&w, message->as.time_request.unix_s);
        break;
    case TCTL_TIME_REPLY:
        tctl_put32(&w, message->as.time_reply.token);
        tctl_put32(&w, message->as.time_reply.uptime_ms);
        break;
    case TCTL_INFO_REQUEST:
        tctl_put8(&w, message->as.info_request.key);
        tctl_put8(&w, message->as.info_request.page);
        break;
    case TCTL_INFO_PAGE:
        tctl_put8(&w, message->as.info_page.key);
        tctl_put8(&w, message->as.info_page.page);
        tctl_put8(&w, message->as.info_page.pages);
        tctl_put_octets(&w, message->as.info_page.data, message->as.info_page.data_count, 40U);
        break;
    case TCTL_SNAPSHOT_REQUEST:
        tctl_put32(&w, message->as.snapshot_request.version);
        tctl_put8(&w, message->as.snapshot_request.page);
        break;
    case TCTL_SNAPSHOT_STATE:
        tctl_put32(&w, message->as.snapshot_state.version);
        tctl_put8_within(&w, message->as.snapshot_state.pages, 1U, 255U);
        tctl_put8(&w, message->as.snapshot_state.lid);
        for (i = 0U; i < 4U; i++) {
            tctl_put8(&w, message->as.snapshot_state.walls[i]);
        }
        tctl_put8_within(&w, message->as.snapshot_state.locked, 0U, 1U);
        tctl_put8_within(&w, message->as.snapshot_state.riichi, 0U, 15U);
        for (i = 0U; i < 20U; i++) {
            tctl_put8(&w, message->as.snapshot_state.trays[i]);
        }
        tctl_put8_within(&w, message->as.snapshot_state.fault, 0U, 1U);
        break;
    case TCTL_SNAPSHOT_TILES:
        tctl_put32(&w, message->as.snapshot_tiles.version);
        tctl_put8_within(&w, message->as.snapshot_tiles.page, 1U, 255U);
        tctl_put8(&w, message->as.snapshot_tiles.zone);
        tctl_put8(&w, message->as.snapshot_tiles.reader);
        tctl_put8_within(&w, message->as.snapshot_tiles.tiles_count, 0U, 4U);
        for (i = 0U; (i < message->as.snapshot_tiles.tiles_count) && !w.bad; i++) {
            tctl_put8(&w, message->as.snapshot_tiles.tiles[i].slot);
            tctl_put8(&w, message->as.snapshot_tiles.tiles[i].flags);
            tctl_put64(&w, message->as.snapshot_tiles.tiles[i].tag);
        }
        break;
    case TCTL_LOG_TEXT:
        tctl_put8(&w, message->as.log_text.level);
        tctl_put_octets(&w, message->as.log_text.text, message->as.log_text.text_count, 48U);
        break;
    case TCTL_STATS_REQUEST:
        break;
    case TCTL_STATS:
        tctl_put32(&w, message->as.stats.frames_received);
        tctl_put32(&w, message->as.stats.frames_sent);
        tctl_put32(&w, message->as.stats.retransmits);
        tctl_put32(&w, message->as.stats.crc_errors);
        tctl_put32(&w, message->as.stats.noise);
        tctl_put16(&w, message->as.stats.links);
        tctl_put16(&w, message->as.stats.events_lost);
        tctl_put8(&w, message->as.stats.buffer_high);
        tctl_put32(&w, message->as.stats.actions);
        tctl_put16(&w, message->as.stats.free_memory);
        break;
    case TCTL_TEST_ECHO:
        tctl_put32(&w, message->as.test_echo.token);
        tctl_put_octets(&w, message->as.test_echo.data, message->as.test_echo.data_count, 48U);
        break;
    case TCTL_TEST_ECHO_REPLY:
        tctl_put32(&w, message->as.test_echo_reply.token);
        tctl_put_octets(&w, message->as.test_echo_reply.data, message->as.test_echo_reply.data_count, 48U);
        break;
    case TCTL_TEST_EMIT:
        tctl_put16(&w, message->as.test_emit.count);
        tctl_put16(&w, message->as.test_emit.interval_ms);
        break;
    case TCTL_BUTTON_EVENT:
        tctl_put8(&w, message->as.button_event.button);
        tctl_put8(&w, message->as.button_event.seat);
        tctl_put8(&w, message->as.button_event.press);
        break;
    case TCTL_LID_EVENT:
        tctl_put8(&w, message->as.lid_event.phase);
        tctl_put8(&w, message->as.lid_event.jam);
        tctl_put32(&w, message->as.lid_event.cmd_id);
        break;
    case TCTL_WALL_EVENT:
        tctl_put8(&w, message->as.wall_event.side);
        tctl_put8(&w, message->as.wall_event.phase);
        tctl_put8(&w, message->as.wall_event.jam);
        tctl_put32(&w, message->as.wall_event.cmd_id);
        break;
    case TCTL_DICE_ROLLING:
        tctl_put32(&w, message->as.dice_rolling.cmd_id);
        break;
    case TCTL_DICE_SETTLED:
        tctl_put8_within(&w, message->as.dice_settled.a, 1U, 6U);
        tctl_put8_within(&w, message->as.dice_settled.b, 1U, 6U);
        tctl_put8_within(&w, message->as.dice_settled.manual, 0U, 1U);
        tctl_put32(&w, message->as.dice_settled.cmd_id);
        break;
    case TCTL_STICK_TRAY:
        tctl_put8_within(&w, message->as.stick_tray.seat, 0U, 3U);
        for (i = 0U; i < 5U; i++) {
            tctl_put8(&w, message->as.stick_tray.sticks[i]);
        }
        tctl_put8(&w, message->as.stick_tray.fault);
        break;
    case TCTL_RIICHI_SLOT:
        tctl_put8_within(&w, message->as.riichi_slot.seat, 0U, 3U);
        tctl_put8_within(&w, message->as.riichi_slot.present, 0U, 1U);
        break;
    case TCTL_TILE_EVENT:
        tctl_put8(&w, message->as.tile_event.zone);
        tctl_put8(&w, message->as.tile_event.reader);
        tctl_put8_within(&w, message->as.tile_event.tiles_count, 0U, 4U);
        for (i = 0U; (i < message->as.tile_event.tiles_count) && !w.bad; i++) {
            tctl_put8(&w, message->as.tile_event.tiles[i].slot);
            tctl_put8(&w, message->as.tile_event.tiles[i].flags);
            tctl_put8(&w, message->as.tile_event.tiles[i].signal);
            tctl_put64(&w, message->as.tile_event.tiles[i].tag);
        }
        break;
    case TCTL_TILE_COUNT_FAULT:
        tctl_put8_within(&w, message->as.tile_count_fault.tile_set, 0U, 1U);
        tctl_put8(&w, message->as.tile_count_fault.expected);
        tctl_put8(&w, message->as.tile_count_fault.counted);
        break;
    case TCTL_TEMPERATURE:
        tctl_put8(&w, message->as.temperature.sensor);
        tctl_put16(&w, (uint16_t)message->as.temperature.decidegrees);
        tctl_put8_within(&w, message->as.temperature.limit, 0U, 2U);
        break;
    case TCTL_MOTOR_FAULT_EVENT:
        tctl_put8(&w, message->as.motor_fault_event.motor);
        tctl_put8(&w, message->as.motor_fault_event.fault);
        tctl_put16(&w, (uint16_t)message->as.motor_fault_event.decidegrees);
        break;
    case TCTL_SEAT_ROULETTE:
        tctl_put8_within(&w, message->as.seat_roulette.seat, 0U, 3U);
        break;
    case TCTL_LOCK_EVENT:
        tctl_put8_within(&w, message->as.lock_event.locked, 0U, 1U);
        tctl_put32(&w, message->as.lock_event.cmd_id);
        break;
    case TCTL_TEST_EVENT:
        tctl_put32(&w, message->as.test_event.number);
        tctl_put32(&w, (uint32_t)message->as.test_event.value);
        break;
    case TCTL_ACTION_RESULT:
        tctl_put32(&w, message->as.action_result.cmd_id);
        tctl_put8(&w, message->as.action_result.result);
        tctl_put16(&w, message->as.action_result.detail);
        tctl_put8_within(&w, message->as.action_result.repeated, 0U, 1U);
        break;
    case TCTL_EVENTS_LOST:
        tctl_put16(&w, tctl_within(&w.bad, message->as.events_lost.count, 1U, UINT32_C(65535)));
        break;
    case TCTL_SET_ROUND:
        tctl_put8_within(&w, message->as.set_round.wind, 0U, 3U);
        tctl_put8_within(&w, message->as.set_round.number, 1U, 4U);
        tctl_put8_within(&w, message->as.set_round.dealer, 0U, 3U);
        break;
    case TCTL_SET_HONBA:
        tctl_put8(&w, message->as.set_honba.honba);
        break;
    case TCTL_SET_DEPOSITS:
        tctl_put8(&w, message->as.set_deposits.deposits);
        break;
    case TCTL_SET_SCORES:
        for (i = 0U; i < 4U; i++) {
            tctl_put32(&w, (uint32_t)message->as.set_scores.scores[i]);
        }
        break;
    case TCTL_SET_DIFFERENCES:
        tctl_put8_within(&w, message->as.set_differences.seat, 0U, 3U);
        for (i = 0U; i < 4U; i++) {
            tctl_put32(&w, (uint32_t)message->as.set_differences.differences[i]);
        }
        break;
    case TCTL_SET_LAMPS:
        tctl_put32(&w, message->as.set_lamps.on);
        tctl_put32(&w, message->as.set_lamps.blink);
        break;
    case TCTL_SET_TEXT:
        tctl_put8(&w, message->as.set_text.display);
        tctl_put_octets(&w, message->as.set_text.text, message->as.set_text.text_count, 40U);
        break;
    case TCTL_SET_TEST_MODE:
        tctl_put8_within(&w, message->as.set_test_mode.on, 0U, 1U);
        break;
    case TCTL_ACTION:
        tctl_put32(&w, tctl_within(&w.bad, message->as.action.cmd_id, 1U, UINT32_C(4294967295)));
        tctl_put8(&w, message->as.action.action);
        tctl_put16(&w, message->as.action.arg);
        tctl_put32(&w, message->as.action.deadline_ms);
        tctl_put8(&w, message->as.action.require);
        break;
    case TCTL_STOP:
        tctl_put32(&w, tctl_within(&w.bad, message->as.stop.cmd_id, 1U, UINT32_C(4294967295)));
        break;
    case TCTL_ACTION_QUERY:
        tctl_put32(&w, tctl_within(&w.bad, message->as.action_query.cmd_id, 1U, UINT32_C(4294967295)));
        break;
    case TCTL_ACTION_STATUS:
        tctl_put32(&w, message->as.action_status.cmd_id);
        tctl_put8(&w, message->as.action_status.state);
        tctl_put8(&w, message->as.action_status.result);
        tctl_put16(&w, message->as.action_status.detail);
        break;
    default:
        w.bad = true;
        break;
    }
    return w.bad ? (uint8_t)TCTL_BAD : w.at;
}

uint8_t tctl_unpack(uint8_t id, const uint8_t *payload, uint8_t count, struct tctl_message *message)
{
    struct tctl_reader r = {payload, 0U, count, false};
    uint8_t i;

    message->id = id;
    switch (id) {
    case TCTL_HELLO:
        message->as.hello.nonce = tctl_get32(&r);
        message->as.hello.major = tctl_get8(&r);
        message->as.hello.minor = tctl_get8(&r);
        message->as.hello.schema_hash = tctl_get32(&r);
        message->as.hello.version = tctl_get32(&r);
        message->as.hello.max_frame = tctl_get8_within(&r, 16U, 64U);
        message->as.hello.window = tctl_get8_within(&r, 1U, 4U);
        message->as.hello.boot_id = tctl_get32(&r);
        message->as.hello.event_no = tctl_get32(&r);
        break;
    case TCTL_WATCHDOG:
        message->as.watchdog.timeout_ms = (uint16_t)tctl_within(&r.bad, tctl_get16(&r), 500U, UINT32_C(65535));
        break;
    case TCTL_TIME_REQUEST:
        message->as.time_request.token = tctl_get32(&r);
        message->as.time_request.unix_s = tctl_get32(&r);
        break;
    case TCTL_INFO_REQUEST:
        message->as.info_request.key = tctl_get8(&r);
        message->as.info_request.page = tctl_get8(&r);
        break;
    case TCTL_SNAPSHOT_REQUEST:
        message->as.snapshot_request.version = tctl_get32(&r);
        message->as.snapshot_request.page = tctl_get8(&r);
        break;
    case TCTL_STATS_REQUEST:
        break;
    case TCTL_TEST_ECHO:
        message->as.test_echo.token = tctl_get32(&r);
        message->as.test_echo.data_count = tctl_get_octets(&r, message->as.test_echo.data, 48U);
        break;
    case TCTL_TEST_EMIT:
        message->as.test_emit.count = tctl_get16(&r);
        message->as.test_emit.interval_ms = tctl_get16(&r);
        break;
    case TCTL_SET_ROUND:
        message->as.set_round.wind = tctl_get8_within(&r, 0U, 3U);
        message->as.set_round.number = tctl_get8_within(&r, 1U, 4U);
        message->as.set_round.dealer = tctl_get8_within(&r, 0U, 3U);
        break;
    case TCTL_SET_HONBA:
        message->as.set_honba.honba = tctl_get8(&r);
        break;
    case TCTL_SET_DEPOSITS:
        message->as.set_deposits.deposits = tctl_get8(&r);
        break;
    case TCTL_SET_SCORES:
        for (i = 0U; i < 4U; i++) {
            message->as.set_scores.scores[i] = tctl_signed32(tctl_get32(&r));
        }
        break;
    case TCTL_SET_DIFFERENCES:
        message->as.set_differences.seat = tctl_get8_within(&r, 0U, 3U);
        for (i = 0U; i < 4U; i++) {
            message->as.set_differences.differences[i] = tctl_signed32(tctl_get32(&r));
        }
        break;
    case TCTL_SET_LAMPS:
        message->as.set_lamps.on = tctl_get32(&r);
        message->as.set_lamps.blink = tctl_get32(&r);
        break;
    case TCTL_SET_TEXT:
        message->as.set_text.display = tctl_get8(&r);
        message->as.set_text.text_count = tctl_get_text(&r, message->as.set_text.text, 40U);
        break;
    case TCTL_SET_TEST_MODE:
        message->as.set_test_mode.on = tctl_get8_within(&r, 0U, 1U);
        break;
    case TCTL_ACTION:
        message->as.action.cmd_id = (uint32_t)tctl_within(&r.bad, tctl_get32(&r), 1U, UINT32_C(4294967295));
        message->as.action.action = tctl_get8(&r);
        message->as.action.arg = tctl_get16(&r);
        message->as.action.deadline_ms = tctl_get32(&r);
        message->as.action.require = tctl_get8(&r);
        break;
    case TCTL_STOP:
        message->as.stop.cmd_id = (uint32_t)tctl_within(&r.bad, tctl_get32(&r), 1U, UINT32_C(4294967295));
        break;
    case TCTL_ACTION_QUERY:
        message->as.action_query.cmd_id = (uint32_t)tctl_within(&r.bad, tctl_get32(&r), 1U, UINT32_C(4294967295));
        break;
#ifdef TCTL_BOTH_ROLES
    case TCTL_HELLO_ACK:
        message->as.hello_ack.nonce = tctl_get32(&r);
        message->as.hello_ack.major = tctl_get8(&r);
        message->as.hello_ack.minor = tctl_get8(&r);
        message->as.hello_ack.schema_hash = tctl_get32(&r);
        message->as.hello_ack.version = tctl_get32(&r);
        message->as.hello_ack.boot_id = tctl_get32(&r);
        message->as.hello_ack.reset_cause = tctl_get8(&r);
        message->as.hello_ack.capabilities = tctl_get32(&r);
        message->as.hello_ack.max_frame = tctl_get8_within(&r, 16U, 64U);
        message->as.hello_ack.window = tctl_get8_within(&r, 1U, 4U);
        message->as.hello_ack.uptime_ms = tctl_get32(&r);
        message->as.hello_ack.event_no = tctl_get32(&r);
        message->as.hello_ack.held = tctl_get8(&r);
        break;
    case TCTL_ANNOUNCE:
        message->as.announce.major = tctl_get8(&r);
        message->as.announce.minor = tctl_get8(&r);
        message->as.announce.version = tctl_get32(&r);
        message->as.announce.boot_id = tctl_get32(&r);
        message->as.announce.reset_cause = tctl_get8(&r);
        message->as.announce.uptime_ms = tctl_get32(&r);
        break;
    case TCTL_HEARTBEAT:
        message->as.heartbeat.uptime_ms = tctl_get32(&r);
        message->as.heartbeat.boot_id = tctl_get32(&r);
        message->as.heartbeat.event_no = tctl_get32(&r);
        message->as.heartbeat.cmd_id = tctl_get32(&r);
        message->as.heartbeat.state_digest = tctl_get16(&r);
        message->as.heartbeat.display_digest = tctl_get16(&r);
        message->as.heartbeat.status = tctl_get16(&r);
        message->as.heartbeat.events_held = tctl_get8(&r);
        break;
    case TCTL_TIME_REPLY:
        message->as.time_reply.token = tctl_get32(&r);
        message->as.time_reply.uptime_ms = tctl_get32(&r);
        break;
    case TCTL_INFO_PAGE:
        message->as.info_page.key = tctl_get8(&r);
        message->as.info_page.page = tctl_get8(&r);
        message->as.info_page.pages = tctl_get8(&r);
        message->as.info_page.data_count = tctl_get_octets(&r, message->as.info_page.data, 40U);
        break;
    case TCTL_SNAPSHOT_STATE:
        message->as.snapshot_state.version = tctl_get32(&r);
        message->as.snapshot_state.pages = tctl_get8_within(&r, 1U, 255U);
        message->as.snapshot_state.lid = tctl_get8(&r);
        for (i = 0U; i < 4U; i++) {
            message->as.snapshot_state.walls[i] = tctl_get8(&r);
        }
        message->as.snapshot_state.locked = tctl_get8_within(&r, 0U, 1U);
        message->as.snapshot_state.riichi = tctl_get8_within(&r, 0U, 15U);
        for (i = 0U; i < 20U; i++) {
            message->as.snapshot_state.trays[i] = tctl_get8(&r);
        }
        message->as.snapshot_state.fault = tctl_get8_within(&r, 0U, 1U);
        break;
    case TCTL_SNAPSHOT_TILES:
        message->as.snapshot_tiles.version = tctl_get32(&r);
        message->as.snapshot_tiles.page = tctl_get8_within(&r, 1U, 255U);
        message->as.snapshot_tiles.zone = tctl_get8(&r);
        message->as.snapshot_tiles.reader = tctl_get8(&r);
        message->as.snapshot_tiles.tiles_count = tctl_get_count(&r, 4U);
        for (i = 0U; i < message->as.snapshot_tiles.tiles_count; i++) {
            message->as.snapshot_tiles.tiles[i].slot = tctl_get8(&r);
            message->as.snapshot_tiles.tiles[i].flags = tctl_get8(&r);
            message->as.snapshot_tiles.tiles[i].tag = tctl_get64(&r);
        }
        break;
    case TCTL_LOG_TEXT:
        message->as.log_text.level = tctl_get8(&r);
        message->as.log_text.text_count = tctl_get_text(&r, message->as.log_text.text, 48U);
        break;
    case TCTL_STATS:
        message->as.stats.frames_received = tctl_get32(&r);
        message->as.stats.frames_sent = tctl_get32(&r);
        message->as.stats.retransmits = tctl_get32(&r);
        message->as.stats.crc_errors = tctl_get32(&r);
        message->as.stats.noise = tctl_get32(&r);
        message->as.stats.links = tctl_get16(&r);
        message->as.stats.events_lost = tctl_get16(&r);
        message->as.stats.buffer_high = tctl_get8(&r);
        message->as.stats.actions = tctl_get32(&r);
        message->as.stats.free_memory = tctl_get16(&r);
        break;
    case TCTL_TEST_ECHO_REPLY:
        message->as.test_echo_reply.token = tctl_get32(&r);
        message->as.test_echo_reply.data_count = tctl_get_octets(&r, message->as.test_echo_reply.data, 48U);
        break;
    case TCTL_BUTTON_EVENT:
        message->as.button_event.button = tctl_get8(&r);
        message->as.button_event.seat = tctl_get8(&r);
        message->as.button_event.press = tctl_get8(&r);
        break;
    case TCTL_LID_EVENT:
        message->as.lid_event.phase = tctl_get8(&r);
        message->as.lid_event.jam = tctl_get8(&r);
        message->as.lid_event.cmd_id = tctl_get32(&r);
        break;
    case TCTL_WALL_EVENT:
        message->as.wall_event.side = tctl_get8(&r);
        message->as.wall_event.phase = tctl_get8(&r);
        message->as.wall_event.jam = tctl_get8(&r);
        message->as.wall_event.cmd_id = tctl_get32(&r);
        break;
    case TCTL_DICE_ROLLING:
        message->as.dice_rolling.cmd_id = tctl_get32(&r);
        break;
    case TCTL_DICE_SETTLED:
        message->as.dice_settled.a = tctl_get8_within(&r, 1U, 6U);
        message->as.dice_settled.b = tctl_get8_within(&r, 1U, 6U);
        message->as.dice_settled.manual = tctl_get8_within(&r, 0U, 1U);
        message->as.dice_settled.cmd_id = tctl_get32(&r);
        break;
    case TCTL_STICK_TRAY:
        message->as.stick_tray.seat = tctl_get8_within(&r, 0U, 3U);
        for (i = 0U; i < 5U; i++) {
            message->as.stick_tray.sticks[i] = tctl_get8(&r);
        }
        message->as.stick_tray.fault = tctl_get8(&r);
        break;
    case TCTL_RIICHI_SLOT:
        message->as.riichi_slot.seat = tctl_get8_within(&r, 0U, 3U);
        message->as.riichi_slot.present = tctl_get8_within(&r, 0U, 1U);
        break;
    case TCTL_TILE_EVENT:
        message->as.tile_event.zone = tctl_get8(&r);
        message->as.tile_event.reader = tctl_get8(&r);
        message->as.tile_event.tiles_count = tctl_get_count(&r, 4U);
        for (i = 0U; i < message->as.tile_event.tiles_count; i++) {
            message->as.tile_event.tiles[i].slot = tctl_get8(&r);
            message->as.tile_event.tiles[i].flags = tctl_get8(&r);
            message->as.tile_event.tiles[i].signal = tctl_get8(&r);
            message->as.tile_event.tiles[i].tag = tctl_get64(&r);
        }
        break;
    case TCTL_TILE_COUNT_FAULT:
        message->as.tile_count_fault.tile_set = tctl_get8_within(&r, 0U, 1U);
        message->as.tile_count_fault.expected = tctl_get8(&r);
        message->as.tile_count_fault.counted = tctl_get8(&r);
        break;
    case TCTL_TEMPERATURE:
        message->as.temperature.sensor = tctl_get8(&r);
        message->as.temperature.decidegrees = tctl_signed16(tctl_get16(&r));
        message->as.temperature.limit = tctl_get8_within(&r, 0U, 2U);
        break;
    case TCTL_MOTOR_FAULT_EVENT:
        message->as.motor_fault_event.motor = tctl_get8(&r);
        message->as.motor_fault_event.fault = tctl_get8(&r);
        message->as.motor_fault_event.decidegrees = tctl_signed16(tctl_get16(&r));
        break;
    case TCTL_SEAT_ROULETTE:
        message->as.seat_roulette.seat = tctl_get8_within(&r, 0U, 3U);
        break;
    case TCTL_LOCK_EVENT:
        message->as.lock_event.locked = tctl_get8_within(&r, 0U, 1U);
        message->as.lock_event.cmd_id = tctl_get32(&r);
        break;
    case TCTL_TEST_EVENT:
        message->as.test_event.number = tctl_get32(&r);
        message->as.test_event.value = tctl_signed32(tctl_get32(&r));
        break;
    case TCTL_ACTION_RESULT:
        message->as.action_result.cmd_id = tctl_get32(&r);
        message->as.action_result.result = tctl_get8(&r);
        message->as.action_result.detail = tctl_get16(&r);
        message->as.action_result.repeated = tctl_get8_within(&r, 0U, 1U);
        break;
    case TCTL_EVENTS_LOST:
        message->as.events_lost.count = (uint16_t)tctl_within(&r.bad, tctl_get16(&r), 1U, UINT32_C(65535));
        break;
    case TCTL_ACTION_STATUS:
        message->as.action_status.cmd_id = tctl_get32(&r);
        message->as.action_status.state = tctl_get8(&r);
        message->as.action_status.result = tctl_get8(&r);
        message->as.action_status.detail = tctl_get16(&r);
        break;
#endif
    default:
        r.bad = true;
        break;
    }
    return r.bad ? (uint8_t)TCTL_BAD : r.at;
}
