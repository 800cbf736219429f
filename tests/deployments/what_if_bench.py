"""How right `modify_config` is: edits of the drift corpus asked of it and of a dry run, and then really brought up.

    python -m tests.deployments.what_if_bench [COUNT] [--only WORD]

prints a table of all edits, the rates and every miss. Each edit is one of a single file, of tests/drift_corpus. The
truth is what `up` then does: services whose containers are other ones afterwards.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.docker.engine import PrivateEngine
from tests.drift_corpus.cases import Case, Change, read_cases
from tests.drift_corpus.stacks import Corpus, Stack

if TYPE_CHECKING:
    from collections.abc import Sequence

Edit = tuple[Case, Change]
COUNT = 30
SAMPLE = (
    ("shop", "a deploy limit is raised"),
    ("media-arr", "a capability is added"),
    ("profiles-debug", ".env activates another profile"),
    ("wiki-bookstack", "a service is renamed"),
)
"""What `make test-all` asks: a limit, one that shares a namespace, a file that Compose reads, one more and one less."""
FLAGS = ("--default-address-pool=base=10.180.0.0/14,size=24",)
AT_ONCE = 3
_LIST = '{{.ID}} {{.Label "com.docker.compose.service"}} {{.Label "com.docker.compose.oneoff"}}'


@dataclass(frozen=True)
class Outcome:
    """What came of one edit.

    Attributes:
        told: Services that `modify_config` says `up` would recreate.
        planned: The same by Compose's dry run.
        stopped: Those that the dry run only stops: of one whose network is made anew it shows no more than that.
        done: Those whose containers `up` really made anew.
        actions: Service → what is told of it, of those that are not left.
        untouched: The file had its bytes and times after it was asked.
        error: Why there is no outcome.
    """

    project: str
    what: str
    told: frozenset[str] = frozenset()
    planned: frozenset[str] = frozenset()
    stopped: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()
    actions: tuple[tuple[str, str], ...] = ()
    untouched: bool = True
    seconds: float = 0.0
    error: str = ""

    @property
    def is_as_planned(self) -> bool:
        """Whether the dry run plans what is told."""
        return self.planned <= self.told <= self.planned | self.stopped

    @property
    def misses(self) -> tuple[str, ...]:
        """What is not as it should be."""
        found = [self.error] if self.error else []
        found += [] if self.is_as_planned else [f"told {sorted(self.told)}, dry run {sorted(self.planned)}"]
        found += [f"told {sorted(self.told)}, up made anew {sorted(self.done)}"] if self.told != self.done else []
        found += [] if self.untouched else ["the file is another one"]
        return tuple(found)


def find_edits() -> list[Edit]:
    """Return all edits of one file that need nothing of the machine and that Compose does not refuse."""
    return [
        (case, change)
        for case in read_cases()
        for change in case.changes
        if not (case.requires or case.miss or change.miss or change.error or change.is_of_engine or change.environment)
        and len({*change.edits, *change.writes}) == 1
    ]


def choose(count: int) -> list[Edit]:
    """Return so many edits, spread over all projects."""
    found = find_edits()
    return [found[number * len(found) // count] for number in range(min(count, len(found)))]


def play(stack: Stack, change: Change) -> Outcome:
    """Ask about an edit, ask Compose, bring it up, and take it back."""
    case, name = stack.case, next(iter((*change.edits, *change.writes)))
    file = stack.folder / name
    before = _state_of(file)
    try:
        done = _ask(stack, _payload(stack, change, name))
        if "secrets are hidden" in done.stdout:
            done = _ask(stack, {"path": str(file), "project_name": stack.project, "content": _text_of(file, change)})
        answer = json.loads(done.stdout or "{}")
        if "result" not in answer:
            return Outcome(case.name, change.what, error=(done.stdout + done.stderr)[-300:])
        untouched = _state_of(file) == before
        stack.apply(change)
        plan = stack.dry_run()
        old = containers_of(stack)
        stack.up()
        new = containers_of(stack)
        told = answer["result"]
        return Outcome(
            case.name,
            change.what,
            told=frozenset(told["recreates"]),
            planned=frozenset(service for service, action in plan.services.items() if action == "recreate"),
            stopped=frozenset(service for service, action in plan.services.items() if action == "stop"),
            done=frozenset(service for service, ids in new.items() if service in old and not ids & old[service]),
            actions=tuple((one["service"], one["action"]) for one in told["services"]),
            untouched=untouched,
        )
    except (AssertionError, subprocess.SubprocessError, ValueError, KeyError) as error:
        return Outcome(case.name, change.what, error=f"cannot be played: {error}"[:400])
    finally:
        stack.restore_files()


def _payload(stack: Stack, change: Change, name: str) -> dict[str, Any]:
    """Return the edit as `modify_config` takes it: as changes of lines where it can be written so, else as a text."""
    file = stack.folder / name
    payload: dict[str, Any] = {"path": str(file), "project_name": stack.project}
    if change.writes:
        return payload | {"content": change.writes[name]}
    text = file.read_text()
    changes = []
    for old, new in change.edits[name].items():
        lines = [number for number, line in enumerate(text.split("\n"), 1) if old in line]
        if "\n" in old or not old or len(lines) != 1 or text.count(old) != 1:
            return payload | {"content": _text_of(file, change)}
        changes.append({"line": lines[0], "old": old, "new": new})
    return payload | {"changes": changes}


def _text_of(file: Path, change: Change) -> str:
    """Return the whole text with the edit in it."""
    text = file.read_text()
    for before, after in next(iter(change.edits.values())).items():
        text = text.replace(before, after)
    return text


def _ask(stack: Stack, payload: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bcon_exporter", "call", "modify_config", "-"]
    flags = [f"--docker.host={stack.engine.host}", "--state.path=none"]
    environ = {**stack.environ(), "PYTHONPATH": str(Path(__file__).parents[2])}
    environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        [*command, *flags],
        input=json.dumps(payload),
        cwd=stack.folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def containers_of(stack: Stack) -> dict[str, set[str]]:
    """Return service → ids of its containers, without one-off runs."""
    label = f"label=com.docker.compose.project={stack.project}"
    found: dict[str, set[str]] = {}
    for line in stack.engine.docker("ps", "-a", "--no-trunc", "--filter", label, "--format", _LIST).splitlines():
        container_id, service, oneoff = (*line.split(" "), "")[:3]
        if oneoff.lower() != "true":
            found.setdefault(service, set()).add(container_id)
    return found


def _state_of(file: Path) -> tuple[bytes, int] | None:
    return (file.read_bytes(), file.stat().st_mtime_ns) if file.exists() else None


def play_all(engine: PrivateEngine, folder: Path, edits: Sequence[Edit]) -> list[Outcome]:
    """Bring the projects up and play all edits, those of one project one after the other."""
    corpus = Corpus(engine, folder, {case.name: case for case, _ in edits}.values())
    corpus.bring_up()

    def play_project(name: str) -> list[Outcome]:
        outcomes = []
        stack = corpus.stacks[name]
        for case, change in edits:
            if case.name == name:
                outcomes.append(play(stack, change))
                stack.up("--remove-orphans")
        return outcomes

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [one for outcomes in pool.map(play_project, corpus.stacks) for one in outcomes]


def play_on_own_engine(edits: Sequence[Edit]) -> list[Outcome]:
    """Play all on an engine that is there for nothing else."""
    engine = PrivateEngine().start(*FLAGS)
    try:
        with tempfile.TemporaryDirectory(prefix="bcon-what-if-") as folder:
            return play_all(engine, Path(folder), edits)
    finally:
        engine.destroy()


def render(outcomes: Sequence[Outcome]) -> str:
    """Return the table, the rates and the misses."""
    lines = [f"{'project':22} {'edit':58} {'told':30} {'dry run':30} {'up':30}"]
    for one in outcomes:
        sides = [", ".join(sorted(side)) or "-" for side in (one.told, one.planned, one.done)]
        mark = "  MISS" if one.misses else ""
        lines.append(f"{one.project:22} {one.what[:58]:58} {sides[0]:30} {sides[1]:30} {sides[2]:30}{mark}")
    total = len(outcomes)
    lines += [
        "",
        f"recreations as the dry run plans them  {sum(one.is_as_planned for one in outcomes)} of {total}",
        f"recreations as `up` then makes them    {sum(one.told == one.done for one in outcomes)} of {total}",
        f"files as they were                     {sum(one.untouched for one in outcomes)} of {total}",
        "",
    ]
    lines += [f"miss {one.project}: {one.what}: {'; '.join(one.misses)}" for one in outcomes if one.misses]
    return "\n".join(lines)


def main(words: list[str]) -> int:
    """Play edits, and say how many are told right."""
    only = words[words.index("--only") + 1 :] if "--only" in words else []
    counts = [word for word in words if word.isdecimal()]
    edits = choose(int(counts[0]) if counts else COUNT)
    if only:
        edits = [(case, change) for case, change in find_edits() if any(word in case.name for word in only)]
    outcomes = play_on_own_engine(edits)
    sys.stdout.write(render(outcomes) + "\n")
    return 1 if any(one.misses for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
