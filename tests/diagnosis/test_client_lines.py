"""Of each client's own wording it is read how the connection failed, and to whom it went."""

from pathlib import Path

from bcon_exporter.diagnosis.container_lookup import host_of, port_of
from bcon_exporter.diagnosis.evidence import TimedHit, group_failures
from bcon_exporter.diagnosis.log_events import find_events
from bcon_exporter.model.container_facts import LogLine
from tests.diagnosis.judging import shipped
from tests.table_rows import table

TABLE = Path(__file__).with_name("client_lines.txt")
ROWS = [row.split(None, 3) for row in TABLE.read_text("utf-8").splitlines() if not row.startswith("#")]


@table(("kind", "host", "port", "text"), ROWS, ids=[row[3][:60] for row in ROWS])
def test_a_failed_connection_is_read(kind: str, host: str, port: str, text: str) -> None:
    events = find_events([LogLine(at=None, stream="stderr", text=text)], shipped())

    failure = group_failures([TimedHit(None, hit) for event in events for hit in event.hits])[0]

    peer = failure.peer or "-"
    assert (failure.kind, host_of(peer), str(port_of(peer, text) or "-")) == (kind, host, port)
