"""The exporter's own state is live in every answer, however old the last scan is."""

from __future__ import annotations

from datetime import timedelta

from bcon_exporter.engine.endpoint_health import RequestTally
from bcon_exporter.errors import DockerConnectionError, ErrorCode
from bcon_exporter.outputs.addresses import Addresses
from bcon_exporter.outputs.metrics import Exposition, OwnState
from bcon_exporter.outputs.metrics.own_samples import MemoryCounts
from bcon_exporter.tools.error_counts import NO_FAILURES
from bcon_exporter.tools.replay import SnapshotHost
from tests.factories import NOON, snapshot
from tests.outputs.scenes import INTERVALS, make_context, make_exposition, samples_of, scrape_text
from tests.table_rows import table


class CountingHost(SnapshotHost):
    """A replayed host that counts requests and has a hanging endpoint."""

    def __init__(self) -> None:
        super().__init__(snapshot())
        self.tally = RequestTally()

    def endpoints_up(self) -> dict[str, bool]:
        """The stats hang."""
        return {"list": True, "stats": False}

    def requests(self):  # type: ignore[no-untyped-def]  # as the host's
        """Return what was counted."""
        return self.tally.counts()


def own_of(context: object, **changes: object) -> OwnState:
    """An own state over a context."""
    options: dict[str, object] = {"insecure_bind": lambda: False, "loaded_at": NOON, **changes}
    return OwnState(lambda: context, lambda name: INTERVALS[name], lambda: MemoryCounts(3, 4), **options)  # type: ignore[arg-type,return-value]  # any


def test_an_engine_that_does_not_answer_is_0() -> None:
    assert "bcon_up 0\n" in scrape_text(make_exposition(make_context(up=False)))
    assert "bcon_up 1\n" in scrape_text(make_exposition(make_context()))


def test_each_endpoint_is_told_for_itself() -> None:
    text = scrape_text(make_exposition(_with(CountingHost())))

    assert 'bcon_docker_endpoint_up{endpoint="stats"} 0\n' in text
    assert 'bcon_docker_endpoint_up{endpoint="list"} 1\n' in text


def _with(host: CountingHost):  # type: ignore[no-untyped-def]  # a context
    from dataclasses import replace

    return replace(make_context(), host=host)


def test_requests_are_a_histogram_with_cumulative_buckets() -> None:
    host = CountingHost()
    for seconds in (0.002, 0.02, 20.0):
        host.tally.add("list", seconds, failed=seconds > 10)

    text = scrape_text(make_exposition(_with(host)))

    name = "bcon_docker_request_duration_seconds"
    assert f'{name}_bucket{{endpoint="list",le="0.001"}} 0\n' in text
    assert f'{name}_bucket{{endpoint="list",le="0.025"}} 2\n' in text
    assert f'{name}_bucket{{endpoint="list",le="+Inf"}} 3\n' in text
    assert f'{name}_count{{endpoint="list"}} 3\n' in text
    assert 'bcon_docker_request_failures_total{endpoint="list"} 1\n' in text


def test_every_error_code_has_a_count() -> None:
    context = make_context()
    context.errors.add(ErrorCode.TIMEOUT)

    text = scrape_text(make_exposition(context))

    assert len(samples_of(text, "bcon_errors_total")) == len(ErrorCode) - len(NO_FAILURES)
    assert 'bcon_errors_total{code="timeout"} 1\n' in text
    assert "not_available" not in text


def test_what_cannot_be_had_is_counted_from_the_first_time_on() -> None:
    context = make_context()
    context.errors.add(ErrorCode.NOT_AVAILABLE)
    assert 'bcon_errors_total{code="not_available"} 1\n' in scrape_text(make_exposition(context))


def test_failures_and_intervals_of_scans_are_told() -> None:
    context = make_context()
    exposition = make_exposition(context)
    context.scans.record_failure("drift", NOON, 2.5, DockerConnectionError("away"))
    exposition.publish("drift")

    text = scrape_text(exposition)

    assert 'bcon_scan_failures_total{scan="drift"} 1\n' in text
    assert 'bcon_scan_last_duration_seconds{scan="drift"} 2.5\n' in text
    assert 'bcon_scan_interval_seconds{scan="drift"} 60\n' in text
    assert not samples_of(text, "bcon_scan_last_success_timestamp_seconds")


def test_a_failed_reload_keeps_the_time_of_the_last_good_one() -> None:
    context = make_context()
    own = own_of(context)
    exposition = Exposition(context.scans, own, series_cap=1000)

    own.record_reload(NOON + timedelta(hours=1), successful=False)

    text = scrape_text(exposition)
    assert "bcon_config_last_reload_successful 0\n" in text
    assert f"bcon_config_last_reload_success_timestamp_seconds {int(NOON.timestamp())}\n" in text


def test_counted_and_an_insecure_bind_are_told() -> None:
    context = make_context()

    text = scrape_text(Exposition(context.scans, own_of(context, insecure_bind=lambda: True), series_cap=1000))

    assert "bcon_event_gaps_total 3\n" in text
    assert "bcon_state_errors_total 4\n" in text
    assert "bcon_insecure_bind 1\n" in text


@table(
    ("addresses", "said"),
    [
        (Addresses(), []),
        (Addresses("https://b.example"), ['bcon_address_info{page="https://b.example",runbooks=""} 1']),
        (Addresses(None, "https://w.example/"), ['bcon_address_info{page="",runbooks="https://w.example/"} 1']),
        (
            Addresses("https://b.example", "https://w.example/"),
            ['bcon_address_info{page="https://b.example",runbooks="https://w.example/"} 1'],
        ),
    ],
)
def test_where_people_are_led_is_told_as_far_as_somebody_said(addresses: Addresses, said: list[str]) -> None:
    context = make_context()
    text = scrape_text(Exposition(context.scans, own_of(context, addresses=lambda: addresses), series_cap=1000))

    assert [line for line in text.splitlines() if line.startswith("bcon_address_info")] == said
