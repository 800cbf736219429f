"""What ends a run is true: which tests failed, which passed only alone, how often that happened, what did not run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.runs import lanes, tries
from tests.runs.__main__ import PLANS, main
from tests.runs.tries import Result, remember_second_tries, run_tests, tell_second_tries

CASES = """\
<testsuites><testsuite>
<testcase classname="tests.drift.test_fields" name="test_one[a.b]" />
<testcase classname="tests.drift.test_fields" name="test_two"><skipped /></testcase>
<testcase classname="tests.drift.test_fields" name="test_three"><failure>late</failure></testcase>
</testsuite></testsuites>
"""


FAILED = "tests/drift/test_fields.py::TestAll::test_three[a/b]"


class StandIn:
    """Plays pytest: ends with these codes one after the other, and writes the cases that it was asked to write."""

    def __init__(self, *codes: int) -> None:
        self.codes, self.asked = list(codes), list[list[str]]()

    def __call__(self, arguments: list[str]) -> int:
        self.asked.append(arguments)
        for argument in arguments:
            if argument.startswith("--junitxml="):
                Path(argument.partition("=")[2]).write_text(CASES)
            if argument.startswith("cache_dir=") and "--cache-clear" in arguments:
                remembered = Path(argument.partition("=")[2], "v", "cache")
                remembered.mkdir(parents=True, exist_ok=True)
                (remembered / "lastfailed").write_text(json.dumps({FAILED: True}))
        return self.codes.pop(0)


def test_what_fails_at_first_runs_once_more_alone_and_is_named(tmp_path: Path) -> None:
    pytest_there = StandIn(1, 0)

    result = run_tests(pytest_there, "drift", ["tests/drift"], ["-n", "3"], tmp_path / "runs")

    assert (result.passed, result.cases, result.skipped) == (True, 2, 1)
    assert result.second_tries == (FAILED,)
    first, second = pytest_there.asked
    assert first[-2:] == ["-n", "3"]
    assert second[-1] == FAILED
    assert "tests/drift" not in second
    assert "-n" not in second
    assert tries.read_results(tmp_path / "runs") == (result,)


@pytest.mark.parametrize(("codes", "passed"), [((0,), True), ((1, 1), False), ((2,), False), ((5,), False)])
def test_only_a_run_that_ends_well_has_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codes: tuple[int, ...], passed: bool
) -> None:
    monkeypatch.delenv("PYTEST_ARGS", raising=False)
    assert run_tests(StandIn(*codes), "drift", ["tests/drift"], folder=tmp_path).passed is passed


def test_no_test_is_no_failure_where_somebody_chose_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ARGS", "-k 'one or two'")
    pytest_there = StandIn(5)

    assert run_tests(pytest_there, "drift", ["tests/drift"], folder=tmp_path).passed
    assert "one or two" in pytest_there.asked[0]


def test_second_tries_are_counted_over_the_newest_runs(tmp_path: Path) -> None:
    history = tmp_path / "cache" / "second-tries.jsonl"
    assert tell_second_tries(history) == "Second tries: none in the last 0 runs."

    for number in range(tries.RUNS_KEPT + 2):
        tests = ("a.py::slow",) if number % 2 else ("a.py::slow", "b.py::racy")
        remember_second_tries([Result("whole", passed=True, seconds=1.0, second_tries=tests)], "abc", history)

    first, *rows = tell_second_tries(history).splitlines()
    assert first == f"Second tries in the last {tries.RUNS_KEPT} runs ({history}):"
    assert [row.split() for row in rows] == [["20", "of", "20", "a.py::slow"], ["10", "of", "20", "b.py::racy"]]


def test_every_lane_has_a_name_of_its_own_and_stands_in_the_documentation() -> None:
    names = [lane.name for stages in (PLANS["all"], PLANS["nightly"]) for stage in stages for t in stage for lane in t]
    assert len(names) == len(set(names))
    page = (ROOT / "docs" / "development" / "runs.md").read_text()
    assert [name for name in names if f"| `{name}` |" not in page] == []


def test_every_target_of_a_lane_is_one_of_the_makefile() -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    asked = {lane.make[0] for stages in PLANS.values() for stage in stages for t in stage for lane in t if lane.make}
    assert asked <= set(targets)


def test_an_unknown_plan_or_lane_is_an_error_that_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["everything"]) == 2
    assert "python -m tests.runs test" in capsys.readouterr().err
    with pytest.raises(SystemExit, match=f"no lane is called uint; there are {lanes.LINT.name}, {lanes.UNIT.name}"):
        main(["test", "uint"])
