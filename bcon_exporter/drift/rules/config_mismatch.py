"""config_mismatch: a field of a container is not what the files and its image ask for.

A different config hash is reported by itself, with low confidence, only where no compared field differs
(docker/compose#14001, #10907: hashes have had bugs). Two versions of Compose may hash differently.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bcon_exporter.drift.actions import compare_hash, find_action
from bcon_exporter.drift.fields import FieldDifference, compare_fields, find_engine_choices, is_engine_default
from bcon_exporter.drift.images import has_other_image
from bcon_exporter.drift.pairing import ProjectPairing, ServicePairing
from bcon_exporter.drift.resources import find_changed_resources
from bcon_exporter.drift.rule import LIKELY, LOW_CONFIDENCE, DriftRule, confidence_of_doubt
from bcon_exporter.drift.wording import mask_counterparts, render_difference, render_dropped, render_value
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.desired import DesiredService
from bcon_exporter.model.findings import ComposeAction, DriftType, ServiceDrift, Severity


@dataclass(frozen=True)
class _Finding:
    difference: FieldDifference
    outside_compose: bool
    action: ComposeAction | None
    confidence: float


def _find(pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    for pair in pairing.services:
        yield from _service_drifts(pair, pairing)
    yield from find_changed_resources(pairing)


def _service_drifts(pair: ServicePairing, pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    """Compare every replica; the same difference on several replicas is reported once."""
    findings: dict[_Finding, list[str]] = {}
    unexplained: dict[float, list[str]] = {}
    dropped: dict[str, None] = {}
    for container in pair.replicas:
        if container.config is None:
            continue
        differences = compare_fields(pair.service, container, container.config, pairing)
        same_hash = compare_hash(pair.service, container, pairing.project.compose_version)
        unsupported = [difference for difference in differences if difference.dropped and same_hash is True]
        strong = [difference for difference in differences if not difference.weak and difference not in unsupported]
        explained = strong or has_other_image(pair.service, container)
        reported = (
            strong
            if explained or same_hash is not False
            else _find_possible_reasons(differences, pair.service, pairing)
        )
        action = find_action(pair.service, container, reported, pairing)
        reported = reported or unsupported
        for difference, masked in zip(reported, mask_counterparts(reported), strict=True):
            confidence = _confidence(difference, pair, container, pairing)
            outside = same_hash is True and difference.path not in pair.service.unhashed
            findings.setdefault(_Finding(masked, outside, action, confidence), []).append(container.name)
        if same_hash is False and not explained and not reported:
            unexplained.setdefault(_confidence_of_hash(container, pairing), []).append(container.name)
            dropped |= dict.fromkeys(difference.path for difference in differences if difference.dropped)
    for finding, names in findings.items():
        yield _field_drift(pair, finding, names)
    for confidence, names in unexplained.items():
        yield _hash_drift(pair, names, confidence, tuple(dropped))


def _find_possible_reasons(
    differences: Iterable[FieldDifference], service: DesiredService, pairing: ProjectPairing
) -> list[FieldDifference]:
    """Return what may be why a hash differs, where nothing differs for sure.

    What the engine drops is missing before and after an edit: beside a declared key that no container shows it proves
    nothing.
    """
    possible = [difference for difference in differences if not is_engine_default(difference, service, pairing)]
    return [difference for difference in possible if not difference.dropped] if service.unseen else possible


def _confidence(
    difference: FieldDifference, pair: ServicePairing, container: ContainerFacts, pairing: ProjectPairing
) -> float:
    if difference.path in pair.service.doubtful:
        return confidence_of_doubt(pairing.project)
    if difference.dropped and compare_hash(pair.service, container, pairing.project.compose_version) is True:
        return LOW_CONFIDENCE
    return _confidence_of_hash(container, pairing) if difference.weak else 1.0


def _confidence_of_hash(container: ContainerFacts, pairing: ProjectPairing) -> float:
    version = container.compose.version if container.compose else None
    return LIKELY if version == pairing.project.compose_version else LOW_CONFIDENCE


def _field_drift(pair: ServicePairing, finding: _Finding, names: list[str]) -> ServiceDrift:
    difference = finding.difference
    dropped = finding.outside_compose and difference.dropped
    return ServiceDrift(
        service_name=pair.service.name,
        drift_type=DriftType.CONFIG_MISMATCH,
        expected=render_value(difference.path, difference.expected, difference.actual),
        actual=render_value(difference.path, difference.actual, difference.expected),
        message=render_dropped(difference, names)
        if dropped
        else render_difference(difference, names, outside_compose=finding.outside_compose),
        severity=Severity.INFO if finding.confidence < 1 else Severity.WARNING,
        field=difference.path,
        container_name=names[0],
        outside_compose=finding.outside_compose and not dropped,
        compose_would=finding.action,
        confidence=finding.confidence,
    )


def _hash_drift(pair: ServicePairing, names: list[str], confidence: float, dropped: tuple[str, ...]) -> ServiceDrift:
    where = names[0] if len(names) == 1 else f"{len(names)} containers"
    return ServiceDrift(
        service_name=pair.service.name,
        drift_type=DriftType.CONFIG_MISMATCH,
        expected="the config hash of the file",
        actual="another config hash",
        message=(
            f"Compose would recreate {where}: the config hash is not the file's, though every compared field is the "
            f"same. {_render_unseen(pair, dropped)}"
        ),
        severity=Severity.INFO,
        container_name=names[0],
        compose_would="recreate",
        confidence=confidence,
    )


def _render_unseen(pair: ServicePairing, dropped: tuple[str, ...]) -> str:
    names = (*pair.service.unseen, *dropped, *find_engine_choices(pair.service))
    if not names:
        return "The file may say the same in another way."
    return f"It may be in what a container does not tell: {', '.join(names)}."


CONFIG_MISMATCH = DriftRule(DriftType.CONFIG_MISMATCH, "docs/drift.md, Decisions", _find)
