"""--format and --out of `check` and `verify`: one report in several formats at once."""

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bcon_exporter.cli.selecting import add_select, choose
from bcon_exporter.errors import InvalidInputError, PermissionDeniedError, SettingsError
from bcon_exporter.secrets.cleaning import clean_name

if TYPE_CHECKING:
    from bcon_exporter.outputs.ci_formats import CiReport

_TEXT_FORMATS = ("table", "json", "markdown")
CHECK_FORMATS = (*_TEXT_FORMATS, "junit", "sarif", "github")
VERIFY_FORMATS = (*_TEXT_FORMATS, "junit", "github")


def add_report_formats(parser: ArgumentParser, formats: Sequence[str]) -> None:
    """Add --format, --select and --out."""
    parser.add_argument("--format", choices=tuple(formats), default="table", help="how to print (default: table)")
    add_select(parser)
    parser.add_argument(
        "--out",
        action="append",
        metavar="FORMAT=FILE",
        default=[],
        help=f"write it to a file as well, several times for several: {', '.join(formats)}",
    )


def parse_outputs(given: Sequence[str], formats: Sequence[str]) -> tuple[tuple[str, Path], ...]:
    """Return format and file of each --out; to be called before any work is done.

    Raises:
        SettingsError: No FORMAT=FILE, or no format that there is.
    """
    outputs: list[tuple[str, Path]] = []
    for word in given:
        form, equals, file = word.partition("=")
        if form not in formats or not equals or not file:
            msg = f"--out {clean_name(word)[:64]}: must be FORMAT=FILE, with a FORMAT of {', '.join(formats)}"
            raise SettingsError(msg, {"flag": "--out"})
        outputs.append((form, Path(file)))
    return tuple(outputs)


def render_report(form: str, value: Any, make_ci_report: "Callable[[], CiReport]") -> str:
    """Return a report in one format, for a file or a pipe.

    Args:
        form: One of the formats.
        value: The report as a model value: for table, json and markdown.
        make_ci_report: Returns its findings: for the formats of CI systems.
    """
    from bcon_exporter.outputs.ci_formats import render_github, render_junit, render_sarif  # slow to import

    match form:
        case "junit":
            return render_junit(make_ci_report())
        case "sarif":
            return render_sarif(make_ci_report())
        case "github":
            return render_github(make_ci_report())
        case "json":
            from pydantic_core import to_json

            return '{"result":' + to_json(value).decode() + "}\n"
        case "markdown":
            from bcon_exporter.outputs.text import render_markdown

            return render_markdown(value)
        case _:
            from bcon_exporter.outputs.text import render_plain

            return render_plain(value)


def write_report(
    form: str,
    outputs: Sequence[tuple[str, Path]],
    value: Any,
    make_ci_report: "Callable[[], CiReport]",
    expression: str | None = None,
) -> None:
    """Print a report in one format, or what --select chooses of it, and write it to files in others.

    Raises:
        InvalidInputError, PermissionDeniedError: A file cannot be written; what was asked for before it is.
        OutputError: Standard output cannot be written.
    """
    from bcon_exporter.cli.screen import Screen

    screen = Screen(form)
    if form == "table":
        screen.show_value(value)
    else:
        screen.write(choose(expression, render_report(form, value, make_ci_report)))
    for other, file in outputs:
        _write_file(file, render_report(other, value, make_ci_report))


def _write_file(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8", errors="replace")
    except (OSError, ValueError) as error:
        kind = PermissionDeniedError if isinstance(error, PermissionError) else InvalidInputError
        reason = getattr(error, "strerror", None) or "no file can have this name"
        msg = f"--out: {clean_name(str(file))} cannot be written: {reason}"
        raise kind(msg, {"file": clean_name(str(file))}) from None
