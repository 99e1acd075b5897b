"""The framed driver: one board that speaks SPEC.md, its handshake, resync, facts and motions; no I/O."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import cast

from firmware_protocol import deliveries as d
from firmware_protocol import framing
from firmware_protocol import messages as m
from firmware_protocol.capture import mask_text
from firmware_protocol.errors import WireError
from firmware_protocol.link import Link
from firmware_protocol.paging import InfoReader
from firmware_protocol.schema import Kind, Message
from firmware_protocol.timing import signed32
from firmware_protocol.vocabulary import InfoKey, LogLevel, ResetCause, level
from tablectl import __version__
from tablectl.mirror.submit import Fact
from tablectl.table.drivers import (
    AskUnsettled,
    DeviceInfo,
    DriverContext,
    Level,
    MarkSent,
    Motion,
    Output,
    Outputs,
    Reopen,
    ReportFact,
    Say,
    Stand,
    Standing,
)
from tablectl.table.motions import Motions
from tablectl.table.picture import DevicePicture
from tablectl.table.reading import StateReading

MS = 1_000
SECOND = 1_000_000
ANSWER = 1 * SECOND
"""A page not answered is asked for again after this; the link itself repeats lost frames."""
ASK_MOST = 3
RESYNC_MOST = 8 * SECOND
"""A board that does not tell its texts or state keeps no table waiting longer; its state is read all the same."""
NO_ANSWER = 12 * SECOND
"""Six Hello of 2 s without an answer: the port may be stuck, so it is opened anew (known fault 12)."""
CALM = 10 * SECOND
"""An UP that lasted this long ends a series of failures."""
FAILURES_MOST = 3
RETRY = 250 * MS
SNAPSHOT_GAP = 10 * SECOND
SNAPSHOT_GAP_MOST = 300 * SECOND
"""Between two snapshots asked in vain or because the digests differ: a board in the wrong is not flooded."""

TEXTS = (
    (InfoKey.MODEL, "model"),
    (InfoKey.SERIAL_NUMBER, "serial_number"),
    (InfoKey.VENDOR, "vendor"),
    (InfoKey.FIRMWARE, "firmware"),
    (InfoKey.HARDWARE, "hardware"),
)

_WHY = {
    "tries": "the board did not acknowledge five times",
    "silent": "the board was silent for 3.5 s",
    "peer_reset": "the board has started anew",
    "peer_lost": "the board lost the link",
    "peer_hello": "the board began another handshake",
    "reset": "the link was reset",
}
_LEVELS = {
    LogLevel.DEBUG: logging.DEBUG,
    LogLevel.INFO: logging.INFO,
    LogLevel.WARNING: logging.WARNING,
    LogLevel.ERROR: logging.ERROR,
}


def version_number() -> int:
    """Our version as Hello tells it: one octet each of major, minor, patch, 0."""
    parts = [int(part) for part in __version__.split(".")[:3]]
    return sum((part & 0xFF) << shift for part, shift in zip(parts, (24, 16, 8), strict=False))


class FramedDevice(Outputs):
    """A `Driver` for boards that speak the framed protocol."""

    def __init__(self, context: DriverContext) -> None:
        super().__init__()
        self._context = context
        self._options = context.options
        self._link: Link | None = None
        self._motions = Motions(self._options.motion_patience_ms * MS)
        self._picture = DevicePicture()
        self._info: DeviceInfo | None = None
        self._desired: frozenset[Message] = frozenset()
        self._stand: Stand = "handshake"
        self._open = False
        self._reset = False
        self._warnings: list[str] = []
        # waiting times
        self._deadline_answer: int | None = None
        self._connect_at: int | None = None
        self._resync_until: int | None = None
        self._up_since: int | None = None
        self._failures = 0
        # texts and snapshot
        self._texts: dict[str, str] = {}
        self._reader: InfoReader | None = None
        self._reading: StateReading | None = None
        self._untold = False
        """The board was asked for its state in vain; it is asked again while it is up."""
        self._snapshot_gap = SNAPSHOT_GAP
        self._snapshot_not_before = 0
        self._differs_at: int | None = None
        self._asked_at = 0
        self._asked = 0
        self._unsettled_known = False
        # facts
        self._reported = 0
        """Last event_no handed to the session."""
        self._handled = 0
        """Last event_no that the session has submitted."""
        self._uptime = context.known.uptime_ms
        self._resets = 0

    # ------------------------------------------------------------------ life

    def opened(self, now: int) -> None:
        """Begin the handshake."""
        self._open = True
        if self._link is None:
            known = self._context.known
            self._link = Link.host(
                now,
                nonce=self._context.nonce,
                version=version_number(),
                known_boot=known.boot_id,
                known_event=known.event_no,
                wall_clock=self._context.wall_clock,
            )
            self._reported = self._handled = known.event_no
        self._link.port_opened()
        self._link.connect(now)
        # What became of the link of the port before was told with `closed`.
        self._link.receive(b"", now)
        self._connect_at = None
        self._failures = 0
        self._deadline_answer = now + NO_ANSWER
        self._say_standing("handshake", "waiting for the board's answer", "")

    def closed(self, now: int) -> None:
        """The port is gone: the link with it."""
        del now
        self._open = False
        self._deadline_answer = self._connect_at = None
        self._link_down()

    def receive(self, data: bytes, now: int) -> None:
        """Octets from the board."""
        if self._link is not None and self._open:
            for item in self._link.receive(data, now):
                self._item(item, now)
            self._go_on(now)

    def poll(self, now: int) -> None:
        """Let time pass."""
        link = self._link
        if link is None or not self._open:
            return
        for item in link.poll(now):
            self._item(item, now)
        if self._connect_at is not None and now >= self._connect_at:
            self._connect_at = None
            link.connect(now)
        if self._deadline_answer is not None and now >= self._deadline_answer:
            self._deadline_answer = None
            self._out.append(Reopen("the board does not answer; the port is opened anew"))
        if self._up_since is not None and now >= self._up_since + CALM:
            self._failures = 0
        if link.state is d.State.UP:
            self._motions.poll(now)
        if self._reading is not None:
            self._reading.poll(now)
            self._hand_over(now)
        self._go_on(now)

    def data_to_send(self, now: int) -> bytes:
        """Octets for the board."""
        return b"" if self._link is None or not self._open else self._link.data_to_send(now)

    @property
    def next_deadline(self) -> int | None:
        """When `poll` or `data_to_send` have something to do."""
        if self._link is None or not self._open:
            return None
        times = [self._link.next_deadline, self._connect_at, self._deadline_answer]
        if self._link.state is d.State.UP:
            times += [self._motions.next_deadline, self._resync_until]
            if self._asked:
                times.append(self._asked_at + ANSWER)
            if self._reading is not None:
                times.append(self._reading.next_deadline)
        return min((t for t in times if t is not None), default=None)

    def done(self, output: Output, now: int, answer: Sequence[Motion] = ()) -> None:
        """The session has dealt with an output."""
        link = self._link
        if link is None:
            return
        if isinstance(output, ReportFact):
            delivery = output.token
            if isinstance(delivery, d.Delivery):
                link.accept(delivery)
                if delivery.event_no is not None and delivery.boot == self._boot:
                    self._handled = delivery.event_no
                    self._picture.observe(delivery.message)
        elif isinstance(output, MarkSent):
            self._motions.marked(output.cmd_id, now)
        elif isinstance(output, AskUnsettled):
            self._unsettled_known = True
            self._motions.resync(list(answer), now, reset=self._reset)
        self._go_on(now)

    def desire(self, displays: Sequence[Message], now: int) -> None:
        """What the displays should show from now on."""
        del now
        if self._link is None:
            return
        before, self._desired = self._desired, frozenset(displays)
        for message in displays:
            if message in before:
                continue
            try:
                self._link.show(message)
            except WireError as error:
                self._out.append(Say(logging.ERROR, f"display: {error}"))

    def command(self, motion: Motion, now: int) -> None:
        """Send a motion; without a link the resync will ask for it."""
        if self._is_up and self._unsettled_known:
            self._motions.begin(motion, now)
            self._go_on(now)

    @property
    def figures(self) -> dict[str, int]:
        """The link's counters and round trips."""
        if self._link is None:
            return {}
        stats = self._link.stats.as_dict()
        figures = {key: value for key, value in stats.items() if isinstance(value, int)}
        figures["failures"] = sum(self._link.stats.failures.values())
        figures["resets"] = sum(self._link.stats.resets.values())
        if self._link.clock.known:
            figures["clock_offset_us"] = self._link.clock.to_host(0)
        return figures

    @property
    def _is_up(self) -> bool:
        return self._open and self._link is not None and self._link.state is d.State.UP

    @property
    def _boot(self) -> int:
        peer = self._link.peer if self._link is not None else None
        return peer.boot if peer is not None else self._context.known.boot_id

    # ------------------------------------------------------------------ what the link tells

    def _item(self, item: d.Item, now: int) -> None:
        match item:
            case d.Delivery():
                self._delivery(item, now)
            case d.LinkUp():
                self._link_up(item, now)
            case d.LinkFailed():
                self._link_failed(item, now)
            case d.PeerReset():
                self._peer_reset(item)
            case d.LinkRefused():
                self._refused(item)
            case d.DisplaysDiffer():
                text = f"the displays show something else ({item.device:04x}, not {item.host:04x}): written again"
                self._out.append(Say(logging.WARNING, text))
            case d.LogBytes():
                self._noise(item)
            case d.UnknownMessage():
                text = f"message 0x{item.message_id:02x} is unknown to this version: ignored"
                self._out.append(Say(logging.INFO, text))
            case d.BadMessage():
                text = f"message 0x{item.message_id:02x} does not fit its declaration: {item.error}"
                self._out.append(Say(logging.WARNING, text))

    def _noise(self, item: d.LogBytes) -> None:
        if item.damaged:
            return
        if not framing.is_text(item.data):
            self._out.append(Say(logging.DEBUG, f"{len(item.data)} octets are no frame"))
            return
        text = " ".join(item.data.decode("ascii").split())
        shown = text if self._options.unmask else mask_text(text)
        self._out.append(Say(logging.DEBUG, f"no frame: {shown[:200]}"))

    def _delivery(self, delivery: d.Delivery, now: int) -> None:
        assert self._link is not None
        message = delivery.message
        if message.SPEC.kind is Kind.EVENT:
            self._event(delivery, now)
            return
        if isinstance(message, m.Heartbeat):
            self._heartbeat(message, now)
        elif isinstance(message, m.InfoPage):
            self._info_page(message)
        elif isinstance(message, (m.SnapshotState, m.SnapshotTiles)):
            if self._reading is not None:
                self._asked = 0
                self._reading.page(message, now)
                self._hand_over(now)
        elif isinstance(message, m.ActionStatus):
            self._motions.status(message, now)
        elif isinstance(message, m.LogText):
            shown = message.text if self._options.unmask else mask_text(message.text)
            self._out.append(
                Say(_LEVELS.get(LogLevel(min(message.level, 3)), logging.INFO), f"board: {shown}")
            )
        if delivery.ticket:
            self._link.accept(delivery)

    def _event(self, delivery: d.Delivery, now: int) -> None:
        message = delivery.message
        uptime = delivery.uptime_ms
        if uptime is not None:
            self._uptime += signed32(uptime - self._uptime)
            uptime = self._uptime
        fact = Fact(self._options.table_id, message, delivery.boot, delivery.event_no, uptime)
        self._reported = delivery.event_no or 0
        self._out.append(ReportFact(fact, delivery))
        if isinstance(message, m.ActionResult):
            self._motions.result(message)
            # Settled before the event is acknowledged: a crash in between hears it again.
            report = self._out.pop()
            self._flush_motions()
            self._out.append(report)
        elif isinstance(message, m.EventsLost):
            text = f"the board had no room for {message.count} events: its state is read anew"
            self._out.append(Say(logging.WARNING, text))
        if self._reading is not None:
            self._reading.event(self._reported, message, now)
            self._hand_over(now)

    def _heartbeat(self, heartbeat: m.Heartbeat, now: int) -> None:
        wrong = self._picture.compare(heartbeat, self._handled)
        if wrong and self._stand == "up" and now >= self._snapshot_not_before:
            self._out.append(Say(logging.WARNING, "the board's state differs: it is read anew"))
            self._differs_at = now

    # ------------------------------------------------------------------ up and down

    def _link_up(self, item: d.LinkUp, now: int) -> None:
        peer = item.peer
        assert self._link is not None
        self._deadline_answer = None
        self._up_since = now
        self._resync_until = now + RESYNC_MOST
        self._unsettled_known = False
        self._reset = item.new_boot
        if item.new_boot:
            self._reported = self._handled = 0
            self._uptime = peer.uptime_ms
            self._picture.forget()
            self._texts.clear()
        elif self._picture.state is None:
            self._picture.stale = True
        self._warnings = self._version_warnings(item)
        self._info = self._device_info(peer)
        self._forget_questions()
        self._untold = False
        reason = (
            "the board has started anew: reading its state"
            if item.new_boot
            else "reading its state"
        )
        self._say_standing("resync", reason, "")
        self._out.append(AskUnsettled())

    def _version_warnings(self, item: d.LinkUp) -> list[str]:
        assert self._link is not None
        peer, schema = item.peer, self._link.schema
        warnings = []
        if item.schema_differs:
            warnings.append(
                f"firmware {peer.version_text} has protocol {peer.major}.{peer.minor} with other "
                f"messages than this host ({peer.schema_hash:08x}, not {schema.hash:08x})"
            )
        if peer.minor != schema.minor:
            older = "the board" if peer.minor < schema.minor else "this host"
            text = (
                f"the board speaks protocol {peer.major}.{peer.minor}, this host {schema}: "
                f"running with what both know ({older} is older)"
            )
            if peer.minor < schema.minor and self._options.flash_hint:
                text += f"; to update: {self._options.flash_hint}"
            warnings.append(text)
        return warnings

    def _device_info(self, peer: d.Peer) -> DeviceInfo:
        causes = {cause.value: cause.name.lower() for cause in ResetCause}
        texts = self._texts
        return DeviceInfo(
            model=texts.get("model", ""),
            serial_number=texts.get("serial_number", ""),
            vendor=texts.get("vendor", ""),
            hardware=texts.get("hardware", ""),
            firmware=texts.get("firmware") or peer.version_text,
            protocol=f"{peer.major}.{peer.minor}",
            schema_hash=peer.schema_hash,
            boot_id=peer.boot,
            reset_cause=causes.get(peer.reset_cause, str(peer.reset_cause)),
            capabilities=peer.capabilities,
            level=cast("Level", level(peer.capabilities)),
        )

    def _peer_reset(self, item: d.PeerReset) -> None:
        self._resets += 1
        causes = {cause.value: cause.name.lower() for cause in ResetCause}
        cause = causes.get(item.cause, str(item.cause))
        self._out.append(Say(logging.WARNING, f"the board has started anew (cause: {cause})"))

    def _link_failed(self, item: d.LinkFailed, now: int) -> None:
        self._failures += 1
        why = _WHY.get(item.reason, item.reason)
        level = logging.DEBUG if self._up_since is None else logging.INFO
        self._link_down()
        if item.reason not in {"peer_reset", "peer_lost"}:
            self._connect_at = now + RETRY * min(self._failures, 8)
        self._deadline_answer = now + NO_ANSWER
        self._out.append(Say(level, self._recent()))
        self._say_standing("handshake", f"link lost: {why}", "link_failed")
        if self._failures > FAILURES_MOST:
            self._failures = 0
            self._out.append(Reopen(f"link lost again and again: {why}", "link_failed"))

    def _recent(self) -> str:
        """Known fault 28: the last frames beside the error. Bodies are left out: they may hold tags."""
        assert self._link is not None
        frames = [
            f"{way} {octets[:4].hex()}+{len(octets) - 4}" for _, way, octets in self._link.recent()
        ]
        return "last frames: " + (", ".join(frames[-12:]) or "none")

    def _link_down(self) -> None:
        self._motions.link_down()
        self._unsettled_known = False
        self._up_since = self._resync_until = None
        self._forget_questions()

    def _forget_questions(self) -> None:
        self._reader = self._reading = None
        self._asked = 0

    def _refused(self, item: d.LinkRefused) -> None:
        self._deadline_answer = self._connect_at = None
        hint = (
            self._options.flash_hint
            or "set flash_hint of this table to the command that flashes it"
        )
        reason = (
            f"firmware {item.firmware} speaks protocol {item.theirs}, this host {item.ours}: "
            f"they cannot work together. Flash the board with: {hint}"
            if self._options.flash_hint
            else f"firmware {item.firmware} speaks protocol {item.theirs}, this host {item.ours}: "
            f"they cannot work together. Flash the board with a matching firmware ({hint})"
        )
        self._say_standing("refused", reason, "version_refused")

    # ------------------------------------------------------------------ step by step

    def _go_on(self, now: int) -> None:
        """Whatever can be done now: motions to write, the next page to ask, the step to `up`."""
        link = self._link
        if link is None or not self._open:
            return
        if link.state is d.State.UP:
            self._write_motions(now)
            if self._stand == "resync" or self._picture.stale:
                self._ask(now)
            if self._stand == "resync":
                self._maybe_up(now)
        self._flush_motions()

    def _write_motions(self, now: int) -> None:
        assert self._link is not None
        for cmd_id in self._motions.to_query:
            self._send(m.ActionQuery(cmd_id=cmd_id), now)
        self._motions.to_query.clear()
        for motion in self._motions.ready(now):
            deadline = 0
            if motion.deadline_ms is not None and self._link.clock.known:
                # 0 would mean "none".
                deadline = self._link.clock.uptime_at(motion.deadline_ms * MS) or 1
            action = motion.message
            self._send(
                m.Action(action.cmd_id, action.action, action.arg, deadline, action.require), now
            )

    def _flush_motions(self) -> None:
        self._out.extend(self._motions.wanted)
        self._motions.wanted.clear()

    def _send(self, message: Message, now: int) -> bool:
        assert self._link is not None
        try:
            self._link.send(message, now)
        except WireError as error:
            self._out.append(Say(logging.WARNING, str(error)))
            return False
        return True

    def _ask(self, now: int) -> None:
        """One question at a time: first the texts, then the snapshot."""
        if self._asked and now < self._asked_at + ANSWER:
            return
        if self._stand == "resync" and self._texts_missing(now):
            return
        if not self._picture.stale or (self._untold and self._stand != "up"):
            return
        if self._stand == "up" and now < self._snapshot_not_before:
            return
        if self._reading is None:
            self._reading = StateReading(self._reported)
            self._asked = 0
        request = self._reading.request
        if request is None:
            return
        if self._asked >= ASK_MOST:
            self._forget_questions()
            self._rest(now)
            if not self._untold:
                self._untold = True
                text = "the board does not tell its state; it is asked again and again"
                self._warnings.append(text)
                if self._stand == "up":
                    self._out.append(Say(logging.WARNING, text))
            return
        if self._send(request, now):
            self._asked += 1
            self._asked_at = now

    def _rest(self, now: int) -> None:
        """Snapshots cost the line: the next one that is not due to lost events comes later, and later."""
        self._snapshot_not_before = now + self._snapshot_gap
        self._snapshot_gap = min(2 * self._snapshot_gap, SNAPSHOT_GAP_MOST)

    def _texts_missing(self, now: int) -> bool:
        if self._reader is None:
            missing = next((key for key, name in TEXTS if name not in self._texts), None)
            if missing is None:
                return False
            self._reader = InfoReader(missing)
            self._asked = 0
        if self._asked >= ASK_MOST:
            self._keep_text("")
            return self._texts_missing(now)
        if self._send(self._reader.request, now):
            self._asked += 1
            self._asked_at = now
        return True

    def _info_page(self, page: m.InfoPage) -> None:
        if self._reader is None or page.key != self._reader.key:
            return
        self._asked = 0
        if self._reader.feed(page):
            self._keep_text(self._reader.text or "")

    def _keep_text(self, text: str) -> None:
        assert self._reader is not None
        name = next(name for key, name in TEXTS if key == self._reader.key)
        self._texts[name] = text
        self._reader = None
        self._asked = 0
        if self._link is not None and self._link.peer is not None:
            self._info = self._device_info(self._link.peer)

    def _hand_over(self, now: int) -> None:
        """A state that is whole goes right behind the last event it includes."""
        reading = self._reading
        if reading is None or reading.result is None:
            return
        self._reading = None
        self._asked = 0
        if self._differs_at is not None:
            self._rest(now)
            self._differs_at = None
        if self._untold:
            self._untold = False
            self._out.append(Say(logging.INFO, "the board has told its state after all"))
        for page in reading.result:
            if isinstance(page, m.SnapshotState):
                self._picture.snapshot(page)
            self._out.append(ReportFact(Fact(self._options.table_id, page, None, None, None)))

    def _maybe_up(self, now: int) -> None:
        waiting = (
            not self._unsettled_known
            or self._motions.asking
            or (self._picture.stale and not self._untold)
            or self._reader is not None
            or any(name not in self._texts for _, name in TEXTS)
        )
        overdue = self._resync_until is not None and now >= self._resync_until
        if waiting and not (overdue and self._unsettled_known):
            return
        if waiting:
            self._warnings.append("the board did not answer all questions in time")
            self._untold = self._picture.stale
            self._reader = None
            for _, name in TEXTS:
                self._texts.setdefault(name, "")
        self._resync_until = None
        self._say_standing("up", "", "")

    def _say_standing(self, stand: Stand, reason: str, code: str) -> None:
        self._stand = stand
        device = self._info if stand in {"resync", "up"} else None
        self._out.append(
            Standing(
                stand,
                reason,
                code,
                device,
                self._reset and stand == "resync",
                tuple(self._warnings),
            )
        )
