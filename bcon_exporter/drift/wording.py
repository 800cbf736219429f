"""Renders differences as text that shows what changed, and never an environment value."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import re2

from bcon_exporter.drift.fields import FieldDifference
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.desired import FieldValue
from bcon_exporter.model.findings import ComposeAction, tell_origin
from bcon_exporter.secrets.known_secrets import is_plain_word
from bcon_exporter.secrets.masking import MASK

ABSENT = "absent"
_FINGERPRINT_DIGITS = 8
_LONGEST_WORD = 80
_BETWEEN_WORDS = '", "'
"""Separator of two words of a command. A gap that holds it spans several words and is no counterpart of one secret."""
_WORDS = re2.compile(r"""[^\s"'\\,;:=@/?&(){}\[\]|<>]+""")
WOULD: dict[ComposeAction, str] = {
    "recreate": "docker compose up would recreate it",
    "start": "docker compose up would start it",
    "create": "docker compose up would create it",
    "remove_orphan": "docker compose up --remove-orphans would remove it",
    "nothing": "docker compose up would leave it as it is",
}


def render_value(path: str, value: FieldValue | None, other: FieldValue | None) -> str:
    """Return a value for a report; where masking makes both sides look the same, a fingerprint tells them apart."""
    if value is None:
        return ABSENT
    if path.startswith("environment."):
        return add_fingerprint("set", value.fingerprint)
    if other is not None and other.shown == value.shown:
        return add_fingerprint(value.shown, value.fingerprint)
    return value.shown or "empty"


def add_fingerprint(text: str, fingerprint: str | None) -> str:
    """Return the text followed by the first digits of the fingerprint."""
    return f"{text} (fingerprint {(fingerprint or 'unknown')[:_FINGERPRINT_DIGITS]})"


def mask_counterparts(differences: Sequence[FieldDifference]) -> list[FieldDifference]:
    """Mask a text on one side where the other side has a masked secret in the same place.

    Nobody may know the old secret any more: the file has the new one, and the container holds the old one in its
    command only. Where the secret is part of a path (a host's name, a mount's target), its counterpart is another path
    of the same field that only the other side has.
    """
    one_sided = [difference for difference in differences if difference.expected is None or difference.actual is None]
    return [
        _mask_by_counterparts(difference, one_sided) if difference in one_sided else _mask_both_sides(difference)
        for difference in differences
    ]


def _mask_both_sides(difference: FieldDifference) -> FieldDifference:
    expected, actual = difference.expected, difference.actual
    if expected is None or actual is None:
        return difference
    shown = mask_both(expected.shown, actual.shown)
    return replace(difference, expected=replace(expected, shown=shown[0]), actual=replace(actual, shown=shown[1]))


def _mask_by_counterparts(difference: FieldDifference, one_sided: Sequence[FieldDifference]) -> FieldDifference:
    root = difference.path.partition(".")[0]
    counterparts = [
        candidate
        for candidate in one_sided
        if candidate.path.partition(".")[0] == root and (candidate.expected is None) != (difference.expected is None)
    ]
    for counterpart in counterparts:
        other_value, own_value = counterpart.expected or counterpart.actual, difference.expected or difference.actual
        if other_value is None or own_value is None:
            continue
        value = replace(own_value, shown=_mask_like(other_value.shown, own_value.shown))
        path = _mask_like(counterpart.path, difference.path)
        if difference.expected is None:
            difference = replace(difference, path=path, actual=value)
        else:
            difference = replace(difference, path=path, expected=value)
    return difference


def mask_both(expected: str, actual: str) -> tuple[str, str]:
    """Return both texts of one field, each masked where the other is; plain words stay."""
    return _mask_like(actual, expected), _mask_like(expected, actual)


def _mask_like(masked: str, text: str) -> str:
    """Return the text, masked where the other text has masks."""
    if MASK not in masked or text == masked:
        return text
    aligned = _mask_aligned(masked.split(MASK), text)
    if aligned is not None or text.count(MASK) >= masked.count(MASK):
        return text if aligned is None else aligned
    kept = frozenset(match.group() for match in _WORDS.finditer(masked))

    def hide(match: Any) -> str:
        word = str(match.group())
        return word if word in kept or is_plain_word(word) else MASK

    return str(_WORDS.sub(hide, text))


def _mask_aligned(parts: list[str], text: str) -> str | None:
    """Return the text with the gaps between these parts masked; None when the text does not hold them in order."""
    if not text.startswith(parts[0]):
        return None
    masked, position = parts[0], len(parts[0])
    for number, part in enumerate(parts[1:], 2):
        end = len(text) - len(part) if number == len(parts) else text.find(part, position)
        if end < position or not text.endswith(part, position, end + len(part)):
            return None
        gap = text[position:end]
        if _BETWEEN_WORDS in gap:
            return None
        masked += (gap if is_plain_word(gap) else MASK) + part
        position = end + len(part)
    return masked


def render_difference(difference: FieldDifference, containers: list[str], *, outside_compose: bool) -> str:
    """Return one sentence about a field, without free text (a command, a label): that stays in `expected`, `actual`."""
    where = containers[0] if len(containers) == 1 else f"{len(containers)} containers"
    path, verb = _render_path(difference.path), "has" if len(containers) == 1 else "have"
    expected = render_value(difference.path, difference.expected, difference.actual)
    actual = render_value(difference.path, difference.actual, difference.expected)
    if difference.expected is None:
        value = f" ({actual})" if _is_one_word(actual) else ""
        text = f"{path} is on {where}{value}, but neither the file nor the image asks for it"
    elif difference.actual is None:
        value = f"should be {expected}" if _is_one_word(expected) else "is asked for by the file"
        text = f"{path} {value}, but {where} {verb} none"
    elif path.startswith("environment.") or not (_is_one_word(expected) and _is_one_word(actual)):
        text = f"{path} has another value on {where} than the file gives it"
    else:
        text = f"{path} should be {expected}, but {where} {verb} {actual}"
    return f"{text} ({tell_origin(difference.path)})." if outside_compose else f"{text}."


def render_dropped(difference: FieldDifference, containers: list[str]) -> str:
    """Return one sentence about a field that Compose asked for and the engine dropped."""
    where = containers[0] if len(containers) == 1 else f"{len(containers)} containers"
    expected = render_value(difference.path, difference.expected, difference.actual)
    value = f" {expected}" if _is_one_word(expected) else ""
    path = _render_path(difference.path)
    return f"{where} was made with {path}{value}, but its engine does not do that: it has no effect."


def _is_one_word(text: str) -> bool:
    """Return whether a value fits into a sentence: a number, a name or a path, but no text with blanks."""
    bare = text.partition(" (fingerprint ")[0]
    return len(bare) <= _LONGEST_WORD and not any(character.isspace() for character in bare)


def _render_path(path: str) -> str:
    """Return the path, or the kind of field where its key is free text (a label may have blanks)."""
    return path if _is_one_word(path) else f"A field of {path.partition('.')[0]}"


def render_paused_hint(containers: Iterable[ContainerFacts]) -> str:
    """Return a sentence when a container is paused, else "": `up` tries to start it and fails (Docker 20.10)."""
    paused = [container.name for container in containers if container.state is ContainerState.PAUSED]
    return f" `up` cannot start what is paused: `docker unpause {' '.join(paused[:3])}`." if paused else ""
