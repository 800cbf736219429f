"""config_mismatch: a field of a container is not what the files and its image ask for.

The config hash is the backstop: it is explained by a field where one differs, and reported alone, not quite sure, only
where none does (docker/compose#14001, #10907: hashes have had bugs). Two versions of Compose may hash differently.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from bcon_exporter.drift.actions import compare_hash, find_action
from bcon_exporter.drift.fields import FieldDifference, compare_fields, find_engine_choices, is_usual
from bcon_exporter.drift.images import has_other_image
from bcon_exporter.drift.pairing import ProjectPairing, ServicePairing
from bcon_exporter.drift.resources import find_changed_resources
from bcon_exporter.drift.rule import LIKELY, LOW_CONFIDENCE, DriftRule, confidence_of_doubt
from bcon_exporter.drift.wording import hide_counterparts, say_difference, say_dropped, say_value
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.findings import ComposeAction, DriftType, ServiceDrift, Severity


@dataclass(frozen=True)
class _Seen:
    difference: FieldDifference
    outside_compose: bool
    action: ComposeAction | None
    confidence: float


def _find(pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    for pair in pairing.services:
        yield from _service_drifts(pair, pairing)
    yield from find_changed_resources(pairing)


def _service_drifts(pair: ServicePairing, pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    """Compare every replica; the same difference on several replicas is one item."""
    seen: dict[_Seen, list[str]] = {}
    unexplained: dict[float, list[str]] = {}
    for container in pair.replicas:
        if container.config is None:
            continue
        found = compare_fields(pair.service, container, container.config, pairing)
        same_hash = compare_hash(pair.service, container, pairing)
        dropped = [one for one in found if one.dropped and same_hash is True]
        strong = [one for one in found if not one.weak and one not in dropped]
        explained = strong or has_other_image(pair.service, container)
        shown = (
            strong
            if explained or same_hash is not False
            else [one for one in found if not is_usual(one, pair.service, pairing)]
        )
        action = find_action(pair.service, container, shown, pairing)
        shown = shown or dropped
        for difference, hidden in zip(shown, hide_counterparts(shown), strict=True):
            confidence = _confidence(difference, pair, container, pairing)
            outside = same_hash is True and difference.path not in pair.service.unhashed
            seen.setdefault(_Seen(hidden, outside, action, confidence), []).append(container.name)
        if same_hash is False and not explained and not shown:
            unexplained.setdefault(_confidence_of_hash(container, pairing), []).append(container.name)
    for one, names in seen.items():
        yield _field_drift(pair, one, names)
    for confidence, names in unexplained.items():
        yield _hash_drift(pair, names, confidence)


def _confidence(
    difference: FieldDifference, pair: ServicePairing, container: ContainerFacts, pairing: ProjectPairing
) -> float:
    if difference.path in pair.service.doubtful:
        return confidence_of_doubt(pairing.project)
    if difference.dropped and compare_hash(pair.service, container, pairing) is True:
        return LOW_CONFIDENCE
    return _confidence_of_hash(container, pairing) if difference.weak else 1.0


def _confidence_of_hash(container: ContainerFacts, pairing: ProjectPairing) -> float:
    version = container.compose.version if container.compose else None
    return LIKELY if version == pairing.project.compose_version else LOW_CONFIDENCE


def _field_drift(pair: ServicePairing, seen: _Seen, names: list[str]) -> ServiceDrift:
    difference = seen.difference
    dropped = seen.outside_compose and difference.dropped
    return ServiceDrift(
        service_name=pair.service.name,
        drift_type=DriftType.CONFIG_MISMATCH,
        expected=say_value(difference.path, difference.expected, difference.actual),
        actual=say_value(difference.path, difference.actual, difference.expected),
        message=say_dropped(difference, names)
        if dropped
        else say_difference(difference, names, outside_compose=seen.outside_compose),
        severity=Severity.INFO if seen.confidence < 1 else Severity.WARNING,
        field=difference.path,
        container_name=names[0],
        outside_compose=seen.outside_compose and not dropped,
        compose_would=seen.action,
        confidence=seen.confidence,
    )


def _hash_drift(pair: ServicePairing, names: list[str], confidence: float) -> ServiceDrift:
    where = names[0] if len(names) == 1 else f"{len(names)} containers"
    return ServiceDrift(
        service_name=pair.service.name,
        drift_type=DriftType.CONFIG_MISMATCH,
        expected="the config hash of the file",
        actual="another config hash",
        message=(
            f"Compose would recreate {where}: the config hash is not the file's, though every compared field is the "
            f"same. {_say_unseen(pair)}"
        ),
        severity=Severity.INFO,
        container_name=names[0],
        compose_would="recreate",
        confidence=confidence,
    )


def _say_unseen(pair: ServicePairing) -> str:
    names = (*pair.service.unseen, *find_engine_choices(pair.service))
    if not names:
        return "The file may say the same in another way."
    return f"It may be in what a container does not tell: {', '.join(names)}."


CONFIG_MISMATCH = DriftRule(DriftType.CONFIG_MISMATCH, "docs/drift.md, Decisions", _find)
