"""Findings and sanctions (rules Part 2): the engine finds, a referee's word settles.

A finding is proposed with the class the ruleset gives its row (2.3); nothing is deducted before it is
settled. Hand-ending classes put the table back to before the hand (2.2.4).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.ending import void_hand
from tablectl.engine.game.events import Event, SanctionClass
from tablectl.engine.game.state import Finding, GameState
from tablectl.engine.rules.model import INFRACTIONS, Ruleset

Answer = list[Event] | Refusal
IN_HAND = ("walls", "dice", "deal", "play", "tenpai", "result")
ENDS_HAND: frozenset[SanctionClass] = frozenset({"chombo", "minor_chombo_ended", "restart"})
STOPS_WIN: frozenset[SanctionClass] = frozenset({"minor_chombo_stop_win", "stop_win"})
NAMES: tuple[SanctionClass, ...] = (
    "chombo", "minor_chombo_ended", "minor_chombo_stop_win", "minor_chombo_continues", "stop_win",
    "warning", "caution", "disqualification", "referee", "point_penalty", "restart", "corrected", "void",
    "legal", "silent",
)  # fmt: skip


def played_by_machine(rules: Ruleset) -> bool:
    """Nobody can break a rule where a server plays: what is forbidden is refused, not found (Tenhou)."""
    return rules.noten_riichi == "refused" and rules.ruling(1).sanction == "silent"


def row_number(row: str) -> int | None:
    """The number of `P1` … `P50`, or None."""
    if row[:1] == "P" and row[1:].isdigit() and 1 <= int(row[1:]) <= INFRACTIONS:
        return int(row[1:])
    return None


def proposed(
    state: GameState,
    row: str,
    seat: int | None,
    circumstances: Collection[str] = (),
    tiles: int = 0,
) -> SanctionClass:
    """The class the ruleset gives an infraction in this situation (2.3)."""
    number = row_number(row)
    assert number is not None
    rules = state.rules
    ruling = rules.ruling(number)
    sanction = ruling.sanction
    if row == "P43" and rules.wrong_break == "restart_before_discard":
        # J-V.6: the deal starts anew, or play goes on once the dealer has discarded.
        return "legal" if state.seats[state.dealer].river else "restart"
    if ruling.other is not None and _holds(state, row, seat, ruling.when, circumstances, tiles):
        sanction = ruling.other
    if ruling.when == "by_exposed_tiles" and 3 <= tiles <= 4:
        sanction = rules.ruling(28).sanction
    if (
        sanction in STOPS_WIN
        and seat is not None
        and rules.stopped_riichi == "chombo"
        and state.phase in IN_HAND
        and state.seats[seat].riichi == 2
    ):
        # A55.1.4: what would stop a win is a chombo after riichi.
        return "chombo"
    return sanction


def _holds(
    state: GameState,
    row: str,
    seat: int | None,
    when: str,
    circumstances: Collection[str],
    tiles: int,
) -> bool:
    if when == "always" or when in circumstances:
        return True
    if when == "after_first_discard":
        return bool(state.seats[state.dealer].river)
    if when == "repeated":
        return any(
            finding.row == row
            and finding.seat == seat
            and finding.upheld
            and finding.hand == state.hands_ended
            for finding in state.findings
        )
    least = {
        "two_or_more_tiles": 2,
        "five_or_more_tiles": 5,
        "by_exposed_tiles": 5,
        "more_than_five_tiles": 6,
    }.get(when)
    return least is not None and tiles >= least


def find(
    state: GameState,
    row: str,
    seat: int | None,
    *,
    secret: bool = False,
    certainty: str = "certain",
    detail: str = "",
    circumstances: Collection[str] = (),
    tiles: int = 0,
) -> list[Event]:
    """The finding of an infraction, unless the ruleset calls the act legal."""
    sanction = proposed(state, row, seat, circumstances, tiles)
    if sanction == "legal":
        return []
    return [
        ev.Found(
            finding=len(state.findings) + 1,
            row=row,
            seat=seat,
            proposed=sanction,
            article=state.rules.ref(row),
            certainty="certain" if certainty == "certain" else "flag",
            secret=secret,
            detail=detail,
        )
    ]


def numbered(state: GameState, events: list[Event]) -> list[Event]:
    """Several findings of one act, numbered one after the other."""
    number = len(state.findings)
    out: list[Event] = []
    for event in events:
        if isinstance(event, ev.Found):
            number += 1
            event = replace(event, finding=number)
        out.append(event)
    return out


# ---- commands ---------------------------------------------------------------------------------------


def report(state: GameState, command: cmd.Report) -> Answer:
    """A person reports an infraction."""
    if row_number(command.row) is None:
        return Refusal(
            "unknown_row", f"there is no infraction {command.row!r}", "P1-P50", value=command.row
        )
    out = find(
        state,
        command.row,
        command.seat,
        certainty="flag",
        detail=command.detail,
        circumstances=command.circumstances,
        tiles=command.tiles,
    )
    if not out:
        return Refusal(
            "legal_here",
            f"{command.row} is allowed under {state.rules.id}",
            "",
            state.rules.ref(command.row),
            command.row,
        )
    return out


def settle_finding(state: GameState, command: cmd.SettleFinding) -> Answer:
    """The referee upholds a finding (the sanction follows) or dismisses it."""
    finding = next((f for f in state.findings if f.number == command.finding), None)
    if finding is None:
        return Refusal(
            "unknown_finding", f"there is no finding {command.finding}", value=command.finding
        )
    if finding.upheld is not None:
        return Refusal(
            "settled_already", f"finding {command.finding} was settled", "undo that word first"
        )
    if not command.upheld or _forgiven(state, finding.row):
        return [ev.FindingSettled(finding.number, False, command.note)]
    seat = finding.seat if command.seat is None else command.seat
    sanction = command.sanction or finding.proposed
    settled: list[Event] = [ev.FindingSettled(finding.number, True, command.note)]
    if seat is None:
        if sanction in ENDS_HAND and state.phase in IN_HAND:
            return settled + void_hand(state, "voided")
        return settled
    return settled + _sanction(state, seat, sanction, finding.row, finding, None, command.note)


def sanction(state: GameState, command: cmd.Sanction) -> Answer:
    """A sanction by its class, or by the row of the infraction."""
    if command.row and row_number(command.row) is None:
        return Refusal(
            "unknown_row", f"there is no infraction {command.row!r}", "P1-P50", value=command.row
        )
    chosen = command.sanction
    if chosen is None:
        if not command.row:
            return Refusal(
                "no_class", "name the class of the sanction or the row of the infraction"
            )
        chosen = proposed(state, command.row, command.seat, command.circumstances, command.tiles)
    if command.row and _forgiven(state, command.row) and "before_win" not in command.circumstances:
        return Refusal(
            "win_stands",
            "a valid win at the same moment stands, the false one is forgiven",
            "",
            state.rules.ref("win_and_chombo"),
            command.row,
        )
    if chosen == "legal":
        return Refusal(
            "legal_here", f"{command.row} is allowed under {state.rules.id}", value=command.row
        )
    return _not_now(state, command, chosen) or _sanction(
        state, command.seat, chosen, command.row, None, command.amount, command.note
    )


def _not_now(state: GameState, command: cmd.Sanction, chosen: SanctionClass) -> Refusal | None:
    """Why this sanction cannot be given by these people or at this moment."""
    rules = state.rules
    if command.by == "players" and (
        rules.stop_win_ruled_by != "players" or chosen not in STOPS_WIN
    ):
        return Refusal(
            "referee_needed",
            "this sanction needs the referee's word",
            "",
            rules.ref("stop_win_ruled_by"),
        )
    if (
        chosen in ENDS_HAND
        and rules.several_infractions != "cumulative"
        and state.phase == "ready"
        and command.seat in state.voided_by
        and "before_stop" not in command.circumstances
    ):
        return Refusal(
            "hand_ended_already",
            "the first infraction ended the hand; a second counts only if it came before the stop",
            "circumstances: before_stop",
            rules.ref("several_infractions"),
            command.seat,
        )
    return None


def _forgiven(state: GameState, row: str) -> bool:
    """A chombo at the same moment as a valid win (row 40, M66, A53.6, J-I.15)."""
    if state.phase != "result" or state.outcome is None or not state.outcome.wins:
        return False
    return row == "P1" or state.rules.win_and_chombo == "win"


def _sanction(
    state: GameState,
    seat: int,
    chosen: SanctionClass,
    row: str,
    finding: Finding | None,
    amount: int | None,
    note: str,
) -> list[Event]:
    rules = state.rules
    in_hand = state.phase in IN_HAND
    warnings = state.warnings[seat] + (1 if chosen == "warning" else 0)
    cost = _cost(rules, chosen, warnings) if amount is None else amount
    on_table = rules.chombo_paid == "table" and chosen == "chombo"
    ends = chosen in ENDS_HAND and in_hand
    out: list[Event] = [
        ev.Sanctioned(
            seat=seat,
            sanction=chosen,
            row=row,
            article=rules.ref(row) if row else rules.ref(_ARTICLE.get(chosen, "")),
            placement=0 if on_table else -cost,
            score=-cost if on_table else 0,
            ends_hand=ends,
            stops_win=chosen in STOPS_WIN and in_hand,
            warnings=warnings,
            finding=None if finding is None else finding.number,
            note=note,
        )
    ]
    if ends:
        out += _void_after(state, out)
    return out


_ARTICLE: dict[str, str] = {
    "chombo": "chombo_amount",
    "minor_chombo_ended": "minor_ended_amount",
    "minor_chombo_stop_win": "minor_stop_win_amount",
    "minor_chombo_continues": "minor_continues_amount",
    "warning": "warnings_free",
    "stop_win": "stop_win_ruled_by",
}


def _cost(rules: Ruleset, chosen: SanctionClass, warnings: int) -> int:
    """Points a sanction costs, 1 pt = 1000."""
    if chosen == "chombo":
        return rules.chombo_amount
    if chosen == "minor_chombo_ended":
        return rules.minor_ended_amount
    if chosen == "minor_chombo_stop_win":
        return rules.minor_stop_win_amount
    if chosen == "minor_chombo_continues":
        return rules.minor_continues_amount
    if (
        chosen == "warning"
        and warnings > rules.warnings_free
        and warnings % rules.warning_step == 0
    ):
        return rules.warning_amount
    return 0


def _void_after(state: GameState, sanctions: list[Event]) -> list[Event]:
    from tablectl.engine.game.apply import apply_all

    return void_hand(apply_all(state, sanctions), "voided")


def open_hand_enders(state: GameState) -> list[int]:
    """Findings not settled that would void the hand: a result waits for them."""
    return [
        finding.number
        for finding in state.findings
        if finding.upheld is None
        and finding.hand == state.hands_ended
        and not finding.secret
        and finding.proposed in ENDS_HAND
    ]
