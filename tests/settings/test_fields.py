"""Promise: settings read what people write (30s, :9100, a,b) and refuse what could mean two things."""

from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bcon_exporter.model.durations import parse_duration, write_duration
from bcon_exporter.settings.fields import (
    Address,
    parse_address,
    show_default,
    split_list,
    split_map,
)
from tests.table_rows import table


@table(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("5m", 300),
        ("32d", 32 * 86400),
        ("1m30s", 90),
        ("250ms", 0.25),
        ("1.5h", 5400),
        ("2w", 1209600),
        ("0s", 0),
        (" 30s ", 30),
    ],
)
def test_a_duration_is_numbers_with_units(text: str, seconds: float) -> None:
    assert parse_duration(text).total_seconds() == seconds


@table("raw", ["30", 30, "", "s", "30 s", "-5s", "1e3s", "30S", "٣s", None, True, "9" * 100 + "s", "11y"])
def test_a_bare_number_or_another_text_is_no_duration(raw: object) -> None:
    with pytest.raises(ValueError, match="with its unit"):
        parse_duration(raw)


def test_a_duration_of_more_than_ten_years_is_refused() -> None:
    assert parse_duration("3650d") == timedelta(days=3650)
    with pytest.raises(ValueError, match="ten years"):
        parse_duration("3651d")


@given(st.integers(0, 10**8).map(lambda seconds: timedelta(seconds=seconds)))
def test_what_a_duration_shows_as_reads_back_as_the_same(value: timedelta) -> None:
    assert parse_duration(write_duration(value)) == value


@pytest.mark.parametrize(
    ("text", "host", "port", "loopback"),
    [
        ("127.0.0.1:19877", "127.0.0.1", 19877, True),
        ("[::1]:80", "::1", 80, True),
        (":9100", "", 9100, False),
        ("0.0.0.0:0", "0.0.0.0", 0, False),
        ("localhost:65535", "localhost", 65535, True),
        ("monitor.example:80", "monitor.example", 80, False),
    ],
)
def test_an_address_is_host_and_port(text: str, host: str, port: int, *, loopback: bool) -> None:
    address = parse_address(text)
    assert (address.host, address.port, address.is_loopback) == (host, port, loopback)
    assert parse_address(str(address)) == address


@table("raw", ["19877", "host", "host:", "::1:80", "host:65536", "a b:1", 19877, None, "http://a:1"])
def test_anything_else_is_no_address(raw: object) -> None:
    with pytest.raises(ValueError, match=r"address|port"):
        parse_address(raw)


@given(st.text(max_size=40), st.sampled_from(["", "✗"]))
@example("addr", "")
def test_no_text_breaks_the_parsers(text: str, mark: str) -> None:
    """The mark is in no message of ours, unlike some of the texts."""
    for parse in (parse_duration, parse_address, split_map):
        try:
            parse(text + mark)
        except ValueError as error:
            assert "✗" not in str(error)  # noqa: PT017 -- any text may fail, none may be quoted


def test_lists_take_commas_repetition_and_yaml_lists() -> None:
    assert split_list("a, b,,c") == ("a", "b", "c")
    assert split_list(["a,b", "c"]) == ("a", "b", "c")
    assert split_list("") == ()


def test_a_list_of_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="texts"):
        split_list([1, 2])


def test_maps_take_pairs_and_yaml_mappings() -> None:
    assert split_map("/a=/b,/c=/d") == (("/a", "/b"), ("/c", "/d"))
    assert split_map({"/a": "/b"}) == (("/a", "/b"),)
    with pytest.raises(ValueError, match="pairs"):
        split_map("/a")


def test_defaults_show_as_people_write_them() -> None:
    values = (None, (), timedelta(seconds=30), True, 0.5, Address("", 1), "info")
    assert [show_default(value) for value in values] == ["", "", "30s", "true", "0.5", ":1", "info"]
