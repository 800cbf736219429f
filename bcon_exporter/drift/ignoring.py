"""Drops the differences that a setting or a service's label says to ignore. Pure.

A rule is `PROJECT/SERVICE/FIELD`. Each part may hold `*` for any characters; parts left out at the end match all.
FIELD is the path of a field ("environment.*") or a drift type ("not_running"). The label `bcon.drift.ignore` of a
service or of its containers holds `true`, or a list of such FIELDs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.model.findings import ServiceDrift

IGNORE_LABEL = "bcon.drift.ignore"
_ALL = frozenset(("true", "1", "yes", "all"))
_NONE = frozenset(("", "false", "0", "no"))


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """Which differences to ignore. Every part is a pattern for the whole name."""

    project: str
    service: str = "*"
    field: str = "*"

    def matches(self, project: str, difference: ServiceDrift) -> bool:
        """Return whether the rule covers a difference of this project."""
        return (
            fnmatchcase(project, self.project)
            and fnmatchcase(difference.service_name, self.service)
            and _matches_field(self.field, difference)
        )


def parse_ignore_rule(text: str) -> IgnoreRule:
    """Read `shop/web/labels.traefik.*`; fields may hold slashes ("volumes./data").

    Raises:
        ValueError: A part is empty.
    """
    parts = [part.strip() for part in text.split("/", 2)]
    if not all(parts):
        msg = f'"{text[:80]}" is not PROJECT, PROJECT/SERVICE or PROJECT/SERVICE/FIELD; write * for any'
        raise ValueError(msg)
    return IgnoreRule(*parts)


def drop_ignored(
    differences: Iterable[ServiceDrift], rules: tuple[IgnoreRule, ...], pairing: ProjectPairing
) -> tuple[tuple[ServiceDrift, ...], int]:
    """Return the differences to report, and the number of ignored ones."""
    candidates, kept = tuple(differences), []
    patterns_of_labels = _read_labels(pairing) if candidates else {}
    for difference in candidates:
        by_rule = any(rule.matches(pairing.project.name, difference) for rule in rules)
        if not by_rule and not any(
            _matches_field(pattern, difference) for pattern in patterns_of_labels.get(difference.service_name, ())
        ):
            kept.append(difference)
    return tuple(kept), len(candidates) - len(kept)


def _matches_field(pattern: str, difference: ServiceDrift) -> bool:
    return fnmatchcase(difference.drift_type, pattern) or (
        difference.field is not None and fnmatchcase(difference.field, pattern)
    )


def _read_labels(pairing: ProjectPairing) -> dict[str, frozenset[str]]:
    """Return service → patterns to ignore, from the labels in the file and on the containers."""
    patterns: dict[str, frozenset[str]] = {}
    for pair in pairing.services:
        declared = pair.service.fields.get(f"labels.{IGNORE_LABEL}")
        values = [declared.shown] if declared else []
        values += [container.labels[IGNORE_LABEL] for container in pair.replicas if IGNORE_LABEL in container.labels]
        _add_patterns(patterns, pair.service.name, values)
    for container in (*pairing.orphans, *pairing.claimants):
        if container.compose is not None and IGNORE_LABEL in container.labels:
            _add_patterns(patterns, container.compose.service, [container.labels[IGNORE_LABEL]])
    return patterns


def _add_patterns(patterns: dict[str, frozenset[str]], service: str, values: list[str]) -> None:
    words = {word.strip() for value in values for word in value.split(",")}
    added = {"*" if word.lower() in _ALL else word for word in words if word.lower() not in _NONE}
    if added:
        patterns[service] = patterns.get(service, frozenset()) | added
