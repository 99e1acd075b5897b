"""One table without I/O: a fact, a request or a moment goes in, one journal transaction comes out.

Synchronous and deterministic: clock and ids are injected, so the same core runs in the daemon's loop and
on a virtual clock in one process. Nothing here has an effect; effects follow from what was committed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from firmware_protocol import messages as m
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import Button, Capability, Press, level
from tablectl.bus.requests import RequestError, parse
from tablectl.daemon import facts, feeds, motions
from tablectl.daemon.clock import Clock
from tablectl.daemon.ids import Ids
from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Command, Refusal
from tablectl.engine.game.events import Event, Knowledge
from tablectl.engine.game.state import GameState
from tablectl.engine.game.timeline import Timeline
from tablectl.engine.rules import SHIPPED, HallRules, RuleError
from tablectl.journal import EventEntry, FactEntry, NewAction, RequestEntry, Transaction, canonical
from tablectl.mirror.mirror import Mirror, MirrorOptions
from tablectl.mirror.submit import Accepted, Fact, Refused, Request

_LOG = logging.getLogger("tablectl.table")
_LEVELS: tuple[Knowledge, ...] = ("basic", "score", "tiles")
FACT, ASKED = "f", "r"
"""First letter of a command id: what led to it."""
RESULTS = (
    cmd.Win,
    cmd.ResultDraw,
    cmd.KyuushuKyuuhai,
    cmd.DeclareTenpai,
    cmd.DeclareNoten,
    cmd.Settle,
)
"""What a person may correct even where the table found it; all else that it saw is a fact."""
MILESTONES = (ev.HandStarted, ev.GameStarted, ev.GameEnded)
"""Events after which a restart has little to fold."""


@dataclass(slots=True)
class Change:
    """What one input changed, not yet written."""

    transaction: Transaction
    state: GameState
    """The game once it is written."""
    events: tuple[Event, ...] = ()
    answer: Accepted | Refused | None = None
    refused: tuple[tuple[Command, Refusal], ...] = ()
    """Commands of facts that the rules refuse: for the log and the console."""

    @property
    def snapshot(self) -> bool:
        """A good moment for a snapshot."""
        return any(isinstance(event, MILESTONES) for event in self.events)


@dataclass(slots=True)
class _Draft:
    """A transaction in the making."""

    entries: list[FactEntry | EventEntry] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    actions: list[NewAction] = field(default_factory=list)
    refused: list[tuple[Command, Refusal]] = field(default_factory=list)
    event_ids: list[str] = field(default_factory=list)


class TableCore:
    """State, mirror and log of one table."""

    def __init__(
        self,
        table_id: str,
        *,
        mirror: Mirror,
        clock: Clock,
        ids: Ids,
        default_ruleset: str = "tenhou",
        hall: HallRules = SHIPPED,
        most: Knowledge = "tiles",
    ) -> None:
        """`default_ruleset` as the hall's file has it: an id or a file of `hall`, options after commas."""
        self.table_id = table_id
        self.mirror = mirror
        self.timeline = Timeline()
        self._clock = clock
        self._ids = ids
        self._hall = hall
        self._default_ruleset = hall.pick(default_ruleset)
        self._most: Knowledge = most
        self._lift_open = False
        """A lift was asked for and its fate is not known yet."""

    def retune(self, options: MirrorOptions, default_ruleset: str, hall: HallRules) -> None:
        """Other sensor times, other rules for the games to come. Raises RuleError."""
        self._default_ruleset = hall.pick(default_ruleset)
        self._hall = hall
        self.mirror.retune(options)

    # ------------------------------------------------------------------ what is so now

    @property
    def state(self) -> GameState:
        """The game as decided so far (committed or about to be)."""
        return self.timeline.state

    @property
    def capabilities(self) -> int:
        """What the machine said it has, 0 before it did."""
        return self.mirror.capabilities

    @property
    def knowledge(self) -> Knowledge:
        """What the machine reports: its own level, or less where the configuration says so."""
        own = level(self.capabilities)
        if own == "tiles" and not self.mirror.view.tags.engraved:
            own = "score"
        return _LEVELS[min(_LEVELS.index(own), _LEVELS.index(self._most))]

    @property
    def auto_deal(self) -> bool:
        """The machine deals by itself."""
        return bool(self.capabilities & Capability.AUTO_DEAL)

    @property
    def last_command_id(self) -> str | None:
        """The last command still standing that can be taken back: no fact of the machine."""
        return next((e.command_id for e in reversed(self.timeline.entries) if not e.physical), None)

    def new_game_id(self) -> str:
        """An id no game of this table has had."""
        return self._ids("game")

    def resolve_ruleset(self, name: str, options: dict[str, Any]) -> dict[str, Any]:
        """The whole ruleset as JSON; RuleError for an unknown one. A name is an id, never a path."""
        if not name:
            name, own = self._default_ruleset
            options = {**own, **options}
        return self._hall.load(name, options).to_dict()

    @property
    def wake_at(self) -> int | None:
        """Monotonic ms at which `handle_timer` has something to do."""
        due = self.mirror.wake_at
        return None if due is None else self.mirror.to_host(due)

    # ------------------------------------------------------------------ what comes in

    def handle_fact(self, fact: Fact) -> Change:
        """A device event that is not in the journal yet."""
        now = self._clock.mono_ms()
        draft = _Draft(entries=[facts.entry_of(fact)])
        self._play(draft, fact.message, now)
        self._lift_again(draft, fact.message)
        return self._finish(draft, now)

    def handle_timer(self) -> Change | None:
        """Time has passed; None when it changed nothing."""
        now = self._clock.mono_ms()
        commands = self.mirror.advance(now, self.state)
        if not commands:
            return None
        draft = _Draft(entries=[FactEntry(facts.TIMER, canonical({"now": now}))])
        self._decide_all(draft, commands)
        return self._finish(draft, now)

    def handle_device(self, capabilities: int, about: dict[str, Any]) -> Change | None:
        """Who is at the other end; None when that is known already."""
        if capabilities == self.capabilities:
            return None
        body = canonical({"capabilities": capabilities, **about})
        draft = _Draft(entries=[FactEntry(facts.DEVICE, body)])
        self.mirror.capabilities = capabilities
        return self._finish(draft, self._clock.mono_ms())

    def handle_link(self, up: bool, *, reset: bool = False) -> Change:
        """The board came into reach (`reset`: started anew), or went out of it."""
        now = self._clock.mono_ms()
        self.mirror.link(up, now, reset=reset)
        body = {"up": up, "reset": reset} if reset else {"up": up}
        draft = _Draft(entries=[FactEntry(facts.LINK, canonical(body))])
        return self._finish(draft, now)

    def handle_request(self, request: Request) -> Change:
        """What a person or program asked, asked for the first time."""
        now = self._clock.mono_ms()
        draft = _Draft()
        answer = self._ask(draft, request)
        entry = RequestEntry(
            request.transaction,
            request.name,
            request.source,
            canonical(_integers(request.data)),
            canonical(answer_json(answer)),
        )
        change = self._finish(draft, now, entry)
        change.answer = answer
        return change

    def action_changed(self, kind: str, *, settled: bool) -> None:
        """A motion was sent, or its fate became known."""
        if kind == "lift":
            self._lift_open = not settled

    # ------------------------------------------------------------------ deciding

    def _play(self, draft: _Draft, message: Message, now: int) -> None:
        self._decide_all(draft, self.mirror.observe(message, now, self.state))

    def _decide_all(self, draft: _Draft, commands: Sequence[Command]) -> None:
        for command in commands:
            refusal = self._decide(draft, command, FACT)
            if refusal is not None:
                draft.refused.append((command, refusal))
                if self.state.tiles_known and not isinstance(command, cmd.PressStart):
                    self.mirror.rebook(self.state)
                break

    def _decide(self, draft: _Draft, command: Command, origin: str) -> Refusal | None:
        command_id = f"{origin}-{self._ids('command')}"
        physical = origin == FACT and not isinstance(command, RESULTS)
        answer = self.timeline.submit(command_id, command, physical=physical)
        if isinstance(answer, Refusal):
            return answer
        for cause, events in answer:
            if origin == ASKED:
                decided, was_seen = command, False
                if cause != command_id:
                    decided, was_seen = self._again(cause)
                body = {"id": cause, "command": decided.to_json(), "physical": was_seen}
                draft.entries.append(FactEntry(facts.COMMAND, canonical(body)))
            for event in events:
                self._note(draft, cause, event)
            self.follow(cause, events)
        return None

    def _again(self, command_id: str) -> tuple[Command, bool]:
        """A command that was decided again after an undo, and whether the table had seen it."""
        entry = next(e for e in self.timeline.entries if e.command_id == command_id)
        assert entry.command is not None
        return entry.command, entry.physical

    def _note(self, draft: _Draft, command_id: str, event: Event) -> None:
        seen_by = feeds.feeds_of(event)
        event_id = self._ids("public" if feeds.PUBLIC in seen_by else "secret")
        draft.entries.append(
            EventEntry(event_id, event.type, canonical(event.to_json()), seen_by, command_id)
        )
        draft.events.append(event)
        draft.event_ids.append(event_id)
        motion = motions.asked_by(event, self.capabilities, self._clock.wall_ms())
        if motion is not None:
            draft.actions.append(motion)
            self._lift_open = True

    def follow(self, command_id: str, events: Sequence[Event]) -> None:
        """Let the mirror know what the game has become."""
        if any(isinstance(event, ev.HandStarted) for event in events):
            self.mirror.started()
        elif any(isinstance(event, ev.HandTakenOver) for event in events):
            self.mirror.taken_over()
        elif self.state.tiles_known and command_id[0] == ASKED:
            self.mirror.rebook(self.state)

    def _lift_again(self, draft: _Draft, message: Message) -> None:
        """Start pressed once more while the walls are down: a person asks for the lift again."""
        if (
            isinstance(message, m.ButtonEvent)
            and message.button == Button.START
            and message.press == Press.PRESSED
            and self.state.phase == "walls"
            and not self._lift_open
            and not draft.actions
            and self.capabilities & Capability.LIFT
        ):
            draft.actions.append(motions.lift(self._clock.wall_ms()))
            draft.refused.clear()
            self._lift_open = True

    def _ask(self, draft: _Draft, request: Request) -> Accepted | Refused:
        try:
            model = parse(request.name, request.data)
            if model.needs_referee and request.role != "referee":
                return Refused(
                    "referee_needed",
                    f"{request.name} is for the referee",
                    hint="ask again with the referee's token",
                )
            command = model.command(self)
        except RequestError as error:
            return error.refusal()
        except RuleError as error:
            return _refused_rules(error, self._hall.ids)
        refusal = self._decide(draft, command, ASKED)
        if refusal is None:
            return Accepted(tuple(draft.event_ids))
        return Refused(refusal.code, refusal.message, refusal.article or None, refusal.hint or None)

    def _finish(self, draft: _Draft, now: int, request: RequestEntry | None = None) -> Change:
        game = self.state.game
        transaction = Transaction(
            self.table_id,
            self._clock.wall_ms(),
            now,
            self._clock.synced(),
            game.game_id if game is not None else None,
            tuple(draft.entries),
            request,
            tuple(draft.actions),
        )
        return Change(
            transaction,
            self.state,
            tuple(draft.events),
            None,
            tuple(draft.refused),
        )

    # ------------------------------------------------------------------ memory

    def snapshot(self) -> Transaction:
        """What a restart begins from: the table after everything decided so far."""
        game = self.state.game
        return Transaction(
            self.table_id,
            self._clock.wall_ms(),
            self._clock.mono_ms(),
            self._clock.synced(),
            game.game_id if game is not None else None,
            snapshot=canonical(self.memory()),
        )

    def memory(self) -> dict[str, Any]:
        """What a restart needs besides the events: the mirror, and the commands still undoable."""
        return {"mirror": self.mirror.to_json(), "commands": self._commands()}

    def _commands(self) -> list[dict[str, Any]]:
        return [
            {"id": e.command_id, "command": e.command.to_json(), "physical": e.physical}
            for e in self.timeline.entries
            if e.command is not None
        ]


def _refused_rules(error: RuleError, known: Sequence[str]) -> Refused:
    """A ruleset or option that is none; no path of this host in it."""
    hint = f"did you mean {error.nearest!r}?" if error.nearest else error.hint
    if error.code == "unknown_ruleset":
        near = f"{hint} " if error.nearest else ""
        hint = f"{near}known here: {', '.join(known)}"
    field = "ruleset" if error.code == "unknown_ruleset" else "options"
    return Refused(error.code, error.message, hint=hint or None, field=field)


def answer_json(answer: Accepted | Refused) -> dict[str, Any]:
    """An answer as the journal keeps it."""
    if isinstance(answer, Accepted):
        return {"accepted": True, "event_ids": list(answer.event_ids), "data": answer.data}
    return {
        "accepted": False,
        "code": answer.code,
        "message": answer.message,
        "article": answer.article,
        "hint": answer.hint,
        "field": answer.field,
    }


def answer_of(data: dict[str, Any], *, durable: bool) -> Accepted | Refused:
    """The answer that `answer_json` wrote."""
    if data["accepted"]:
        return Accepted(tuple(data["event_ids"]), durable, data["data"])
    return Refused(data["code"], data["message"], data["article"], data["hint"], data["field"])


def _integers(value: Any) -> Any:
    """Canonical JSON has no floats: a request that holds one is kept as text."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {str(key): _integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_integers(item) for item in value]
    return value
