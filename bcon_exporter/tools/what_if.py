"""modify_config: says what an edit of a Compose file would do, and writes nothing.

Values of variables are never shown, nor is any other secret: `***` stands there. `old` is looked for in a line as it
may be shown, or a guesser could read a value letter by letter. No change may leave something hidden without what it is
known by, such as the key before it, and none may put a variable where its value would be shown.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate

from bcon_exporter.compose import FileEdit, ResolvedEdit, hide_environment
from bcon_exporter.deployments.check import check_deployment, make_plan
from bcon_exporter.drift import detect_drift, find_projects
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.host_secrets import hide_in_snapshot
from bcon_exporter.model.check_report import CheckReport, CheckSeverity, ServicePlan
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.desired import DesiredProject
from bcon_exporter.model.findings import ServiceDrift
from bcon_exporter.model.quantities import show_count
from bcon_exporter.model.what_if import (
    LONGEST_FILE,
    EditEffect,
    LineChange,
    ModifyConfigInput,
    WhatIfReport,
)
from bcon_exporter.secrets.cleaning import strip_controls
from bcon_exporter.secrets.masking import MASK, safe_name, safe_text
from bcon_exporter.stages import EXPERIMENTAL
from bcon_exporter.tools.check import CHECK_WANTS, gather_around, hide_in_report
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.fresh_snapshot import observe
from bcon_exporter.tools.secret_references import find_shown_references, find_shown_variables
from bcon_exporter.tools.tool import Tool

_CONTEXT_LINES = 3
_MOST_PAIRS = 500_000
"""Of equal lines of two texts that are compared: some tenths of a second."""
_CHANGED = " (changed)"
"""Behind a line of a diff that looks as before, since what changes in it is hidden."""
_SAYS = {
    "recreate": "recreate",
    "create": "create",
    "restart": "restart",
    "start": "start",
    "remove": "remove containers of",
    "orphan": "leave as an orphan",
}


def modify_config(context: Context, request: ModifyConfigInput) -> WhatIfReport:
    """Return what an edit would do to what runs.

    Raises:
        ComposeFileNotFoundError, PermissionDeniedError: There is no such file, or it may not be read.
        InvalidInputError: The edit does not fit the file, or no project reads it.
        DockerConnectionError, DeadlineExceededError: The engine does not answer.
    """
    snapshot = observe(context, CHECK_WANTS)

    def apply(text: str | None, variables: frozenset[str]) -> str:
        after = request.content
        if after is None:
            after = apply_changes(text or "", request.changes or (), request.path, context.secrets.hide)
        _refuse_shown_variables(text or "", after, request.path, context.secrets.hide, variables)
        return after

    edit = FileEdit(request.path, request.project_name, apply)
    resolved = context.compose.resolve_edit(edit, snapshot.taken_at, find_projects(snapshot))
    snapshot = hide_in_snapshot(snapshot, resolved.book)
    given = gather_around(context, snapshot, resolved.edited, sees_paths=context.one_shot)
    report = hide_in_report(check_deployment(given), resolved.book.hide)
    plain = resolved.plain
    wanted = plain.deployment.wanted if plain.deployment is not None else None
    plan_before = make_plan(given.model_copy(update={"desired": plain.desired, "deployment": wanted}))
    return _report(report, plan_before, resolved, snapshot)


def _refuse_shown_variables(
    before: str, after: str, path: str, hide: Callable[[str], str], variables: frozenset[str]
) -> None:
    """Refuse to put the value of a variable where the answer would show it.

    Args:
        before: The file's text without the edit.
        after: Its text with the edit.
        path: Of the file.
        hide: Hides what is known as a secret.
        variables: Those that have a value here.

    Raises:
        InvalidInputError: The edit does. Where the file shows the variable already, it may; a secret one only there.
    """
    is_yaml = path.lower().endswith((".yml", ".yaml", ".json"))
    hidden = variables - find_shown_variables(before, is_yaml=is_yaml)
    known = find_shown_references(before, hide, is_yaml=is_yaml, variables=hidden)
    new = find_shown_references(after, hide, is_yaml=is_yaml, variables=hidden) - known
    if new:
        place = ".".join(next(iter(new))[0]) or "a line"
        what = f"{safe_name(place)} would show the value of a variable, and values are never shown: write one there"
        msg = f"modify_config: {what}"
        raise InvalidInputError(msg, {"errors": [{"field": "content", "message": what}]})


def _report(
    report: CheckReport, plan_before: tuple[ServicePlan, ...], resolved: ResolvedEdit, snapshot: HostSnapshot
) -> WhatIfReport:
    before, after = _differences(resolved.plain.desired, snapshot), _differences(resolved.edited.desired, snapshot)
    asked_before, kept = {(_key(one), one.expected) for one in before}, set(map(_key, after))
    is_known = resolved.edited.desired is not None and resolved.edited.desired.services is not None
    appears = [one for one in after if (_key(one), one.expected) not in asked_before]
    vanishes = [one for one in before if _key(one) not in kept] if is_known else []
    effects = tuple(_effects(report.plan, plan_before))
    hide = resolved.book.hide
    return WhatIfReport(
        timestamp=report.timestamp,
        project=report.project or (resolved.plain.desired.name if resolved.plain.desired is not None else ""),
        path=resolved.file,
        verdict=report.verdict,
        summary=_summary(report, effects, len(vanishes), is_known=is_known),
        services=effects,
        recreates=tuple(one.service for one in effects if one.action == "recreate"),
        appears=tuple(_hide_difference(one, hide) for one in appears),
        vanishes=tuple(_hide_difference(one, hide) for one in vanishes),
        remains=len(before) - len(vanishes),
        findings=tuple(one for one in report.findings if one.severity is not CheckSeverity.ADVICE),
        not_checked=report.not_checked,
        diff=render_diff(resolved.before, resolved.after, resolved.file, hide, context_lines=0),
    )


def _differences(desired: DesiredProject | None, snapshot: HostSnapshot) -> tuple[ServiceDrift, ...]:
    if desired is None or desired.services is None:
        return ()
    report = detect_drift(desired, snapshot)
    return (*report.differences, *report.doubts)


def _key(difference: ServiceDrift) -> tuple[str, ...]:
    """Return what makes a difference the same with the edit as without."""
    return (
        difference.service_name,
        difference.drift_type,
        difference.field or "",
        difference.container_name or "",
    )


def _hide_difference(difference: ServiceDrift, hide: Callable[[str], str]) -> ServiceDrift:
    shown = {name: safe_text(hide(getattr(difference, name))) for name in ("expected", "actual", "message")}
    return difference.model_copy(update=shown)


def _effects(after: Iterable[ServicePlan], before: Iterable[ServicePlan]) -> Iterable[EditEffect]:
    earlier = {step.service: step.action for step in before}
    for step in after:
        without = earlier.get(step.service)
        if step.action != "leave" or without not in (None, "leave"):
            yield EditEffect(
                service=step.service,
                action=step.action,
                without_edit=without,
                why=step.why,
                is_away=step.is_away,
            )


def _summary(report: CheckReport, effects: Sequence[EditEffect], vanished: int, *, is_known: bool) -> str:
    if not is_known:
        return f"With this edit: {report.summary} Nothing was written."
    parts = []
    for action, words in _SAYS.items():
        names = [one.service for one in effects if one.action == action]
        parts += [f"{words} {_join(names)}"] if names else []
    unknown = [one.service for one in effects if one.action == "unknown"]
    left = len(report.plan) - sum(one.action != "leave" for one in effects)
    parts += [f"leave {show_count(left, 'service')} as they are" if left != 1 else "leave one service as it is"]
    text = f"With this edit `up` would {_join(parts)}."
    text += f" What it would do to {_join(unknown)} cannot be told." if unknown else ""
    text += f" {show_count(vanished, 'difference')} of now would vanish." if vanished else ""
    return f"{text} {report.summary} Nothing was written."


def _join(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def apply_changes(text: str, changes: Iterable[LineChange], path: str, hide: Callable[[str], str]) -> str:
    """Return a file's text with changes of some of its lines.

    Raises:
        InvalidInputError: There is no such line, or `old` does not stand in it just once, as it may be shown, or
            something hidden would stay without what it is known by; the details name change and line.
    """
    if len(text) > LONGEST_FILE:
        msg = f"the file is larger than {LONGEST_FILE // 1024} KiB"
        raise InvalidInputError(msg, {"field": "path"})
    before = text.split("\n")
    shown_before = show_lines(text, path, hide)
    lines, shown = list(before), list(shown_before)
    touched: set[int] = set()
    for number, change in enumerate(changes):
        if change.line > len(lines):
            raise _misfit(number, change, f"there is no line {change.line}: the file has {len(lines)}")
        at = change.line - 1
        lines[at] = _apply(number, change, lines[at], shown[at])
        shown[at] = lines[at] if shown[at] == lines[at] else shown[at].replace(change.old, change.new, 1)
        touched.add(at)
    kept = [at for at in range(len(before)) if at not in touched]
    after = "\n".join(lines)
    hidden_before, hidden_after = hide_environment(text, path), hide_environment(after, path)
    values = _Lines(before, hidden_before.text.split("\n"))
    _refuse_unhidden(values, kept, _at_places(hidden_after.text, lines, kept) if hidden_after.is_certain else None)
    secrets = _Lines(before, _mask_lines(text, hide))
    # Without the lines that are touched, too: what is left of a key may look like one and be none, as in a comment.
    for changed in (lines, ["" if at in touched else line for at, line in enumerate(before)]):
        masked = "\n".join(_mask_lines("\n".join(changed), hide))
        _refuse_unhidden(secrets, kept, _at_places(masked, changed, kept))
    return after


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of a text, as they are and as they may be shown."""

    raw: Sequence[str]
    shown: Sequence[str]


def _refuse_unhidden(before: _Lines, kept: Sequence[int], after: Sequence[str] | None) -> None:
    """Refuse changes after which a line that stays would not be hidden as before.

    Args:
        before: The lines without the changes.
        kept: Which of them stay.
        after: How those are shown then; None where that is unknown.

    Raises:
        InvalidInputError: They do that.
    """
    for index, at in enumerate(kept):
        if _is_hidden(before.raw[at], before.shown[at]) and (after is None or after[index] != before.shown[at]):
            raise _unhides(at + 1)


def _at_places(shown: str, changed: Sequence[str], kept: Iterable[int]) -> list[str]:
    """Return how lines that stay are shown among lines of which some have become several."""
    lines = shown.split("\n")
    places = list(accumulate((line.count("\n") + 1 for line in changed), initial=0))
    return [lines[places[at]] for at in kept]


def _is_hidden(line: str, shown: str) -> bool:
    return shown not in (line, strip_controls(line))


def _unhides(line: int) -> InvalidInputError:
    what = f"the changes touch what says that line {line} has a hidden value, or the file's form: give content instead"
    return InvalidInputError(
        f"modify_config: {what}", {"line": line, "errors": [{"field": "changes", "message": what}]}
    )


def _apply(number: int, change: LineChange, line: str, shown: str) -> str:
    """Return a line with a change in it."""
    count = shown.count(change.old)
    if count == 0:
        hidden = (
            f" (a hidden value is {MASK} there: replace that, or give the whole text as content)"
            if MASK in shown
            else ""
        )
        raise _misfit(number, change, f"line {change.line} does not have what is to be replaced{hidden}")
    if count > 1:
        raise _misfit(number, change, f"line {change.line} has what is to be replaced {count} times: give more of it")
    start = shown.index(change.old)
    before, after = shown[:start], shown[start + len(change.old) :]
    if not _is_hidden(line, shown):
        if line.startswith(before + change.old):
            return before + change.new + line[start + len(change.old) :]
        if line.endswith(change.old + after):
            return line[: len(line) - len(after) - len(change.old)] + change.new + after
    elif MASK in change.old and MASK not in before + after and line.startswith(before) and line.endswith(after):
        return before + change.new + after
    raise _misfit(
        number, change, f"line {change.line} has a hidden value around what is to be replaced: give content instead"
    )


def _misfit(number: int, change: LineChange, what: str) -> InvalidInputError:
    field = f"changes.{number}.{'line' if what.startswith('there is') else 'old'}"
    return InvalidInputError(
        f"modify_config: {what}", {"line": change.line, "errors": [{"field": field, "message": what}]}
    )


def show_lines(text: str, path: str, hide: Callable[[str], str]) -> list[str]:
    """Return each line as it may be shown: without values of variables, and without secrets."""
    return _mask_lines(hide_environment(text, path).text, hide)


def _mask_lines(text: str, hide: Callable[[str], str]) -> list[str]:
    """Return each line with its secrets hidden; masking keeps the number of lines."""
    shown = safe_text(hide(text), max_chars=2 * LONGEST_FILE).split("\n")
    lines = text.split("\n")
    if len(shown) == len(lines):
        return shown
    return [safe_text(hide(line)) for line in lines]


def render_diff(
    before: str, after: str, name: str, hide: Callable[[str], str], *, context_lines: int = _CONTEXT_LINES
) -> str:
    """Return an edit as a unified diff in which no value of a variable and no secret stands.

    A line of which only something hidden changes is in it all the same, and says so.

    Args:
        before: The text as it is.
        after: The text as it would be.
        name: The file's path.
        hide: Hides secrets.
        context_lines: So many that stay stand around what changes: none for who may not read the file itself.
    """
    old, new = before.split("\n"), after.split("\n")
    old_shown, new_shown = show_lines(before, name, hide), show_lines(after, name, hide)
    lines: list[str] = []
    for group in _find_groups(old, new, context_lines):
        first, last = group[0], group[-1]
        lines += [f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"]
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                lines += [f" {line}" for line in old_shown[i1:i2]]
                continue
            removed = frozenset(old_shown[i1:i2])
            lines += [f"-{line}" for line in old_shown[i1:i2]]
            lines += [f"+{line}{_CHANGED if line in removed and MASK in line else ''}" for line in new_shown[j1:j2]]
    return "\n".join([f"--- {name}", f"+++ {name}", *lines]) if lines else ""


Group = list[tuple[str, int, int, int, int]]


def _find_groups(old: Sequence[str], new: Sequence[str], context_lines: int) -> Iterator[Group]:
    """Yield groups of what changes as difflib does, without a look at the ends that are the same.

    Lines that stand often in both texts cost the product of their numbers: where that is much they are not matched.
    """
    shorter = min(len(old), len(new))
    same = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    left = shorter - same
    same_end = next((at for at in range(left) if old[-1 - at] != new[-1 - at]), left)
    start, cut = max(0, same - context_lines), max(0, same_end - context_lines)
    before, after = old[start : len(old) - cut], new[start : len(new) - cut]
    often = Counter(after)
    is_much = sum(often[line] for line in before) > _MOST_PAIRS
    for group in SequenceMatcher(None, before, after, autojunk=is_much).get_grouped_opcodes(context_lines):
        yield [(kind, i1 + start, i2 + start, j1 + start, j2 + start) for kind, i1, i2, j1, j2 in group]


def _range(start: int, stop: int) -> str:
    """Return a range of lines as unified diffs write it."""
    length = stop - start
    if length == 1:
        return f"{start + 1}"
    return f"{start + 1 if length else start},{length}"


MODIFY_CONFIG = Tool(
    "modify_config",
    "Say what an edit of a Compose file would do to what runs: which services `up` would recreate. Writes nothing.",
    ModifyConfigInput,
    WhatIfReport,
    modify_config,
    toolset="agents",
    stage=EXPERIMENTAL,
    rows="services",
)
