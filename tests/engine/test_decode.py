"""Promise: an array is read element by element, and an element whose text has not changed is the same value again."""

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.engine.parse import ElementMemory, NotJsonError, decode_array

A, B = "a" * 64, "b" * 64


def entry(container_id: str, **more: object) -> dict[str, Any]:
    return {"Id": container_id, "Status": "Up 2 hours", **more}


def write(*entries: object) -> str:
    return json.dumps(entries, separators=(",", ":"))


def test_only_what_has_changed_is_another_value() -> None:
    memory = ElementMemory()
    first = list(decode_array(write(entry(A), entry(B)), memory))
    second = list(decode_array(write(entry(B), entry(A, Status="Up 3 hours")), memory))
    assert [one.read() for one in second] == [entry(B), entry(A, Status="Up 3 hours")]
    assert second[0] is first[1]
    assert second[1] is not first[0]


def test_what_was_not_in_the_last_array_is_forgotten() -> None:
    memory = ElementMemory()
    first = list(decode_array(write(entry(A)), memory))
    assert list(decode_array(write(), memory)) == []
    assert next(iter(decode_array(write(entry(A)), memory))) is not first[0]


@pytest.mark.parametrize("longer", ['{"Id":"x"}}', '{"Id":"x"}x', '{"Id":"x"} {"Id":"x"}'])
def test_a_known_element_with_something_behind_it_is_no_array(longer: str) -> None:
    memory = ElementMemory()
    assert [one.read() for one in decode_array('[{"Id":"x"}]', memory)] == [{"Id": "x"}]
    with pytest.raises(NotJsonError):
        list(decode_array(f"[{longer}]", memory))


KEYS = st.sampled_from(["Id", "State", "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.lists(VALUES, max_size=5), max_size=4))
def test_arrays_read_the_same_with_and_without_memory(arrays: list[list[object]]) -> None:
    memory = ElementMemory()
    for array in arrays:
        body = json.dumps(array)
        known, new = ([one.read() for one in decode_array(body, kept)] for kept in (memory, None))
        assert known == new == [each for each in array if isinstance(each, dict)]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the decoder's depth no longer counts the caller's")
def test_what_can_be_decoded_only_from_less_deep_within_calls_reads_as_nothing() -> None:
    deep = '[{"Id":"x","x":' + "[" * 600 + "]" * 600 + "}]"
    element = next(decode_array(deep))

    def read_below(calls: int) -> dict[str, Any]:
        return read_below(calls - 1) if calls else element.read()

    assert element.read()["Id"] == element.id == "x"
    assert read_below(420) == {}
