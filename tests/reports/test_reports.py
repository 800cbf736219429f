"""The judge of reported failures is strict, and the runner reads both forms of a case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.reports.__main__ import main
from tests.reports.cases import OWN, load_cases
from tests.reports.judge import Answer, Verdict, is_said, judge

if TYPE_CHECKING:
    import pytest

EXPECTED = {
    "status": "critical/error",
    "cause": "a pid file that the last run left (or the folder is shared)",
    "first_step": "remove it at start, or recreate the container",
    "must_not_say": "a port is taken; the disk (of the host) as first cause",
}
RIGHT = Answer("error", ("stale A pid file of the last run is in the way.",), ("Remove the file at start.",))

ANSWERS: dict[str, tuple[Answer | None, Verdict]] = {
    "cause and step": (RIGHT, Verdict.RIGHT),
    "cause second": (Answer("error", ("a", *RIGHT.causes), RIGHT.suggestions), Verdict.RIGHT),
    "cause third": (Answer("error", ("a", "b", *RIGHT.causes), RIGHT.suggestions), Verdict.WRONG),
    "other alternative of the step": (Answer("error", RIGHT.causes, ("Recreate the container.",)), Verdict.RIGHT),
    "one of three words": (Answer("error", ("The file is damaged.",), RIGHT.suggestions), Verdict.WRONG),
    "no cause": (Answer("error", (), RIGHT.suggestions), Verdict.GENERIC),
    "another step": (Answer("error", RIGHT.causes, ("Look at the log.",)), Verdict.GENERIC),
    "too mild": (Answer("warning", RIGHT.causes, RIGHT.suggestions), Verdict.WRONG),
    "says what it must not": (Answer("error", ("The port is taken.", *RIGHT.causes), RIGHT.suggestions), Verdict.WRONG),
    "half of a phrase": (Answer("error", (f"{RIGHT.causes[0]} Ports are free.",), RIGHT.suggestions), Verdict.RIGHT),
    "says the other phrase": (Answer("error", (f"Disk full. {RIGHT.causes[0]}",), RIGHT.suggestions), Verdict.WRONG),
    "nothing at all": (None, Verdict.WRONG),
}


def test_an_answer_is_right_only_with_severity_cause_and_first_step() -> None:
    verdicts = {name: judge(EXPECTED, answer).verdict for name, (answer, _) in ANSWERS.items()}
    assert verdicts == {name: verdict for name, (_, verdict) in ANSWERS.items()}


def test_a_healthy_log_called_ill_is_a_false_alarm() -> None:
    expected = {"status": "healthy (at most a remark)"}
    severities = {
        severity: judge(expected, Answer(severity)).verdict for severity in ("healthy", "warning", "critical")
    }
    false_alarm = Verdict.FALSE_ALARM
    assert severities == {"healthy": Verdict.RIGHT, "warning": false_alarm, "critical": false_alarm}


def test_commands_and_symptoms_are_judged_by_their_first_word() -> None:
    expected = {"drift": "synced, exit 0", "check": "fails: no address pool is left", "exit_error": "warning or info"}
    right = (("drift", "synced {}"), ("check", "fails no address pool is left for it"))
    symptoms = (("exit_error", "info"),)
    assert judge(expected, Answer(said=right, symptoms=symptoms)).verdict is Verdict.RIGHT
    assert judge(expected, Answer(said=right[:1], symptoms=symptoms)).verdict is Verdict.NOT_RUN
    assert judge(expected, Answer(said=right, symptoms=(("exit_error", "error"),))).verdict is Verdict.WRONG
    assert judge(expected, Answer(said=right)).verdict is Verdict.WRONG
    other = (right[0], ("check", "fails a port is taken"))
    assert judge(expected, Answer(said=other, symptoms=symptoms)).verdict is Verdict.GENERIC


def test_words_are_compared_by_their_stems() -> None:
    assert is_said("the mounted folder", "two mounts below a folder")
    assert not is_said("AVX", "a xavx b")


def test_what_is_as_another_case_is_read_from_there() -> None:
    cases = {case.id: case for case in load_cases(OWN)}
    assert cases["port/held-again"].expected["cause"] == "another process holds the port"
    assert [case.id for case in cases.values() if case.is_staged] == ["staged/stopped-by-hand"]


def test_the_runner_prints_a_line_a_case_and_the_sums(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(OWN)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" (")[0].split()[:1] for line in lines[:4]] == [["right"], ["right"], ["right"], ["not"]]
    assert lines[-1] == "4 cases: right 3, not run 1"
    assert main(["/no/such/folder"]) == 2
    assert "python -m tests.reports FOLDER" in capsys.readouterr().err
