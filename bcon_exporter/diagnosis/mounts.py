"""Finds the mount of a path in a log line, why it cannot be written (full, read-only, owner), and who shares it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import re2

from bcon_exporter.diagnosis.container_lookup import ContainerLookup
from bcon_exporter.diagnosis.finding import Finding, quote
from bcon_exporter.diagnosis.signature_hits import Hit
from bcon_exporter.model.container_facts import ContainerFacts, Mount
from bcon_exporter.model.findings import LikelyCause, SymptomType, Urgency
from bcon_exporter.model.signatures import SuggestionText

_PATH = re2.compile(r"(?:^|[^\w:/.-])((?:/[\w@%+=.-]+)+)")
_FULL, _READ_ONLY = "disk_full", "disk_readonly"
_TO_EXECUTE = "permission_to_execute"
_ABOUT_FILES = ("permission_denied", "permission_data_owner", _TO_EXECUTE)
"""EACCES of a path: an operation that is refused (EPERM), a port or a right in a database is no matter of mounts."""
_ROOT = ("", "0", "root", "0:0", "root:root")
SHOWN_NAMES = 3


def find_mount_causes(
    hits: Sequence[Hit], container: ContainerFacts, lookup: ContainerLookup, disk_full_since: Mapping[str, datetime]
) -> list[Finding]:
    """Find causes in the mounts for full, read-only and forbidden paths that the log names.

    Args:
        hits: Signatures in its log.
        container: Whose mounts these are.
        lookup: Who may share them.
        disk_full_since: When each container first said that it cannot write for want of space, by full id.
    """
    findings = []
    for hit in hits:
        if hit.signature.id.startswith(_FULL):
            findings += _full(hit, container, lookup, disk_full_since)
        elif hit.signature.id.startswith(_READ_ONLY):
            findings += _read_only(hit, container)
        elif hit.signature.id in _ABOUT_FILES:
            findings += _forbidden(hit, container)
    return findings


def mount_at(container: ContainerFacts, line: str) -> Mount | None:
    """Return the mount that holds a path of the line; the deepest where mounts are nested."""
    for match in _PATH.finditer(line):
        path = match.group(1).rstrip(".")
        under = [
            mount
            for mount in container.mounts
            if path == mount.target or path.startswith(mount.target.rstrip("/") + "/")
        ]
        if under:
            return max(under, key=lambda mount: len(mount.target))
    return None


def _full(
    hit: Hit, container: ContainerFacts, lookup: ContainerLookup, disk_full_since: Mapping[str, datetime]
) -> list[Finding]:
    mount = mount_at(container, hit.line) or _only_mount(container, hit.line)
    if mount is None:
        return []
    sharing = lookup.sharing_mount(mount.source, container) if mount.source else ()
    text = f"The {_named(mount)} is full: no space or no inodes are left"
    if sharing:
        more = len(sharing) - SHOWN_NAMES
        names = ", ".join(container.name for container in sharing[:SHOWN_NAMES]) + (
            f" and {more} more" if more > 0 else ""
        )
        text += f"; {names} {'has' if len(sharing) == 1 else 'have'} it mounted too"
    peer = sharing[0].name if len(sharing) == 1 else None
    own_time = disk_full_since.get(container.id)
    reporting = [other for other in sharing if other.id in disk_full_since]
    first = min(reporting, key=lambda other: disk_full_since[other.id], default=None)
    if first is not None and (own_time is None or disk_full_since[first.id] >= own_time):
        first = None
    if first is not None:
        text += f"; {first.name} said so first"
        peer = first.name
    suggestion = _ENLARGE_TMPFS if mount.type == "tmpfs" else _FREE_SHARED if sharing else _FREE
    findings = [_finding("shared_volume_full" if sharing else "volume_full", f"{text}.", 0.9, hit, suggestion, peer)]
    return [replace(finding, points_to=first.id) for finding in findings] if first is not None else findings


def _only_mount(container: ContainerFacts, line: str) -> Mount | None:
    """Return the only writable mount, as a guess where the line names no path."""
    writable = [mount for mount in container.mounts if not mount.read_only]
    return writable[0] if len(writable) == 1 and not _PATH.search(line) else None


def _read_only(hit: Hit, container: ContainerFacts) -> list[Finding]:
    mount = mount_at(container, hit.line)
    if mount is not None and mount.read_only:
        return [_finding("mount_read_only", f"The {_named(mount)} is mounted read-only.", 0.92, hit, _READ_WRITE)]
    if mount is None and container.wiring is not None and container.wiring.read_only_root:
        text = "Its own file system is read-only (read_only), and no mount lies at the path that it writes to."
        return [_finding("mount_read_only", text, 0.9, hit, _TMPFS_FOR_ROOT)]
    return []


def _forbidden(hit: Hit, container: ContainerFacts) -> list[Finding]:
    mount, user = mount_at(container, hit.line), container.wiring.user if container.wiring is not None else ""
    if mount is None or mount.source == "/var/run/docker.sock" or mount.target.endswith("docker.sock"):
        return []
    if mount.read_only:
        return [_finding("mount_read_only", f"The {_named(mount)} is mounted read-only.", 0.85, hit, _READ_WRITE)]
    if hit.signature.id == _TO_EXECUTE:
        if mount.type != "tmpfs":
            return []  # the file's mode, as the signature says
        text = f"The {_named(mount)} is mounted noexec, as Docker does unless it is told to exec."
        return [_finding("mount_noexec", text, 0.92, hit, _ALLOW_EXECUTION)]
    if user in _ROOT:
        text = f"The {_named(mount)} refuses even root: its file system, a dropped capability or a security module."
        return [_finding("path_forbidden", text, 0.8, hit, _LOOK_AT_MOUNT)]
    text = f"User {user} may not use the {_named(mount)}: it belongs to another user, or its mode does not allow it."
    return [_finding("volume_owner_mismatch", text, 0.92, hit, _CHANGE_OWNER)]


def _named(mount: Mount) -> str:
    match mount.type:
        case "volume":
            return f"volume {mount.source[:40]} at {mount.target}"
        case "bind":
            return f"directory {mount.source} of the host at {mount.target}"
        case _:
            return f"{mount.type} at {mount.target}"


def _finding(
    name: str, text: str, confidence: float, hit: Hit, suggestion: SuggestionText, peer: str | None = None
) -> Finding:
    cause = LikelyCause(
        id=name,
        description=text,
        confidence=confidence,
        evidence=(quote(hit.line),),
        related_symptoms=(hit.signature.symptom, SymptomType.LOG_ERROR),
        peer=peer,
    )
    return Finding(cause, (suggestion,))


_FREE = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Free space on the volume, or enlarge the file system that it lies on.",
    rationale="Writes fail until there is space; databases may stop or lose data.",
    check="docker system df -v",
)
_FREE_SHARED = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Find which of the containers that share the volume fills it, and free space.",
    rationale="All that write there fail together, whoever filled it.",
    check="docker system df -v",
)
_ENLARGE_TMPFS = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Enlarge the tmpfs (its size option), or write less there.",
    rationale="A tmpfs lives in memory and is as large as it was configured; it counts against the memory limit.",
    check="docker inspect -f '{{json .HostConfig.Tmpfs}} {{json .HostConfig.Mounts}}' {name}",
)
_READ_WRITE = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Mount it writable if the program must write there; else point the program elsewhere.",
    rationale="The mount is configured read-only (ro).",
    check="docker inspect -f '{{range .Mounts}}{{.Destination}} rw={{.RW}} {{end}}' {name}",
)
_TMPFS_FOR_ROOT = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Give it a volume or a tmpfs at the path that it writes to.",
    rationale="With read_only everything outside of mounts is refused.",
    check="docker inspect -f '{{.HostConfig.ReadonlyRootfs}}' {name}",
)
_ALLOW_EXECUTION = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Let the tmpfs execute (`tmpfs: /run:exec`), or have the program write its executables elsewhere.",
    rationale="Docker mounts a tmpfs noexec, nosuid and nodev; then nobody may execute there, not even root.",
    check="docker inspect -f '{{json .HostConfig.Tmpfs}} {{json .HostConfig.Mounts}}' {name}",
)
_LOOK_AT_MOUNT = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Look at dropped capabilities, user namespaces, SELinux labels (:z), on NFS or CIFS the server's rights.",
    rationale="Owners and modes do not stop root; one of these does.",
    check="docker inspect -f '{{.HostConfig.CapDrop}} {{.HostConfig.UsernsMode}} {{json .Mounts}}' {name}",
)
_CHANGE_OWNER = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Give the directory to the user that the container runs as, or run it as the directory's owner.",
    rationale="The kernel compares numeric user ids; names inside the image mean nothing on the host.",
    check="docker inspect -f '{{.Config.User}} {{range .Mounts}}{{.Source}}:{{.Destination}} {{end}}' {name}",
)


CAUSES = {
    "mount_noexec": "a file on a tmpfs that may not be executed, which Docker mounts so by default",
    "volume_owner_mismatch": "a path on a mount that the container's user, who is not root, may not use",
    "shared_volume_full": "a full volume that other containers write to as well",
}
"""Cause id → when it is given, for the docs."""
