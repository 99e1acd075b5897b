"""The numbers that messages speak in: buttons, phases, jam codes, zones, capabilities. Unknown values pass through."""

from __future__ import annotations

import enum

SEATS = range(4)
TABLE = 0xFF
"""As `seat`: the table itself, no seat."""
ANYWHERE = 0xFF
"""As `slot`: the reader cannot tell the position."""


class ResetCause(enum.IntEnum):
    """Why the device started."""

    UNKNOWN = 0
    POWER_ON = 1
    BROWN_OUT = 2
    WATCHDOG = 3
    SOFTWARE = 4
    PIN = 5
    FAULT = 6
    UPDATE = 7


class Capability(enum.IntFlag):
    """What a table has (HELLO_ACK.capabilities)."""

    LIFT = 1 << 0
    DICE = 1 << 1
    LOCK = 1 << 2
    BEEP = 1 << 3
    HONBA_DISPLAY = 1 << 4
    ROUND_DISPLAY = 1 << 5
    DEPOSITS_DISPLAY = 1 << 6
    SCORE_DISPLAYS = 1 << 7
    DIFFERENCE_DISPLAYS = 1 << 8
    NEGATIVE_SCORES = 1 << 9
    LAMPS = 1 << 10
    TEXT_DISPLAY = 1 << 11
    STICK_TRAYS = 1 << 12
    RIICHI_SLOTS = 1 << 13
    TILES_WALL = 1 << 14
    TILES_HAND = 1 << 15
    TILES_DRAWN = 1 << 16
    TILES_RIVER = 1 << 17
    TILES_MELD = 1 << 18
    TILES_LAID = 1 << 19
    TILES_INDICATORS = 1 << 20
    ORIENTATION = 1 << 21
    TILE_COUNT = 1 << 22
    AUTO_DEAL = 1 << 23
    AUTO_DORA = 1 << 24
    TEMPERATURE = 1 << 25
    SEAT_ROULETTE = 1 << 26
    RIICHI_BUTTONS = 1 << 27
    TEST = 1 << 28


LEVEL_BASIC = Capability.LIFT | Capability.DICE | Capability.HONBA_DISPLAY
LEVEL_SCORE = (
    LEVEL_BASIC | Capability.SCORE_DISPLAYS | Capability.NEGATIVE_SCORES | Capability.STICK_TRAYS
    | Capability.RIICHI_SLOTS | Capability.ROUND_DISPLAY | Capability.DEPOSITS_DISPLAY | Capability.LAMPS
)  # fmt: skip
LEVEL_TILES = (
    LEVEL_SCORE | Capability.TILES_WALL | Capability.TILES_HAND | Capability.TILES_DRAWN | Capability.TILES_RIVER
    | Capability.TILES_MELD | Capability.TILES_LAID | Capability.TILES_INDICATORS
)  # fmt: skip


def level(capabilities: int) -> str:
    """`basic`, `score` or `tiles`: the highest level whose essentials the capabilities hold."""
    essentials = {
        "tiles": Capability.TILES_HAND
        | Capability.TILES_RIVER
        | Capability.TILES_MELD
        | Capability.TILES_INDICATORS,
        "score": Capability.SCORE_DISPLAYS | Capability.STICK_TRAYS | Capability.RIICHI_SLOTS,
    }
    for name, needed in essentials.items():
        if capabilities & needed == needed:
            return name
    return "basic"


class Button(enum.IntEnum):
    """Buttons of a table."""

    START = 1
    DICE = 2
    UP_DOWN = 3
    RIICHI = 4
    HONBA_UP = 5
    HONBA_DOWN = 6
    RESET = 7
    SEAT_DRAW = 8
    CALL_STAFF = 9


class Press(enum.IntEnum):
    """What happened to a button."""

    RELEASED = 0
    PRESSED = 1
    LONG = 2


class Phase(enum.IntEnum):
    """Position of the lid (centre plate), of a wall or of the lift; JAMMED comes with a jam code."""

    UNKNOWN = 0
    DOWN = 1
    RISING = 2
    UP = 3
    LOWERING = 4
    BUILDING = 5
    READY = 6
    JAMMED = 7


class Jam(enum.IntEnum):
    """Why a motion stopped."""

    NONE = 0
    TILE_STUCK = 1
    LIFT_BLOCKED = 2
    LID_BLOCKED = 3
    PUSHER_BLOCKED = 4
    SENSOR_DIRTY = 5
    POSITION_LOST = 6
    HAND_IN_THE_WAY = 7
    OVERLOAD = 8


class Motor(enum.IntEnum):
    """Motors of a table."""

    LIFT = 1
    LID = 2
    SHUFFLER = 3
    CONVEYOR = 4
    PUSHER = 5
    DICE = 6


class MotorFault(enum.IntEnum):
    """What is wrong with a motor."""

    CLEARED = 0
    OVERHEAT = 1
    OVERCURRENT = 2
    STALLED = 3
    NO_ENCODER = 4


class StickFault(enum.IntEnum):
    """What is wrong with a point-stick tray."""

    NONE = 0
    WRONG_SLOT = 1
    UNREADABLE = 2
    OVERFULL = 3


class ZoneKind(enum.IntEnum):
    """Where a reader looks; the zone octet is `kind << 4 | seat`."""

    WALL = 1
    HAND = 2
    DRAWN = 3
    RIVER = 4
    MELD = 5
    LAID = 6
    INDICATOR = 7
    URA = 8
    HOLE = 9


def zone(kind: ZoneKind, seat: int = 0) -> int:
    """The zone octet. INDICATOR, URA and HOLE belong to the table: seat 0."""
    return kind << 4 | seat


def zone_kind(octet: int) -> int:
    """Which kind of zone a zone octet names (a ZoneKind, or a number this version does not know)."""
    return octet >> 4


def zone_seat(octet: int) -> int:
    """The seat (or side of the wall) 0–3 of a zone octet."""
    return octet & 0x0F


class Sight(enum.IntFlag):
    """Flags of one tile sighting."""

    APPEARED = 1 << 0
    ORIENTED = 1 << 1
    SIDEWAYS = 1 << 2
    FACE_UP = 1 << 3


class ActionKind(enum.IntEnum):
    """Things that a table can be asked to do once."""

    ROLL = 1
    LIFT = 2
    LOWER = 3
    LOCK = 4
    UNLOCK = 5
    BEEP = 6
    SEAT_DRAW = 7
    TEST = 8
    TEST_COUNT = 9


class Require(enum.IntFlag):
    """Preconditions of an action: all set ones must hold when it starts."""

    IDLE = 1 << 0
    LID_DOWN = 1 << 1
    LID_UP = 1 << 2
    WALLS_DOWN = 1 << 3
    WALLS_UP = 1 << 4
    UNLOCKED = 1 << 5
    NO_FAULT = 1 << 6


class Result(enum.IntEnum):
    """How an action ended."""

    DONE = 0
    UNSUPPORTED = 1
    REFUSED_INTERLOCK = 2
    REFUSED_PRECONDITION = 3
    REFUSED_BUSY = 4
    EXPIRED = 5
    FAILED_JAM = 6
    FAILED_MOTOR = 7
    STOPPED = 8


class ActionState(enum.IntEnum):
    """What a device knows of a cmd_id."""

    UNKNOWN = 0
    RUNNING = 1
    FINISHED = 2


class Lamp(enum.IntFlag):
    """Lamps of a table, one bit each."""

    RIICHI_0 = 1 << 0
    RIICHI_1 = 1 << 1
    RIICHI_2 = 1 << 2
    RIICHI_3 = 1 << 3
    DEALER_0 = 1 << 4
    DEALER_1 = 1 << 5
    DEALER_2 = 1 << 6
    DEALER_3 = 1 << 7
    SET_COMPLETE = 1 << 8
    ATTENTION = 1 << 9


class Status(enum.IntFlag):
    """Flags of a heartbeat."""

    MOVING = 1 << 0
    LOCKED = 1 << 1
    FAULT = 1 << 2
    TEST_MODE = 1 << 3
    STOPPED = 1 << 4


class InfoKey(enum.IntEnum):
    """Texts a device can tell about itself."""

    MODEL = 1
    SERIAL_NUMBER = 2
    VENDOR = 3
    FIRMWARE = 4
    HARDWARE = 5
    TILE_SETS = 6


class LogLevel(enum.IntEnum):
    """Severity of a log text."""

    DEBUG = 0
    INFO = 1
    WARNING = 2
    ERROR = 3


class Wind(enum.IntEnum):
    """Prevailing wind as a display shows it."""

    EAST = 0
    SOUTH = 1
    WEST = 2
    NORTH = 3
