"""The ASCII line driver: a board of twenty lines of sketch joins at level basic, unreliably; no I/O.

Board → host, one line each, any case, ended by CR, LF or both:

    HELLO <model> [lift] [honba] [round] [deposits] [scores]    who it is and what it has
    START [seat]        the start button
    DICE a b            the dice lie still
    WALLS UP | DOWN     all four walls
    LID OPEN | CLOSED   the lid
    OK <cmd> | NO <cmd> a LIFT or LOWER ended, or was not begun

Host → board:

    HELLO tablectl      asks for HELLO; repeated until any line comes
    HONBA n · ROUND E 1 · DEPOSITS n · SCORES a b c d    as the board said it has
    LIFT <cmd> · LOWER <cmd>

Nothing is numbered or acknowledged, so displays are written again every ten seconds.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from firmware_protocol import messages as m
from firmware_protocol.capture import mask_text
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import (
    SEATS,
    TABLE,
    ActionKind,
    Button,
    Capability,
    Jam,
    Phase,
    Press,
)
from tablectl.mirror.submit import Fact
from tablectl.table.drivers import (
    AskUnsettled,
    DeviceInfo,
    DriverContext,
    MarkSent,
    Motion,
    Output,
    Outputs,
    ReportFact,
    Say,
    SettleMotion,
    Standing,
)
from tablectl.table.motions import late

MS = 1_000
LINE_MOST = 80
HELLO_EVERY = 2_000 * MS
"""An Arduino sits in its boot loader for up to two seconds after the port opened."""
FACTS_MOST = 64
"""Facts waiting to be written: a sketch that prints in its loop must not fill the memory and the journal."""
BOUNCE = 300 * MS
"""The same button line within this time is a bouncing contact, not a second press."""

HAS: dict[str, Capability] = {
    "lift": Capability.LIFT,
    "dice": Capability.DICE,
    "honba": Capability.HONBA_DISPLAY,
    "round": Capability.ROUND_DISPLAY,
    "deposits": Capability.DEPOSITS_DISPLAY,
    "scores": Capability.SCORE_DISPLAYS | Capability.NEGATIVE_SCORES,
}
DEFAULT = Capability.DICE | Capability.HONBA_DISPLAY
_COMMANDS = {ActionKind.LIFT: "LIFT", ActionKind.LOWER: "LOWER"}
_WINDS = "ESWN"


class LineDevice(Outputs):
    """A `Driver` for boards that speak lines."""

    def __init__(self, context: DriverContext) -> None:
        super().__init__()
        self._options = context.options
        self._buffer = bytearray()
        self._overlong = False
        self._to_send: list[str] = []
        self._open = False
        self._up = False
        self._hello_at: int | None = None
        self._rewrite_at: int | None = None
        self._desired: dict[type[Message], Message] = {}
        self._capabilities = DEFAULT
        self._model = ""
        self._waiting: dict[int, int] = {}
        """cmd_id → when it is called unknown (µs)."""
        self._marking: dict[int, Motion] = {}
        self._last_button: tuple[str, int] = ("", -BOUNCE)
        self._waiting_facts = 0
        self._flooded = False
        self._counts = {"lines": 0, "lines_unknown": 0, "lines_dropped": 0}

    # ------------------------------------------------------------------ life

    def opened(self, now: int) -> None:
        """Ask who is there."""
        self._open, self._up = True, False
        self._buffer.clear()
        self._overlong = False
        self._to_send.clear()
        self._hello_at = now
        self._out.append(Standing("handshake", "waiting for a line from the board"))

    def closed(self, now: int) -> None:
        """The port is gone; what was on its way is unknown."""
        del now
        self._open = self._up = False
        self._hello_at = self._rewrite_at = None
        self._lose_motions("port_lost")

    def receive(self, data: bytes, now: int) -> None:
        """Octets from the board."""
        for octet in data:
            if octet in b"\r\n":
                line, overlong = bytes(self._buffer), self._overlong
                self._buffer.clear()
                self._overlong = False
                if line and not overlong:
                    self._line(line, now)
            elif len(self._buffer) < LINE_MOST:
                self._buffer.append(octet)
            else:
                self._overlong = True

    def poll(self, now: int) -> None:
        """Hello until somebody answers, then displays again and again."""
        if not self._open:
            return
        if self._hello_at is not None and now >= self._hello_at:
            self._to_send.append("HELLO tablectl")
            self._hello_at = now + HELLO_EVERY
        if self._rewrite_at is not None and now >= self._rewrite_at:
            self._write_displays(now)
        for cmd_id, until in list(self._waiting.items()):
            if now >= until:
                self._settle(cmd_id, "unknown", {"reason": "no_answer"})

    def data_to_send(self, now: int) -> bytes:
        """Lines for the board."""
        del now
        lines, self._to_send = self._to_send, []
        return "".join(line + "\n" for line in lines).encode("ascii")

    @property
    def next_deadline(self) -> int | None:
        """When `poll` has something to do."""
        if not self._open:
            return None
        times = [self._hello_at, self._rewrite_at, *self._waiting.values()]
        if self._to_send:
            times.append(0)
        return min((t for t in times if t is not None), default=None)

    def done(self, output: Output, now: int, answer: Sequence[Motion] = ()) -> None:
        """The session has dealt with an output."""
        if isinstance(output, AskUnsettled):
            # Nobody here remembers a command: whatever is open is unknown, and not sent again.
            for old in answer:
                if old.cmd_id not in self._waiting and old.cmd_id not in self._marking:
                    self._settle(old.cmd_id, "unknown", {"reason": "unreliable_driver"})
        elif isinstance(output, ReportFact):
            self._waiting_facts -= 1
            self._flooded = self._flooded and self._waiting_facts > 0
        elif isinstance(output, MarkSent):
            motion = self._marking.pop(output.cmd_id, None)
            if motion is None:
                return
            if late(motion, now):
                self._settle(motion.cmd_id, "refused", {"reason": "expired"})
            elif self._up:
                self._to_send.append(
                    f"{_COMMANDS[ActionKind(motion.message.action)]} {motion.cmd_id}"
                )
                self._waiting[motion.cmd_id] = now + self._options.motion_patience_ms * MS

    def desire(self, displays: Sequence[Message], now: int) -> None:
        """What the displays should show from now on."""
        changed = []
        for message in displays:
            if self._desired.get(type(message)) != message:
                self._desired[type(message)] = message
                changed.append(message)
        if self._up:
            self._to_send += [line for line in map(self._display_line, changed) if line]
            self._rewrite_at = self._rewrite_at or now + self._period

    def command(self, motion: Motion, now: int) -> None:
        """Send a motion, once."""
        del now
        known = motion.message.action in set(_COMMANDS)
        if not self._up:
            return
        if not known or not self._capabilities & Capability.LIFT:
            self._settle(motion.cmd_id, "refused", {"reason": "unsupported"})
            return
        self._marking[motion.cmd_id] = motion
        self._out.append(MarkSent(motion.cmd_id))

    @property
    def figures(self) -> dict[str, int]:
        """Lines heard, those not understood, those that came too fast."""
        return dict(self._counts)

    @property
    def _period(self) -> int:
        return self._options.display_period_ms * MS

    # ------------------------------------------------------------------ lines

    def _line(self, line: bytes, now: int) -> None:
        try:
            words = line.decode("ascii").split()
        except UnicodeDecodeError:
            words = []
        handler = _HANDLERS.get(words[0].upper()) if words else None
        self._counts["lines"] += 1
        if handler is None or not handler(self, [w.upper() for w in words[1:]], words, now):
            self._counts["lines_unknown"] += 1
            text = line.decode("ascii", "backslashreplace")
            shown = text if self._options.unmask else mask_text(text)
            self._out.append(Say(logging.DEBUG, f"not understood: {shown}"))

    def _heard(self, now: int, *, hello: bool = False) -> None:
        """Somebody is there. After HELLO of one that was there already, it has started anew."""
        self._hello_at = None
        if self._up and not hello:
            return
        reset = self._up and hello
        if reset:
            self._lose_motions("reset")
        self._up = True
        info = DeviceInfo(
            model=self._model,
            capabilities=int(self._capabilities),
            level="basic",
            reliable=False,
        )
        warning = "line driver: nothing is acknowledged, presses may be lost or doubled"
        self._out.append(Standing("resync", "", "", info, reset, (warning,)))
        self._out.append(AskUnsettled())
        self._out.append(Standing("up", "", "", info, False, (warning,)))
        self._write_displays(now)

    def _on_hello(self, words: list[str], raw: list[str], now: int) -> bool:
        self._model = raw[1] if len(raw) > 1 else ""
        told = {word.lower() for word in words[1:]} & set(HAS)
        self._capabilities = Capability.DICE
        for word in told:
            self._capabilities |= HAS[word]
        if not told:
            self._capabilities = DEFAULT
        self._heard(now, hello=True)
        return True

    def _on_start(self, words: list[str], raw: list[str], now: int) -> bool:
        del raw
        seat = TABLE
        if words:
            if not words[0].isdigit() or int(words[0]) not in SEATS:
                return False
            seat = int(words[0])
        text, at = self._last_button
        key = f"START {seat}"
        self._last_button = (key, now)
        if text == key and now - at < BOUNCE:
            return True
        return self._report(m.ButtonEvent(Button.START, seat, Press.PRESSED), now)

    def _on_dice(self, words: list[str], raw: list[str], now: int) -> bool:
        del raw
        if len(words) != 2 or any(word not in {"1", "2", "3", "4", "5", "6"} for word in words):
            return False
        return self._report(m.DiceSettled(int(words[0]), int(words[1]), 0, 0), now)

    def _on_walls(self, words: list[str], raw: list[str], now: int) -> bool:
        del raw
        phases = {"UP": Phase.UP, "DOWN": Phase.DOWN}
        if len(words) != 1 or words[0] not in phases:
            return False
        return self._report(m.WallEvent(TABLE, phases[words[0]], Jam.NONE, 0), now)

    def _on_lid(self, words: list[str], raw: list[str], now: int) -> bool:
        del raw
        phases = {"OPEN": Phase.UP, "CLOSED": Phase.DOWN}
        if len(words) != 1 or words[0] not in phases:
            return False
        return self._report(m.LidEvent(phases[words[0]], Jam.NONE, 0), now)

    def _on_ok(self, words: list[str], raw: list[str], now: int) -> bool:
        return self._answered(words, raw[0].upper() == "OK", now)

    def _answered(self, words: list[str], ok: bool, now: int) -> bool:
        if len(words) != 1 or not words[0].isdigit():
            return False
        self._heard(now)
        cmd_id = int(words[0])
        if cmd_id in self._waiting:
            self._settle(cmd_id, "done" if ok else "refused", {"name": "ok" if ok else "no"})
        return True

    def _report(self, message: Message, now: int) -> bool:
        self._heard(now)
        if self._waiting_facts >= FACTS_MOST:
            self._counts["lines_dropped"] += 1
            if not self._flooded:
                self._flooded = True
                text = "the board says more than can be written: lines are dropped; let its sketch print changes only"
                self._out.append(Say(logging.WARNING, text))
            return True
        self._waiting_facts += 1
        self._out.append(ReportFact(Fact(self._options.table_id, message, None, None, None)))
        return True

    # ------------------------------------------------------------------ to the board

    def _write_displays(self, now: int) -> None:
        self._to_send += [line for line in map(self._display_line, self._desired.values()) if line]
        self._rewrite_at = now + self._period

    def _display_line(self, message: Message) -> str:
        has = self._capabilities
        match message:
            case m.SetHonba(honba=honba) if has & Capability.HONBA_DISPLAY:
                return f"HONBA {honba}"
            case m.SetRound(wind=wind, number=number) if has & Capability.ROUND_DISPLAY:
                return f"ROUND {_WINDS[wind]} {number}"
            case m.SetDeposits(deposits=deposits) if has & Capability.DEPOSITS_DISPLAY:
                return f"DEPOSITS {deposits}"
            case m.SetScores(scores=scores) if has & Capability.SCORE_DISPLAYS:
                return "SCORES " + " ".join(str(score) for score in scores)
        return ""

    def _settle(self, cmd_id: int, state: str, result: dict[str, int | str]) -> None:
        self._waiting.pop(cmd_id, None)
        assert state in {"done", "refused", "unknown"}
        self._out.append(SettleMotion(cmd_id, state, result))  # type: ignore[arg-type]  # asserted above

    def _lose_motions(self, reason: str) -> None:
        for cmd_id in [*self._waiting, *self._marking]:
            self._settle(cmd_id, "unknown", {"reason": reason})
        self._marking.clear()


_Handler = Callable[[LineDevice, list[str], list[str], int], bool]
_HANDLERS: dict[str, _Handler] = {
    "HELLO": LineDevice._on_hello,  # noqa: SLF001 - own class
    "START": LineDevice._on_start,  # noqa: SLF001
    "DICE": LineDevice._on_dice,  # noqa: SLF001
    "WALLS": LineDevice._on_walls,  # noqa: SLF001
    "LID": LineDevice._on_lid,  # noqa: SLF001
    "OK": LineDevice._on_ok,  # noqa: SLF001
    "NO": LineDevice._on_ok,  # noqa: SLF001
}
"""First word → what to do; False: not understood."""
