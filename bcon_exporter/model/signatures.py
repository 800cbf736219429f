"""Known failures as values: what a log line that shows one looks like, what it means, why it happens, what to do.

The catalogue's data files fill them; diagnosis reads them. Matching is linear in the length of the text (RE2).
"""

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import Any, Literal

import re2
from pydantic import Field

from bcon_exporter.model.base import Frozen
from bcon_exporter.model.findings import SymptomType, Urgency
from bcon_exporter.regexes import compile_pattern


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


class SuggestionText(Frozen):
    """What a person may do. `{name}` in `check` becomes the container's name; a check only reads.

    Attributes:
        needs_name: It sends people to the file, line or setting that the message names; said only where that names one.
        says: What the program itself asks for. No data file holds it: the diagnosis finds it in the log.
    """

    urgency: Urgency
    action: str = Field(min_length=5, max_length=300)
    rationale: str = Field(min_length=5, max_length=300)
    check: str | None = Field(None, max_length=200)
    needs_name: bool = False
    says: str | None = None


class Need(StrEnum):
    """What must be known of a container for a cause to be said of it."""

    MOUNT = "mount"
    """It has a mount."""
    SIGNAL = "signal"
    """A signal ended it, by its exit code."""
    EVENTS = "events"
    """The engine's events tell of it."""


class Quoting(StrEnum):
    """Whether the program's own message is quoted with a cause that stands first."""

    NO = "no"
    ALONE = "alone"
    """Its words fit many files, settings or devices, and the message names the one."""
    AND_SEARCH = "and_search"
    """Its words fit many failures: the first step is to search for what the program says."""


class CauseText(Frozen):
    """One possible cause, the likeliest first in its signature.

    Attributes:
        general: It says how the program failed, not why. A cause that points to another container is ranked before it.
        quotes: Where it stands first, the message itself is quoted with it.
        needs: Without these facts it is not said.
        steps: What to do about it.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{2,59}$")
    text: str = Field(min_length=5, max_length=300)
    confidence: float = Field(gt=0, le=1)
    general: bool = False
    quotes: Quoting = Quoting.NO
    needs: tuple[Need, ...] = ()
    steps: tuple[SuggestionText, ...] = ()


class SignaturePattern(Frozen):
    """One RE2 expression with its own proof; it is searched in single lines, case-sensitive unless `(?i)`.

    Attributes:
        regex: May hold one group named `peer`: the host, with or without a port, that the line is about; and one named
            `subject`: the program that the line is about, for `lasts_until`.
        matches: Lines it must find.
        ignores: Lines that look alike and must not be found.
        level: From which level on it counts, where that differs from the signature's.
        unless: A second expression; in a line that it finds, the first says something else and does not count.
    """

    regex: str = Field(min_length=3, max_length=1000)
    unless: str | None = Field(None, min_length=3, max_length=1000)
    matches: tuple[str, ...] = Field(min_length=1)
    ignores: tuple[str, ...] = ()
    level: Literal["info", "unknown", "warning", "error"] | None = None


class Signature(Frozen):
    """One known failure.

    Attributes:
        symptom: The symptom its lines are evidence for.
        level: The lowest level of a line at which it counts: "info" for a phrase that cannot mean anything else,
            "unknown" (the default) for one that INFO lines also use, "warning" and "error" for everyday words. A line
            that has no level and the shape of a failure counts as an error.
        up_to: In lines of a higher level than this it does not count; None where it counts in all.
        benign: A line that looks like a failure and is none; it silences the event it stands in.
        error: Whether a line below level error that shows it is an error event too (`log_error`).
        blame: "client" for what somebody outside did, a mistyped password: it names the kind of failure, and is no
            symptom of the container at whatever level it is logged.
        client: Whether it counts only in lines that name the client whose request they tell of, by its address.
        transient: It passes by itself: a later line that tells of success makes it history.
        warnings: Whether it counts in lines that call themselves warnings: of what a program can do without, a missing
            file is mostly one.
        mild: What it tells of is a warning, at whatever level it is logged.
        probe: It is what a health check prints, of itself; it counts there and in no log.
        lasts_until: What it tells of is a final word: it stands, however old, until the next start of the container or
            a later line that this expression finds. `{subject}` in it is what the group `subject` of the pattern found.
        runbook: Address of a page that tells a person more; None for the section in docs/signatures.md.
        causes: Each by the id of a known cause, or with words of its own.
        suggestions: What to do; where none are given, the steps of its causes.
        yields_to: Beside a failure of these kinds in the same log, what it names is a consequence and not told.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{2,59}$")
    category: Category
    symptom: SymptomType = SymptomType.LOG_ERROR
    level: Literal["info", "unknown", "warning", "error"] = "unknown"
    up_to: Literal["info", "unknown", "warning"] | None = None
    benign: bool = False
    error: bool = True
    blame: Literal["program", "client"] = "program"
    client: bool = False
    transient: bool = False
    warnings: bool = True
    mild: bool = False
    probe: bool = False
    lasts_until: str | None = Field(None, min_length=3, max_length=500)
    yields_to: tuple[Category, ...] = ()
    patterns: tuple[SignaturePattern, ...] = Field(min_length=1)
    explanation: str = Field(min_length=10, max_length=600)
    causes: tuple[CauseText, ...] = ()
    suggestions: tuple[SuggestionText, ...] = ()
    runbook: str | None = Field(None, max_length=300, pattern=r"^(?:https?://|docs/)[!-~]+$")

    @property
    def runbook_link(self) -> str:
        """Where a person reads on: the signature's own runbook, else what the documentation says of it."""
        return self.runbook or f"docs/signatures.md#{self.id}"


def _is_matched(signature: Signature, *, of_probes: bool) -> bool:
    return signature.probe or signature.category is Category.NETWORK if of_probes else not signature.probe


_SUBJECT = "{subject}"
_SUBJECT_GROUP = "(?P<subject>"


def _join_outlasting(signatures: Iterable[Signature]) -> Any:
    """Compile one expression that finds the final words of these signatures and what ends them; None without any."""
    parts = [
        part
        for signature in signatures
        if signature.lasts_until is not None
        for part in (
            *(pattern.regex.replace(_SUBJECT_GROUP, "(?:") for pattern in signature.patterns),
            signature.lasts_until.replace(_SUBJECT, r"\S+"),
        )
    ]
    return compile_pattern("|".join(f"(?:{part})" for part in parts)) if parts else None


class Catalogue:
    """Signatures with their compiled patterns, which are counted through.

    Args:
        signatures: In the order of preference: of two that match one line, the earlier explains it.
        of_probes: For what health checks print, which says nothing of the program: there only the signatures of probes
            and of connections match. Else for logs, in which the signatures of probes do not.
    """

    def __init__(self, signatures: Iterable[Signature], *, of_probes: bool = False) -> None:
        self.signatures = tuple(signatures)
        self.of_probes = of_probes
        self.by_id = {signature.id: signature for signature in self.signatures}
        self._hash = hash((of_probes, *self.by_id))
        matched = [signature for signature in self.signatures if _is_matched(signature, of_probes=of_probes)]
        self._owners = tuple(signature for signature in matched for _ in signature.patterns)
        patterns = [pattern for signature in matched for pattern in signature.patterns]
        self.regexes = tuple(pattern.regex for pattern in patterns)
        """The expressions of all patterns, by index."""
        self._levels = tuple(
            Level[(pattern.level or owner.level).upper()] for pattern, owner in zip(patterns, self._owners, strict=True)
        )
        self._compiled: dict[int, Any] = {}
        self._unless = {
            index: compile_pattern(pattern.unless)
            for index, pattern in enumerate(patterns)
            if pattern.unless is not None
        }

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Catalogue) and self.of_probes == other.of_probes and self.signatures == other.signatures
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def for_probes(self) -> "Catalogue":
        """The same signatures, for what health checks print."""
        return Catalogue(self.signatures, of_probes=True)

    def pattern_count(self) -> int:
        """How many patterns there are."""
        return len(self.regexes)

    def owner(self, index: int) -> Signature:
        """The signature that pattern `index` belongs to."""
        return self._owners[index]

    def spares(self, index: int, line: bytes) -> bool:
        """Whether a line that pattern `index` matches says something else."""
        unless = self._unless.get(index)
        return unless is not None and unless.search(line) is not None

    @cached_property
    def _outlasting(self) -> Any:
        return _join_outlasting(self.signatures)

    def outlasts(self, text: str) -> bool:
        """Whether a text of one or more lines holds a final word, or what may end one: these stay, however old."""
        return self._outlasting is not None and self._outlasting.search(text.encode("utf-8", "replace")) is not None

    def counts(self, index: int, level: Level) -> bool:
        """Whether pattern `index` counts in a line of this level."""
        owner = self._owners[index]
        if owner.up_to is not None and level > Level[owner.up_to.upper()]:
            return False
        if owner.benign:
            return True
        return level >= self._levels[index] and (owner.warnings or level is not Level.WARNING)

    def ends_final_word(self, signature: Signature, subject: str | None) -> Any:
        """The expression of the lines that end what such a signature said of this subject; it lasts until then."""
        quoted = r"\S+" if subject is None else re2.escape(subject)
        return compile_pattern((signature.lasts_until or "").replace(_SUBJECT, quoted))

    def captures(self, index: int) -> bool:
        """Whether pattern `index` names a part of its line; told without compiling it."""
        return "(?P<" in self.regexes[index] or "(?<" in self.regexes[index]

    def compiled(self, index: int) -> Any:
        """The compiled RE2 expression of pattern `index`, over bytes; made when first asked for, as few ever are."""
        if index not in self._compiled:
            self._compiled[index] = compile_pattern(self.regexes[index])
        return self._compiled[index]
