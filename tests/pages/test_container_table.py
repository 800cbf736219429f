"""The table of containers: which rows a filter takes, in which order they stand, and what is folded."""

from __future__ import annotations

import pytest

from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.findings import LikelyCause, SymptomType
from bcon_exporter.outputs.pages.container_table import (
    COLUMNS,
    OPEN_UP_TO,
    ContainerRow,
    Order,
    PageFilter,
    make_table,
    to_row,
)
from tests.factories import ago, container, exited, usage
from tests.outputs.scenes import diagnosis, symptom
from tests.table_rows import table

FACTS = container(name="Shop-Web-1", image="registry.example:5000/team/web:2.4")
ROW = to_row(
    diagnosis(
        FACTS,
        status="error",
        project="shop",
        symptoms=(symptom(SymptomType.LOG_ERROR, evidence=("ModuleNotFoundError: No module named 'yaml'",)),),
        likely_causes=(LikelyCause(id="x", description="A package is missing.", confidence=0.9, evidence=("pip",)),),
    ),
    FACTS,
)

FILTERS: dict[str, tuple[PageFilter, bool]] = {
    "nothing asked": (PageFilter(), True),
    "part of the name": (PageFilter("web"), True),
    "evidence": (PageFilter("no module named"), True),
    "cause": (PageFilter("package is missing"), True),
    "evidence of the cause": (PageFilter("pip"), True),
    "image": (PageFilter("web:2.4"), True),
    "symptom": (PageFilter("log_error"), True),
    "words of two places": (PageFilter("shop yaml"), True),
    "a word that is nowhere": (PageFilter("shop toml"), False),
    "project": (PageFilter(project="shop"), True),
    "another project": (PageFilter(project="blog"), False),
    "status": (PageFilter(status="error"), True),
    "another status": (PageFilter(status="healthy"), False),
    "all three": (PageFilter("yaml", "shop", "error"), True),
}


@table("asked", FILTERS)
def test_a_filter_takes_a_container_by_words_project_and_status(asked: str) -> None:
    wanted, is_taken = FILTERS[asked]

    assert wanted.takes(ROW) is is_taken


def test_what_is_no_container_has_no_status_and_is_taken_by_project_and_words() -> None:
    assert PageFilter("differs", "shop").takes_other("shop", "it differs", None)
    assert PageFilter(project="no project").takes_other(None)
    assert not PageFilter(status="error").takes_other("shop", "error")
    assert not PageFilter(project="blog").takes_other("shop")
    assert not PageFilter.of({"q": "  ", "other": "x"})


def row(name: str, status: str = "healthy", **more: object) -> ContainerRow:
    return ContainerRow(name=name, status=status, **{"project": "shop", "state": "running", **more})  # type: ignore[arg-type]


ROWS = (
    row("a", cpu_ratio=0.2, memory_bytes=30, age_seconds=9.0, restarts=0, image="z:1"),
    row("b", "error", root="c", age_seconds=1.0, restarts=3, ports=("127.0.0.1:8080→80",), image="a:1"),
    row("c", "critical", cpu_ratio=0.9, memory_bytes=10, restarts=None, ports=("53→53/udp",)),
    row("d", "not checked", cpu_ratio=0.2, memory_bytes=20, age_seconds=5.0, restarts=1, image="m:1"),
    row("e", "error"),
)
ORDERS = {
    "": "cebda",
    "status": "cebda",
    "-status": "adbec",
    "name": "abcde",
    "-name": "edcba",
    "cpu": "cadbe",
    "-cpu": "adcbe",
    "memory": "adcbe",
    "up": "bdace",
    "restarts": "bdace",
    "ports": "cbade",
    "image": "bdace",
    "nonsense": "cebda",
}


@table("asked", ORDERS)
def test_rows_are_sorted_and_what_is_not_known_stands_last_both_ways(asked: str) -> None:
    assert "".join(one.name for one in Order.of({"sort": asked}).sort(ROWS)) == ORDERS[asked]


def test_a_heading_turns_its_order_and_tells_a_screen_reader_which_it_is() -> None:
    status, _, cpu, *_ = COLUMNS
    by_cpu = Order.of({"sort": "cpu"})

    assert [Order().aria(column) for column in (status, cpu)] == ["descending", ""]
    assert (Order().next(status), Order().next(cpu)) == ("-status", "cpu")
    assert (by_cpu.next(cpu), by_cpu.aria(cpu)) == ("-cpu", "descending")
    assert (Order.of({"sort": "-cpu"}).next(cpu), Order.of({"sort": "-cpu"}).aria(cpu)) == ("cpu", "ascending")


@pytest.mark.parametrize(("well", "is_open"), [(OPEN_UP_TO, True), (OPEN_UP_TO + 1, False)])
def test_many_healthy_containers_are_folded_by_project(well: int, is_open: bool) -> None:
    rows = [*ROWS[1:], *(row(f"w{number:03}", project=f"p{number % 3}") for number in range(well))]
    shown = make_table(rows, PageFilter(), Order())

    assert [one.name for one in shown.rows] == ["c", "e", "b", "d"]
    assert [(group.project, group.is_open) for group in shown.groups] == [(f"p{n}", is_open) for n in range(3)]
    assert shown.found == shown.total == well + 4
    opened = make_table(rows, PageFilter(), Order(), "p1")
    assert [group.is_open for group in opened.groups] == [False, True, False]
    assert make_table(rows, PageFilter(status="healthy"), Order()).groups == ()
    assert make_table(rows, PageFilter(), Order.of({"sort": "cpu"})).found == well + 4


def test_a_row_has_the_numbers_of_its_container() -> None:
    busy = usage(cpu_ratio=0.25, memory_usage_bytes=2**20, memory_limit_bytes=2**22)
    facts = container(
        usage=busy, restart_count=2, ports={"80/tcp": "8080", "53/udp": "53", "9/tcp": None}, started_at=ago(hours=3)
    )
    shown = to_row(diagnosis(facts, uptime=10800.0), facts)

    assert (shown.cpu_ratio, shown.memory_bytes, shown.memory_ratio) == (0.25, 2**20, 0.25)
    assert (shown.age, shown.restarts, shown.ports) == ("3 h 0 min", 2, ("8080→80", "53→53/udp"))
    assert ROW.image == "web:2.4"


def test_a_row_says_nothing_of_now_about_what_does_not_run() -> None:
    facts = exited(137, usage=None, last_usage=usage(), finished_at=ago(300))
    created = container(state=ContainerState.CREATED, usage=None, started_at=None)
    ended, never = to_row(diagnosis(facts, uptime=None), facts), to_row(diagnosis(created, uptime=None), created)

    assert (ended.cpu_ratio, ended.memory_bytes, ended.age) == (None, None, "ended 5 min ago (137)")
    assert (never.age, never.age_seconds) == ("created", None)
