"""Runs checks and vectors against one device and reports by sentence of SPEC.md."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import resources
from typing import Literal

from firmware_protocol import messages as m
from tablectl.table.conformance import link_checks, owner_checks
from tablectl.table.conformance.checks import TRIALS
from tablectl.table.conformance.probe import Failed, Line, NotTried, Probe
from tablectl.table.conformance.vectors import link_vectors, play

Verdict = Literal["pass", "fail", "not tried"]
Coverage = Literal["pass", "fail", "not tried", "unseen", "not covered"]

__all__ = ["Outcome", "Report", "link_checks", "owner_checks", "run_all", "sentences"]

UNSEEN = frozenset({
    "F-9", "H-2", "H-3", "H-7", "L-4", "L-6", "L-19", "L-22", "V-3", "V-4", "M-4", "M-8", "A-1", "A-3",
    "B-3", "E-5", "E-6", "D-1", "D-2", "D-3", "D-4", "D-5", "D-7", "D-8", "T-4", "R-2", "R-3",
})  # fmt: skip
"""Sentences about the host, or that no host can see from outside."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one check or vector found."""

    name: str
    sentences: tuple[str, ...]
    verdict: Verdict
    text: str = ""


@dataclass(slots=True)
class Report:
    """All outcomes, and who was tested."""

    outcomes: list[Outcome] = field(default_factory=list)
    device: m.HelloAck | None = None
    only: frozenset[str] = frozenset()
    """Sentences that were asked for; empty: all."""

    @property
    def failed(self) -> list[Outcome]:
        """Outcomes that are wrong."""
        return [o for o in self.outcomes if o.verdict == "fail"]

    def by_sentence(self) -> dict[str, Coverage]:
        """Each sentence of SPEC.md: fail if any check of it failed, pass if one passed."""
        out: dict[str, Coverage] = {}
        for sentence in sentences():
            if self.only and sentence not in self.only:
                continue
            verdicts = {o.verdict for o in self.outcomes if sentence in o.sentences}
            if "fail" in verdicts:
                out[sentence] = "fail"
            elif "pass" in verdicts:
                out[sentence] = "pass"
            elif verdicts:
                out[sentence] = "not tried"
            else:
                out[sentence] = "unseen" if sentence in UNSEEN else "not covered"
        return out


def sentences() -> dict[str, str]:
    """Id and text of every normative sentence."""
    text = (resources.files("firmware_protocol") / "SPEC.md").read_text("utf-8")
    return {
        found[1]: found[2].strip()
        for found in re.finditer(r"\*\*\[([A-Z]-\d+)\]\*\* ([^\n]+)", text)
    }


def run_all(
    line: Line,
    *,
    only: Iterable[str] = (),
    seed: int | None = None,
    moving: bool = False,
    progress: Callable[[Outcome], None] = lambda _outcome: None,
) -> Report:
    """Try everything (or what concerns the sentences `only`). Raises OSError when lost.

    The line is closed at the end.
    """
    wanted = set(only)
    report = Report(only=frozenset(wanted))
    rng = random.Random(seed)
    with Probe(line, rng, moving=moving) as probe:
        _first_contact(probe, report)

        def note(name: str, ids: tuple[str, ...], work: Callable[[], None]) -> None:
            if wanted and not wanted & set(ids):
                return
            outcome = _try(name, ids, work)
            report.outcomes.append(outcome)
            progress(outcome)

        for trial in TRIALS:
            note(trial.name, trial.sentences, lambda t=trial: t.run(probe))  # type: ignore[misc]
        for vector in link_vectors():
            ids = tuple(vector["spec"].split())
            note(f"vector: {vector['name']}", ids, lambda v=vector: play(probe, v))  # type: ignore[misc]
        probe.acknowledging = True
    return report


def _first_contact(probe: Probe, report: Report) -> None:
    try:
        report.device = probe.open()
    except Failed:
        return


def _try(name: str, ids: tuple[str, ...], work: Callable[[], None]) -> Outcome:
    try:
        work()
    except Failed as failed:
        return Outcome(name, ids, "fail", str(failed))
    except NotTried as reason:
        return Outcome(name, ids, "not tried", str(reason))
    return Outcome(name, ids, "pass")
