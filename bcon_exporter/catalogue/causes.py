"""The one home of what causes say: rules, peers and signatures name them by id (`memory_leak`, `memory_leak.steady`).

It is shipped with the package, the same everywhere, and read when the first cause is named.
"""

import re  # noqa: TID251 - sees texts of the catalogue only
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import yaml
from pydantic import ValidationError

from bcon_exporter.model.causes import Adjustment, Cause, Causes, RestartEffect
from bcon_exporter.model.signatures import CauseText, Signature, SuggestionText

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
CAUSE_FILES = (
    *("containers.yaml", "program.yaml", "upgrade.yaml", "locks.yaml", "limits.yaml", "access.yaml", "network.yaml"),
    *("privileges.yaml", "host.yaml", "supervise.yaml", "probe.yaml", "plain_words.yaml", "shared.yaml"),
    "programs.yaml",
)
_Entries = Mapping[str, dict[str, Any]]
_OF_A_FILE = ("causes", "restarts", "adjustments", "steps")
_OF_A_CAUSE = frozenset({"when", "restart", "reference", "sayings"})
_OF_A_SAYING = frozenset({"text", "confidence", "needs", "steps"})
_UNKNOWN_RESTART = "may_help"
_FIELD = re.compile(r"(?<!\{)\{([a-z_]{1,40})\}(?!\})")


class CausesError(ValueError):
    """The catalogue of causes has a mistake or contradicts itself."""


def known_cause(name: str, **fields: object) -> CauseText:
    """Return what is said of a cause: `id` or `id.saying`, with the fields of its words filled in."""
    cause = load_causes().texts[name]
    if not fields:
        return cause
    text = _FIELD.sub(lambda match: str(fields[match.group(1)]), cause.text)
    return cause.model_copy(update={"text": text, "steps": tuple(_fill_step(step, fields) for step in cause.steps)})


def known_step(name: str, **fields: object) -> SuggestionText:
    """Return a shared step, with the fields of its words filled in; those of the container's numbers stay."""
    return _fill_step(load_causes().steps[name], fields)


def adjust(confidence: float, name: str) -> float:
    """Return a confidence under the circumstances that the adjustment of this id tells of."""
    return load_causes().adjustments[name].adjust(confidence)


def restart_effect_of(cause_id: str | None) -> RestartEffect:
    """Return whether a restart helps against a cause; of one that is not known here, that it may."""
    causes = load_causes()
    return causes.restarts.get(cause_id or "", causes.unknown_restart)


def fill(text: str, fields: Mapping[str, object]) -> str:
    """Return a text with these fields filled in; anything else in braces stays as it is."""
    return _FIELD.sub(lambda match: str(fields.get(match.group(1), match.group(0))), text)


def fields_of(text: str) -> frozenset[str]:
    """Return the names of the fields that a text leaves open."""
    return frozenset(_FIELD.findall(text))


@cache
def load_causes() -> Causes:
    """Load what is shipped.

    Raises:
        CausesError: A file has a mistake.
    """
    folder = resources.files("bcon_exporter.catalogue") / "data" / "causes"
    return parse_causes([(folder / name).read_text(encoding="utf-8") for name in CAUSE_FILES])


def parse_causes(texts: Iterable[str]) -> Causes:
    """Parse the texts of all files.

    Raises:
        CausesError: An id stands there twice, is unknown or unused; a key or a value is none.
    """
    files = [yaml.load(text, Loader=_LOADER) for text in texts]  # noqa: S506 - both are safe loaders
    for file in files:
        _refuse(set(file) - set(_OF_A_FILE), "there is no such list:")
    entries = {key: _by_id(entry for file in files for entry in file.get(key, ())) for key in _OF_A_FILE}
    try:
        return _build(**entries)
    except ValidationError as error:
        flaw = error.errors(include_url=False)[0]
        msg = f"Causes: {error.title}, {'.'.join(map(str, flaw['loc']))} {flaw['input']!r}: {flaw['msg']}."
        raise CausesError(msg) from None


def _build(causes: _Entries, restarts: _Entries, adjustments: _Entries, steps: _Entries) -> Causes:
    shared_steps = {name: SuggestionText(**step) for name, step in steps.items()}
    shared_restarts = {name: RestartEffect(id=name, **effect) for name, effect in restarts.items()}
    named = {cause["restart"] for cause in causes.values() if isinstance(cause.get("restart"), str)}
    _refuse(named - shared_restarts.keys(), "there is no such restart:")
    _refuse(shared_restarts.keys() - named, "no cause names the restart")
    built = tuple(_parse_cause(name, cause, shared_restarts, shared_steps) for name, cause in causes.items())
    return Causes(
        causes=built,
        texts={name: text for cause in built for name, text in cause.texts.items()},
        restarts={cause.id: cause.restart for cause in built},
        unknown_restart=shared_restarts[_UNKNOWN_RESTART],
        adjustments={name: Adjustment(**adjustment) for name, adjustment in adjustments.items()},
        steps=shared_steps,
    )


def _parse_cause(
    name: str, raw: Mapping[str, Any], restarts: Mapping[str, RestartEffect], steps: Mapping[str, SuggestionText]
) -> Cause:
    said = {key: value for key, value in raw.items() if key not in _OF_A_CAUSE}
    sayings = {f"{name}.{saying}": words for saying, words in raw.get("sayings", {}).items()}
    for saying, words in sayings.items():
        _refuse(words.keys() - _OF_A_SAYING, f"in {saying} there is no such key:")
    restart: Any = raw.get("restart")
    _refuse(() if restart else {name}, "nothing says whether a restart helps against")
    return Cause(
        id=name,
        texts={key: _parse_text(name, {**said, **words}, steps) for key, words in {name: {}, **sayings}.items()},
        when=tuple(raw.get("when", ())),
        restart=restarts[restart] if isinstance(restart, str) else RestartEffect(**restart),
        reference=raw.get("reference"),
    )


def _parse_text(name: str, said: Mapping[str, Any], steps: Mapping[str, SuggestionText]) -> CauseText:
    named: Sequence[Any] = said.get("steps", ())
    _refuse({step for step in named if isinstance(step, str)} - steps.keys(), f"for {name} there is no such step:")
    given = [steps[step] if isinstance(step, str) else SuggestionText(**step) for step in named]
    return CauseText(**{**said, "id": name, "steps": given})


def check_use(causes: Causes, signatures: Iterable[Signature]) -> None:
    """Refuse causes that neither a signature nor the code names.

    Raises:
        CausesError: Names them.
    """
    named = {cause.id for signature in signatures for cause in signature.causes}
    unused = {cause.id for cause in causes.causes if not cause.when} - named
    _refuse(unused, "neither a signature nor a rule (`when`) names")


def _fill_step(step: SuggestionText, fields: Mapping[str, object]) -> SuggestionText:
    if not fields:
        return step
    check = None if step.check is None else fill(step.check, fields)
    return step.model_copy(
        update={"action": fill(step.action, fields), "rationale": fill(step.rationale, fields), "check": check}
    )


def _by_id(entries: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    known: dict[str, dict[str, Any]] = {}
    for entry in entries:
        name = entry.pop("id", "without an id")
        _refuse({name} & known.keys(), "there is twice")
        known[name] = entry
    return known


def _refuse(names: Iterable[str], what: str) -> None:
    if names:
        msg = f"Causes: {what} {', '.join(sorted(names))}."
        raise CausesError(msg)
