"""Compares what was told of a case with what it expects, and makes a table of all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.incidents_bench.cases import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.incidents_bench.cases import Case
    from tests.incidents_bench.play import Seen

Key = tuple[str | None, str | None]
HARMLESS = ("start", "unpause", "network_connect", "drift_on", "drift_off")
"""Changes that blame nobody: where none is to be named, only these may stand beside the one that is called the root."""


@dataclass(frozen=True)
class Verdict:
    """How a case went.

    Attributes:
        told, pushed, beside: How many messages people got; by another version beside.
        one_message: As many as it should be: one for a cascade, two for a pair, none for what is quiet.
        one_push: The same of what the exporter pushes itself.
        right_incidents: As many incidents as it should be.
        root_right, change_named, members_right: None where there is nothing to be judged.
        faults: In words, what was not right.
    """

    id: str
    half: str
    kind: str
    told: int
    pushed: int
    beside: int | None
    one_message: bool
    one_push: bool
    right_incidents: bool
    root_right: bool | None
    change_named: bool | None
    members_right: bool | None
    faults: tuple[str, ...]


def judge(case: Case, seen: Seen) -> Verdict:
    """Return the verdict over one case."""
    faults = [f"could not be played: {seen.trouble}"] if seen.trouble else []
    faults += [f"before the first step: {one}" for one in seen.before]
    wanted = case.expect.incidents
    played = not seen.trouble
    if len(seen.incidents) != wanted:
        titles = "; ".join(f"{one['id']}: {one['title']}" for one in seen.incidents) or "none"
        faults.append(f"{len(seen.incidents)} incidents instead of {wanted}: {titles}")
    for name, heard in (("message", seen.told), ("push", seen.pushed)):
        if len(heard) != wanted:
            faults.append(f"{len(heard)} {name} instead of {wanted}: {'; '.join(map(str, heard)) or 'none'}")
    root = change = members = None
    if wanted:
        root = played and _judge_root(case, seen, faults)
    if case.kind == "cascade" and case.expect.change is not None:
        change = played and _judge_change(case, seen, faults)
    if case.kind == "cascade":
        members = played and _judge_members(case, seen, faults)
    return Verdict(
        id=case.id,
        half=case.half,
        kind=case.kind,
        told=len(seen.told),
        pushed=len(seen.pushed),
        beside=None if seen.beside is None else len(seen.beside),
        one_message=played and len(seen.told) == wanted,
        one_push=played and len(seen.pushed) == wanted,
        right_incidents=played and len(seen.incidents) == wanted,
        root_right=root,
        change_named=change,
        members_right=members,
        faults=tuple(faults),
    )


def _judge_root(case: Case, seen: Seen, faults: list[str]) -> bool:
    told = [_key(one["root"]) for one in seen.incidents]
    if case.expect.root == "unknown":
        allowed = {(None, None), *(case.key(name) for name in case.expect.members)}
        right = bool(told) and set(told) <= allowed
    else:
        single = [case.expect.root] if isinstance(case.expect.root, Place) else []
        right = Counter(told) == Counter(case.key(one) for one in (*single, *case.expect.roots))
    if not right:
        roots = "; ".join(f"{one['root']} by {_causes(one)}" for one in seen.incidents) or "none"
        faults.append(f"root: {roots}")
    return right


def _judge_change(case: Case, seen: Seen, faults: list[str]) -> bool:
    expected = case.expect.change
    changes = [change for one in seen.incidents for change in one["changes"]]
    if expected is None or expected == "none":
        roots = {_key(one["root"]) for one in seen.incidents}
        blamed = [one for one in changes if _key(one) in roots and one["kind"] not in HARMLESS]
        right = bool(seen.incidents) and not blamed
    else:
        project, service = case.key(expected)
        right = any(
            change["kind"] in expected.kinds
            and change["project"] == project
            and (change["service"] == service or change["kind"] == "deployment")
            for change in changes
        )
    if not right:
        named = ", ".join(f"{change['kind']} {change['service'] or change['project']}" for change in changes)
        faults.append(f"change: {named or 'none'}")
    return right


def _judge_members(case: Case, seen: Seen, faults: list[str]) -> bool:
    told = {_key(member) for one in seen.incidents for member in one["members"]}
    wanted = {case.key(name) for name in case.expect.members}
    single = {case.key(case.expect.root)} if isinstance(case.expect.root, Place) else set()
    allowed = wanted | single | {case.key(name) for name in case.expect.may}
    missing, wrong = wanted - told, told - allowed
    if missing:
        faults.append(f"members: without {', '.join(sorted(str(key[1]) for key in missing))}")
    if wrong:
        faults.append(f"members: with {', '.join(sorted(str(key[1]) for key in wrong))}")
    return not missing and not wrong


def _key(who: dict[str, Any]) -> Key:
    return who["project"], who["service"]


def _causes(incident: dict[str, Any]) -> str:
    return ", ".join(f"{one['id']}({one['peer'] or ''})" for one in incident["causes"][:3]) or "no cause"


BARS = (
    ("cascade", "one message", "one_message", 23 / 24),
    ("cascade", "one push", "one_push", None),
    ("cascade", "one incident", "right_incidents", None),
    ("cascade", "root right", "root_right", 23 / 24),
    ("cascade", "change named", "change_named", 22 / 24),
    ("cascade", "members right", "members_right", None),
    ("pair", "two incidents", "right_incidents", 1.0),
    ("pair", "both roots right", "root_right", None),
    ("pair", "two messages", "one_message", None),
    ("pair", "two pushes", "one_push", None),
    ("quiet", "no incident", "right_incidents", 1.0),
    ("quiet", "no message", "one_message", 1.0),
    ("quiet", "no push", "one_push", None),
)
"""Kind, what, by which field, and the least share that is wanted."""


def is_good(verdicts: Sequence[Verdict]) -> bool:
    """Whether every bar is reached."""
    return all(
        _count(verdicts, kind, name)[0] >= bar * _count(verdicts, kind, name)[1] - 1e-9
        for kind, _, name, bar in BARS
        if bar is not None
    )


def render(verdicts: Sequence[Verdict]) -> str:
    """Return the figures of each half and of all, messages beside those of another version, and all faults."""
    halves = [*sorted({one.half for one in verdicts}), "all"]
    lines = ["| kind | what | wanted | " + " | ".join(halves) + " |", "|---|---|---|" + "---|" * len(halves)]
    for kind, what, name, bar in BARS:
        cells = []
        for half in halves:
            right, total = _count([one for one in verdicts if half in ("all", one.half)], kind, name)
            cells.append(f"{right} of {total}" if total else "-")
        total = _count(verdicts, kind, name)[1]
        if total:
            wanted = "-" if bar is None else f">= {round(bar * total)}"
            lines.append(f"| {kind} | {what} | {wanted} | {' | '.join(cells)} |")
    lines += ["", "messages by kind: " + "; ".join(_messages(verdicts, kind) for kind in ("cascade", "pair", "quiet"))]
    for one in verdicts:
        beside = "" if one.beside is None else f", beside {one.beside}"
        state = "right" if not one.faults else "NOT RIGHT"
        lines += ["", f"{one.half}/{one.id} ({one.kind}): {state}; messages {one.told}, pushes {one.pushed}{beside}"]
        lines += [f"  {fault}" for fault in one.faults]
    return "\n".join(lines)


def _messages(verdicts: Sequence[Verdict], kind: str) -> str:
    of_kind = [one for one in verdicts if one.kind == kind]
    beside = [one.beside for one in of_kind if one.beside is not None]
    more = f" (beside: {sum(beside)} over {len(beside)})" if beside else ""
    return f"{kind} {sum(one.told for one in of_kind)} over {len(of_kind)}{more}"


def _count(verdicts: Sequence[Verdict], kind: str, name: str) -> tuple[int, int]:
    values = [getattr(one, name) for one in verdicts if one.kind == kind and getattr(one, name) is not None]
    return sum(values), len(values)
