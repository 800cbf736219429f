"""Promise: what is asked of one container's log counts, whatever scans have read of it."""

from bcon_exporter.tools import call_tool
from tests.factories import container, logs, snapshot
from tests.table_rows import table
from tests.tools.hosts import context_of

LINES = ("ERROR cannot write /data/db: no space left on device", *("INFO tick",) * 3)


@table(("tail", "finds"), [(200, True), (4, True), (3, False), (1000, True)])
def test_as_many_lines_are_judged_as_were_asked_for(tail: int, finds: bool) -> None:
    context = context_of(snapshot(container(name="api", logs=logs(*LINES))))
    report = call_tool(context, "diagnose_container", {"container_id": "api", "log_tail": tail}).value
    assert bool(report.symptoms) is finds
