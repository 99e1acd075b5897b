"""Claim windows and priority (rules 1.17): which utterances were in time, and whose claim stands.

Times are milliseconds of one clock, None = has not happened. Everything here is for people at a physical
table: who spoke when is measured (buttons, microphone, a referee's word), the engine only judges it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tablectl.engine.rules.model import Ruleset

ClaimKind = Literal["ron", "pon", "daiminkan", "chi"]
TOGETHER_MS = 300
"""Utterances this close count as one moment: who was first is a question for people (2.5)."""


@dataclass(frozen=True, slots=True)
class Moments:
    """What was seen around one discard or kan."""

    discarded: int = 0
    """The tile lay in the river (the added tile lay on its pon)."""
    withdrawn: int | None = None
    """The discarder's hand was back behind the line, the riichi stick placed."""
    draw_starts: int | None = None
    """The next player's hand went out."""
    wall_touched: int | None = None
    draw_ends: int | None = None
    next_discard: int | None = None
    caller_shows: int | None = None
    """A caller showed tiles of the hand."""
    hand_shown: int | None = None
    """The first winner's hand lay open."""
    indicator_turned: int | None = None
    replacement_drawn: int | None = None
    is_kan: bool = False


@dataclass(frozen=True, slots=True)
class Utterance:
    """Somebody said ron, pon, kan or chi."""

    seat: int
    kind: ClaimKind
    said: int
    correct: bool = True
    """In the right words, audible for all (A33)."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What becomes of an utterance; `row` is the infraction it would be (rules 2.3)."""

    utterance: Utterance
    stands: bool
    code: str = ""
    row: str = ""


def before(moment: int, limit: int | None) -> bool:
    """Whether something happened before a limit that may not have come yet."""
    return limit is None or moment < limit


def in_time(
    rules: Ruleset, one: Utterance, moments: Moments, others: Sequence[Utterance] = ()
) -> Judged:
    """Whether one utterance falls inside its window (1.17.2)."""
    if one.kind == "ron":
        fine = _ron_in_time(rules, one, moments, others)
        return Judged(one, fine, "" if fine else "ron_too_late", "" if fine else "P1")
    if one.kind == "chi":
        return _chi_in_time(rules, one, moments)
    if rules.pon_closes == "next_draw_starts":
        fine = before(one.said, moments.draw_starts)
    elif rules.pon_closes == "next_draw_ends":
        fine = before(one.said, moments.draw_ends) or (
            one.said <= moments.discarded + rules.fast_draw_grace_ms
        )
    else:
        fine = True
    return Judged(one, fine, "" if fine else "pon_too_late", "" if fine else "P19")


def _ron_in_time(
    rules: Ruleset, one: Utterance, moments: Moments, others: Sequence[Utterance]
) -> bool:
    if moments.is_kan:
        if rules.chankan_closes == "indicator_turned" and rules.kan_dora:
            return before(one.said, moments.indicator_turned)
        return rules.chankan_closes == "timer" or before(one.said, moments.replacement_drawn)
    if rules.ron_closes == "next_draw":
        return before(one.said, moments.wall_touched) and before(one.said, moments.caller_shows)
    if rules.ron_closes == "later_utterance":
        earliest = min((u.said for u in others if u is not one), default=one.said)
        return one.said <= earliest + TOGETHER_MS and before(one.said, moments.wall_touched)
    if rules.ron_closes == "next_discard":
        return before(one.said, moments.next_discard)
    return True


def _chi_in_time(rules: Ruleset, one: Utterance, moments: Moments) -> Judged:
    opens: int | None = moments.discarded
    if rules.chi_opens == "own_draw":
        opens = moments.withdrawn
    elif rules.chi_opens == "after_check":
        opens = moments.discarded + TOGETHER_MS
    if opens is None or one.said < opens:
        return Judged(one, False, "chi_too_early", "P20")
    if not before(one.said, moments.draw_starts):
        return Judged(one, False, "chi_too_late", "P19")
    return Judged(one, True)


def resolve(
    rules: Ruleset, discarder: int, utterances: Sequence[Utterance], moments: Moments
) -> list[Judged]:
    """Whose claims stand, in the order given (1.17.3): ron, then pon and kan, then chi."""
    judged = [in_time(rules, one, moments, utterances) for one in utterances]
    standing = [one for one in judged if one.stands]
    rons = [one.utterance for one in standing if one.utterance.kind == "ron"]
    if rons:
        winners = _winners(rules, discarder, rons, moments)
        return [
            _outcome(
                one, one.utterance in winners, "head_bump" if one.utterance in rons else "ron_first"
            )
            for one in judged
        ]
    winner = _caller(rules, [one.utterance for one in standing])
    return [_outcome(one, one.utterance is winner, "call_yields") for one in judged]


def _outcome(one: Judged, stands: bool, code: str) -> Judged:
    if not one.stands or stands:
        return one
    return Judged(one.utterance, False, code)


def _winners(
    rules: Ruleset, discarder: int, rons: list[Utterance], moments: Moments
) -> list[Utterance]:
    if rules.multi_ron == "all":
        return rons
    first = min(rons, key=lambda one: one.said)
    rivals = [
        one
        for one in rons
        if rules.head_bump_closes == "never"
        or (rules.head_bump_closes == "hand_shown" and before(one.said, moments.hand_shown))
        or one.said <= first.said + TOGETHER_MS
    ]
    return [min(rivals, key=lambda one: (one.seat - discarder) % 4)]


def _caller(rules: Ruleset, calls: list[Utterance]) -> Utterance | None:
    if not calls:
        return None
    pons = [one for one in calls if one.kind != "chi"]
    chis = [one for one in calls if one.kind == "chi"]
    if not pons or not chis:
        return (pons or chis)[0]
    pon, chi = pons[0], chis[0]
    later = pon.said > chi.said + TOGETHER_MS
    priority = rules.call_priority
    if priority == "first_spoken":
        return min(pon, chi, key=lambda one: one.said)
    if (priority == "pon_unless_misspoken" and chi.correct and not pon.correct) or (
        priority == "pon_unless_later" and later
    ):
        return chi
    return pon


# ---- inside a call ------------------------------------------------------------------------------------

CALL_STEPS = ("say", "show", "take", "discard")


def call_step_error(rules: Ruleset, steps: Sequence[str]) -> str:
    """The row of the infraction in the order of a call's steps, or '' (row 53: P17, P18)."""
    if "say" in steps and "show" not in steps:
        return "P17"
    positions = [steps.index(step) for step in CALL_STEPS if step in steps]
    shown, discarded = (steps.index(s) if s in steps else -1 for s in ("show", "discard"))
    if 0 <= discarded < shown:
        return "P18"
    if rules.call_order == "fixed" and positions != sorted(positions):
        return "P18"
    return ""


def shown_tiles_changed(rules: Ruleset) -> str:
    """The row where wrong tiles shown for a call are changed before the discard, or '' where that is free."""
    return "" if rules.shown_tiles_change == "free" else "P16"
