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
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.desired import DesiredProject
from bcon_exporter.model.findings import DriftType, ServiceDrift, Severity
from bcon_exporter.model.quantities import show_count
from bcon_exporter.model.reports import DriftReport, DriftStatus, ServiceReplicas
from bcon_exporter.model.rule_faults import describe_fault


def detect_drift(
    project: DesiredProject, snapshot: HostSnapshot | HostIndex, ignore: tuple[IgnoreRule, ...] = ()
) -> DriftReport:
    """Compare what a project's files ask for with what runs.

    Args:
        project: The desired state. Where it holds a problem instead of services, the report's status is unknown.
        snapshot: Taken with `config` facts; where they are missing, the status is unknown rather than synced.
        ignore: Differences not to report, in addition to those that the services' labels name. The report counts them.
    """
    host = index_host(snapshot)
    pairing = pair_project(project, host)
    is_resolved = project.services is not None
    drifts, failed_rules = _run_rules(pairing) if is_resolved else ((), {})
    drifts, ignored = drop_ignored(drifts, ignore, pairing)
    differences = tuple(drift for drift in drifts if drift.confidence >= FIRM)
    doubts = tuple(drift for drift in drifts if drift.confidence < FIRM and _depends_on_unset_variable(drift, pairing))
    remarks = tuple(drift for drift in drifts if drift.confidence < FIRM and drift not in doubts)
    unread = _render_unread(pairing)
    status = DriftStatus.SYNCED
    if differences:
        status = DriftStatus.DRIFTED
    elif not is_resolved or unread or failed_rules or doubts:
        status = DriftStatus.UNKNOWN
    untracked = find_untracked(project, host) if is_resolved else ()
    return DriftReport(
        timestamp=host.snapshot.taken_at,
        project_name=project.name,
        compose_file=project.config_files[0] if project.config_files else "",
        compose_files=project.config_files,
        status=status,
        differences=differences,
        doubts=doubts,
        untracked=tuple(sorted(container.name for container in untracked if container.is_running)),
        summary=_render_summary(status, differences, pairing, _render_unknown_reason(project, doubts, unread), ignored),
        services=_count_replicas(pairing),
        unknown_reason=project.problem,
        unknown_detail=_render_detail(project, pairing, unread),
        unresolved=project.unresolved,
        ignored=ignored,
        remarks=(*remarks, *_find_stale_image_labels(pairing)),
        rule_errors=tuple(failed_rules),
        rule_faults={rule.value: fault for rule, fault in failed_rules.items()},
    )


def _run_rules(pairing: ProjectPairing) -> tuple[tuple[ServiceDrift, ...], dict[DriftType, str]]:
    """Return what the rules find, and each rule that raised with what and where."""
    drifts: list[ServiceDrift] = []
    failed_rules: dict[DriftType, str] = {}
    for rule in DRIFT_RULES:
        try:
            drifts += list(rule.find(pairing))
        except Exception as error:  # noqa: BLE001 — one rule's defect must not hide what the others find
            failed_rules[rule.drift_type] = describe_fault(rule.drift_type, error)
    return tuple(drifts), failed_rules


def _render_unread(pairing: ProjectPairing) -> str | None:
    """Return a phrase that names what could not be read and so was not compared; None when everything was read."""
    names = [container.name for pair in pairing.services for container in pair.replicas if container.config is None]
    parts = [f"the configuration of {_join_names(names)}"] if names else []
    parts += [f"the host's {kind}" for kind in find_unread_resources(pairing)]
    return " and ".join(parts) or None


def _depends_on_unset_variable(difference: ServiceDrift, pairing: ProjectPairing) -> bool:
    return any(
        pair.service.name == difference.service_name and difference.field in pair.service.doubtful
        for pair in pairing.services
    )


def _find_stale_image_labels(pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    """Yield the containers whose image is current, but whose image label is old: Watchtower and its like do that."""
    for pair in pairing.services:
        for container in pair.replicas:
            tag_image_id = container.config.image_id_of_tag if container.config else None
            if tag_image_id is None or container.image_id != tag_image_id or not has_stale_image_label(container):
                continue
            yield ServiceDrift(
                service_name=pair.service.name,
                drift_type=DriftType.IMAGE_MISMATCH,
                expected=pair.service.image,
                actual=pair.service.image,
                message=(
                    f"{container.name} runs the tag's own image, but Compose's label on it is of an older one: "
                    "Compose would recreate it."
                ),
                severity=Severity.INFO,
                field="image",
                container_name=container.name,
                outside_compose=True,
                compose_would="recreate",
            )


def _count_replicas(pairing: ProjectPairing) -> tuple[ServiceReplicas, ...]:
    resources_unread = bool(find_unread_resources(pairing))
    return tuple(
        ServiceReplicas(
            service_name=pair.service.name,
            desired=pair.service.replicas,
            running=len(pair.running),
            stop_requested=pair.stop_requested is True,
            unread=resources_unread or any(container.config is None for container in pair.replicas),
        )
        for pair in pairing.services
    )


def _render_detail(project: DesiredProject, pairing: ProjectPairing, unread: str | None) -> str | None:
    parts = [project.problem_detail] if project.problem_detail else []
    if unread:
        parts.append(f"{unread[0].upper()}{unread[1:]} could not be read.")
    if other_directories := _find_other_directories(project, pairing):
        parts.append(f"Containers made from {_join_names(other_directories)} claim this project's name too.")
    return " ".join(parts) or None


def _find_other_directories(project: DesiredProject, pairing: ProjectPairing) -> list[str]:
    """Return the other working directories that containers of this project name claim, sorted."""
    claims = [container.compose for container in pairing.host.containers.get(project.name, ()) if container.compose]
    directories = {
        claim.working_dir for claim in claims if claim.working_dir and claim.working_dir != project.working_dir
    }
    return sorted(directories) if project.working_dir else []


def _render_unknown_reason(project: DesiredProject, doubts: tuple[ServiceDrift, ...], unread: str | None) -> str:
    """Return why the status is unknown."""
    if project.services is None:
        return project.problem_detail or "its files could not be read"
    if unread:
        return f"{unread} could not be read"
    if doubts:
        fields = _join_names([f"{doubt.service_name} {doubt.field}" for doubt in doubts])
        names = _join_names(list(project.unresolved)) or "the home directory of the user who ran `up`"
        return f"no value is known here for {names}, on which hangs: {fields}"
    return "a rule failed"


def _render_summary(
    status: DriftStatus, differences: tuple[ServiceDrift, ...], pairing: ProjectPairing, reason: str, ignored: int
) -> str:
    name, services = pairing.project.name, len(pairing.services)
    aside = f" {show_count(ignored, 'difference')} ignored." if ignored else ""
    if status is DriftStatus.DRIFTED:
        counts = Counter(str(difference.drift_type) for difference in differences)
        listed = ", ".join(f"{count} {drift_type}" for drift_type, count in counts.items())
        affected = len({difference.service_name for difference in differences})
        where = f"{show_count(len(differences), 'difference')} in {show_count(affected, 'service')}"
        return f"{name}: {where}: {listed}.{aside}"
    if status is DriftStatus.UNKNOWN:
        return f"{name}: unknown whether it runs as its files say: {reason.rstrip('.')}.{aside}"
    match services:
        case 0:
            return f"{name}: its files ask for no service."
        case 1:
            return f"{name}: its one service runs as the files say.{aside}"
        case _:
            return f"{name}: all {services} services run as the files say.{aside}"


def _join_names(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")  # noqa: PLR2004 — fits a line
