"""read_config: the lines of a Compose file, or of a file that one reads, numbered, with every secret hidden."""

from bcon_exporter.drift import find_projects
from bcon_exporter.engine import Wants
from bcon_exporter.model.config_text import ConfigLine, ConfigText, ReadConfigInput
from bcon_exporter.stages import EXPERIMENTAL
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.fresh_snapshot import observe
from bcon_exporter.tools.tool import Tool
from bcon_exporter.tools.what_if import show_lines


def read_config(context: Context, request: ReadConfigInput) -> ConfigText:
    """Return lines of a file that a known project reads, or that lies below compose.roots.

    Raises:
        ComposeFileNotFoundError: It may not be read here; in the daemon the same whether it exists or not.
        BconError: The engine does not answer, or this is a snapshot.
    """
    snapshot = observe(context, Wants(logs=False, usage=False))
    found = context.compose.read_text(request.path, find_projects(snapshot))
    lines = show_lines(found.text, found.file, context.secrets.hide)
    if lines[-1:] == [""]:
        lines.pop()  # what ends the last line begins no other
    shown = list(enumerate(lines, 1))[request.offset : request.offset + request.limit]
    return ConfigText(
        timestamp=context.now(),
        path=found.file,
        projects=found.projects,
        total=len(lines),
        lines=tuple(ConfigLine(line=number, text=text) for number, text in shown),
    )


READ_CONFIG = Tool(
    "read_config",
    "Show the numbered lines of a Compose file, or of a file that one reads, secrets hidden: before modify_config.",
    ReadConfigInput,
    ConfigText,
    read_config,
    toolset="agents",
    stage=EXPERIMENTAL,
    rows="lines",
)
