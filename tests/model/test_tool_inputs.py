"""Promise: a tool takes no value of another kind, and the refusal says in plain words what it takes."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from bcon_exporter.model.base import Frozen
from bcon_exporter.model.tool_inputs import NOW, WORDS, GetContainerLogsInput, ListContainersInput, parse_published
from bcon_exporter.model.validation_messages import tell_refusal
from tests.table_rows import table

AS_WORDS = {WORDS: True}


def refusal(model: type[Frozen], given: Mapping[str, object], context: dict[str, bool] | None = None) -> str:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(given, context=context)
    return tell_refusal(dict(caught.value.errors()[0]))


@pytest.mark.parametrize("tail", [True, 1.5, 1e30, "x", "1.5", None, [1]])
def test_a_number_of_lines_is_a_whole_number(tail: object) -> None:
    """Python itself would take true for 1."""
    for context in (None, AS_WORDS):
        said = refusal(GetContainerLogsInput, {"container_id": "web", "tail": tail}, context)
        assert said == "must be a whole number"


@table("since", [1, 1.5, True, "1", "-5", " 17.0 ", "yesterday", "2026-13-01T00:00:00Z", {}])
def test_a_time_is_written_as_one(since: object) -> None:
    """A number would be taken for seconds since 1970, whatever was meant: the answer would be right for nobody."""
    said = refusal(GetContainerLogsInput, {"container_id": "web", "since": since})
    assert said == "must be a time with its zone, for example 2026-01-31T12:00:00Z, or how long ago: 10m, 2h, 1d"


@pytest.mark.parametrize("field", ["since", "until"])
@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00"])
def test_a_time_that_utc_has_no_date_for_is_refused(field: str, moment: str) -> None:
    """Python raises OverflowError for it, which pydantic lets through: it would count as a defect of ours."""
    said = "must lie between the years 1 and 9999 in UTC"
    for given in (moment, datetime.fromisoformat(moment)):
        assert refusal(GetContainerLogsInput, {"container_id": "web", field: given}) == said


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"])
def test_the_first_and_the_last_time_of_utc_are_taken(moment: str) -> None:
    given = GetContainerLogsInput.model_validate({"container_id": "web", "since": moment})
    assert given.since == datetime.fromisoformat(moment)


@pytest.mark.parametrize(("said", "back"), [("10m", {"minutes": 10}), ("1h30m", {"minutes": 90}), ("2d", {"days": 2})])
def test_a_time_may_be_said_as_how_long_ago(said: str, back: dict[str, int]) -> None:
    now = datetime(2026, 1, 31, 12, tzinfo=UTC)
    given = GetContainerLogsInput.model_validate({"container_id": "web", "since": said}, context={NOW: now})
    assert given.since == now - timedelta(**back)


@table("said", ["10", "m", "10 m", "-10m", "10m ago", "9" * 40 + "d", "1h" * 40, "3651d", ""])
def test_what_is_no_length_of_time_is_no_time_either(said: str) -> None:
    now = datetime(2026, 1, 31, 12, tzinfo=UTC)
    with pytest.raises(ValidationError):
        GetContainerLogsInput.model_validate({"container_id": "web", "since": said}, context={NOW: now})


@pytest.mark.parametrize(
    ("raw", "first", "last", "protocol"),
    [
        ("8080", 8080, 8080, "tcp"),
        ("53/udp", 53, 53, "udp"),
        ("8000-8080", 8000, 8080, "tcp"),
        ("1-65535/sctp", 1, 65535, "sctp"),
    ],
)
def test_published_ports_are_a_port_or_a_range(raw: str, first: int, last: int, protocol: str) -> None:
    ports, of = parse_published(raw)
    assert (ports[0], ports[-1], of) == (first, last, protocol)


@table("raw", ["", "0", "65536", "a", "8080-80", "80-", "-80", "80/", "80/icmp", "80/tcp/x", "٨٠", "9" * 5000])
def test_what_is_no_port_is_refused_as_a_filter(raw: str) -> None:
    if raw == "80/":  # a port without a protocol, as docker reads it
        assert parse_published(raw)[1] == "tcp"
        return
    assert refusal(ListContainersInput, {"filters": {"publish": raw}}).startswith(
        ("publish must be a port", "must have")
    )


@pytest.mark.parametrize("switch", [1, 0, 1.0, "maybe", None, []])
def test_a_switch_is_true_or_false(switch: object) -> None:
    for context in (None, AS_WORDS):
        assert refusal(ListContainersInput, {"all": switch}, context) == "must be true or false"


def test_text_is_no_number_and_no_switch_in_json() -> None:
    """The published schemas say integer and boolean."""
    given = {"container_id": "web", "tail": "5", "timestamps": "false"}
    assert refusal(GetContainerLogsInput, given) == "must be a whole number"
    assert refusal(GetContainerLogsInput, {**given, "tail": 5}) == "must be true or false"


def test_text_as_a_query_or_a_flag_brings_it_is_taken() -> None:
    given = GetContainerLogsInput.model_validate(
        {"container_id": "web", "tail": "5", "timestamps": "false", "since": "2026-01-31T12:00:00Z"},
        context=AS_WORDS,
    )
    assert (given.tail, given.timestamps) == (5, False)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"filters": []}, "must be a mapping"),
        ({"filters": {"name": 5}}, "must be text"),
        ({"other": 1}, "is unknown here"),
        ([], "must be a mapping"),
    ],
)
def test_refusals_are_in_plain_words(given: Mapping[str, object], said: str) -> None:
    assert refusal(ListContainersInput, given) == said
    assert refusal(GetContainerLogsInput, {}) == "is missing"


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("status", "stopped", "status must be running, exited, paused, restarting, dead, created or removing"),
        ("health", "sick", "health must be healthy, unhealthy, starting or none"),
        ("exited", "one", "exited must be an exit code"),
        ("exited", "1.5", "exited must be an exit code"),
        ("exited", "", "exited must be an exit code"),
    ],
)
def test_a_filter_that_nothing_can_match_is_refused(key: str, value: str, said: str) -> None:
    """An empty answer would say that there is no such container."""
    assert refusal(ListContainersInput, {"filters": {key: value}}) == said


def test_filters_that_may_match_are_taken() -> None:
    filters = {"status": "exited", "health": "none", "exited": "137", "name": "anything"}
    assert ListContainersInput.model_validate({"filters": filters}).filters == filters
