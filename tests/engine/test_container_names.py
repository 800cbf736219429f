"""Ids, names and prefixes mean what they mean to docker; a miss says what was near."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.engine.container_names import find_container
from bcon_exporter.errors import BconError, ContainerNotFoundError, InvalidInputError

WEB = {"Id": "ab12" + "0" * 60, "Names": ["/web"]}
DB = {"Id": "ab34" + "0" * 60, "Names": ["/other/link", "/database"]}
TEMPORARY = {"Id": "cd56" + "0" * 60, "Names": ["/0123456789ab_cache"]}
NAMED_LIKE_AN_ID = {"Id": "ef78" + "0" * 60, "Names": ["/ab1"]}
ALL = [WEB, DB, TEMPORARY]


@pytest.mark.parametrize(
    ("asked", "found"),
    [(WEB["Id"], WEB), ("web", WEB), ("ab1", WEB), ("AB3", DB), ("database", DB), ("cache", TEMPORARY)],
)
def test_ids_names_and_unique_prefixes_are_found(asked: str, found: dict[str, object]) -> None:
    assert find_container(asked, ALL) == found["Id"]


def test_a_name_wins_over_an_id_prefix() -> None:
    assert find_container("ab1", [*ALL, NAMED_LIKE_AN_ID]) == NAMED_LIKE_AN_ID["Id"]


def test_an_ambiguous_prefix_names_its_matches() -> None:
    with pytest.raises(InvalidInputError) as error:
        find_container("ab", ALL)
    assert error.value.details["matches"] == ["ab1200000000 web", "ab3400000000 database"]


@pytest.mark.parametrize(("asked", "near"), [("databse", ["database"]), ("DATA", ["database"]), ("zzz", [])])
def test_a_miss_names_what_is_near(asked: str, near: list[str]) -> None:
    with pytest.raises(ContainerNotFoundError) as error:
        find_container(asked, ALL)
    assert error.value.details["near_matches"] == near


@given(st.text(max_size=200))
def test_any_text_is_an_answer_or_an_error_of_ours(text: str) -> None:
    failure = None
    try:
        assert find_container(text, ALL) in {WEB["Id"], DB["Id"], TEMPORARY["Id"]}
    except BconError as error:
        failure = error.message
    assert failure is None or (len(failure) < 400 and failure.isprintable())


@given(st.lists(st.dictionaries(st.sampled_from(["Id", "Names"]), st.none() | st.text() | st.lists(st.text()))))
def test_any_list_is_survived(entries: list[dict[str, object]]) -> None:
    with pytest.raises(ContainerNotFoundError):
        find_container("certainly-not-there", entries)
