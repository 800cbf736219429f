"""Known failures as values: what a log line that shows one looks like, what it means, why it happens, what to do.

The catalogue's data files fill them; diagnosis reads them. Matching is linear in the length of the text (RE2).
"""

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import Any, Literal

import re2
from pydantic import Field

from bcon_exporter.model.base import Frozen
from bcon_exporter.model.findings import SymptomType, Urgency

SET_MEMORY_BYTES = 256 * 2**20
"""Cap of the matcher's lazily built automaton; too small a cap makes RE2 report "no match" instead of failing."""

_BY_LINE = b"(?m)"


class Level(IntEnum):
    """How severe a log line says it is. UNKNOWN lies between INFO and WARNING: its shape has to decide."""

    DEBUG = 0
    INFO = 1
    UNKNOWN = 2
    WARNING = 3
    ERROR = 4
    CRITICAL = 5


class Category(StrEnum):
    """What kind of failure a signature names. Stable: reports and metrics carry it."""

    NETWORK = "network"
    OOM = "oom"
    DISK = "disk"
    AUTH_FAILURE = "auth_failure"
    PERMISSION = "permission"
    CONFIG_ERROR = "config_error"
    MISSING_DEPENDENCY = "missing_dependency"
    PORT_IN_USE = "port_in_use"
    CRASH = "crash"
    SLOW = "slow"
    OTHER = "other"


class CauseText(Frozen):
    """One possible cause, the likeliest first in its signature."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{2,59}$")
    text: str = Field(min_length=5, max_length=300)
    confidence: float = Field(gt=0, le=1)


class SuggestionText(Frozen):
    """What a person may do. `{name}` in `check` becomes the container's name; a check only reads."""

    urgency: Urgency
    action: str = Field(min_length=5, max_length=300)
    rationale: str = Field(min_length=5, max_length=300)
    check: str | None = Field(None, max_length=200)


class SignaturePattern(Frozen):
    """One RE2 expression with its own proof; it is searched in single lines, case-sensitive unless `(?i)`.

    Attributes:
        regex: May hold one group named `peer`: the host, with or without a port, that the line is about.
        matches: Lines it must find.
        ignores: Lines that look alike and must not be found.
    """

    regex: str = Field(min_length=3, max_length=1000)
    matches: tuple[str, ...] = Field(min_length=1)
    ignores: tuple[str, ...] = ()


class Signature(Frozen):
    """One known failure.

    Attributes:
        symptom: The symptom its lines are evidence for.
        level: The lowest level of a line at which it counts: "info" for a phrase that cannot mean anything else,
            "unknown" (the default) for one that INFO lines also use, "warning" and "error" for everyday words.
        benign: A line that looks like a failure and is none; it silences the event it stands in.
        error: Whether a line below level error that shows it is an error event too (`log_error`).
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{2,59}$")
    category: Category
    symptom: SymptomType = SymptomType.LOG_ERROR
    level: Literal["info", "unknown", "warning", "error"] = "unknown"
    benign: bool = False
    error: bool = True
    patterns: tuple[SignaturePattern, ...] = Field(min_length=1)
    explanation: str = Field(min_length=10, max_length=600)
    causes: tuple[CauseText, ...] = ()
    suggestions: tuple[SuggestionText, ...] = ()

    @property
    def min_level(self) -> Level:
        """`level` as a number."""
        return Level[self.level.upper()]


def compile_pattern(regex: str) -> Any:
    """Compile one RE2 expression over UTF-8 bytes; `^` and `$` are the ends of a line.

    Raises:
        re2.error: With the reason; nothing is written to stderr.
    """
    options = re2.Options()
    options.log_errors = False
    return re2.compile(_BY_LINE + regex.encode(), options)


class Catalogue:
    """Signatures ready to match: one pass over a whole buffer tells which of them occur in it at all.

    Args:
        signatures: In the order of preference: of two that match one line, the earlier explains it.
        triggers: Further expressions to search in the same pass; their indexes follow the patterns'.
    """

    def __init__(self, signatures: Iterable[Signature], triggers: Iterable[str] = ()) -> None:
        self.signatures = tuple(signatures)
        self.by_id = {signature.id: signature for signature in self.signatures}
        self._hash = hash(tuple(self.by_id))
        self._owners = tuple(signature for signature in self.signatures for _ in signature.patterns)
        regexes = [pattern.regex for signature in self.signatures for pattern in signature.patterns]
        self._compiled = tuple(compile_pattern(regex) for regex in regexes)
        self._set = _build_set([*regexes, *triggers])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Catalogue) and self.signatures == other.signatures

    def __hash__(self) -> int:
        return self._hash

    def with_triggers(self, triggers: Iterable[str]) -> "Catalogue":
        """The same signatures, with other triggers searched in the same pass."""
        return Catalogue(self.signatures, triggers)

    def occurring(self, buffer: bytes) -> list[int]:
        """Indexes of the patterns (then triggers) that occur anywhere in `buffer`, ascending; cheap when none does."""
        return sorted(self._set.Match(buffer) or ())

    def pattern_count(self) -> int:
        """How many patterns there are: the first trigger's index."""
        return len(self._compiled)

    def owner(self, index: int) -> Signature:
        """The signature that pattern `index` belongs to."""
        return self._owners[index]

    def compiled(self, index: int) -> Any:
        """The compiled RE2 expression of pattern `index`, over bytes."""
        return self._compiled[index]


def _build_set(regexes: list[str]) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = SET_MEMORY_BYTES
    built = re2.Set.SearchSet(options)
    for regex in regexes or ["a^"]:
        built.Add(_BY_LINE + regex.encode())
    built.Compile()
    return built
