"""As little of a snapshot as a report of a wrong diagnosis needs: what that diagnosis is made of."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bcon_exporter.errors import ContainerNotFoundError, InvalidInputError
from bcon_exporter.incidents.titles import list_names
from bcon_exporter.model.container_facts import (
    ContainerFacts,
    DiskFacts,
    EngineFacts,
    HostSnapshot,
    NetworkFacts,
    VolumeFacts,
)
from bcon_exporter.model.quantities import show_count, show_size
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.tools.replay import find_container

HOST_NAME = "host"
"""What the engine's own name is replaced by."""
_READ_LABELS = ("bcon.", "com.docker.swarm.", "com.docker.stack.", "io.kubernetes.pod.name")
"""Labels that the diagnosis reads begin so; what Compose's say stands in a field of its own."""
R = TypeVar("R", NetworkFacts, VolumeFacts)
Diagnose = Callable[[HostSnapshot], tuple[DiagnosisReport, ...]]


@dataclass(frozen=True, slots=True)
class ReportSnapshot:
    """What to publish.

    Attributes:
        subjects: Names of the containers that the report is about.
        differing: Those of `subjects` of which the diagnosis says something else than it does of the whole host.
    """

    snapshot: HostSnapshot
    subjects: tuple[str, ...]
    differing: tuple[str, ...]


def reduce_for_report(snapshot: HostSnapshot, diagnose: Diagnose, about: str | None = None) -> ReportSnapshot:
    """Return the smallest of two parts of a snapshot that says the same: some containers, or else all.

    Args:
        snapshot: Of the whole host.
        diagnose: Returns the report of every container of a snapshot.
        about: A container or a Compose project; None for all that ail and all of which that is not known.

    Raises:
        InvalidInputError: Nothing ails, and nothing is named; or what is named is left out of the diagnosis.
        ContainerNotFoundError: There is neither a container nor a project of that name.
    """
    reports = {report.container_id: report for report in diagnose(snapshot)}
    chosen = _choose(snapshot, reports, about)
    subjects = [report for report in reports.values() if _is_among(report.container_id, chosen)]
    if not subjects:
        msg = f"{about} is left out of the diagnosis by a filter or by its label bcon.ignore"
        raise InvalidInputError(msg, {"name": about})
    part = _take_part(snapshot, diagnose, subjects, _add_related(snapshot, subjects, chosen))
    if not part.differing:
        return part
    return _take_part(snapshot, diagnose, subjects, {container.id for container in snapshot.containers})


def _take_part(
    snapshot: HostSnapshot, diagnose: Diagnose, subjects: Sequence[DiagnosisReport], kept: set[str]
) -> ReportSnapshot:
    """Return the stripped snapshot of some containers, with what its diagnosis says else of the subjects."""
    reduced = _strip(snapshot, kept)
    said = {report.container_id: report for report in diagnose(reduced)}
    differing = tuple(report.container_name for report in subjects if said.get(report.container_id) != report)
    return ReportSnapshot(reduced, tuple(report.container_name for report in subjects), differing)


def _is_among(short_id: str, ids: Iterable[str]) -> bool:
    return any(full.startswith(short_id) for full in ids)


def _choose(snapshot: HostSnapshot, reports: dict[str, DiagnosisReport], about: str | None) -> set[str]:
    """Return the full ids of the containers that the report is about."""
    if about is None:
        ailing = [
            report.container_id for report in reports.values() if report.status != "healthy" or report.is_unchecked
        ]
        if not ailing:
            msg = "nothing is wrong here by the diagnosis; name the container or project that the report is about"
            raise InvalidInputError(msg, {})
        return {container.id for container in snapshot.containers if container.id.startswith(tuple(ailing))}
    try:
        return {find_container(snapshot, about).id}
    except ContainerNotFoundError:
        members = {container.id for container in snapshot.containers if _project_of(container) == about}
        if not members:
            raise
        return members


def _add_related(snapshot: HostSnapshot, subjects: Iterable[DiagnosisReport], chosen: set[str]) -> set[str]:
    """Return the ids with those of the same projects, and of the containers that the reports name."""
    projects = {_project_of(container) for container in snapshot.containers if container.id in chosen} - {None}
    names = {name for report in subjects for name in (report.root, *report.explains) if name is not None}
    names |= {cause.peer for report in subjects for cause in report.likely_causes if cause.peer is not None}
    related = {
        container.id
        for container in snapshot.containers
        if container.name in names or _project_of(container) in projects
    }
    return chosen | related


def _project_of(container: ContainerFacts) -> str | None:
    return container.compose.project if container.compose is not None else None


def _strip(snapshot: HostSnapshot, kept: set[str]) -> HostSnapshot:
    """Return a snapshot of some containers, without what no diagnosis reads."""
    containers = [container for container in snapshot.containers if container.id in kept]
    projects = set(map(_project_of, containers)) - {None}
    networks = {network.name for container in containers for network in container.networks}
    volumes = {mount.source for container in containers for mount in container.mounts}
    return snapshot.model_copy(
        update={
            "engine": _strip_engine(snapshot.engine),
            "containers": tuple(map(_strip_container, containers)),
            "networks": _only(snapshot.networks, networks),
            "volumes": _only(snapshot.volumes, volumes),
            "disks": _disks_of(snapshot, {name for container in containers for name in (container.id, container.name)}),
            "incomplete": _among(snapshot.incomplete, kept),
            "desired": None,
            "partial": snapshot.partial or len(containers) < len(snapshot.containers),
            "failed_runs": tuple(run for run in snapshot.failed_runs if run.project in projects),
        }
    )


def _disks_of(snapshot: HostSnapshot, containers: set[str]) -> tuple[DiskFacts, ...] | None:
    """Return the disks, but for those that only other containers write to; None stays unknown."""
    if snapshot.disks is None:
        return None
    own = (disk.model_copy(update={"containers": _among(disk.containers, containers)}) for disk in snapshot.disks)
    return tuple(
        disk for disk, before in zip(own, snapshot.disks, strict=True) if disk.containers or not before.containers
    )


def _among(names: Iterable[str], kept: set[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in kept)


def _only(resources: tuple[R, ...] | None, names: set[str]) -> tuple[R, ...] | None:
    """Return the networks or volumes of these names, without their labels; None stays unknown."""
    if resources is None:
        return None
    return tuple(resource.model_copy(update={"labels": {}}) for resource in resources if resource.name in names)


def _strip_engine(engine: EngineFacts | None) -> EngineFacts | None:
    return None if engine is None else engine.model_copy(update={"name": HOST_NAME, "id": None})


def _strip_container(container: ContainerFacts) -> ContainerFacts:
    """Return a container without foreign labels, without its configuration, and without paths of Compose files."""
    paths = {"config_files": (), "working_dir": None, "environment_files": ()}
    labels = {name: value for name, value in container.labels.items() if name.startswith(_READ_LABELS)}
    compose, config = container.compose, container.config
    return container.model_copy(
        update={
            "labels": labels,
            "compose": None if compose is None else compose.model_copy(update=paths),
            "config": None if config is None else config.model_copy(update={"fields": {}, "image_fields": None}),
        }
    )


def tell_report(report: ReportSnapshot, total: int, size_bytes: int) -> tuple[str, ...]:
    """Return what whoever publishes it must know: how much it is, whether it says the same, what stands in it."""
    part = f"{len(report.snapshot.containers)} of {show_count(total, 'container')}, {show_size(size_bytes)}"
    about = list_names(report.subjects)
    if report.differing:
        said = f"The diagnosis says something else of {list_names(report.differing)} than with the whole host at hand"
    else:
        said = "The diagnosis says the same as with the whole host at hand"
    return (
        f"{part}; about {about}. {said}.",
        "Left out are the engine's name, environment, configuration, Compose files; known kinds of secrets are masked.",
        "All else is as it was: names, images, addresses, mounts, log lines. Read it before you publish it.",
    )
