"""What-if: what an edit of a Compose file would do to what runs. Nothing is written."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, WithJsonSchema, model_validator

from bcon_exporter.model.base import Frozen, Untrusted, UtcDatetime
from bcon_exporter.model.check_report import CheckFinding, CheckVerdict, NotChecked, PlannedAction
from bcon_exporter.model.findings import ServiceDrift
from bcon_exporter.model.text_patterns import LINE_PATTERN
from bcon_exporter.model.tool_inputs import PathText, ProjectName, Whole

LONGEST_FILE = 256 * 1024
_LINE_CHARS = 4096
_MOST_CHANGES = 100
_OneLine = Annotated[str, StringConstraints(min_length=1, max_length=_LINE_CHARS, pattern=LINE_PATTERN)]


class LineChange(Frozen):
    """One change of a line.

    Attributes:
        line: Its number, from 1, in the file as it is.
        old: What stands in it just once.
        new: What is to stand there: several lines, or nothing.
    """

    line: Whole = Field(ge=1)
    old: _OneLine
    new: str = Field(max_length=_LINE_CHARS)


_CHANGES_SCHEMA = {
    "type": "array",
    "minItems": 1,
    "maxItems": _MOST_CHANGES,
    "items": {
        "type": "object",
        "properties": {
            "line": {"type": "integer", "minimum": 1},
            "old": {"type": "string", "minLength": 1, "maxLength": _LINE_CHARS},
            "new": {"type": "string", "maxLength": _LINE_CHARS},
        },
        "required": ["line", "old", "new"],
        "additionalProperties": False,
    },
}
"""Written out where it stands: what describes a tool's input can refer to nothing."""


class ModifyConfigInput(Frozen):
    """Input of modify_config."""

    path: PathText = Field(description="A Compose file, or a file that one reads")
    changes: Annotated[tuple[LineChange, ...] | None, WithJsonSchema(_CHANGES_SCHEMA)] = Field(
        None, max_length=_MOST_CHANGES, description="`old` stands in its line once; lines as in the file now"
    )
    content: str | None = Field(None, max_length=LONGEST_FILE, description="The whole text, instead of changes")
    project_name: ProjectName | None = Field(None, description="Only where several projects read the file")

    @model_validator(mode="after")
    def _check_edit(self) -> "ModifyConfigInput":
        if (not self.changes) == (self.content is None):
            msg = "give either changes or content"
            raise ValueError(msg)
        return self


class EditEffect(Frozen):
    """What `up` would do about one service.

    Attributes:
        action: With the edit; see `ServicePlan`.
        without_edit: What it would do as the files are now.
        why: Fields that differ then, or what is missing.
        is_away: It runs now, and would not for a moment.
    """

    service: str
    action: PlannedAction
    without_edit: PlannedAction | None = None
    why: tuple[Untrusted, ...] = ()
    is_away: bool = False


class WhatIfReport(Frozen):
    """What an edit would do. The file is as it was, always.

    Attributes:
        path: The file, as the Docker host knows it.
        verdict, findings: Whether it would come up then, as `check` says; advice is left out.
        services: Those that `up` would not leave as they are, with the edit or without.
        recreates: Names of those that it would replace.
        appears: Differences between files and host that are there only with the edit: what `up` would bring about.
        vanishes: Differences of now that the edit would end.
        remains: How many differences of now stay as they are.
        diff: Unified, secrets hidden: to be read, not to be applied.
    """

    timestamp: UtcDatetime
    project: str
    path: str
    written: Literal[False] = False
    verdict: CheckVerdict
    summary: str
    services: tuple[EditEffect, ...] = ()
    recreates: tuple[str, ...] = ()
    appears: tuple[ServiceDrift, ...] = ()
    vanishes: tuple[ServiceDrift, ...] = ()
    remains: int = 0
    findings: tuple[CheckFinding, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    diff: Untrusted = ""
