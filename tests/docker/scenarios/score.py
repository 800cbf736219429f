"""Counts what was right: status, symptoms, likeliest cause, and the confusion matrix of the statuses."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.docker.scenarios.stage import find_faults, symptoms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.docker.scenarios.stage import Report, Seen
    from tests.docker.scenarios.table import Scenario

STATUSES = ("healthy", "warning", "error", "critical", "absent")


@dataclass(frozen=True)
class Verdict:
    """One scenario: expected, found, and what is wrong with it."""

    id: str
    kind: str
    expected: str
    found: str
    symptoms: frozenset[str]
    may: frozenset[str]
    found_symptoms: frozenset[str]
    causes: tuple[str, ...]
    found_cause: str | None
    faults: tuple[str, ...]
    trap: str
    said: str

    def to_json(self) -> dict[str, Any]:
        """Plain values; sets as sorted lists."""
        return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in self.__dict__.items()}


def judge(scenario: Scenario, seen: Seen) -> Verdict:
    """Compare what was seen with what the table expects; a healthy one may never have looked ill."""
    report, faults = seen.report, find_faults(scenario, seen.report)
    if scenario.status == "healthy" and not scenario.passing:
        ill = [f"was shown as {status} with {sorted(what)}" for _, status, what in seen.changes if status != "healthy"]
        faults += ill if not faults else []
    causes = report["likely_causes"] if report else []
    return Verdict(
        id=scenario.id,
        kind=scenario.kind,
        expected=scenario.status or "absent",
        found=report["status"] if report else "absent",
        symptoms=frozenset(scenario.symptoms),
        may=frozenset(scenario.may),
        found_symptoms=symptoms_of(report) if report else frozenset(),
        causes=scenario.cause,
        found_cause=causes[0]["id"] if causes else None,
        faults=tuple(faults),
        trap=scenario.trap,
        said=_sum_up(seen.ill) if faults and seen.ill else "",
    )


def _sum_up(report: Report) -> str:
    """What a report says, in a few lines, for whom it puzzles."""
    up = f"{report['state']}, up {report['uptime']} s" if report["uptime"] is not None else report["state"]
    found = (
        f"\n    {one['type']} ({one['severity']}): {one['description']} {one['evidence']}" for one in report["symptoms"]
    )
    return f"{report['timestamp']} {report['container_id']} {up}: {report['summary']}{''.join(found)}"


@dataclass(frozen=True)
class Score:
    """Shares of what was right, 0 to 1, and what they are made of."""

    scenarios: int
    status_right: float
    symptoms_f1: float
    cause_right: float
    healthy_flagged: tuple[str, ...]
    statuses: dict[str, dict[str, int]]
    symptoms: dict[str, dict[str, int]]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**self.__dict__, "healthy_flagged": list(self.healthy_flagged)}


def score(verdicts: Sequence[Verdict]) -> Score:
    """Sum up the verdicts."""
    caused = [one for one in verdicts if one.causes]
    symptoms = count_symptoms((one.symptoms, one.found_symptoms, one.may) for one in verdicts)
    right, wrong = (
        sum(each["right"] for each in symptoms.values()),
        sum(each["missed"] + each["too_much"] for each in symptoms.values()),
    )
    matrix = Counter((one.expected, one.found) for one in verdicts)
    return Score(
        scenarios=len(verdicts),
        status_right=_share(sum(one.expected == one.found for one in verdicts), len(verdicts)),
        symptoms_f1=_share(2 * right, 2 * right + wrong),
        cause_right=_share(sum(one.found_cause in one.causes for one in caused), len(caused)),
        healthy_flagged=tuple(one.id for one in verdicts if one.expected == "healthy" and one.faults),
        statuses={row: {column: matrix[row, column] for column in STATUSES} for row in STATUSES},
        symptoms=symptoms,
    )


def count_symptoms(
    cases: Iterable[tuple[frozenset[str], frozenset[str], frozenset[str]]],
) -> dict[str, dict[str, int]]:
    """Per symptom: right, missed, too much; what a scenario may show counts in neither way."""
    counts: dict[str, dict[str, int]] = {}
    for expected, found, may in cases:
        for kind, names in (
            ("right", expected & found),
            ("missed", expected - found),
            ("too_much", found - expected - may),
        ):
            for name in names:
                counts.setdefault(str(name), {"right": 0, "missed": 0, "too_much": 0})[kind] += 1
    return dict(sorted(counts.items()))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def headline(found: Score, *, causes: bool = True) -> str:
    """The figures in one line; without causes for a matcher that names none."""
    cause = f"likeliest cause right {found.cause_right:.1%}, " if causes else ""
    return (
        f"{found.scenarios} scenarios: status right {found.status_right:.1%}, "
        f"symptoms micro-F1 {found.symptoms_f1:.3f}, {cause}healthy ones flagged {len(found.healthy_flagged)}"
    )


def render(found: Score, verdicts: Sequence[Verdict]) -> str:
    """The figures, the matrix of statuses, symptoms and every scenario that is not right, as text."""
    lines = [
        headline(found),
        "",
        "expected \\ found " + "".join(f"{name:>10}" for name in STATUSES),
    ]
    lines += [f"{row:16} " + "".join(f"{n or '.':>10}" for n in found.statuses[row].values()) for row in STATUSES]
    lines += ["", f"{'symptom':18}{'right':>7}{'missed':>8}{'too much':>10}"]
    lines += [
        f"{name:18}{each['right']:>7}{each['missed']:>8}{each['too_much']:>10}" for name, each in found.symptoms.items()
    ]
    for one in verdicts:
        if one.faults:
            lines += ["", f"{one.id}: {'; '.join(one.faults)}", *([f"  trap: {one.trap}"] if one.trap else [])]
            lines += [f"  said last of its being ill: {one.said}"] if one.said else []
    return "\n".join(lines)
