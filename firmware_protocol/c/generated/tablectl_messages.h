/* Written by `make generate` from firmware_protocol/messages.py. Do not edit. */
#ifndef TABLECTL_MESSAGES_H
#define TABLECTL_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#define TCTL_MAJOR 1U
#define TCTL_MINOR 0U
#define TCTL_SCHEMA_HASH UINT32_C(0xE84FDD4B)
#define TCTL_MAX_FRAME 64U /* octets on the line, delimiter included */
#define TCTL_MAX_PAYLOAD 56U
#define TCTL_EVENT_HEADER 8U /* event_no and uptime_ms in front of an event */
#define TCTL_SEAT_TABLE 255U /* as seat: the table itself */
#define TCTL_SLOT_UNKNOWN 255U /* as slot: the reader cannot tell */

/* Why the device started. */
enum tctl_reset_cause {
    TCTL_RESET_CAUSE_UNKNOWN = 0,
    TCTL_RESET_CAUSE_POWER_ON = 1,
    TCTL_RESET_CAUSE_BROWN_OUT = 2,
    TCTL_RESET_CAUSE_WATCHDOG = 3,
    TCTL_RESET_CAUSE_SOFTWARE = 4,
    TCTL_RESET_CAUSE_PIN = 5,
    TCTL_RESET_CAUSE_FAULT = 6,
    TCTL_RESET_CAUSE_UPDATE = 7,
};

/* What a table has (HELLO_ACK.capabilities). */
#define TCTL_CAPABILITY_LIFT (UINT32_C(1) << 0)
#define TCTL_CAPABILITY_DICE (UINT32_C(1) << 1)
#define TCTL_CAPABILITY_LOCK (UINT32_C(1) << 2)
#define TCTL_CAPABILITY_BEEP (UINT32_C(1) << 3)
#define TCTL_CAPABILITY_HONBA_DISPLAY (UINT32_C(1) << 4)
#define TCTL_CAPABILITY_ROUND_DISPLAY (UINT32_C(1) << 5)
#define TCTL_CAPABILITY_DEPOSITS_DISPLAY (UINT32_C(1) << 6)
#define TCTL_CAPABILITY_SCORE_DISPLAYS (UINT32_C(1) << 7)
#define TCTL_CAPABILITY_DIFFERENCE_DISPLAYS (UINT32_C(1) << 8)
#define TCTL_CAPABILITY_NEGATIVE_SCORES (UINT32_C(1) << 9)
#define TCTL_CAPABILITY_LAMPS (UINT32_C(1) << 10)
#define TCTL_CAPABILITY_TEXT_DISPLAY (UINT32_C(1) << 11)
#define TCTL_CAPABILITY_STICK_TRAYS (UINT32_C(1) << 12)
#define TCTL_CAPABILITY_RIICHI_SLOTS (UINT32_C(1) << 13)
#define TCTL_CAPABILITY_TILES_WALL (UINT32_C(1) << 14)
#define TCTL_CAPABILITY_TILES_HAND (UINT32_C(1) << 15)
#define TCTL_CAPABILITY_TILES_DRAWN (UINT32_C(1) << 16)
#define TCTL_CAPABILITY_TILES_RIVER (UINT32_C(1) << 17)
#define TCTL_CAPABILITY_TILES_MELD (UINT32_C(1) << 18)
#define TCTL_CAPABILITY_TILES_LAID (UINT32_C(1) << 19)
#define TCTL_CAPABILITY_TILES_INDICATORS (UINT32_C(1) << 20)
#define TCTL_CAPABILITY_ORIENTATION (UINT32_C(1) << 21)
#define TCTL_CAPABILITY_TILE_COUNT (UINT32_C(1) << 22)
#define TCTL_CAPABILITY_AUTO_DEAL (UINT32_C(1) << 23)
#define TCTL_CAPABILITY_AUTO_DORA (UINT32_C(1) << 24)
#define TCTL_CAPABILITY_TEMPERATURE (UINT32_C(1) << 25)
#define TCTL_CAPABILITY_SEAT_ROULETTE (UINT32_C(1) << 26)
#define TCTL_CAPABILITY_RIICHI_BUTTONS (UINT32_C(1) << 27)
#define TCTL_CAPABILITY_TEST (UINT32_C(1) << 28)

/* Buttons of a table. */
enum tctl_button {
    TCTL_BUTTON_START = 1,
    TCTL_BUTTON_DICE = 2,
    TCTL_BUTTON_UP_DOWN = 3,
    TCTL_BUTTON_RIICHI = 4,
    TCTL_BUTTON_HONBA_UP = 5,
    TCTL_BUTTON_HONBA_DOWN = 6,
    TCTL_BUTTON_RESET = 7,
    TCTL_BUTTON_SEAT_DRAW = 8,
    TCTL_BUTTON_CALL_STAFF = 9,
};

/* What happened to a button. */
enum tctl_press {
    TCTL_PRESS_RELEASED = 0,
    TCTL_PRESS_PRESSED = 1,
    TCTL_PRESS_LONG = 2,
};

/* Position of the lid (centre plate), of a wall or of the lift; JAMMED comes with a jam code. */
enum tctl_phase {
    TCTL_PHASE_UNKNOWN = 0,
    TCTL_PHASE_DOWN = 1,
    TCTL_PHASE_RISING = 2,
    TCTL_PHASE_UP = 3,
    TCTL_PHASE_LOWERING = 4,
    TCTL_PHASE_BUILDING = 5,
    TCTL_PHASE_READY = 6,
    TCTL_PHASE_JAMMED = 7,
};

/* Why a motion stopped. */
enum tctl_jam {
    TCTL_JAM_NONE = 0,
    TCTL_JAM_TILE_STUCK = 1,
    TCTL_JAM_LIFT_BLOCKED = 2,
    TCTL_JAM_LID_BLOCKED = 3,
    TCTL_JAM_PUSHER_BLOCKED = 4,
    TCTL_JAM_SENSOR_DIRTY = 5,
    TCTL_JAM_POSITION_LOST = 6,
    TCTL_JAM_HAND_IN_THE_WAY = 7,
    TCTL_JAM_OVERLOAD = 8,
};

/* Motors of a table. */
enum tctl_motor {
    TCTL_MOTOR_LIFT = 1,
    TCTL_MOTOR_LID = 2,
    TCTL_MOTOR_SHUFFLER = 3,
    TCTL_MOTOR_CONVEYOR = 4,
    TCTL_MOTOR_PUSHER = 5,
    TCTL_MOTOR_DICE = 6,
};

/* What is wrong with a motor. */
enum tctl_motor_fault {
    TCTL_MOTOR_FAULT_CLEARED = 0,
    TCTL_MOTOR_FAULT_OVERHEAT = 1,
    TCTL_MOTOR_FAULT_OVERCURRENT = 2,
    TCTL_MOTOR_FAULT_STALLED = 3,
    TCTL_MOTOR_FAULT_NO_ENCODER = 4,
};

/* What is wrong with a point-stick tray. */
enum tctl_stick_fault {
    TCTL_STICK_FAULT_NONE = 0,
    TCTL_STICK_FAULT_WRONG_SLOT = 1,
    TCTL_STICK_FAULT_UNREADABLE = 2,
    TCTL_STICK_FAULT_OVERFULL = 3,
};

/* Where a reader looks; the zone octet is `kind << 4 | seat`. */
enum tctl_zone_kind {
    TCTL_ZONE_KIND_WALL = 1,
    TCTL_ZONE_KIND_HAND = 2,
    TCTL_ZONE_KIND_DRAWN = 3,
    TCTL_ZONE_KIND_RIVER = 4,
    TCTL_ZONE_KIND_MELD = 5,
    TCTL_ZONE_KIND_LAID = 6,
    TCTL_ZONE_KIND_INDICATOR = 7,
    TCTL_ZONE_KIND_URA = 8,
    TCTL_ZONE_KIND_HOLE = 9,
};

/* Flags of one tile sighting. */
#define TCTL_SIGHT_APPEARED (UINT32_C(1) << 0)
#define TCTL_SIGHT_ORIENTED (UINT32_C(1) << 1)
#define TCTL_SIGHT_SIDEWAYS (UINT32_C(1) << 2)
#define TCTL_SIGHT_FACE_UP (UINT32_C(1) << 3)

/* Things that a table can be asked to do once. */
enum tctl_action_kind {
    TCTL_ACTION_KIND_ROLL = 1,
    TCTL_ACTION_KIND_LIFT = 2,
    TCTL_ACTION_KIND_LOWER = 3,
    TCTL_ACTION_KIND_LOCK = 4,
    TCTL_ACTION_KIND_UNLOCK = 5,
    TCTL_ACTION_KIND_BEEP = 6,
    TCTL_ACTION_KIND_SEAT_DRAW = 7,
    TCTL_ACTION_KIND_TEST = 8,
    TCTL_ACTION_KIND_TEST_COUNT = 9,
};

/* Preconditions of an action: all set ones must hold when it starts. */
#define TCTL_REQUIRE_IDLE (UINT32_C(1) << 0)
#define TCTL_REQUIRE_LID_DOWN (UINT32_C(1) << 1)
#define TCTL_REQUIRE_LID_UP (UINT32_C(1) << 2)
#define TCTL_REQUIRE_WALLS_DOWN (UINT32_C(1) << 3)
#define TCTL_REQUIRE_WALLS_UP (UINT32_C(1) << 4)
#define TCTL_REQUIRE_UNLOCKED (UINT32_C(1) << 5)
#define TCTL_REQUIRE_NO_FAULT (UINT32_C(1) << 6)

/* How an action ended. */
enum tctl_result {
    TCTL_RESULT_DONE = 0,
    TCTL_RESULT_UNSUPPORTED = 1,
    TCTL_RESULT_REFUSED_INTERLOCK = 2,
    TCTL_RESULT_REFUSED_PRECONDITION = 3,
    TCTL_RESULT_REFUSED_BUSY = 4,
    TCTL_RESULT_EXPIRED = 5,
    TCTL_RESULT_FAILED_JAM = 6,
    TCTL_RESULT_FAILED_MOTOR = 7,
    TCTL_RESULT_STOPPED = 8,
};

/* What a device knows of a cmd_id. */
enum tctl_action_state {
    TCTL_ACTION_STATE_UNKNOWN = 0,
    TCTL_ACTION_STATE_RUNNING = 1,
    TCTL_ACTION_STATE_FINISHED = 2,
};

/* Lamps of a table, one bit each. */
#define TCTL_LAMP_RIICHI_0 (UINT32_C(1) << 0)
#define TCTL_LAMP_RIICHI_1 (UINT32_C(1) << 1)
#define TCTL_LAMP_RIICHI_2 (UINT32_C(1) << 2)
#define TCTL_LAMP_RIICHI_3 (UINT32_C(1) << 3)
#define TCTL_LAMP_DEALER_0 (UINT32_C(1) << 4)
#define TCTL_LAMP_DEALER_1 (UINT32_C(1) << 5)
#define TCTL_LAMP_DEALER_2 (UINT32_C(1) << 6)
#define TCTL_LAMP_DEALER_3 (UINT32_C(1) << 7)
#define TCTL_LAMP_SET_COMPLETE (UINT32_C(1) << 8)
#define TCTL_LAMP_ATTENTION (UINT32_C(1) << 9)

/* Flags of a heartbeat. */
#define TCTL_STATUS_MOVING (UINT32_C(1) << 0)
#define TCTL_STATUS_LOCKED (UINT32_C(1) << 1)
#define TCTL_STATUS_FAULT (UINT32_C(1) << 2)
#define TCTL_STATUS_TEST_MODE (UINT32_C(1) << 3)
#define TCTL_STATUS_STOPPED (UINT32_C(1) << 4)

/* Texts a device can tell about itself. */
enum tctl_info_key {
    TCTL_INFO_KEY_MODEL = 1,
    TCTL_INFO_KEY_SERIAL_NUMBER = 2,
    TCTL_INFO_KEY_VENDOR = 3,
    TCTL_INFO_KEY_FIRMWARE = 4,
    TCTL_INFO_KEY_HARDWARE = 5,
    TCTL_INFO_KEY_TILE_SETS = 6,
};

/* Severity of a log text. */
enum tctl_log_level {
    TCTL_LOG_LEVEL_DEBUG = 0,
    TCTL_LOG_LEVEL_INFO = 1,
    TCTL_LOG_LEVEL_WARNING = 2,
    TCTL_LOG_LEVEL_ERROR = 3,
};

/* Prevailing wind as a display shows it. */
enum tctl_wind {
    TCTL_WIND_EAST = 0,
    TCTL_WIND_SOUTH = 1,
    TCTL_WIND_WEST = 2,
    TCTL_WIND_NORTH = 3,
};

#define TCTL_LEVEL_BASIC UINT32_C(0x00000013)
#define TCTL_LEVEL_SCORE UINT32_C(0x000036F3)
#define TCTL_LEVEL_TILES UINT32_C(0x001FF6F3)

/* How a message travels (SPEC chapter 5). */
enum tctl_kind {
    TCTL_KIND_LINK = 0,
    TCTL_KIND_DATAGRAM = 1,
    TCTL_KIND_EVENT = 2,
    TCTL_KIND_SET = 3,
    TCTL_KIND_ACTION = 4,
    TCTL_KIND_URGENT = 5,
    TCTL_KIND_BULK = 6,
};

enum tctl_id {
    TCTL_HELLO = 0x01, /* link, from host */
    TCTL_HELLO_ACK = 0x02, /* link, from device */
    TCTL_ANNOUNCE = 0x03, /* link, from device */
    TCTL_HEARTBEAT = 0x10, /* datagram, from device */
    TCTL_WATCHDOG = 0x11, /* datagram, from host */
    TCTL_TIME_REQUEST = 0x12, /* datagram, from host */
    TCTL_TIME_REPLY = 0x13, /* datagram, from device */
    TCTL_INFO_REQUEST = 0x20, /* bulk, from host */
    TCTL_INFO_PAGE = 0x21, /* bulk, from device */
    TCTL_SNAPSHOT_REQUEST = 0x22, /* bulk, from host */
    TCTL_SNAPSHOT_STATE = 0x23, /* bulk, from device */
    TCTL_SNAPSHOT_TILES = 0x24, /* bulk, from device */
    TCTL_LOG_TEXT = 0x25, /* bulk, from device */
    TCTL_STATS_REQUEST = 0x26, /* bulk, from host */
    TCTL_STATS = 0x27, /* bulk, from device */
    TCTL_TEST_ECHO = 0x28, /* bulk, from host */
    TCTL_TEST_ECHO_REPLY = 0x29, /* bulk, from device */
    TCTL_TEST_EMIT = 0x2A, /* bulk, from host */
    TCTL_BUTTON_EVENT = 0x30, /* event, from device */
    TCTL_LID_EVENT = 0x31, /* event, from device */
    TCTL_WALL_EVENT = 0x32, /* event, from device */
    TCTL_DICE_ROLLING = 0x33, /* event, from device */
    TCTL_DICE_SETTLED = 0x34, /* event, from device */
    TCTL_STICK_TRAY = 0x35, /* event, from device */
    TCTL_RIICHI_SLOT = 0x36, /* event, from device */
    TCTL_TILE_EVENT = 0x37, /* event, from device */
    TCTL_TILE_COUNT_FAULT = 0x38, /* event, from device */
    TCTL_TEMPERATURE = 0x39, /* event, from device */
    TCTL_MOTOR_FAULT_EVENT = 0x3A, /* event, from device */
    TCTL_SEAT_ROULETTE = 0x3B, /* event, from device */
    TCTL_LOCK_EVENT = 0x3C, /* event, from device */
    TCTL_TEST_EVENT = 0x3D, /* event, from device */
    TCTL_ACTION_RESULT = 0x3E, /* event, from device */
    TCTL_EVENTS_LOST = 0x3F, /* event, from device */
    TCTL_SET_ROUND = 0x50, /* set, from host */
    TCTL_SET_HONBA = 0x51, /* set, from host */
    TCTL_SET_DEPOSITS = 0x52, /* set, from host */
    TCTL_SET_SCORES = 0x53, /* set, from host */
    TCTL_SET_DIFFERENCES = 0x54, /* set, from host */
    TCTL_SET_LAMPS = 0x55, /* set, from host */
    TCTL_SET_TEXT = 0x56, /* set, from host */
    TCTL_SET_TEST_MODE = 0x57, /* set, from host */
    TCTL_ACTION = 0x70, /* action, from host */
    TCTL_STOP = 0x71, /* urgent, from host */
    TCTL_ACTION_QUERY = 0x72, /* bulk, from host */
    TCTL_ACTION_STATUS = 0x73, /* bulk, from device */
};

/* A tile that lies somewhere now. */
struct tctl_tile_at {
    uint8_t slot; /* position in the zone, 255 unknown */
    uint8_t flags; /* as in TileSight */
    uint64_t tag; /* tag of the tile */
};

/* A tile appeared in a zone or vanished from it. */
struct tctl_tile_sight {
    uint8_t slot; /* position in the zone, 255 unknown */
    uint8_t flags; /* appeared or vanished; orientation when known */
    uint8_t signal; /* strength of the reading, 0 unknown, 255 best */
    uint64_t tag; /* tag of the tile: ISO 15693 UID, or any number unique among the table's sets */
};

/* The host opens a link: both ends start over at sequence number 0. */
struct tctl_hello {
    uint32_t nonce; /* drawn anew for each attempt at a new link; its low 4 bits are the session */
    uint8_t major; /* protocol major of the host */
    uint8_t minor; /* protocol minor of the host */
    uint32_t schema_hash; /* CRC-32 of the host's canonical schema */
    uint32_t version; /* software version of the host, one octet each of major, minor, patch, 0 from the top */
    uint8_t max_frame; /* longest frame the host takes, delimiter included, 16–64, octets */
    uint8_t window; /* frames the host takes unacknowledged, 1–4 */
    uint32_t boot_id; /* boot_id of the device as the host knows it, 0 when it knows none */
    uint32_t event_no; /* last event of that boot which the host has accepted, 0 when none */
};

/* The device answers: who it is, and that it starts over too. */
struct tctl_hello_ack {
    uint32_t nonce; /* the nonce of the Hello it answers */
    uint8_t major; /* protocol major of the device */
    uint8_t minor; /* protocol minor of the device */
    uint32_t schema_hash; /* CRC-32 of the device's canonical schema */
    uint32_t version; /* firmware version, one octet each of major, minor, patch, 0 from the top */
    uint32_t boot_id; /* differs for each start of the device; 0 when it cannot tell */
    uint8_t reset_cause; /* why the device started */
    uint32_t capabilities; /* what the table has */
    uint8_t max_frame; /* longest frame the device takes, delimiter included, 16–64, octets */
    uint8_t window; /* frames the device takes unacknowledged, 1–4 */
    uint32_t uptime_ms; /* time since start, wraps, ms */
    uint32_t event_no; /* last event_no given, 0 before the first */
    uint8_t held; /* events the device keeps unacknowledged and will send again */
};

/* The device has no link and asks for a Hello; sent at start and each second until one comes. */
struct tctl_announce {
    uint8_t major; /* protocol major of the device */
    uint8_t minor; /* protocol minor of the device */
    uint32_t version; /* firmware version, as in HelloAck */
    uint32_t boot_id; /* as in HelloAck */
    uint8_t reset_cause; /* as in HelloAck */
    uint32_t uptime_ms; /* time since start, wraps, ms */
};

/* Once a second: the device lives, and digests of what it believes. */
struct tctl_heartbeat {
    uint32_t uptime_ms; /* time since start, wraps, ms */
    uint32_t boot_id; /* as in HelloAck */
    uint32_t event_no; /* last event_no included in the digests */
    uint32_t cmd_id; /* last action included in the digests, 0 before the first */
    uint16_t state_digest; /* CRC-16 of a SnapshotState behind its first two fields */
    uint16_t display_digest; /* CRC-16 of all desired states in force */
    uint16_t status; /* flags */
    uint8_t events_held; /* events in the device's buffer */
};

/* Once a second: the host lives. Without any valid frame for `timeout_ms` the device stops motions and drops the link. */
struct tctl_watchdog {
    uint16_t timeout_ms; /* silence after which the host counts as gone, 500–65535, ms */
};

/* Asks for the device's clock and tells the host's. */
struct tctl_time_request {
    uint32_t token; /* comes back in the reply */
    uint32_t unix_s; /* wall clock of the host in seconds since 1970, 0 when it is not synchronised, s */
};

/* The device's clock, read when the request was read. */
struct tctl_time_reply {
    uint32_t token; /* token of the request */
    uint32_t uptime_ms; /* time since start, wraps, ms */
};

/* Asks for one page of a text about the device. */
struct tctl_info_request {
    uint8_t key; /* which text */
    uint8_t page; /* page, from 0 */
};

/* One page of a text; pages joined are UTF-8. A text that the device lacks has 0 pages. */
struct tctl_info_page {
    uint8_t key; /* which text */
    uint8_t page; /* this page, from 0 */
    uint8_t pages; /* how many pages the text has */
    uint8_t data_count;
    uint8_t data[40]; /* octets of the text; a character may be split over pages */
};

/* Asks for one page of the device's state. Page 0 of version 0 starts a snapshot. */
struct tctl_snapshot_request {
    uint32_t version; /* version of the pages read so far, 0 with page 0 */
    uint8_t page; /* page, from 0 */
};

/* Page 0: all that is not tiles. What follows `pages` is what the state digest covers. */
struct tctl_snapshot_state {
    uint32_t version; /* event_no of the last event included */
    uint8_t pages; /* pages of this snapshot, this one included, 1–255 */
    uint8_t lid; /* the lid */
    uint8_t walls[4]; /* the four sides */
    uint8_t locked; /* 1 when the table is locked, 0–1 */
    uint8_t riichi; /* riichi slots, bit n = a stick in the slot of seat n, 0–15 */
    uint8_t trays[20]; /* sticks per seat and denomination 10000, 5000, 1000, 500, 100 */
    uint8_t fault; /* 1 when a motor or a jam keeps the table from moving, 0–1 */
};

/* A page of tiles in one zone. A request with an outdated version is answered with page 0 of a new one. */
struct tctl_snapshot_tiles {
    uint32_t version; /* event_no of the last event included */
    uint8_t page; /* this page, from 1, 1–255 */
    uint8_t zone; /* kind << 4 | seat */
    uint8_t reader; /* reader that sees them */
    uint8_t tiles_count;
    struct tctl_tile_at tiles[4]; /* tiles */
};

/* A line of the device's log. */
struct tctl_log_text {
    uint8_t level; /* severity */
    uint8_t text_count;
    uint8_t text[48]; /* the line */
};

/* Figures of the device since its start. */
struct tctl_stats {
    uint32_t frames_received; /* valid frames */
    uint32_t frames_sent; /* frames written */
    uint32_t retransmits; /* frames written again */
    uint32_t crc_errors; /* frames with a wrong CRC */
    uint32_t noise; /* octets that were no frame, octets */
    uint16_t links; /* handshakes done */
    uint16_t events_lost; /* events that found no room */
    uint8_t buffer_high; /* most events held at once */
    uint32_t actions; /* actions executed */
    uint16_t free_memory; /* smallest free stack or heap seen, 65535 when not measured, octets */
};

/* Asks for the same octets back: the conformance test's probe. Every device answers it. */
struct tctl_test_echo {
    uint32_t token; /* comes back */
    uint8_t data_count;
    uint8_t data[48]; /* any octets */
};

/* The octets of a TestEcho. */
struct tctl_test_echo_reply {
    uint32_t token; /* token of the request */
    uint8_t data_count;
    uint8_t data[48]; /* octets of the request */
};

/* Asks for a series of TestEvent; obeyed in test mode only. */
struct tctl_test_emit {
    uint16_t count; /* how many */
    uint16_t interval_ms; /* time between them, 0 as fast as the window allows, ms */
};

/* A button was pressed or released. */
struct tctl_button_event {
    uint8_t button; /* which */
    uint8_t seat; /* seat 0–3, 255 the table */
    uint8_t press; /* what happened */
};

/* The lid (centre plate) changed its phase. */
struct tctl_lid_event {
    uint8_t phase; /* new phase */
    uint8_t jam; /* why it stopped, 0 when it did not */
    uint32_t cmd_id; /* action that caused it, 0 none */
};

/* A wall, or all four, changed phase. */
struct tctl_wall_event {
    uint8_t side; /* side 0–3, 255 all four */
    uint8_t phase; /* new phase */
    uint8_t jam; /* why it stopped, 0 when it did not */
    uint32_t cmd_id; /* action that caused it, 0 none */
};

/* The machine rolls its dice. */
struct tctl_dice_rolling {
    uint32_t cmd_id; /* action that caused it, 0 a button */
};

/* The dice lie still. */
struct tctl_dice_settled {
    uint8_t a; /* first die, 1–6 */
    uint8_t b; /* second die, 1–6 */
    uint8_t manual; /* 1 when people rolled by hand and the machine read or was told the values, 0–1 */
    uint32_t cmd_id; /* action that caused it, 0 a button or a hand */
};

/* What lies in a seat's point-stick tray. */
struct tctl_stick_tray {
    uint8_t seat; /* seat, 0–3 */
    uint8_t sticks[5]; /* sticks of 10000, 5000, 1000, 500, 100 */
    uint8_t fault; /* why the counts may be wrong */
};

/* A stick came into, or left, a seat's riichi slot. */
struct tctl_riichi_slot {
    uint8_t seat; /* seat, 0–3 */
    uint8_t present; /* 1 a stick lies there, 0–1 */
};

/* Tiles appeared or vanished in one zone, in the order seen. */
struct tctl_tile_event {
    uint8_t zone; /* kind << 4 | seat */
    uint8_t reader; /* number of the reader */
    uint8_t tiles_count;
    struct tctl_tile_sight tiles[4]; /* sightings */
};

/* A set does not have the number of tiles it should have; counted = expected clears the fault. */
struct tctl_tile_count_fault {
    uint8_t tile_set; /* set 0 or 1, 0–1 */
    uint8_t expected; /* tiles it should have */
    uint8_t counted; /* tiles counted */
};

/* A temperature crossed a limit or moved by 5 °C. */
struct tctl_temperature {
    uint8_t sensor; /* number of the sensor */
    int16_t decidegrees; /* temperature, 0.1 °C */
    uint8_t limit; /* 0 fine, 1 warm, 2 too hot, 0–2 */
};

/* A motor failed or recovered. */
struct tctl_motor_fault_event {
    uint8_t motor; /* which */
    uint8_t fault; /* what is wrong, 0 recovered */
    int16_t decidegrees; /* its temperature, -32768 when not measured, 0.1 °C */
};

/* The machine's seat draw pointed at a seat. */
struct tctl_seat_roulette {
    uint8_t seat; /* seat drawn, 0–3 */
};

/* The table was locked or unlocked. */
struct tctl_lock_event {
    uint8_t locked; /* 1 locked, 0–1 */
    uint32_t cmd_id; /* action that caused it, 0 the table itself */
};

/* One of a series asked by TestEmit, or the outcome of a TEST action. */
struct tctl_test_event {
    uint32_t number; /* 0, 1, 2, … within the series; number of the test for a TEST action */
    int32_t value; /* test value */
};

/* An action ended. Sent again with `repeated` when its cmd_id comes a second time. */
struct tctl_action_result {
    uint32_t cmd_id; /* which action */
    uint8_t result; /* how it ended */
    uint16_t detail; /* jam code, motor, or value of the action */
    uint8_t repeated; /* 1 when the action had ended earlier and was not done again, 0–1 */
};

/* The event buffer was full: this many events have no number and are gone; read a snapshot. */
struct tctl_events_lost {
    uint16_t count; /* how many, 65535 at least that many, 1–65535 */
};

/* Round display: prevailing wind, number of the hand, dealer. */
struct tctl_set_round {
    uint8_t wind; /* prevailing wind, 0–3 */
    uint8_t number; /* 1–4, 1–4 */
    uint8_t dealer; /* seat of the dealer, 0–3 */
};

/* Honba display. */
struct tctl_set_honba {
    uint8_t honba; /* counters */
};

/* Deposits display. */
struct tctl_set_deposits {
    uint8_t deposits; /* riichi sticks on the table */
};

/* The four score displays. */
struct tctl_set_scores {
    int32_t scores[4]; /* what the display of seats 0–3 shows */
};

/* The difference display of one seat; each seat is a display of its own. */
struct tctl_set_differences {
    uint8_t seat; /* whose display, 0–3 */
    int32_t differences[4]; /* what it shows for seats 0–3 */
};

/* All lamps at once. */
struct tctl_set_lamps {
    uint32_t on; /* lamps that shine */
    uint32_t blink; /* those of them that blink */
};

/* A text display; each display number is a display of its own. */
struct tctl_set_text {
    uint8_t display; /* number of the display */
    uint8_t text_count;
    uint8_t text[40]; /* what it shows */
};

/* Test mode on or off; off at start. In test mode no motion is started by a button. */
struct tctl_set_test_mode {
    uint8_t on; /* 1 on, 0–1 */
};

/* Do something once. The outcome is an ActionResult with the same cmd_id. */
struct tctl_action {
    uint32_t cmd_id; /* never used before for this table, not 0, 1–4294967295 */
    uint8_t action; /* what to do */
    uint16_t arg; /* BEEP: duration in ms; TEST: number of the test; else 0 */
    uint32_t deadline_ms; /* device uptime after which it is not started, 0 none, ms */
    uint8_t require; /* preconditions */
};

/* Stop all motion at once; running actions end with STOPPED. May be repeated. */
struct tctl_stop {
    uint32_t cmd_id; /* never used before for this table, not 0, 1–4294967295 */
};

/* Asks the fate of an action. */
struct tctl_action_query {
    uint32_t cmd_id; /* which, 1–4294967295 */
};

/* The fate of an action as far as the device remembers (its last 8). */
struct tctl_action_status {
    uint32_t cmd_id; /* which */
    uint8_t state; /* what the device knows */
    uint8_t result; /* how it ended, when FINISHED */
    uint16_t detail; /* as in ActionResult */
};

/* Any message: the id tells which member of `as` holds. */
struct tctl_message {
    uint8_t id;
    union {
        struct tctl_hello hello;
        struct tctl_hello_ack hello_ack;
        struct tctl_announce announce;
        struct tctl_heartbeat heartbeat;
        struct tctl_watchdog watchdog;
        struct tctl_time_request time_request;
        struct tctl_time_reply time_reply;
        struct tctl_info_request info_request;
        struct tctl_info_page info_page;
        struct tctl_snapshot_request snapshot_request;
        struct tctl_snapshot_state snapshot_state;
        struct tctl_snapshot_tiles snapshot_tiles;
        struct tctl_log_text log_text;
        struct tctl_stats stats;
        struct tctl_test_echo test_echo;
        struct tctl_test_echo_reply test_echo_reply;
        struct tctl_test_emit test_emit;
        struct tctl_button_event button_event;
        struct tctl_lid_event lid_event;
        struct tctl_wall_event wall_event;
        struct tctl_dice_rolling dice_rolling;
        struct tctl_dice_settled dice_settled;
        struct tctl_stick_tray stick_tray;
        struct tctl_riichi_slot riichi_slot;
        struct tctl_tile_event tile_event;
        struct tctl_tile_count_fault tile_count_fault;
        struct tctl_temperature temperature;
        struct tctl_motor_fault_event motor_fault_event;
        struct tctl_seat_roulette seat_roulette;
        struct tctl_lock_event lock_event;
        struct tctl_test_event test_event;
        struct tctl_action_result action_result;
        struct tctl_events_lost events_lost;
        struct tctl_set_round set_round;
        struct tctl_set_honba set_honba;
        struct tctl_set_deposits set_deposits;
        struct tctl_set_scores set_scores;
        struct tctl_set_differences set_differences;
        struct tctl_set_lamps set_lamps;
        struct tctl_set_text set_text;
        struct tctl_set_test_mode set_test_mode;
        struct tctl_action action;
        struct tctl_stop stop;
        struct tctl_action_query action_query;
        struct tctl_action_status action_status;
    } as;
};

/* What the declaration says of a message beside its fields. */
struct tctl_traits {
    uint8_t id;
    uint8_t kind;  /* enum tctl_kind */
    uint8_t flags; /* TCTL_FROM_HOST, TCTL_FROM_DEVICE, TCTL_KEYED */
    uint8_t since; /* minor that it came with */
};
#define TCTL_FROM_HOST 1U
#define TCTL_FROM_DEVICE 2U
#define TCTL_KEYED 4U /* each value of the first octet is a display of its own */

#define TCTL_BAD 255U

/* NULL: this version has no message of that id. */
const struct tctl_traits *tctl_traits_of(uint8_t id);

/* Writes the fields (of an event: without its header) as a peer of `minor` reads them, at most TCTL_MAX_PAYLOAD octets.
   Returns their count, or TCTL_BAD when a value is out of range or the id is unknown. */
uint8_t tctl_pack(const struct tctl_message *message, uint8_t minor, uint8_t *payload);

/* Reads the fields (of an event: without its header); octets behind the last known field are left alone (V-6).
   Returns the count of octets read, or TCTL_BAD when they end early, a value is out of range or the id is unknown (M-3). */
uint8_t tctl_unpack(uint8_t id, const uint8_t *payload, uint8_t count, struct tctl_message *message);

#endif
