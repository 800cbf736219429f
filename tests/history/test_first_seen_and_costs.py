"""Promise: first-seen times and the cost ledger outlive the process."""

import tracemalloc
from datetime import timedelta
from pathlib import Path

from bcon_exporter.model.reports import CostEntry, TokenUsage
from bcon_exporter.tools.cost import sum_costs
from tests.factories import NOON, ago
from tests.history.told import open_history

MINUTE = timedelta(minutes=1)


def test_a_key_keeps_its_first_time_until_it_is_gone(tmp_path: Path) -> None:
    history = open_history(tmp_path / "state.db")
    assert history.first_seen("symptom", {"api high_cpu"}, NOON) == {"api high_cpu": NOON}
    both = history.first_seen("symptom", ["api high_cpu", "db oom"], NOON + MINUTE)
    assert both == {"api high_cpu": NOON, "db oom": NOON + MINUTE}
    history.close()
    again = open_history(tmp_path / "state.db")
    assert again.first_seen("symptom", {"api high_cpu", "db oom"}, NOON + 9 * MINUTE) == both
    assert again.first_seen("symptom", (), NOON + 10 * MINUTE) == {}
    assert again.first_seen("symptom", {"db oom"}, NOON + 11 * MINUTE) == {"db oom": NOON + 11 * MINUTE}


def test_the_keys_of_the_last_time_are_known_after_a_restart(tmp_path: Path) -> None:
    history = open_history(tmp_path / "state.db")
    assert history.known_since("symptom") == {}
    history.first_seen("symptom", {"a", "b"}, NOON)
    history.first_seen("symptom", {"b"}, NOON)
    history.close()
    again = open_history(tmp_path / "state.db")
    assert again.known_since("symptom").keys() == {"b"}
    assert again.known_since("drift") == {}


def test_symptoms_and_drifts_do_not_know_each_other() -> None:
    history = open_history()
    history.first_seen("symptom", {"x"}, NOON)
    assert history.first_seen("drift", {"x"}, NOON + MINUTE) == {"x": NOON + MINUTE}
    assert history.first_seen("symptom", {"x"}, NOON + MINUTE) == {"x": NOON}


def test_nothing_is_first_seen_in_the_future_when_the_clock_steps_back() -> None:
    history = open_history()
    history.first_seen("symptom", {"x"}, NOON)
    assert history.first_seen("symptom", {"x"}, ago(hours=1)) == {"x": ago(hours=1)}


def cost(minutes: float, operation: str = "list_containers") -> CostEntry:
    tokens = TokenUsage(input_tokens=10, output_tokens=200, total_tokens=210, estimated_cost_usd=0.0)
    return CostEntry(timestamp=NOON + minutes * MINUTE, operation=operation, usage=tokens, cached=False)


def test_costs_come_back_as_they_were_oldest_first(tmp_path: Path) -> None:
    history = open_history(tmp_path / "state.db")
    entries = [cost(2), cost(0, "diagnose_all"), cost(1)]
    for entry in entries:
        history.record_cost(entry)
    history.close()
    again = open_history(tmp_path / "state.db")
    assert tuple(again.costs(NOON, NOON + MINUTE)) == (entries[1],)
    assert tuple(again.costs(NOON, NOON + 3 * MINUTE)) == (entries[1], entries[2], entries[0])


def test_two_calls_in_one_microsecond_are_both_in_the_ledger(tmp_path: Path) -> None:
    history = open_history(tmp_path / "state.db")
    for _ in range(2):
        history.record_cost(cost(0))
    assert len(tuple(history.costs(NOON, NOON + MINUTE))) == 2


def test_the_state_of_the_alerts_is_kept_and_replaced(tmp_path: Path) -> None:
    history = open_history(tmp_path / "state.db")
    assert history.alert_state() is None
    history.keep_alert_state("one", NOON)
    history.keep_alert_state("two", NOON + MINUTE)
    history.close()

    assert open_history(tmp_path / "state.db").alert_state() == "two"
    assert open_history(tmp_path / "state.db", read_only=True).alert_state() == "two"


def test_a_report_of_many_calls_holds_few_of_them_at_a_time() -> None:
    """A client may fill the ledger; to report all of it at once would end a daemon of 192 MB."""
    history = open_history()
    for number in range(4000):
        history.record_cost(cost(number / 1000))
    tracemalloc.start()
    report = sum_costs(history.costs(NOON, NOON + 4 * MINUTE), NOON, NOON + 4 * MINUTE)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (report.total_operations, len(report.entries)) == (4000, 100)
    assert report.entries[-1] == cost(3.999)
    assert peak_bytes < 1_000_000
