"""Promise: no edit puts the value of a secret variable where an answer would show it, whatever it is written like."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.errors import InvalidInputError
from bcon_exporter.tools.secret_references import find_shown_references, find_shown_variables
from tests.table_rows import table

if TYPE_CHECKING:
    from collections import Counter


def find(text: str, *, is_yaml: bool = True) -> Counter[tuple[tuple[str, ...], str]]:
    return find_shown_references(text, lambda line: line, is_yaml=is_yaml)


def places(text: str, *, is_yaml: bool = True) -> list[str]:
    return sorted(".".join(place) for place, _ in find(text, is_yaml=is_yaml))


@table(
    ("text", "place"),
    [
        ("services: {db: {image: 'db:${DB_PASSWORD}'}}", "services.db.image"),
        ("services: {db: {image: db:$DB_PASSWORD}}", "services.db.image"),
        ("services: {db: {image: 'db:${TAG:-${DB_PASSWORD}}'}}", "services.db.image"),
        ("services: {db: {image: 'db:${DB_PASSWORD:-x}'}}", "services.db.image"),
        ('services: {db: {image: "db:\\x24{DB_PASS\\x57ORD}"}}', "services.db.image"),
        (
            "services:\n  db:\n    image: >-\n      db:$\n      {x}\n    labels: ['note=${API_TOKEN}']",
            "services.db.labels",
        ),
        ("x-password: &p ${DB_PASSWORD}\nservices: {db: {image: *p}}", "services.db.image"),
        ("x-env: &e {NOTE: '${API_TOKEN}'}\nservices: {db: {environment: {<<: *e}}}", "x-env.NOTE"),
        ("services: {db: {environment: ['NOTE=${DB_PASSWORD}']}}", "services.db.environment"),
        ("services: {db: {environment: {NOTE: &n '${DB_PASSWORD}', DB_PASSWORD: *n}}}", "services.db.environment.NOTE"),
        ("services: {db: {environment: {NOTE: '${DB_PASSWORD}'}}}", "services.db.environment.NOTE"),
        ("services: {db: {container_name: 'x${SECRET_KEY}'}}", "services.db.container_name"),
    ],
)
def test_a_secret_variable_under_a_name_that_hides_nothing_is_found(text: str, place: str) -> None:
    assert place in places(text)


@pytest.mark.parametrize(
    "text",
    [
        "services: {db: {environment: {DB_PASSWORD: '${DB_PASSWORD}'}}}",
        "services: {db: {environment: ['DB_PASSWORD=${DB_PASSWORD:?missing}']}}",
        "services: {db: {environment: {DATABASE_URL: 'postgres://shop:${DB_PASSWORD}@db/shop'}}}",
        "services: {db: {image: 'db:${TAG:-16}', ports: ['${PORT}:80']}}",
        "x-env: &e {DB_PASSWORD: '${DB_PASSWORD}'}\nservices: {db: {environment: {<<: *e}}}",
    ],
)
def test_what_its_name_or_url_hides_is_none(text: str) -> None:
    assert places(text) == []


def test_lines_of_an_env_file_are_read_one_by_one() -> None:
    assert places("TAG=${DB_PASSWORD}\nDB_PASSWORD=x\nOLD_PASSWORD=$DB_PASSWORD\n", is_yaml=False) == ["TAG"]


def test_a_file_that_is_no_yaml_is_read_by_lines() -> None:
    assert places("services: [\nimage: db:${DB_PASSWORD}\n") == ["image"]


@pytest.mark.parametrize(
    "text", ["services: {db: {image: !!binary 'ZGI6JHtEQl9QQVNTV09SRH0='}}", "%TAG !a! b\n" * 100 + "--- {}"]
)
def test_what_hides_its_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="not certain"):
        find(text)


def test_aliases_that_multiply_are_refused() -> None:
    lines = ["a0: &a0 ['${DB_PASSWORD}']"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    with pytest.raises(InvalidInputError, match="repeats too much"):
        find("\n".join(lines))


@pytest.mark.parametrize("text", ["[" * 60_000, "- " * 30_000 + "x", "a: &a [*a]", "{a: " * 30_000])
def test_a_file_that_nests_deeply_or_in_a_circle_breaks_nothing(text: str) -> None:
    with contextlib.suppress(InvalidInputError):
        assert not find(text)


def test_bytes_that_are_no_text_break_nothing() -> None:
    for is_yaml in (True, False):
        assert not find_shown_references("A=$B \udcff", str, is_yaml=is_yaml)


def test_a_variable_counts_whatever_its_name_unless_only_its_environment_holds_it() -> None:
    text = "a: $B\nenvironment: {C: $D, E: '$$F'}\nbuild: {args: [$G]}\nlabel_file: x.env\n"
    shown = find_shown_references(text, str, is_yaml=True, variables=frozenset("BDFG"))
    assert {".".join(place) for place, _ in shown} == {"a", "label_file"}
    assert find_shown_variables(text, is_yaml=True) == {"B"}
    assert find_shown_variables("A=$B", is_yaml=False) == frozenset()
