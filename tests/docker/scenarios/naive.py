"""What a literal reading of states and words would say of the same containers: the yardstick beside our own figures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import docker
from tests.docker.scenarios.stage import Report, Seen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.docker.engine import PrivateEngine
    from tests.docker.scenarios.table import Scenario

TAIL = 200
RESTARTS = 3
CPU_PERCENT, MEMORY_PERCENT = 80.0, 85.0
WORDS = {
    "oom_killed": r"(?i)out of memory|\boom\b|OutOfMemory",
    "network_error": r"(?i)refused|timed? ?out|timeout|reset by peer|unreachable|no such host|resolve",
    "disk_pressure": r"(?i)no space left|quota|read-only",
    "slow_response": r"(?i)\bslow\b|upstream timed out",
    "log_error": r"(?i)error|exception|fatal|panic|traceback",
}
SEVERITY = {
    "oom_killed": "critical", "restart_loop": "critical", "exit_error": "error", "network_error": "error",
    "disk_pressure": "error", "log_error": "error", "unhealthy": "error",
}  # fmt: skip
RANK = ("healthy", "warning", "error", "critical")


def judge_naively(engine: PrivateEngine, scenarios: Iterable[Scenario]) -> dict[str, Seen]:
    """Read each container once and report by the words of the table of symptoms."""
    usage = _read_usage(engine)
    client = docker.APIClient(base_url=engine.host, version="auto", timeout=60)
    try:
        return {each.id: Seen(_report(client, each.id, usage.get(each.id, (0.0, 0.0)))) for each in scenarios}
    finally:
        client.close()


def _read_usage(engine: PrivateEngine) -> dict[str, tuple[float, float]]:
    shown = engine.docker("stats", "--no-stream", "--format", "{{.Name}} {{.CPUPerc}} {{.MemPerc}}", check=False)
    rows = [line.replace("%", "").split() for line in shown.splitlines()]
    return {row[0]: (float(row[1]), float(row[2])) for row in rows if len(row) == 3 and "--" not in row}


def _report(client: docker.APIClient, name: str, usage: tuple[float, float]) -> Report | None:
    try:
        state: dict[str, Any] = client.inspect_container(name)
    except docker.errors.NotFound:
        return None
    try:
        log = client.logs(name, tail=TAIL).decode("utf-8", "replace")
    except docker.errors.APIError:
        log = ""
    found = set(find_symptoms(state, log, *usage))
    status = max((SEVERITY.get(symptom, "warning") for symptom in found), key=RANK.index, default="healthy")
    symptoms = [{"type": symptom, "severity": SEVERITY.get(symptom, "warning")} for symptom in found]
    return {"status": status, "symptoms": symptoms, "likely_causes": []}


def find_symptoms(container: dict[str, Any], log: str, cpu_percent: float, memory_percent: float) -> list[str]:
    """The symptoms that state, usage and words show when each is taken at its word."""
    state = container["State"]
    signs = {
        "high_cpu": cpu_percent > CPU_PERCENT,
        "high_memory": memory_percent > MEMORY_PERCENT,
        "oom_killed": bool(state["OOMKilled"]) or state["ExitCode"] == 137,
        "restart_loop": container["RestartCount"] >= RESTARTS,
        "exit_error": state["ExitCode"] != 0 and not state["Running"],
        "unhealthy": state.get("Health", {}).get("Status") == "unhealthy",
    }
    said = [symptom for symptom, words in WORDS.items() if re.search(words, log)]
    return sorted({*said, *(symptom for symptom, is_there in signs.items() if is_there)})
