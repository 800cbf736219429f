"""Runs the drift rules over one project and one snapshot. Pure."""

from collections import Counter
from collections.abc import Iterator

from bcon_exporter.drift.actions import has_stale_image_label
from bcon_exporter.drift.host_index import HostIndex, index_host
from bcon_exporter.drift.ignoring import IgnoreRule, drop_ignored
from bcon_exporter.drift.pairing import ProjectPairing, pair_project
from bcon_exporter.drift.projects import find_untracked
from bcon_exporter.drift.resources import find_unread_resources
from bcon_exporter.drift.rule import FIRM
from bcon_exporter.drift.rules import DRIFT_RULES
from bcon_exporter.model.desired import DesiredProject
from bcon_exporter.model.facts import HostSnapshot
from bcon_exporter.model.findings import DriftType, ServiceDrift, Severity
from bcon_exporter.model.reports import DriftReport, DriftStatus, ServiceReplicas


def detect_drift(
    project: DesiredProject, snapshot: HostSnapshot | HostIndex, ignore: tuple[IgnoreRule, ...] = ()
) -> DriftReport:
    """Compare what a project's files ask for with what runs.

    Args:
        project: The desired state, or the reason why it is unknown: then so is the report's status.
        snapshot: Taken with `config` facts; where they are missing, the status is unknown rather than synced.
        ignore: What not to report, beside what the services' own labels say; counted.
    """
    host = index_host(snapshot)
    pairing = pair_project(project, host)
    known = project.services is not None
    found, failed = _run_rules(pairing) if known else ((), ())
    found, ignored = drop_ignored(found, ignore, pairing)
    differences = tuple(one for one in found if one.confidence >= FIRM)
    doubts = tuple(one for one in found if one.confidence < FIRM and _hangs_on_a_variable(one, pairing))
    remarks = tuple(one for one in found if one.confidence < FIRM and one not in doubts)
    unread = _find_unread(pairing)
    status = DriftStatus.SYNCED
    if differences:
        status = DriftStatus.DRIFTED
    elif not known or unread or failed or doubts:
        status = DriftStatus.UNKNOWN
    untracked = find_untracked(project, host) if known else ()
    return DriftReport(
        timestamp=host.snapshot.taken_at,
        project_name=project.name,
        compose_file=project.config_files[0] if project.config_files else "",
        compose_files=project.config_files,
        status=status,
        differences=differences,
        doubts=doubts,
        untracked=tuple(sorted(one.name for one in untracked if one.is_running)),
        summary=_summary(status, differences, pairing, _reason(project, doubts, unread), ignored),
        services=_replicas(pairing),
        unknown_reason=project.problem,
        unknown_detail=_detail(project, pairing, unread),
        unresolved=project.unresolved,
        ignored=ignored,
        remarks=(*remarks, *_stale_labels(pairing)),
        rule_errors=failed,
    )


def _run_rules(pairing: ProjectPairing) -> tuple[tuple[ServiceDrift, ...], tuple[DriftType, ...]]:
    found: list[ServiceDrift] = []
    failed: list[DriftType] = []
    for rule in DRIFT_RULES:
        try:
            found += list(rule.find(pairing))
        except Exception:  # noqa: BLE001 — one rule's defect must not hide what the others find
            failed.append(rule.drift_type)
    return tuple(found), tuple(failed)


def _find_unread(pairing: ProjectPairing) -> str | None:
    """Return what could not be read and is therefore not compared, in words; None when everything was."""
    names = [one.name for pair in pairing.services for one in pair.replicas if one.config is None]
    parts = [f"the configuration of {_listed(names)}"] if names else []
    parts += [f"the host's {kind}" for kind in find_unread_resources(pairing)]
    return " and ".join(parts) or None


def _hangs_on_a_variable(difference: ServiceDrift, pairing: ProjectPairing) -> bool:
    return any(
        pair.service.name == difference.service_name and difference.field in pair.service.doubtful
        for pair in pairing.services
    )


def _stale_labels(pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    """Yield what an updater like Watchtower leaves: the tag's own image runs, and Compose's note is of the old one."""
    for pair in pairing.services:
        for one in pair.replicas:
            current = one.config.image_id_of_tag if one.config else None
            if current is None or one.image_id != current or not has_stale_image_label(one):
                continue
            yield ServiceDrift(
                service_name=pair.service.name,
                drift_type=DriftType.IMAGE_MISMATCH,
                expected=pair.service.image,
                actual=pair.service.image,
                message=(
                    f"{one.name} runs the tag's own image, but Compose's label on it is of an older one: Compose would "
                    "recreate it."
                ),
                severity=Severity.INFO,
                field="image",
                container_name=one.name,
                outside_compose=True,
                compose_would="recreate",
            )


def _replicas(pairing: ProjectPairing) -> tuple[ServiceReplicas, ...]:
    resources_unread = bool(find_unread_resources(pairing))
    return tuple(
        ServiceReplicas(
            service_name=pair.service.name,
            desired=pair.service.replicas,
            running=len(pair.running),
            stop_requested=pair.stop_requested is True,
            unread=resources_unread or any(one.config is None for one in pair.replicas),
        )
        for pair in pairing.services
    )


def _detail(project: DesiredProject, pairing: ProjectPairing, unread: str | None) -> str | None:
    parts = [project.problem_detail] if project.problem_detail else []
    if unread:
        parts.append(f"{unread[0].upper()}{unread[1:]} could not be read.")
    if others := _find_rivals(project, pairing):
        parts.append(f"Containers made from {_listed(others)} claim this project's name too.")
    return " ".join(parts) or None


def _find_rivals(project: DesiredProject, pairing: ProjectPairing) -> list[str]:
    """Return the other directories from which containers of this project's name were made: labels are claims."""
    claims = [one.compose for one in pairing.host.containers.get(project.name, ()) if one.compose]
    found = {claim.working_dir for claim in claims if claim.working_dir and claim.working_dir != project.working_dir}
    return sorted(found) if project.working_dir else []


def _reason(project: DesiredProject, doubts: tuple[ServiceDrift, ...], unread: str | None) -> str:
    """Return why the status is unknown."""
    if project.services is None:
        return project.problem_detail or "its files could not be read"
    if unread:
        return f"{unread} could not be read"
    if doubts:
        fields = _listed([f"{one.service_name} {one.field}" for one in doubts])
        names = _listed(list(project.unresolved)) or "the home directory of the user who ran `up`"
        return f"no value is known here for {names}, on which hangs: {fields}"
    return "a rule failed"


def _summary(
    status: DriftStatus, differences: tuple[ServiceDrift, ...], pairing: ProjectPairing, reason: str, ignored: int
) -> str:
    name, services = pairing.project.name, len(pairing.services)
    aside = f" {_count(ignored, 'difference')} ignored." if ignored else ""
    if status is DriftStatus.DRIFTED:
        counts = Counter(str(one.drift_type) for one in differences)
        listed = ", ".join(f"{count} {drift}" for drift, count in counts.items())
        affected = len({one.service_name for one in differences})
        return f"{name}: {_count(len(differences), 'difference')} in {_count(affected, 'service')}: {listed}.{aside}"
    if status is DriftStatus.UNKNOWN:
        return f"{name}: unknown whether it runs as its files say: {reason.rstrip('.')}.{aside}"
    match services:
        case 0:
            return f"{name}: its files ask for no service."
        case 1:
            return f"{name}: its one service runs as the files say.{aside}"
        case _:
            return f"{name}: all {services} services run as the files say.{aside}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")  # noqa: PLR2004 — fits a line
