"""Commands that print shipped files: dashboards for Grafana, alert rules, an example for Alertmanager."""

import json
import sys
from importlib.resources import files
from pathlib import Path

from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.parsing import PROGRAM, Invocation
from bcon_exporter.cli.screen import write_out
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.secrets.cleaning import clean_name

DASHBOARDS = ("bcon-overview", "bcon-container")
RULES = "alerts/bcon.rules.yml"
_RUNBOOK = "runbook_url: "
_PLACE_BEFORE = '| label "runbooks" }}'
ALERTMANAGER_EXAMPLE = "alerts/alertmanager.example.yml"


def read_shipped(name: str) -> str:
    """Return a file of the wheel; in a clone, where the package holds none, that of the repository."""
    package = files("bcon_exporter")
    shipped = package / "shipped" / name
    return (shipped if shipped.is_file() else package / ".." / name).read_text("utf-8")


def print_dashboards(call: Invocation) -> int:
    """Print one dashboard, write one or all to a folder, or list their names."""
    given = call.arguments
    if given.output is not None:
        for name in (given.dashboard,) if given.dashboard else DASHBOARDS:
            _write(Path(given.output), f"{name}.json")
    elif given.dashboard is not None:
        write_out(read_shipped(f"grafana/{given.dashboard}.json"))
    else:
        write_out("".join(f"{name}\n" for name in DASHBOARDS))
        sys.stderr.write(f"{PROGRAM}: dashboards NAME prints one, dashboards --output FOLDER writes all\n")
    return Exit.FINE


def print_alertmanager_example(call: Invocation) -> int:  # noqa: ARG001 -- commands share a shape
    """Print the example of an Alertmanager's configuration."""
    write_out(read_shipped(ALERTMANAGER_EXAMPLE))
    return Exit.FINE


def print_rules(call: Invocation) -> int:
    """Print the alert rules of this version; with alerts.runbooks-url they hold it, instead of asking the exporter."""
    text, place = read_shipped(RULES), call.settings.alerts.runbooks_url
    write_out(text if place is None else "".join(_lead_to(place, line) for line in text.splitlines(keepends=True)))
    return Exit.FINE


def _lead_to(place: str, line: str) -> str:
    """Return a line of the rules; one that looks a runbook up leads to it below `place`."""
    before, found, lookup = line.partition(_RUNBOOK)
    if not found:
        return line
    name = lookup.partition(_PLACE_BEFORE)[2].partition("{{")[0]
    return f"{before}{found}{json.dumps(place + name, ensure_ascii=False)}\n"


def _write(folder: Path, name: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(read_shipped(f"grafana/{name}"), "utf-8")
    except OSError as error:
        shown = clean_name(str(folder / name))
        msg = f"{shown} cannot be written: {(error.strerror or type(error).__name__).lower()}"
        raise InvalidInputError(msg, {"file": shown}) from None
