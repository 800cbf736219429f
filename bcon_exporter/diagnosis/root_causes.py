"""Follows causes from container to container to the root, so that each trouble is reported once."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from bcon_exporter.model.reports import DiagnosisReport, RootCause

_NOT_SURE: Mapping[str, float] = MappingProxyType({})


def find_roots(points_to: Mapping[str, str], sureness: Mapping[str, float] = _NOT_SURE) -> dict[str, str]:
    """Find the root of each container: the end of the chain of causes that starts there.

    Args:
        points_to: Full id → full id of the container that its likeliest cause points to.
        sureness: Full id → how sure that cause is. A circle is cut where it is least sure.

    Returns:
        Full id → full id of the last one. Containers that blame each other in a circle, equally surely, have no root.
    """
    points_to = _without_weakest(points_to, sureness)
    roots = {}
    for start in points_to:
        seen, current = {start}, points_to[start]
        while current in points_to and current not in seen:
            seen.add(current)
            current = points_to[current]
        if current not in seen:
            roots[start] = current
    return roots


def _without_weakest(points_to: Mapping[str, str], sureness: Mapping[str, float]) -> Mapping[str, str]:
    """Return the links without the weakest one of each circle, where one is weaker than all others."""
    cut: set[str] = set()
    for start in points_to:
        circle, current = [start], points_to[start]
        while current in points_to and current not in circle:
            circle.append(current)
            current = points_to[current]
        if current != start:
            continue
        by_sureness = sorted(circle, key=lambda container_id: sureness.get(container_id, 0.0))
        if len(circle) == 1 or sureness.get(by_sureness[0], 0.0) < sureness.get(by_sureness[1], 0.0):
            cut.add(by_sureness[0])
    return (
        {container_id: cause_id for container_id, cause_id in points_to.items() if container_id not in cut}
        if cut
        else points_to
    )


def group_names_by_root(roots: Mapping[str, str], names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Map the full id of each root to the sorted names of the containers whose trouble it explains."""
    names_by_root: dict[str, list[str]] = {}
    for container_id, root in roots.items():
        names_by_root.setdefault(root, []).append(names.get(container_id, container_id[:12]))
    return {root: tuple(sorted(explained)) for root, explained in names_by_root.items()}


def build_root_causes(
    explained: Mapping[str, Sequence[str]],
    reports: Mapping[str, DiagnosisReport],
    issues: Mapping[str, str | None],
    names: Mapping[str, str],
) -> tuple[RootCause, ...]:
    """Make one entry for each root, the one that explains most first.

    Args:
        explained: Full id of each root → names of those that it explains.
        reports: Of every judged container, by full id.
        issues: Its own worst symptom in one line, by full id; None where nothing is wrong with it.
        names: Of every container, by full id.
    """
    causes = [
        RootCause(
            container_id=root[:12],
            container_name=names.get(root, root[:12]),
            status=reports[root].status if root in reports else None,
            issue=issues.get(root) if root in reports else None,
            explains=tuple(others),
        )
        for root, others in explained.items()
    ]
    return tuple(sorted(causes, key=lambda cause: (-len(cause.explains), cause.container_name)))
