"""Finds the mount of a path in a log line, why it cannot be written (full, read-only, owner), and who shares it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import re2

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.container_lookup import ContainerLookup
from bcon_exporter.diagnosis.finding import Finding, finding_of, quote
from bcon_exporter.diagnosis.signature_hits import Hit
from bcon_exporter.model.container_facts import ContainerFacts, Mount
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.signatures import CauseText

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
    peer = sharing[0].name if len(sharing) == 1 else None
    own_time = disk_full_since.get(container.id)
    reporting = [other for other in sharing if other.id in disk_full_since]
    first = min(reporting, key=lambda other: disk_full_since[other.id], default=None)
    if first is not None and (own_time is None or disk_full_since[first.id] >= own_time):
        first = None
    is_tmpfs = mount.type == "tmpfs"
    if not sharing:
        return [
            _finding(known_cause("volume_full.tmpfs" if is_tmpfs else "volume_full.mount", mount=_named(mount)), hit)
        ]
    cause = known_cause(
        "shared_volume_full.tmpfs" if is_tmpfs else "shared_volume_full",
        mount=_named(mount),
        sharing=_name_sharing(sharing),
        first="" if first is None else f"; {first.name} said so first",
    )
    if first is None:
        return [_finding(cause, hit, peer)]
    return [replace(_finding(cause, hit, first.name), points_to=first.id)]


def _name_sharing(sharing: Sequence[ContainerFacts]) -> str:
    more = len(sharing) - SHOWN_NAMES
    names = ", ".join(container.name for container in sharing[:SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"{names} {'has' if len(sharing) == 1 else 'have'} it mounted too"


def _only_mount(container: ContainerFacts, line: str) -> Mount | None:
    """Return the only writable mount, as a guess where the line names no path."""
    writable = [mount for mount in container.mounts if not mount.read_only]
    return writable[0] if len(writable) == 1 and not _PATH.search(line) else None


def _read_only(hit: Hit, container: ContainerFacts) -> list[Finding]:
    mount = mount_at(container, hit.line)
    if mount is not None and mount.read_only:
        return [_finding(known_cause("mount_read_only", mount=_named(mount)), hit)]
    if mount is None and container.wiring is not None and container.wiring.read_only_root:
        return [_finding(known_cause("mount_read_only.root"), hit)]
    return []


def _forbidden(hit: Hit, container: ContainerFacts) -> list[Finding]:
    mount, user = mount_at(container, hit.line), container.wiring.user if container.wiring is not None else ""
    if mount is None or mount.source == "/var/run/docker.sock" or mount.target.endswith("docker.sock"):
        return []
    if mount.read_only:
        return [_finding(known_cause("mount_read_only.forbidden", mount=_named(mount)), hit)]
    if hit.signature.id == _TO_EXECUTE:
        if mount.type != "tmpfs" or mount.allows_exec:
            return []  # the file's mode, as the signature says
        return [_finding(known_cause("mount_noexec", mount=_named(mount)), hit)]
    if user in _ROOT:
        return [_finding(known_cause("path_forbidden", mount=_named(mount)), hit)]
    return [_finding(known_cause("volume_owner_mismatch", user=user, mount=_named(mount)), hit)]


def _named(mount: Mount) -> str:
    match mount.type:
        case "volume":
            return f"volume {mount.source[:40]} at {mount.target}"
        case "bind":
            return f"directory {mount.source} of the host at {mount.target}"
        case _:
            return f"{mount.type} at {mount.target}"


def _finding(cause: CauseText, hit: Hit, peer: str | None = None) -> Finding:
    return finding_of(cause, (quote(hit.line),), (hit.signature.symptom, SymptomType.LOG_ERROR), peer)
