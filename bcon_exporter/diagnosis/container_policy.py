"""Decides which containers are judged, by which rules and thresholds: by settings and the containers' own labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pydantic import ValidationError

from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.thresholds import Thresholds

IGNORE_LABEL = "bcon.ignore"
THRESHOLD_PREFIX = "bcon.threshold."
_PREFIX = "bcon."
_TRUE = frozenset({"true", "1", "yes", "all"})
_FALSE = frozenset({"", "false", "0", "no"})
SHOWN_CHARS = 40


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter by name (globs), label (`key` or `key=value`, globs) or Compose project (globs)."""

    names: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.names or self.labels or self.projects)

    def matches(self, container: ContainerFacts) -> bool:
        """Whether any pattern matches the container."""
        project = container.compose.project if container.compose is not None else None
        return (
            any(fnmatchcase(container.name, glob) for glob in self.names)
            or any(_has_label(container.labels, wanted) for wanted in self.labels)
            or (project is not None and any(fnmatchcase(project, glob) for glob in self.projects))
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """What to judge.

    Attributes:
        include: Only these containers; empty means all.
        exclude: Not these, even when included.
        use_logs: False judges without logs: log rules are then not evaluated.
    """

    include: Filter = Filter()
    exclude: Filter = Filter()
    use_logs: bool = True

    def admits(self, container: ContainerFacts) -> bool:
        """Whether the container is judged."""
        if container.labels and container.labels.get(IGNORE_LABEL, "").strip().lower() in _TRUE:
            return False
        if self.include and not self.include.matches(container):
            return False
        return not (self.exclude and self.exclude.matches(container))


@dataclass(frozen=True, slots=True)
class LabelSettings:
    """The settings in a container's own labels. `notices`: those that could not be understood."""

    thresholds: Thresholds
    ignored: frozenset[SymptomType] = frozenset()
    notices: tuple[str, ...] = ()


def read_labels(labels: Mapping[str, str], thresholds: Thresholds) -> LabelSettings:
    """Read `bcon.ignore` and `bcon.threshold.<name>`; malformed ones are ignored, with a notice."""
    ours = {key: value for key, value in labels.items() if key.startswith(_PREFIX)}
    if not ours:
        return LabelSettings(thresholds)
    notices: list[str] = []
    ignored = _read_ignored(ours.get(IGNORE_LABEL, ""), notices)
    for key, value in sorted(ours.items()):
        if key.startswith(THRESHOLD_PREFIX):
            thresholds = _with_threshold(thresholds, key, value, notices)
    return LabelSettings(thresholds, ignored, tuple(notices))


def _read_ignored(value: str, notices: list[str]) -> frozenset[SymptomType]:
    wanted = {part.strip().lower() for part in value.split(",")} - _TRUE - _FALSE
    symptom_names = {symptom.value for symptom in SymptomType}
    notices += (
        f'The label {IGNORE_LABEL} names no symptom "{name[:SHOWN_CHARS]}".' for name in sorted(wanted - symptom_names)
    )
    return frozenset(SymptomType(name) for name in wanted & symptom_names)


def _with_threshold(thresholds: Thresholds, key: str, value: str, notices: list[str]) -> Thresholds:
    name = key.removeprefix(THRESHOLD_PREFIX).replace("-", "_")
    if name not in Thresholds.model_fields:
        notices.append(f'The label {THRESHOLD_PREFIX}* names no threshold "{name[:SHOWN_CHARS]}".')
        return thresholds
    try:
        return Thresholds.model_validate({**thresholds.model_dump(), name: _number(value)})
    except (ValidationError, ValueError):
        notices.append(f'The label {key} is ignored: "{value[:SHOWN_CHARS]}" is not a value that {name} may have.')
        return thresholds


def _number(value: str) -> float:
    text = value.strip()
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def _has_label(labels: Mapping[str, str], wanted: str) -> bool:
    key, separator, value = wanted.partition("=")
    return any(
        fnmatchcase(have, key) and (not separator or fnmatchcase(content, value)) for have, content in labels.items()
    )
