"""Differences that somebody has said not to report: rules of the settings, and labels of services. Pure.

A rule is `PROJECT/SERVICE/FIELD`, each with `*` for any characters; what is left out at the end means all. FIELD is the
path of a field ("environment.*") or a drift type ("not_running"). The label `bcon.drift.ignore` of a service or of its
containers holds `true`, or a list of such FIELDs.
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
    """What not to report; every part is a pattern that the whole name must fit."""

    project: str
    service: str = "*"
    field: str = "*"

    def fits(self, project: str, difference: ServiceDrift) -> bool:
        """Return whether it covers a difference."""
        return (
            fnmatchcase(project, self.project)
            and fnmatchcase(difference.service_name, self.service)
            and _fits_field(self.field, difference)
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
    found: Iterable[ServiceDrift], rules: tuple[IgnoreRule, ...], pairing: ProjectPairing
) -> tuple[tuple[ServiceDrift, ...], int]:
    """Return the differences that are to be reported, and how many are not."""
    everything, kept = tuple(found), []
    labelled = _read_labels(pairing) if everything else {}
    for one in everything:
        by_rule = any(rule.fits(pairing.project.name, one) for rule in rules)
        if not by_rule and not any(_fits_field(wanted, one) for wanted in labelled.get(one.service_name, ())):
            kept.append(one)
    return tuple(kept), len(everything) - len(kept)


def _fits_field(wanted: str, difference: ServiceDrift) -> bool:
    return fnmatchcase(difference.drift_type, wanted) or (
        difference.field is not None and fnmatchcase(difference.field, wanted)
    )


def _read_labels(pairing: ProjectPairing) -> dict[str, frozenset[str]]:
    """Return service → fields to leave out, as the file and the containers say."""
    found: dict[str, frozenset[str]] = {}
    for pair in pairing.services:
        declared = pair.service.fields.get(f"labels.{IGNORE_LABEL}")
        values = [declared.shown] if declared else []
        values += [one.labels[IGNORE_LABEL] for one in pair.replicas if IGNORE_LABEL in one.labels]
        _add(found, pair.service.name, values)
    for one in (*pairing.orphans, *pairing.claimants):
        if one.compose is not None and IGNORE_LABEL in one.labels:
            _add(found, one.compose.service, [one.labels[IGNORE_LABEL]])
    return found


def _add(found: dict[str, frozenset[str]], service: str, values: list[str]) -> None:
    words = {word.strip() for value in values for word in value.split(",")}
    fields = {"*" if word.lower() in _ALL else word for word in words if word.lower() not in _NONE}
    if fields:
        found[service] = found.get(service, frozenset()) | fields
