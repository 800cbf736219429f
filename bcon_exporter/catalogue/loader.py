"""Reads signature files. A bad one is refused with its file and line, never half-loaded."""

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import re2
import yaml
from pydantic import Field, ValidationError

from bcon_exporter.catalogue.causes import check_use, fields_of, load_causes
from bcon_exporter.catalogue.pattern_tests import find_flaw, find_flaw_of_end
from bcon_exporter.errors import SettingsError
from bcon_exporter.model.base import Frozen
from bcon_exporter.model.signatures import Catalogue, Signature, SuggestionText
from bcon_exporter.model.validation_messages import tell_refusal
from bcon_exporter.regular_files import UnreadableFileError, read_regular_file
from bcon_exporter.yaml_faults import YAML_FAULTS, line_of_fault, tell_fault

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MAX_FILES = 200
_OF_A_LINE = frozenset(("name", "subject"))
"""Fields of a step that a line of a log, and whose it is, are enough to fill."""
_MAX_DEPTH = 50
SHIPPED_FILES = (
    "probe.yaml",
    "programs.yaml",
    "benign.yaml",
    "host_needs.yaml",
    "privileges.yaml",
    "host_limits.yaml",
    "upgrade.yaml",
    "locks.yaml",
    "noise.yaml",
    "memory.yaml",
    "disk.yaml",
    "start.yaml",
    "plain_words.yaml",
    "port.yaml",
    "home.yaml",
    "auth.yaml",
    "permission.yaml",
    "missing.yaml",
    "config.yaml",
    "limits.yaml",
    "slow.yaml",
    "network.yaml",
    "data.yaml",
    "supervise.yaml",
    "crash.yaml",
    "general.yaml",
)
"""In the order of preference: the specific before the general."""


class _SignatureFile(Frozen):
    """The schema of one file."""

    signatures: tuple[Signature, ...] = Field(min_length=1)


def load_catalogue(user_directory: Path | None = None) -> Catalogue:
    """Load the shipped signatures and the user's (`*.yaml`, `*.yml`), which go first and replace shipped ones by id.

    Raises:
        SettingsError: A user's file cannot be read or is not valid; names the file and the line.
    """
    own = _load_directory(user_directory) if user_directory else []
    replaced = {signature.id for signature in own}
    return _compile((*own, *(signature for signature in _load_shipped() if signature.id not in replaced)))


@lru_cache(maxsize=1)
def _compile(signatures: tuple[Signature, ...]) -> Catalogue:
    """Return the catalogue of these signatures: at a reload the one in use, since a second one weighs 3 MB."""
    return Catalogue(signatures)


def shipped_files() -> dict[str, str]:
    """Name → text of every shipped file, in order."""
    data = resources.files("bcon_exporter.catalogue") / "data"
    return {name: (data / name).read_text(encoding="utf-8") for name in SHIPPED_FILES}


@cache
def _load_shipped() -> tuple[Signature, ...]:
    signatures = tuple(
        signature for name, text in shipped_files().items() for signature in parse_signatures(text, name)
    )
    check_use(load_causes(), signatures)
    return signatures


def _load_directory(directory: Path) -> list[Signature]:
    try:
        files = sorted(path for path in directory.iterdir() if path.suffix in {".yaml", ".yml"})
    except OSError as error:
        msg = f"The signature directory {directory} cannot be read: {error.strerror}. Correct or unset it."
        raise SettingsError(msg, {"directory": str(directory)}) from None
    if len(files) > MAX_FILES:
        msg = f"The signature directory {directory} holds {len(files)} files; at most {MAX_FILES} are loaded."
        raise SettingsError(msg, {"directory": str(directory)})
    found: list[Signature] = []
    seen: dict[str, str] = {}
    for path in files:
        for signature in parse_signatures(_read(path), str(path), prove=True):
            if signature.id in seen:
                raise _refusal(str(path), None, f"the id {signature.id} is already used in {seen[signature.id]}")
            seen[signature.id] = str(path)
            found.append(signature)
    return found


def _read(path: Path) -> str:
    try:
        return read_regular_file(path).decode()
    except UnicodeDecodeError:
        raise _refusal(str(path), None, "it is not UTF-8 text") from None
    except UnreadableFileError as error:
        raise _refusal(str(path), None, f"it {error}") from None


def parse_signatures(text: str, name: str, *, prove: bool = False) -> tuple[Signature, ...]:
    """Parse one file's text.

    Args:
        text: YAML with one key, `signatures`.
        name: File name for messages.
        prove: Also compile every pattern, try its examples and measure its speed; shipped files are proven by tests.

    Raises:
        SettingsError: With file and line; never quotes the file.
    """
    try:
        if prove:
            _refuse_depth(text, name)
        raw = yaml.load(text, Loader=_LOADER)  # noqa: S506 - both are safe loaders
    except YAML_FAULTS as error:
        raise _refusal(name, line_of_fault(error), f"it {tell_fault(error)}") from None
    _put_words(raw, name, text)
    try:
        signatures = _SignatureFile.model_validate(raw).signatures
    except ValidationError as error:
        flaws = error.errors(include_input=False, include_url=False)
        # An unknown key is a typo of the one that is then missing: tell the typo.
        first = next((flaw for flaw in flaws if flaw["type"] == "extra_forbidden"), flaws[0])
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise _refusal(name, _line_of(text, first["loc"]), f"{where}: {tell_refusal(first)}") from None
    if prove:
        _prove(signatures, name, text)
    return tuple(map(_with_steps, signatures))


def _put_words(raw: Any, name: str, text: str) -> None:
    """Put the words of known causes where signatures name these by id; what has another shape is refused later."""
    for index, signature in enumerate(_list_in(raw, "signatures")):
        causes = _list_in(signature, "causes")
        for number, cause in enumerate(causes):
            given = {"id": cause} if isinstance(cause, str) else cause
            if not isinstance(given, dict) or not isinstance(given.get("id"), str) or "text" in given:
                continue
            known = load_causes().texts.get(given["id"])
            if known is None or fields_of(known.text):
                line = _line_of(text, ("signatures", index, "causes", number))
                raise _refusal(name, line, f"no cause {_quotable(given['id'])} is known; give it a text")
            causes[number] = {**dict(known), **given, "id": known.id} if len(given) > 1 else known


def _list_in(raw: Any, key: str) -> list[Any]:
    found = raw.get(key) if isinstance(raw, dict) else None
    return found if isinstance(found, list) else []


def _quotable(name: str) -> str:
    """Return an id as it may stand in a message; messages quote nothing else of a file."""
    return f"`{name}`" if re2.fullmatch(r"[a-z0-9_.]{1,120}", name) else "of this id"


def _with_steps(signature: Signature) -> Signature:
    """Return a signature without suggestions with the steps of its causes.

    Steps that tell numbers of a container are left out: of a log alone there are none.
    """
    if signature.suggestions:
        return signature
    steps = dict.fromkeys(
        step for cause in signature.causes for step in cause.steps if _open_fields(step) <= _OF_A_LINE
    )
    return signature.model_copy(update={"suggestions": tuple(steps)}) if steps else signature


def _open_fields(step: SuggestionText) -> frozenset[str]:
    return fields_of(f"{step.action} {step.rationale} {step.check or ''}")


def _refuse_depth(text: str, name: str) -> None:
    """Refuse a text on whose depth the C loader would crash the process: it calls itself for each level."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                raise _refusal(name, None, "it is nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _prove(signatures: Sequence[Signature], name: str, text: str) -> None:
    ids: set[str] = set()
    for index, signature in enumerate(signatures):
        if signature.id in ids:
            raise _refusal(name, _line_of(text, ("signatures", index)), f"the id {signature.id} is used twice")
        ids.add(signature.id)
        if signature.lasts_until is not None and (flaw := find_flaw_of_end(signature.lasts_until)) is not None:
            line = _line_of(text, ("signatures", index, "lasts_until"))
            raise _refusal(name, line, f"{signature.id}, lasts_until: {flaw}")
        for number, pattern in enumerate(signature.patterns):
            flaw = find_flaw(pattern)
            if flaw is not None:
                line = _line_of(text, ("signatures", index, "patterns", number, "regex"))
                raise _refusal(name, line, f"{signature.id}, pattern {number + 1}: {flaw}")


def _line_of(text: str, location: Sequence[int | str]) -> int | None:
    """Line of the deepest part of `location` that exists in the YAML tree of `text`."""
    current = yaml.compose(text, Loader=yaml.SafeLoader)
    if current is None:
        return None
    for part in location:
        following = _child(current, part)
        if following is None:
            break
        current = following
    return int(current.start_mark.line) + 1


def _child(node: Any, part: int | str) -> Any:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part]
    return None


def _refusal(name: str, line: int | None, reason: str) -> SettingsError:
    where = name if line is None else f"{name}, line {line}"
    return SettingsError(f"Signature file {where}: {reason}. Correct it or take it away.", {"file": name, "line": line})
