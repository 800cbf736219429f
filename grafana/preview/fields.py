"""How a field is shown: the panel's defaults and overrides for it, the text and the colour of a value."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grafana.preview.reading import Json

COLOURS = {
    "green": "#73bf69",
    "yellow": "#fade2a",
    "orange": "#ff9830",
    "red": "#f2495c",
    "blue": "#5794f2",
    "text": "#ccccdc",
    "transparent": "#22252b",
}
PALETTE = ("#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#5794f2", "#b877d9", "#96d98d", "#ffb357", "#ca95e5")
MINUTE, HOUR, DAY = 60, 3600, 86400


def field_of(panel: Json, name: str, ref: str = "") -> Json:
    """What holds for one field: the defaults, and the overrides that name it or its query."""
    config = dict(panel["fieldConfig"]["defaults"])
    config["custom"] = dict(config.get("custom", {}))
    for override in panel["fieldConfig"].get("overrides", ()):
        matcher = override["matcher"]
        if matcher["options"] != {"byName": name, "byFrameRefID": ref}.get(matcher["id"]):
            continue
        for each in override["properties"]:
            inner = config["custom"] if each["id"].startswith("custom.") else config
            inner[each["id"].removeprefix("custom.")] = each["value"]
    return config


def shown(config: Json, value: float | str, now: float) -> str:
    """The text of a value: of its mapping, else with its unit; `now` is the end of the time range, in seconds."""
    mapped = _mapping(config, value)
    if mapped is not None:
        return str(mapped["text"])
    return (
        value if isinstance(value, str) else with_unit(value, config.get("unit", "none"), config.get("decimals"), now)
    )


def coloured(config: Json, value: float | str, rank: int = 0) -> str:
    """The colour of a value: of its mapping, else as the colour scheme says; a palette goes by the series' rank."""
    mapped = _mapping(config, value)
    if mapped is not None:
        return COLOURS[mapped["color"]]
    scheme = config.get("color", {"mode": "thresholds"})
    if scheme["mode"] == "fixed":
        return COLOURS[scheme["fixedColor"]]
    if scheme["mode"] == "thresholds" and not isinstance(value, str):
        reached = [each["color"] for each in config["thresholds"]["steps"] if (each["value"] or 0) <= value]
        return COLOURS[reached[-1]]
    return PALETTE[rank % len(PALETTE)]


def _mapping(config: Json, value: float | str) -> Json | None:
    key = value if isinstance(value, str) else f"{value:g}"
    for mapping in config.get("mappings", ()):
        found: Json | None = mapping["options"].get(key)
        if found is not None:
            return found
    return None


def with_unit(value: float, unit: str, decimals: int | None, now: float) -> str:
    """A number with its unit, short enough for a cell."""
    if unit == "dateTimeFromNow":
        return ago(now - value / 1000)
    if unit == "percentunit":
        return f"{value:.0%}" if value >= 0.1 or value == 0 else f"{value:.1%}"
    if unit in ("bytes", "Bps"):
        return scaled(value, 1024, ("B", "KiB", "MiB", "GiB")) + ("" if unit == "bytes" else "/s")
    if unit == "s":
        return f"{value:.3g} s" if value >= 1 or value == 0 else scaled(value * 1e6, 1000, ("µs", "ms"))
    text = f"{value:.{decimals}f}" if decimals is not None else f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{text} c/m" if unit == "cpm" else text


def scaled(value: float, base: int, units: tuple[str, ...]) -> str:
    """A number in the largest unit in which it is at least 1."""
    size = abs(value)
    rank = 0
    while size >= base and rank < len(units) - 1:
        size, value, rank = size / base, value / base, rank + 1
    return f"{value:.3g} {units[rank]}"


def ago(seconds: float) -> str:
    """How long ago something was."""
    for length, name in ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")):
        if seconds >= length:
            count = round(seconds / length)
            return f"{count} {name}{'s' * (count > 1)} ago"
    return "a few seconds ago"


def clock(at: float) -> str:
    """The time of day, UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")
