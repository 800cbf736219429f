"""Turns Compose's error messages into ours: the file, the line and the kind of mistake, never content. Pure.

The binary quotes values of the file in its messages. So only what matches one of the patterns below is passed on: paths
of keys, names of services and variables, file names.
"""

from collections.abc import Sequence

import re2

from bcon_exporter.errors import ComposeParseError
from bcon_exporter.secrets.masking import safe_text

_KEY = r"([A-Za-z0-9_.\[\]-]{1,128})"
_NAME = r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})"
_PATH = r"(/[^\n\"']{1,512}?)"
_KINDS: tuple[tuple[re2._Regexp, str], ...] = tuple(
    (re2.compile(shape), text)
    for shape, text in (
        ("empty compose file", "The file is empty."),
        (
            rf'service "{_NAME}" depends on undefined service "{_NAME}"',
            "Service {0} depends on {1}, which is not defined.",
        ),
        (
            rf'service "{_NAME}" refers to undefined (\w+) {_NAME}',
            "Service {0} refers to the {1} {2}, which is not defined.",
        ),
        (
            rf"required variable {_NAME} is missing a value",
            "The variable {0} is required and has no value: set it, or name an env file.",
        ),
        (
            rf"invalid interpolation format for {_KEY}\.",
            "The variable syntax at {0} is wrong (write $$ for a plain dollar sign).",
        ),
        (rf"env file {_PATH} not found", "The env file {0} does not exist here."),
        (rf"open {_PATH}: no such file", "The file {0}, which it includes or extends, does not exist here."),
        (rf"open {_PATH}: permission denied", "The file {0}, which it needs, may not be read by this user."),
        (
            rf'service "{_NAME}" has neither an image nor a build context',
            "Service {0} has no image: its keys image and build are absent or empty.",
        ),
        (rf"{_KEY} '' does not match pattern", "The value at {0} is empty."),
        (rf"{_KEY} '[^\n]*' does not match pattern", "The value at {0} is not of the form that Compose demands."),
        (rf"dependency cycle detected: {_NAME} -> {_NAME}", "Services need one another in a circle: {0} needs {1}."),
        (r"include cycle|cyclic|[Cc]ircular", "Files or services include, extend or need one another in a circle."),
        (
            rf'cannot extend service "{_NAME}" in [^\n]*: service "{_NAME}" not found',
            "Service {0} extends {1}, which is not defined.",
        ),
        (
            rf"service {_NAME} declares mutually exclusive `{_KEY}` and `{_KEY}`",
            "Service {0} has {1} and {2}, which exclude each other.",
        ),
        (rf"{_KEY}: [a-z_|]{{1,64}} attributes are mutually exclusive", "Two settings exclude each other at {0}."),
        (rf"{_KEY}: must be (greater than or equal to [0-9]{{1,6}})", "The value at {0} must be {1}."),
        (rf"'{_KEY}' time: invalid duration", "The value at {0} is no length of time."),
        (rf"{_KEY} must start either by", "The value at {0} must begin with CMD, CMD-SHELL or NONE."),
        (rf"while interpolating {_KEY}: failed to cast", "The value at {0} is not of the type that Compose expects."),
        (rf"additional properties '{_NAME}' not allowed", "The key {0} is not one that Compose knows here."),
        (
            rf"{_KEY} (?:must be an? \w+|false schema|[Aa]dditional propert)",
            "The value or key at {0} is not one that Compose accepts.",
        ),
        (r"already defined at line", "A key is given twice."),
        (r"unterminated quoted value|unexpected character .* in variable name", "An env file is malformed."),
        (rf"can't set distinct values on '{_KEY}", "Two settings contradict each other at {0}."),
        (rf"'{_KEY}' (?:invalid|expected|must)", "The value at {0} is not one that Compose accepts."),
        (r"invalid (?:containerPort|hostPort|start port|end port)", "A port is not a number or range."),
        (
            r"out of memory|cannot allocate memory",
            "Resolving it needs more memory than allowed: does it expand YAML aliases without bound?",
        ),
        (r"unusable value", "A value (a port, a count, a size) is not one that the engine could take."),
        (r"excessive aliasing", "It expands YAML aliases without bound."),
        (r"(?:^|[^.\w])yaml\b|construct errors|control characters|UTF-8", "It is not valid YAML."),
    )
)
_LINES = (
    re2.compile(r"\bline ([0-9]{1,7}): "),
    re2.compile(r"\bline ([0-9]{1,7})\b"),
    re2.compile(r"\bL([0-9]{1,7})[.:-]"),
)
_FILE = re2.compile(r"(?:validating|parse|read) (/[^\n\"']{1,512}?): ")
_VARIABLES_SHOWN = 5
_LONGEST = 64 * 1024
"""Only this many characters of the error stream are parsed."""
_UNSET = re2.compile(r'The \\?"([A-Za-z_][A-Za-z0-9_]{0,127})\\?" variable is not set')


def explain_failure(errors: str, files: Sequence[str]) -> ComposeParseError:
    """Return the parse error for what the binary wrote to its error stream.

    Args:
        errors: The error stream; may quote file content.
        files: The Compose files of the run, to name one where the binary does not.
    """
    errors = errors[:_LONGEST]
    complaint = "\n".join(line for line in errors.splitlines() if "level=warning" not in line)
    file = _first(_FILE, complaint) or (files[0] if files else None)
    line = next((number for pattern in _LINES if (number := _last(pattern, complaint))), None)
    return _parse_error(file, int(line) if line else 0, _kind(complaint), unset_variables(errors))


def explain_invalid_yaml(file: str, line: int) -> ComposeParseError:
    """Return the parse error for a file that is not valid YAML; line 0 where that is unknown."""
    return _parse_error(file, line, "It is not valid YAML.", ())


def _parse_error(file: str | None, line: int, kind: str, unset: tuple[str, ...]) -> ComposeParseError:
    details: dict[str, object] = {}
    if file:
        details["file"] = file
    if line:
        details["line"] = line
    if unset:
        details["unset_variables"] = unset
    where = f"{file}, line {line}" if line else str(file or "the file")
    mistake = f"{kind}{_render_unset(unset)}"
    return ComposeParseError(
        f"Compose cannot resolve {where}: {mistake} `docker compose -f {file} config` shows the details.", details
    )


def unset_variables(errors: str) -> tuple[str, ...]:
    """Return the names of variables without a value, sorted: Compose names them in any order."""
    return tuple(sorted(set(_UNSET.findall(errors[:_LONGEST]))))


def _render_unset(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _VARIABLES_SHOWN} more" if len(names) > _VARIABLES_SHOWN else ""
    return f" Variables without a value, taken as empty: {', '.join(names[:_VARIABLES_SHOWN])}{more}."


def _kind(complaint: str) -> str:
    for pattern, text in _KINDS:
        if match := pattern.search(complaint):
            return safe_text(text.format(*match.groups()))
    return "It breaks a rule of the Compose format."


def _first(pattern: re2._Regexp, text: str) -> str | None:
    match = pattern.search(text)
    return match.group(1) if match else None


def _last(pattern: re2._Regexp, text: str) -> str | None:
    matches = pattern.findall(text)
    return matches[-1] if matches else None
