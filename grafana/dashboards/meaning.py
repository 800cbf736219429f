"""Colours with a meaning, the same on every panel: the status of a container, of a project, of the view of a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grafana_foundation_sdk.builders.dashboard import FieldColor, ThresholdsConfig
from grafana_foundation_sdk.models.dashboard import (
    DynamicConfigValue,
    FieldColorModeId,
    Threshold,
    ThresholdsMode,
    ValueMap,
    ValueMappingResult,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

GOOD, WARNING, ERROR, CRITICAL, NEUTRAL, PLAIN = "green", "yellow", "orange", "red", "text", "blue"

STATUS = {"0": ("healthy", GOOD), "1": ("warning", WARNING), "2": ("error", ERROR), "3": ("critical", CRITICAL)}
SIGHT = {
    "0": ("not scraped", CRITICAL),
    "1": ("engine unreachable", CRITICAL),
    "2": ("no good scan", ERROR),
    "3": ("seen", GOOD),
}
SYMPTOM = {"0": ("absent", "transparent"), "1": ("present", ERROR)}
HEALTH = {"0": ("healthy", GOOD), "1": ("starting", PLAIN), "2": ("unhealthy", ERROR), "3": ("no check", NEUTRAL)}
RUNNING = {"0": ("stopped", NEUTRAL), "1": ("running", GOOD)}
YES_NO = {"0": ("no", NEUTRAL), "1": ("yes", NEUTRAL)}
LEVELS = {"warning": WARNING, "error": ERROR, "critical": CRITICAL}


def mapped(texts: Mapping[str, tuple[str, str]]) -> list[ValueMap]:
    """Value mappings of a panel: value → text and colour."""
    results = {
        value: ValueMappingResult(text=text, color=colour, index=index)
        for index, (value, (text, colour)) in enumerate(texts.items())
    }
    return [ValueMap(options=results)]


def names(texts: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Texts without a colour of their own, for `mapped`."""
    return {value: (text, NEUTRAL) for value, text in texts.items()}


def steps(*rising: tuple[float, str], base: str = NEUTRAL) -> ThresholdsConfig:
    """Colours from values upwards; `base` is that of a missing value, too."""
    first = Threshold(value=None, color=base)
    return (
        ThresholdsConfig()
        .mode(ThresholdsMode.ABSOLUTE)
        .steps([first, *(Threshold(value=value, color=colour) for value, colour in rising)])
    )


def zero_is_good(colour: str) -> ThresholdsConfig:
    """Green at 0, else the colour; a missing value is neither."""
    return steps((0, GOOD), (1, colour))


def fixed(colour: str) -> FieldColor:
    """One colour for all series of a panel."""
    return FieldColor().mode(FieldColorModeId.FIXED).fixed_color(colour)


def by_threshold() -> FieldColor:
    """The colour of the threshold that a value has reached."""
    return FieldColor().mode(FieldColorModeId.THRESHOLDS)


def by_name() -> FieldColor:
    """A colour for each name: a container has the same one on every panel."""
    return FieldColor().mode(FieldColorModeId.PALETTE_CLASSIC_BY_NAME)


def as_property(thresholds: ThresholdsConfig) -> DynamicConfigValue:
    """Thresholds that differ for one series of a panel."""
    return DynamicConfigValue(id_val="thresholds", value=thresholds.build())
