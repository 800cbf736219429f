"""Lifelike projects, brought up for real, have no drift, however they are treated and rewritten; each change of file,
environment or engine is found, typed and named, and nothing else is.

The projects and what to expect of them stand in tests/drift_corpus/projects. Compose itself is asked as well, on this
private engine only: what a report foretells is what `--dry-run up` plans. A sample that shows every field, outcome and
way to be brought up is played here; TEST_NIGHTLY=1 plays all seventy, TEST_SOAK=1 every combination, CORPUS="shop
blog-ghost" only some projects.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.errors import BconError
from bcon_exporter.model.reports import DriftReport
from tests.docker.conftest import make_engine
from tests.drift_corpus.cases import Case, Change, choose_sample, read_cases
from tests.drift_corpus.rewriting import REWRITINGS
from tests.drift_corpus.stacks import Corpus, Stack
from tests.drift_corpus.trials import Trial, contradictions, fits, found_in, judge_change, plan_of, try_change
from tests.long_forms import IS_NIGHTLY
from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.mark.structures import ParameterSet

    from bcon_exporter.model.container_facts import HostSnapshot

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.alone, pytest.mark.in_pairs]

SOAK = os.environ.get("TEST_SOAK") == "1"
ALL = SOAK or IS_NIGHTLY
FLAGS = ("--default-address-pool=base=10.180.0.0/14,size=24", "--add-runtime=corpus=runc")
"""Room for a network a project and more, and another runtime."""
MACHINE = {"gpu", "runtime"} | ({"cgroup1"} if Path("/sys/fs/cgroup/memory").is_dir() else set())
ONLY = os.environ.get("CORPUS", "").split()
POSSIBLE = tuple(case for case in read_cases() if case.requires <= MACHINE and (not ONLY or case.name in ONLY))
CASES = POSSIBLE if ALL or ONLY else choose_sample(POSSIBLE)
MISSED = {case.name for case in CASES if case.miss}


def list_changes(*, of_engine: bool) -> list[ParameterSet]:
    """The changes of one kind, each with its project."""
    return [
        pytest.param(case, change, id=f"{case.name}: {change.what}")
        for case in CASES
        for change in case.changes
        if change.is_of_engine is of_engine
    ]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """Every project, running, on an engine of their own that believes in a GPU."""
    hook = tmp_path_factory.mktemp("gpu") / "nvidia-container-runtime-hook"
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PATH", f"{hook.parent}:{os.environ['PATH']}")
        engine = make_engine(*FLAGS)
    try:
        made = Corpus(engine, tmp_path_factory.mktemp("corpus"), CASES)
        made.bring_up()
        yield made
    finally:
        engine.destroy()


@pytest.fixture(scope="module")
def at_rest(corpus: Corpus) -> HostSnapshot:
    """The engine after the projects were brought up."""
    return corpus.take_snapshot()


def faults(corpus: Corpus, snapshot: HostSnapshot) -> dict[str, str]:
    """What is wrong with the report of a project that has no drift; nothing for most."""
    reports = corpus.each(lambda stack: corpus.judge(stack, snapshot))
    return {
        project: fault for project, report in reports.items() if project not in MISSED and (fault := _fault(report))
    }


def test_what_is_known_to_be_missed_is_still_missed(corpus: Corpus, at_rest: HostSnapshot) -> None:
    reports = corpus.each(lambda stack: corpus.judge(stack, at_rest), MISSED)
    assert {project for project, report in reports.items() if not _fault(report)} == set(), "take the note `miss` away"


def _fault(report: DriftReport | BconError, status: str = "synced") -> str:
    if isinstance(report, BconError):
        return report.message
    said = [*report.differences, *report.doubts] if status == "synced" else report.differences
    if said or report.status != status or report.rule_errors:
        return f"{report.status} {report.unknown_detail or ''} {[one.message for one in said]} {report.rule_errors}"
    return ""


def test_every_project_that_was_brought_up_has_no_drift(corpus: Corpus, at_rest: HostSnapshot) -> None:
    assert faults(corpus, at_rest) == {}


def test_the_daemon_which_knows_no_shell_sees_no_drift_either(corpus: Corpus, at_rest: HostSnapshot) -> None:
    reports = corpus.each(lambda stack: corpus.judge_as_daemon(stack, at_rest))
    expected = {case.name: case.daemon for case in CASES}
    found = {project: _fault(report, expected[project]) for project, report in reports.items()}
    assert {project: fault for project, fault in found.items() if fault and project not in MISSED} == {}


def test_compose_itself_would_do_nothing(corpus: Corpus) -> None:
    verdicts = corpus.each(Stack.dry_run)
    plans = {project: plan_of(verdict, corpus.stacks[project].case) for project, verdict in verdicts.items()}
    assert {project: plan for project, plan in plans.items() if plan} == {}
    assert {project: verdict.error for project, verdict in verdicts.items() if verdict.error} == {}


@pytest.mark.parametrize("form", REWRITINGS)
def test_a_rewritten_file_is_the_same_file(corpus: Corpus, at_rest: HostSnapshot, form: str) -> None:
    """Every project in every form in the long run, each in two forms of six otherwise."""
    turn = list(REWRITINGS).index(form)
    chosen = [name for number, name in enumerate(corpus.stacks) if SOAK or number % 3 == turn % 3]

    def judge(stack: Stack) -> str:
        try:
            return _fault(corpus.judge(stack, at_rest)) if stack.rewrite(form) else ""
        finally:
            stack.restore_files()

    faulty = corpus.each(judge, chosen)
    assert {project: fault for project, fault in faulty.items() if fault and project not in MISSED} == {}


@pytest.fixture(scope="module")
def trials_of_files(corpus: Corpus, at_rest: HostSnapshot) -> dict[tuple[str, str], Trial | Exception]:
    """Every change of a file or of the environment, judged; Compose is asked of the first two of each project."""

    def judge_all(stack: Stack) -> dict[tuple[str, str], Trial | Exception]:
        made: dict[tuple[str, str], Trial | Exception] = {}
        for number, change in enumerate(one for one in stack.case.changes if not one.is_of_engine):
            try:
                trial = try_change(corpus, stack, change, at_rest, ask=SOAK or number < 2)
            except (AssertionError, OSError) as error:
                made[stack.case.name, change.what] = error
            else:
                made[stack.case.name, change.what] = trial
        return made

    return {key: trial for made in corpus.each(judge_all).values() for key, trial in made.items()}


def check(trial: Trial | Exception, change: Change) -> None:
    """Compare with what expect.yaml says, and that with Compose's own plan; what is known to be missed must be."""
    if change.miss:
        with pytest.raises(Exception):  # noqa: B017, PT011  # however it is missed; else take the note `miss` away
            compare(trial, change)
    else:
        compare(trial, change)


def compare(trial: Trial | Exception, change: Change) -> None:
    if isinstance(trial, Exception):
        raise trial
    if change.error:
        assert trial.error == change.error
        return
    assert (trial.error, trial.status) == (None, change.status), trial
    assert fits(trial.found, change.found), f"found {trial.found}, expected {change.found}"
    if trial.plan is not None and trial.complaint is None:
        assert trial.plan == change.up, "the expectation is wrong: Compose would do something else"
    assert contradictions(trial, change) == []


@table(("case", "change"), list_changes(of_engine=False), shared=["trials_of_files"])
def test_a_change_of_file_or_environment_is_found(
    trials_of_files: dict[tuple[str, str], Trial | Exception], case: Case, change: Change
) -> None:
    check(trials_of_files[case.name, change.what], change)


@pytest.mark.skipif(not SOAK, reason="every change in every form: TEST_SOAK=1")
@pytest.mark.parametrize("form", REWRITINGS)
def test_a_change_is_found_in_every_form_of_the_file(corpus: Corpus, at_rest: HostSnapshot, form: str) -> None:
    def judge_all(stack: Stack) -> list[str]:
        wrong = []
        for change in stack.case.changes:
            if change.is_of_engine or change.error:
                continue
            try:
                stack.apply(change)
                if stack.rewrite(form):
                    trial = judge_change(corpus, stack, change, at_rest, ask=False)
                    wrong += [] if fits(trial.found, change.found) else [f"{change.what}: {trial}"]
            finally:
                stack.restore_files()
        return wrong

    assert {project: wrong for project, wrong in corpus.each(judge_all).items() if wrong} == {}


def test_restarted_containers_are_no_drift(corpus: Corpus, at_rest: HostSnapshot) -> None:
    """One container of every project, all of them in the long run."""

    def restart(stack: Stack) -> None:
        of_project = [one for one in at_rest.containers if one.compose and one.compose.project == stack.project]
        running = sorted(one.name for one in of_project if one.is_running)
        stack.do(f"docker restart -t 0 {' '.join(running if SOAK else running[-1:])}")

    corpus.each(restart)
    assert faults(corpus, corpus.take_snapshot()) == {}


def test_scaling_is_seen_until_it_is_taken_back(corpus: Corpus) -> None:
    scaled = {case.name: case.scale for case in CASES if case.scale}
    assert len(scaled) >= (6 if ALL else 1) or ONLY
    corpus.each(lambda stack: stack.up("--no-recreate", "--scale", str(stack.case.scale)), scaled)
    snapshot = corpus.take_snapshot()
    reports = corpus.each(lambda stack: corpus.judge(stack, snapshot), scaled)
    found = {name: found_in(report) for name, report in reports.items() if isinstance(report, DriftReport)}
    assert found == {name: ((scale.partition("=")[0], "replica_mismatch", None),) for name, scale in scaled.items()}
    corpus.each(Stack.up, scaled)
    assert faults(corpus, corpus.take_snapshot()) == {}


def test_projects_that_are_brought_up_again_have_no_drift(corpus: Corpus) -> None:
    """A sixth of them is made anew, all of them in the long run."""
    forced = [name for number, name in enumerate(corpus.stacks) if SOAK or number % 6 == 0]
    corpus.each(lambda stack: stack.up(*(("--force-recreate",) if stack.case.name in forced else ())))
    assert faults(corpus, corpus.take_snapshot()) == {}


@pytest.fixture(scope="module")
def trials_of_engine(corpus: Corpus) -> dict[tuple[str, str], Trial | Exception]:
    """Every change of the engine, judged in rounds: one of each project at a time, and all is rebuilt in between."""
    made: dict[tuple[str, str], Trial | Exception] = {}
    waiting = {case.name: [change for change in case.changes if change.is_of_engine] for case in CASES}
    while waiting := {name: changes for name, changes in waiting.items() if changes}:
        made.update(_play_round(corpus, {name: changes.pop(0) for name, changes in waiting.items()}))
        corpus.restore_images()
        corpus.each(Stack.rebuild, [name for name, changes in waiting.items() if changes])
    return made


def _play_round(corpus: Corpus, changes: dict[str, Change]) -> dict[tuple[str, str], Trial | Exception]:
    """Make one change of each of these projects, and judge them all by one look at the engine."""

    def apply(stack: Stack) -> Exception | None:
        try:
            stack.apply(changes[stack.case.name])
        except AssertionError as error:
            return error
        return None

    def judge(stack: Stack) -> Trial | Exception:
        return errors[stack.case.name] or judge_change(corpus, stack, changes[stack.case.name], snapshot, ask=True)

    errors = corpus.each(apply, changes)
    snapshot = corpus.take_snapshot()
    return {(name, changes[name].what): trial for name, trial in corpus.each(judge, changes).items()}


@table(("case", "change"), list_changes(of_engine=True), shared=["trials_of_engine"])
def test_a_change_made_behind_the_back_of_compose_is_found(
    trials_of_engine: dict[tuple[str, str], Trial | Exception], case: Case, change: Change
) -> None:
    check(trials_of_engine[case.name, change.what], change)
