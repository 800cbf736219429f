"""Promise: "yesterday" begins when the clock on the host's wall says so; an unknown word is told with those known."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bcon_exporter.errors import InvalidInputError
from bcon_exporter.model.day_words import DAY_WORDS, find_beginning
from bcon_exporter.model.tool_inputs import GetHistoryInput, Words
from bcon_exporter.tools import find_tool
from bcon_exporter.tools.registry import parse_input
from tests.table_rows import table

FRIDAY = "2026-11-27T23:30:00+00:00"
SUMMER_TIME = "2026-03-30T09:00:00+00:00"


@table(
    ("word", "zone", "now", "began"),
    [
        ("today", "UTC", FRIDAY, "2026-11-27T00:00:00+00:00"),
        ("yesterday", "UTC", FRIDAY, "2026-11-26T00:00:00+00:00"),
        ("yesterday", "Europe/Berlin", FRIDAY, "2026-11-27T00:00:00+01:00"),
        ("Last  Night", "Europe/Berlin", FRIDAY, "2026-11-27T18:00:00+01:00"),
        ("last week", "America/New_York", FRIDAY, "2026-11-20T00:00:00-05:00"),
        ("friday", "UTC", FRIDAY, "2026-11-27T00:00:00+00:00"),
        ("saturday", "UTC", FRIDAY, "2026-11-21T00:00:00+00:00"),
        # the clock was put forward on the 29th
        ("today", "Europe/Berlin", SUMMER_TIME, "2026-03-30T00:00:00+02:00"),
        ("yesterday", "Europe/Berlin", SUMMER_TIME, "2026-03-29T00:00:00+01:00"),
    ],
)
def test_a_word_names_the_beginning_of_a_day_on_the_wall(word: str, zone: str, now: str, began: str) -> None:
    moment = datetime.fromisoformat(now)
    assert find_beginning(word, moment, lambda at: at.astimezone(ZoneInfo(zone))) == datetime.fromisoformat(began)


def test_every_word_that_is_named_is_known() -> None:
    moment = datetime.fromisoformat(FRIDAY)
    assert all((began := find_beginning(word, moment, lambda at: at)) and began <= moment for word in DAY_WORDS)
    assert find_beginning("tomorrow", moment, lambda at: at) is None


def test_an_unknown_word_is_told_with_those_that_are_known() -> None:
    now = datetime(2026, 11, 27, 12, tzinfo=UTC)
    asked = Words({"since": "yesterday", "until": "today"})
    request = parse_input(find_tool("get_history"), asked, now, lambda at: at)
    assert isinstance(request, GetHistoryInput)
    assert (request.since, request.until) == (datetime(2026, 11, 26, tzinfo=UTC), datetime(2026, 11, 27, tzinfo=UTC))
    with pytest.raises(InvalidInputError, match="words that are known: today, yesterday, last night, last week"):
        parse_input(find_tool("get_history"), Words({"since": "last evening"}), now, lambda at: at)
    with pytest.raises(InvalidInputError, match="since: must be a time"):
        parse_input(find_tool("get_history"), {"since": "yesterday"}, now, lambda at: at)  # no words in JSON
