"""The patterns of what tools accept as text; `validation_messages` has a sentence for each."""

from bcon_exporter.model.durations import DURATION_PATTERN

CONTAINER_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}$"
"""Ids, id prefixes and names; the engine takes them unescaped into a path, so nothing else may pass."""
PROJECT_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,127}$"
WHOLE_DURATION_PATTERN = f"^{DURATION_PATTERN}$"
TEXT_PATTERN = r"^[^\x00-\x1f]+$"
NAME_PATTERN = r"^[^\x00-\x1f\x7f]+$"
LINE_PATTERN = r"^[^\r\n]+$"
NOTE_ID_PATTERN = r"^n[0-9]{1,9}$"
UNIT_PATTERN = r"^[A-Za-z0-9@:_.\\-]{1,255}$"
HOST_PATTERN = r"^[a-zA-Z0-9_-]{1,255}$"
TARGET_PATTERN = r"^[a-zA-Z0-9_-]{1,255}:/[^\x00-\x1f]{0,4096}$"
PLAIN_PATTERN = r"""^[^;&|`$()<>{}\[\]\\"'\n\r\t]{1,200}$"""
"""Text that is looked for, without what a shell takes for its own."""
