"""Promise: first-seen times and the cost ledger outlive the process."""

import tracemalloc
from datetime import timedelta
from pathlib import Path

from bcon_exporter.model.reports import CostEntry, TokenUsage
from bcon_exporter.tools.cost import sum_costs
from tests.factories import NOON, ago
from tests.journal.keepers import open_keeper

MINUTE = timedelta(minutes=1)


def test_a_key_keeps_its_first_time_until_it_is_gone(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    assert keeper.conclude_first_seen("symptom", dict.fromkeys({"api high_cpu"}), NOON) == {"api high_cpu": NOON}
    both = keeper.conclude_first_seen("symptom", dict.fromkeys(["api high_cpu", "db oom"]), NOON + MINUTE)
    assert both == {"api high_cpu": NOON, "db oom": NOON + MINUTE}
    keeper.close()
    again = open_keeper(tmp_path / "state.db")
    assert again.conclude_first_seen("symptom", dict.fromkeys({"api high_cpu", "db oom"}), NOON + 9 * MINUTE) == both
    assert again.conclude_first_seen("symptom", {}, NOON + 10 * MINUTE) == {}
    assert again.conclude_first_seen("symptom", dict.fromkeys({"db oom"}), NOON + 11 * MINUTE) == {
        "db oom": NOON + 11 * MINUTE
    }


def test_the_keys_of_the_last_time_are_known_after_a_restart(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    assert keeper.first_seen("symptom") == {}
    keeper.conclude_first_seen("symptom", dict.fromkeys({"a", "b"}), NOON)
    keeper.conclude_first_seen("symptom", dict.fromkeys({"b"}), NOON)
    keeper.close()
    again = open_keeper(tmp_path / "state.db")
    assert again.first_seen("symptom").keys() == {"b"}
    assert again.first_seen("drift") == {}


def test_symptoms_and_drifts_do_not_know_each_other() -> None:
    keeper = open_keeper()
    keeper.conclude_first_seen("symptom", dict.fromkeys({"x"}), NOON)
    assert keeper.conclude_first_seen("drift", dict.fromkeys({"x"}), NOON + MINUTE) == {"x": NOON + MINUTE}
    assert keeper.conclude_first_seen("symptom", dict.fromkeys({"x"}), NOON + MINUTE) == {"x": NOON}


def test_nothing_is_first_seen_in_the_future_when_the_clock_steps_back() -> None:
    keeper = open_keeper()
    keeper.conclude_first_seen("symptom", dict.fromkeys({"x"}), NOON)
    assert keeper.conclude_first_seen("symptom", dict.fromkeys({"x"}), ago(hours=1)) == {"x": ago(hours=1)}


def cost(minutes: float, operation: str = "list_containers") -> CostEntry:
    tokens = TokenUsage(input_tokens=10, output_tokens=200, total_tokens=210, estimated_cost_usd=0.0)
    return CostEntry(timestamp=NOON + minutes * MINUTE, operation=operation, usage=tokens, cached=False)


def test_costs_come_back_as_they_were_oldest_first(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    entries = [cost(2), cost(0, "diagnose_all"), cost(1)]
    for entry in entries:
        keeper.record_cost(entry)
    keeper.close()
    again = open_keeper(tmp_path / "state.db")
    assert tuple(again.costs(NOON, NOON + MINUTE)) == (entries[1],)
    assert tuple(again.costs(NOON, NOON + 3 * MINUTE)) == (entries[1], entries[2], entries[0])


def test_two_calls_in_one_microsecond_are_both_in_the_ledger(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    for _ in range(2):
        keeper.record_cost(cost(0))
    assert len(tuple(keeper.costs(NOON, NOON + MINUTE))) == 2


def test_the_state_of_the_alerts_is_kept_and_replaced(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    assert keeper.memory.alerts is None
    keeper.keep_alerts("one", NOON)
    keeper.keep_alerts("two", NOON + MINUTE)
    keeper.close()

    assert open_keeper(tmp_path / "state.db").memory.alerts == "two"
    assert open_keeper(tmp_path / "state.db", read_only=True).memory.alerts == "two"


def test_a_report_of_many_calls_holds_few_of_them_at_a_time() -> None:
    """A client may fill the ledger; to report all of it at once would end a small daemon."""
    keeper = open_keeper()
    for number in range(4000):
        keeper.record_cost(cost(number / 1000))
    tracemalloc.start()
    report = sum_costs(keeper.costs(NOON, NOON + 4 * MINUTE), NOON, NOON + 4 * MINUTE)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (report.total_operations, len(report.entries)) == (4000, 100)
    assert report.entries[-1] == cost(3.999)
    assert peak_bytes < 1_000_000
