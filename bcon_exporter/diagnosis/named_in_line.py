"""Finds what a line names (a variable, a setting, a file and line) and puts it into the step that speaks of it."""

import re  # noqa: TID251 - sees our own steps only
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import re2

from bcon_exporter.catalogue.causes import fill
from bcon_exporter.diagnosis.signature_hits import Hit
from bcon_exporter.model.signatures import SuggestionText

SHOWN_CHARS = 4096
"""So many characters of a line are looked at."""
_A_FILE = re2.compile(
    r"(?i)(?:^|[\s\"'(\[=:])(?:[\w.@~-]*/)*[\w@~-]+\.(?:ya?ml|json|toml|ini|cfg|conf|cnf|properties|xml|hcl|env|lua|cf|rules"
    r"|php|py|js|ts|rb|go|vcl|service|list)\b|(?:^|[\s\"'(\[=:])/etc/\S|\bline:? \d"
)
_A_SETTING = re2.compile(
    r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|[\"'`][\w.:/-]{2,60}[\"'`]|(?:^|\s)--?[a-z][\w-]+|\b[a-z][\w-]*(?:\.[a-z][a-z0-9_-]*)+(?:[^\w.:(/]|$)"
)
_VARIABLE = r"\b[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){1,6}\b"
_WORDS = "(?:setting|option|parameter|property|directive|sub-?directive|key|field)"
_TO_CHANGE = (
    r"\b(?:increas(?:e|ing)|rais(?:e|ing)|lower(?:ing)?|reduc(?:e|ing)|adjust(?:ing)?|set(?:ting)?|chang(?:e|ing))"
)
_PATH = r"(?:/[\w.@-]{1,60}){1,8}"
_NAMES: Mapping[str, Sequence[Any]] = {
    kind: tuple(map(re2.compile, patterns))
    for kind, patterns in {
        "variable": (rf"({_VARIABLE})",),
        "setting": (
            rf"(?i:{_TO_CHANGE})(?: the)? [\"'`\[]?([A-Za-z][\w-]{{0,30}}(?:[._][\w-]{{1,30}}){{1,6}})",
            rf"(?i:{_WORDS})s?:? [\"'`\[]?([A-Za-z][\w.-]*[._-][\w.>-]{{1,60}})",
            rf"[\"'`\[]([A-Za-z][\w.-]{{1,60}})[\"'`\]] (?i:{_WORDS})\b",
            rf"(?:^|[\s\"'`\[(])([a-z][\w-]{{0,30}}(?:[._][\w-]{{1,30}}){{1,5}})[\"'`\])]? (?i:{_WORDS})\b",
            r"(?:^|[\s\"'`\[(])([a-z][a-z0-9-]{0,30}(?:\.[a-z0-9-]{1,30}){0,4}\.[a-z0-9]{1,30}(?:_[a-z0-9]{1,30}){1,5})\b",
            rf"({_VARIABLE})",
        ),
        "file and line": (
            rf"({_PATH}:\d{{1,6}})",
            rf"({_PATH}[\"']?,? (?:on |at )?line:? \d{{1,6}})",
            rf"({_PATH}\.\w{{2,5}})\b",
        ),
        "pid file": (rf"({_PATH}pid)\b",),
        "lock file": (rf"({_PATH}(?:lock|LOCK))\b",),
        "socket file": (rf"({_PATH}sock\w{{0,3}})\b",),
    }.items()
}
_SPOKEN_OF = re.compile(rf"\b({'|'.join(_NAMES)}) that the message names")
_PROGRAM = re2.compile(r"[\w@.-]{1,64}")


def names_culprit(line: str) -> bool:
    """Whether a line names a file of settings, a line of one, a variable or another setting."""
    head = line[:SHOWN_CHARS]
    return _A_FILE.search(head) is not None or _A_SETTING.search(head) is not None


def find_name(kind: str, line: str) -> str | None:
    """Return what a line names.

    Args:
        kind: "variable", "setting", "file and line", "pid file", "lock file" or "socket file".
        line: Of a log.
    """
    found = (pattern.search(line[:SHOWN_CHARS]) for pattern in _NAMES[kind])
    return next((match.group(1).replace('"', "").replace("'", "") for match in found if match is not None), None)


def steps_of(hit: Hit) -> tuple[SuggestionText, ...]:
    """Return the steps of a signature that make sense for its line, with the names that the line has.

    None sends people to a name that is not there.
    """
    return tuple(_name_what_is_there(hit))


def _name_what_is_there(hit: Hit) -> Iterator[SuggestionText]:
    for step in hit.signature.suggestions:
        if step.needs_name and not names_culprit(hit.line):
            continue
        action = _SPOKEN_OF.sub(lambda match: _with_name(match, hit.line), step.action)
        program = hit.subject if hit.subject and _PROGRAM.fullmatch(hit.subject) else "the program"
        action = fill(action, {"subject": program})
        if action != step.action:
            yield step.model_copy(update={"action": action, "needs_name": True})
        else:
            yield step


def _with_name(match: Any, line: str) -> str:
    name = find_name(match.group(1), line)
    return f"{match.group(0)} ({name})" if name is not None else match.group(0)
