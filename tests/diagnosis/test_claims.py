"""Every claim of docs/development/claims.md is made in its places only, with its fact, and without it is not made."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.catalogue.causes import load_causes
from bcon_exporter.diagnosis import analyze, lines_of
from bcon_exporter.model.container_facts import ContainerFacts, Mount
from bcon_exporter.model.findings import tell_origin
from bcon_exporter.model.wiring import Wiring
from tests.architecture.sources import ROOT
from tests.diagnosis.judging import diagnose
from tests.factories import ago, ended, exited, lifecycle, logs

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = ROOT / "bcon_exporter"
PAGE = ROOT / "docs/development/claims.md"
NEVER = re.compile(r"(?<!who )sent SIG(?:KILL|TERM)|bug in native code")
MOUNT_OWNER = re.compile(r"(?:mount|volume) belongs|belongs to another user")


def read_table() -> dict[str, set[str]]:
    """Claim → files that may make it."""
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", PAGE.read_text(), re.MULTILINE)
    return {claim: set(re.findall(r"`([^`]+)`", places)) for claim, places in rows}


def find_sentences() -> Iterator[tuple[str, str]]:
    """Yield place and text of every string of the code that is no docstring, of the catalogue and of the pages."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                yield path.relative_to(PACKAGE).as_posix(), node.value
    for signature in load_catalogue().signatures:
        texts = [cause.text for cause in signature.causes] + [step.action for step in signature.suggestions]
        yield from (("catalogue", text) for text in [signature.explanation, *texts])
    by_signatures = {cause.text for signature in load_catalogue().signatures for cause in signature.causes}
    for name, said in load_causes().texts.items():
        if said.text not in by_signatures:
            yield f"causes/{name}", " ".join((said.text, *(f"{step.action} {step.rationale}" for step in said.steps)))
    for template in sorted(PACKAGE.rglob("*.html")):
        yield template.relative_to(PACKAGE).as_posix(), template.read_text()


def test_each_claim_is_made_in_its_places_only() -> None:
    sentences = list(find_sentences())
    table = read_table()
    lowered = [(file, text.lower()) for file, text in sentences]
    made = {claim: {file for file, text in lowered if claim.lower() in text} for claim in table}
    assert len(table) > 5
    assert made == table
    assert [text for _, text in sentences if NEVER.search(text)] == []


def exit_sentence(facts: ContainerFacts) -> str:
    """What is said of an end."""
    return " ".join(symptom.description for symptom in diagnose(facts).symptoms if symptom.type == "exit_error")


SEEN = lifecycle(exits=(ended(3, at=ago(60)),))
KILLED = lifecycle(exits=(ended(137, at=ago(60), killed=True),))
REFUSED = "network n29 not found"
ENDS: dict[str, tuple[ContainerFacts, str, str]] = {
    "an end whose events were seen": (exited(3, finished_at=ago(60), lifecycle=SEEN), "nobody asked it to", "no event"),
    "an end that no event told of": (
        exited(3, finished_at=ago(60), lifecycle=None),
        "no event tells whether",
        "nobody asked",
    ),
    "a kill that was seen": (exited(137, finished_at=ago(60), lifecycle=KILLED), "somebody killed it", "nobody asked"),
    "137 of which nothing is known": (
        exited(137, finished_at=ago(60), lifecycle=None),
        "it is not known whether",
        "killed it",
    ),
    "137, and a start that was refused since": (
        exited(137, finished_at=ago(60), lifecycle=None, error=REFUSED),
        "it is not known whether",
        "nobody asked",
    ),
    "a start that was refused": (
        exited(127, finished_at=ago(60), lifecycle=None, error=REFUSED),
        "no event tells whether",
        "nobody asked",
    ),
}
"""Facts → what is said, and what is not."""


def test_who_ended_a_container_is_said_as_far_as_events_tell() -> None:
    sentences = {name: exit_sentence(facts) for name, (facts, _, _) in ENDS.items()}
    wrong = {
        name: sentence
        for name, sentence in sentences.items()
        if ENDS[name][1] not in sentence or ENDS[name][2] in sentence
    }
    assert wrong == {}


def test_only_what_can_be_changed_on_a_container_was_changed_behind_compose() -> None:
    changed = ("mem_limit", "restart", "networks.bridge", "image", "container_name")
    others = ("volumes./a.propagation", "environment.A", "command", None)
    assert {"behind Compose" in tell_origin(path) for path in changed} == {True}
    assert {"behind Compose" in tell_origin(path) for path in others} == {False}


DENIALS: dict[str, str] = {
    "Error initializing core: Failed to lock memory: cannot allocate memory": "IPC_LOCK",
    'NewUserspaceEngine(tun "tailscale0") error: tstun.New("tailscale0"): operation not permitted': "NET_ADMIN",
    "Failed to move to new namespace: PID namespaces supported, but failed: errno = Operation not permitted": "seccomp",
    "/bin/sh: /entrypoint.sh: Permission denied": "execute bit",
    "ERROR Cookie file /var/lib/x must be accessible by owner only": "mode",
    "chown: changing ownership of '/data': Operation not permitted": "CHOWN",
    "ERROR prctl failed: Operation not permitted": "capability",
    "PermissionError: [Errno 13] Permission denied: '/data/db'": "owner or mode",
}
"""Line → what its first cause names."""


def test_a_refusal_in_a_log_alone_names_its_kind_and_no_mounts_owner() -> None:
    causes = {
        line: [cause.description for cause in analyze(lines_of([line]), load_catalogue()).causes] for line in DENIALS
    }
    assert {line: texts for line, texts in causes.items() if not texts or DENIALS[line] not in texts[0]} == {}
    assert [text for texts in causes.values() for text in texts if MOUNT_OWNER.search(text)] == []


TMPFS = Mount(type="tmpfs", source="", target="/run")
WITH_EXEC, BIND = TMPFS.model_copy(update={"allows_exec": True}), Mount(type="bind", source="/srv/d", target="/data")
REFUSALS: dict[str, tuple[str, Mount | None, str, str]] = {
    "executed on a tmpfs": ("sh: exec: line 1: /run/init: Permission denied", TMPFS, "", "mount_noexec"),
    "executed on a tmpfs that allows it": (
        "sh: exec: line 1: /run/init: Permission denied",
        WITH_EXEC,
        "",
        "command_not_executable",
    ),
    "executed elsewhere": ("/bin/sh: /data/run.sh: Permission denied", BIND, "", "command_not_executable"),
    "a user's path on a mount": ("open /data/x: permission denied", BIND, "1000", "volume_owner_mismatch"),
    "root's path on a mount": ("open /data/x: permission denied", BIND, "", "path_forbidden"),
    "a path on no mount": ("open /data/x: permission denied", None, "1000", "path_forbidden"),
    "an operation beside a mount": ("ERROR ioctl /data/x: Operation not permitted", BIND, "1000", "capability_missing"),
}
"""Line, mount, user → first cause."""


def test_a_mounts_owner_is_named_only_where_a_mount_and_a_user_are_known() -> None:
    first = {}
    for name, (line, mount, user, _) in REFUSALS.items():
        mounts = () if mount is None else (mount,)
        facts = exited(1, finished_at=ago(60), logs=logs(line), mounts=mounts, wiring=Wiring(user=user))
        first[name] = diagnose(facts).likely_causes[0].id
    assert first == {name: expected for name, (_, _, _, expected) in REFUSALS.items()}
