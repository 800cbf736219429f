"""How a difference is said, so that it tells what changed and never an environment value."""

from collections.abc import Iterable

from bcon_exporter.drift.fields import FieldDifference
from bcon_exporter.model.desired import FieldValue
from bcon_exporter.model.facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import ComposeAction

ABSENT = "absent"
_FINGERPRINT_DIGITS = 8
WOULD: dict[ComposeAction, str] = {
    "recreate": "docker compose up would recreate it",
    "start": "docker compose up would start it",
    "create": "docker compose up would create it",
    "remove_orphan": "docker compose up --remove-orphans would remove it",
    "nothing": "docker compose up would leave it as it is",
}


def say_value(path: str, value: FieldValue | None, other: FieldValue | None) -> str:
    """Return a value as a report may show it; where masking hides the difference, a keyed fingerprint shows it."""
    if value is None:
        return ABSENT
    mark = f"fingerprint {value.fingerprint[:_FINGERPRINT_DIGITS]}"
    if path.startswith("environment."):
        return f"set ({mark})"
    if other is not None and other.shown == value.shown:
        return f"{value.shown} ({mark})"
    return value.shown or "empty"


def say_difference(difference: FieldDifference, containers: list[str], *, outside_compose: bool) -> str:
    """Return one sentence about a field."""
    where = containers[0] if len(containers) == 1 else f"{len(containers)} containers"
    path, verb = difference.path, "has" if len(containers) == 1 else "have"
    expected = say_value(path, difference.expected, difference.actual)
    actual = say_value(path, difference.actual, difference.expected)
    if difference.expected is None:
        text = f"{path} is on {where} ({actual}), but neither the file nor the image asks for it"
    elif difference.actual is None:
        text = f"{path} should be {expected}, but {where} {verb} none"
    elif path.startswith("environment."):
        text = f"{path} has another value on {where} than the file gives it"
    else:
        text = f"{path} should be {expected}, but {where} {verb} {actual}"
    return text + (" (changed outside Compose)." if outside_compose else ".")


def say_dropped(difference: FieldDifference, containers: list[str]) -> str:
    """Return one sentence about what Compose asked for and the engine left out."""
    where = containers[0] if len(containers) == 1 else f"{len(containers)} containers"
    expected = say_value(difference.path, difference.expected, difference.actual)
    return f"{where} was made with {difference.path} {expected}, but its engine does not do that: it has no effect."


def say_paused(containers: Iterable[ContainerFacts]) -> str:
    """Return a sentence when one of the containers is paused: `up` tries to start it and fails (20.10)."""
    paused = [one.name for one in containers if one.state is ContainerState.PAUSED]
    return f" `up` cannot start what is paused: `docker unpause {' '.join(paused[:3])}`." if paused else ""
