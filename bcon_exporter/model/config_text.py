"""read_config: the lines of a Compose file, or of a file that one reads, with every secret hidden."""

from typing import Annotated

from pydantic import Field

from bcon_exporter.model.base import Frozen, Untrusted, UtcDatetime
from bcon_exporter.model.tool_inputs import PathText, Whole


class ReadConfigInput(Frozen):
    """Input of read_config."""

    path: PathText = Field(description="A Compose file, or a file that one reads")
    limit: Annotated[Whole, Field(ge=1, le=10_000, description="How many lines")] = 100
    offset: Annotated[Whole, Field(ge=0, le=1_000_000, description="How many of the first lines to leave out")] = 0


class ConfigLine(Frozen):
    """One line, numbered from 1, as `modify_config` takes it."""

    line: int
    text: Untrusted


class ConfigText(Frozen):
    """A part of a file.

    Attributes:
        path: The file, as the Docker host knows it.
        projects: Names of the known projects that read it.
        total: How many lines it has.
        lines: `***` stands for each value of a variable, and for every other secret.
    """

    timestamp: UtcDatetime
    path: str
    projects: tuple[str, ...] = ()
    total: int
    lines: tuple[ConfigLine, ...] = ()
