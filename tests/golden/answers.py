"""All that the real daemon says of a recorded host at its last moment: the golden answers. They stay as they are.

    python -m tests.golden.answers [HOST…]       # writes answers/ anew and names the keys that changed

The daemon is played by `tests/golden/playing.py`, the engine by `tests/golden/engine.py`.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.golden.engine import RecordedEngine
from tests.golden.playing import PROJECTS, PlayedDaemon
from tests.golden.recording import list_hosts, read_host

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.golden.recording import Host, Moment

ANSWERS = Path(__file__).parent / "answers"
NOT_OF_THE_HOST = re.compile(
    r"^(?:# |process_|python_|bcon_(?:build_info|docker_requests?_|scan_last_duration_seconds|scans_)).*\n",
    re.MULTILINE,
)
"""Samples about the daemon itself: times, sizes and counts of its own doing."""
TOOLS = ("list_containers", "get_untracked_containers", "diagnose_all", "detect_drift", "health_check")
CONTAINER_TOOLS = (
    "get_container_info",
    "get_container_stats",
    "get_container_logs",
    "diagnose_container",
    "explain_error",
)
EACH_AT_MOST = 12
"""Containers that every tool is asked about; diagnose_all tells of all of them."""


def play(host: Host) -> dict[str, Any]:
    """Play one host from its first moment to its last; return all answers at the last."""
    _write_files(host)
    answers: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="bcon-golden-") as parent:
        folder = Path(parent)
        with RecordedEngine(host, folder / "docker.sock") as engine:
            daemon = PlayedDaemon(folder, engine)
            for run in _runs(host.moments):
                with daemon.running(run[0]):
                    for moment in run:  # the first twice: then the engine's memory of events is read for certain
                        daemon.scan(moment)
                    answers = _take(daemon)
    return answers


def _runs(moments: list[Moment]) -> list[list[Moment]]:
    """The moments that one process sees, for each."""
    runs: list[list[Moment]] = []
    for moment in moments:
        if moment.restarted or not runs:
            runs.append([])
        runs[-1].append(moment)
    return runs


def _write_files(host: Host) -> None:
    for name, text in host.files.items():
        path = PROJECTS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _take(daemon: PlayedDaemon) -> dict[str, Any]:
    """All that is said now."""
    metrics = NOT_OF_THE_HOST.sub("", daemon.ask("/metrics"))
    answers: dict[str, Any] = {"/metrics": sorted(metrics.splitlines())}
    for path in ("/api/v1/diagnosis", "/api/v1/drift", "/api/v1/alerts"):
        answers[path] = daemon.ask(path)
    for tool in TOOLS:
        answers[tool] = daemon.ask(f"/api/v1/tools/{tool}", {})
    names = [one["container_name"] for one in answers["diagnose_all"]["result"]["reports"]][:EACH_AT_MOST]
    for tool in CONTAINER_TOOLS:
        answers[tool] = {name: daemon.ask(f"/api/v1/tools/{tool}", {"container_id": name}) for name in names}
    fingerprints: dict[str, str] = {}
    return {name: _without_own_doing(answer, fingerprints) for name, answer in answers.items()}


ABSENT = "(absent)"
OWN_DOING = frozenset({"duration_ms", "cost", "age_seconds", "last_diagnose_age_seconds", "last_drift_age_seconds"})
"""How long something took this run, or was ago in it."""
FINGERPRINT = re.compile(r"(?<=fingerprint )[0-9a-f]+")


def _without_own_doing(answer: Any, fingerprints: dict[str, str]) -> Any:
    """Leave out what tells of this run alone; its fingerprints, made with a key of its own, are numbered instead."""
    if isinstance(answer, dict):
        return {key: _without_own_doing(value, fingerprints) for key, value in answer.items() if key not in OWN_DOING}
    if isinstance(answer, list):
        return [_without_own_doing(one, fingerprints) for one in answer]
    if isinstance(answer, str):
        return FINGERPRINT.sub(lambda found: fingerprints.setdefault(found[0], str(len(fingerprints) + 1)), answer)
    return answer


def render(answers: dict[str, Any]) -> str:
    """As text that shows in a diff what became other."""
    return json.dumps(answers, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def find_changes(old: Any, new: Any, key: str = "") -> Iterator[str]:
    """The keys whose values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from find_changes(old.get(name, ABSENT), new.get(name, ABSENT), f"{key}.{name}" if key else name)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from find_changes(one, other, f"{key}[{number}]")
    elif old != new:
        yield f"{key}: {json.dumps(old)[:200]} -> {json.dumps(new)[:200]}"


def main(names: list[str]) -> int:
    """Write the answers anew; 1 when some became other."""
    ANSWERS.mkdir(exist_ok=True)
    changed = False
    for name in names or list_hosts():
        answers, file = play(read_host(name)), ANSWERS / f"{name}.json"
        old = json.loads(file.read_text()) if file.exists() else {}
        for change in find_changes(old, json.loads(render(answers))):
            changed = True
            sys.stdout.write(f"{name} {change}\n")
        file.write_text(render(answers))
    shutil.rmtree(PROJECTS, ignore_errors=True)
    return int(changed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
