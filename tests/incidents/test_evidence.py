"""Promise: the log line that people read is one of a log, and the one that decided the cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bcon_exporter.incidents import find_troubles
from bcon_exporter.model.findings import SymptomType
from tests.factories import ago, container, ended, exited, lifecycle, logs, snapshot
from tests.outputs.scenes import cause, diagnosis, report_of, symptom
from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bcon_exporter.model.container_facts import ContainerFacts

FATAL = "2026-01-01 12:00:00 FATAL: password authentication failed for user app"
REFUSED = "dial tcp 10.0.0.2:5432: connection refused"
QUOTED = ("exit codes, newest last: 1, 1, 1", f"31 times: {REFUSED}")


def why(*evidence: str, peer: str | None = None) -> Any:
    return cause("a_cause", 0.9).model_copy(update={"evidence": evidence, "peer": peer})


def api(*lines: str) -> ContainerFacts:
    return container(name="api", logs=logs(*(lines or ("starting", REFUSED))))


CRASHED = exited(1, name="api", lifecycle=lifecycle(exits=(ended(1, at=ago(60), last_lines=("starting", FATAL)),)))
NEVER_RAN = exited(127, name="api", started_at=None, error="exec: /nosuch: no such file or directory")
ROWS: tuple[tuple[str, ContainerFacts, Sequence[str], Any, str], ...] = (
    ("the cause's own line", api(FATAL, REFUSED), QUOTED, why(FATAL), FATAL),
    ("a line that the symptom counts", api(), QUOTED, why("RestartCount 3"), REFUSED),
    ("without a cause", api(), QUOTED, None, REFUSED),
    ("a part of a line", api(f'{{"msg":"{REFUSED}"}}'), (REFUSED,), why(REFUSED), REFUSED),
    ("the last words of a crash", CRASHED, ("it had run 18 s", FATAL), None, FATAL),
    ("last words without trouble", CRASHED, ("it had run 18 s", "starting"), None, ""),
    ("of the one that the cause points to", api(), QUOTED, why("disk full on /var", peer="db"), "disk full on /var"),
    ("nothing of a log", api(), ("State.OOMKilled is set",), why("with bb:1 it did not fail"), ""),
    ("the engine's error", NEVER_RAN, ("it had run 0 s",), None, "exec: /nosuch: no such file or directory"),
)


@table(("row", "facts", "quoted", "likely", "line"), ROWS)
def test_the_log_line_is_the_first_of_a_log_that_decided(
    row: str, facts: ContainerFacts, quoted: Sequence[str], likely: Any, line: str
) -> None:
    kind = SymptomType.EXIT_ERROR if facts is CRASHED else SymptomType.LOG_ERROR
    db = container(name="db", logs=logs("checkpoint", "ERROR: disk full on /var"))
    found = symptom(kind, evidence=tuple(quoted))
    told = diagnosis(facts, symptoms=(found,), likely_causes=() if likely is None else (likely,))
    (trouble,) = find_troubles(report_of([told]), snapshot(facts, db)).troubles
    assert trouble.log_line == line, row
