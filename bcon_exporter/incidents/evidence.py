"""What an incident shows as its proof: the line of a log that decided its cause first, and each kind of line once."""

from collections.abc import Iterable, Mapping

from bcon_exporter.diagnosis.finding import quote
from bcon_exporter.diagnosis.log_events import template_of
from bcon_exporter.diagnosis.log_levels import level_of
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import Symptom, SymptomType
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.model.signatures import Level

EVIDENCE_BYTES = 4096
_COUNTED = " times: "
"""How a symptom from the log says, after a number, that a line came more than once."""
_SHORTEST_WORDS = 8
"""A quote of fewer characters may stand in any line."""


def find_log_line(diagnosis: DiagnosisReport, container: ContainerFacts, by_name: Mapping[str, ContainerFacts]) -> str:
    """Return the first line of a log that decided the cause, else one that the symptoms quote; "" without one.

    The cause may quote the log of the container that it points to. Where a container was never started, the engine's
    own error decides.
    """
    quotes = [quote for cause in diagnosis.likely_causes[:1] for quote in cause.evidence]
    symptoms = sorted(diagnosis.symptoms, key=lambda symptom: -symptom.severity.rank)
    quotes += [quote for symptom in symptoms for quote in _list_telling(symptom)]
    peers = (by_name.get(cause.peer) for cause in diagnosis.likely_causes[:1] if cause.peer is not None)
    written = [text for one in (container, *peers) if one is not None for text in _list_written(one)]
    lines = (_drop_count(quote) for quote in quotes)
    return next((line for line in lines if _is_written(line, written)), container.error or "")


def _list_telling(symptom: Symptom) -> Iterable[str]:
    """Return the quotes of a symptom; of a program's last words those that tell of trouble, the newest first."""
    if symptom.type is not SymptomType.EXIT_ERROR:
        return symptom.evidence
    return [line for line in reversed(symptom.evidence) if level_of(line) >= Level.WARNING]


def _list_written(container: ContainerFacts) -> list[str]:
    """Return what is known of a container's log: the recent lines, and the last ones before its ends."""
    lines = [line.text for line in container.logs.lines] if container.logs is not None else []
    ends = container.lifecycle.exits if container.lifecycle is not None else ()
    return [*lines, *(text for end in ends for text in end.last_lines)]


def _is_written(line: str, written: Iterable[str]) -> bool:
    """Whether a quote is of these lines: of one, or of several that were joined."""
    first = line.splitlines()[0].strip() if line.strip() else ""
    short = quote(first)
    return any(short == text.strip() or (len(short) >= _SHORTEST_WORDS and short in text) for text in written)


def fold_evidence(lines: Iterable[str]) -> tuple[str, ...]:
    """Return one line for each kind of line, in the order of their first, as it was told last; what fits into 4 KiB."""
    newest: dict[str, str] = {}
    for line in lines:
        newest[_kind_of(line)] = line
    kept: list[str] = []
    size = 0
    for line in newest.values():
        size += len(line.encode("utf-8", "replace"))
        if size > EVIDENCE_BYTES:
            break
        kept.append(line)
    return tuple(kept)


def _kind_of(line: str) -> str:
    """Return its template; a file system that it begins with is told from others."""
    bare = _drop_count(line)
    path = bare.split(maxsplit=1)[0] if bare.startswith("/") else ""
    return f"{path} {template_of(bare)}"


def _drop_count(line: str) -> str:
    """Return a line without how often it came."""
    count, _, rest = line.partition(_COUNTED)
    return rest if rest and count.isdigit() else line
