"""check: would this come up on this host, and what would it do to what runs?"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bcon_exporter.cli.exits import Exit, exit_of_error
from bcon_exporter.cli.parsing import Invocation
from bcon_exporter.cli.report_formats import CHECK_FORMATS, parse_outputs, write_report
from bcon_exporter.cli.screen import Screen
from bcon_exporter.cli.tool_runner import close_context, make_context
from bcon_exporter.deployments.check import CHECK_RULES
from bcon_exporter.errors import BconError, ComposeFileNotFoundError, InvalidInputError, SettingsError
from bcon_exporter.model.check_report import CheckReport, CheckSeverity, CheckVerdict
from bcon_exporter.outputs.ci_formats import CiFinding, CiReport, FindingLevel
from bcon_exporter.regular_files import UnreadableFileError, read_regular_file
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.tools import Envelope, run_tool
from bcon_exporter.tools.check import CHECK
from bcon_exporter.tools.what_if import render_diff

STDIN = "-"
_LEVELS = {
    CheckSeverity.FAILS: FindingLevel.FAILURE,
    CheckSeverity.RISK: FindingLevel.WARNING,
    CheckSeverity.ADVICE: FindingLevel.NOTE,
}


def run_check(call: Invocation) -> int:
    """Judge a deployment, print the report and return the exit code."""
    given = call.arguments
    outputs = parse_outputs(given.out, CHECK_FORMATS)
    original, edited = _read_edits(given.edit, given.file_from)
    payload = {
        "files": given.file,
        "project_name": given.project_name,
        "env_files": given.env_file,
        "profiles": given.profile,
        "edited": edited,
    }
    context = make_context(call)
    try:
        with Screen(given.format).progress("Reading the files and the host ..."):
            envelope = run_tool(context, CHECK, payload)
        if envelope.error is not None:
            return _fail(given.format, envelope, envelope.error)
        report: CheckReport = envelope.value
        report = add_diff(report, original, edited, context.secrets.hide)
    finally:
        close_context(context)
    write_report(given.format, outputs, report, lambda: make_ci_report(report, given.fail_on), given.select)
    return exit_of_check(report, given.fail_on)


def add_diff(
    report: CheckReport, original: Mapping[str, str], edited: Mapping[str, str], hide: Callable[[str], str]
) -> CheckReport:
    """Return a report with the edits that were judged, as they may be shown."""
    diffs = [render_diff(original[name], text, name, hide) for name, text in edited.items()]
    return report.model_copy(update={"diff": "\n".join(filter(None, diffs))}) if edited else report


def _fail(form: str, envelope: Envelope, error: BconError) -> int:
    """Tell an error; a Compose file that is not there is a mistake in the command line."""
    Screen(form if form == "json" else "table").show(envelope)
    return Exit.USAGE if isinstance(error, ComposeFileNotFoundError) else exit_of_error(error)


def exit_of_check(report: CheckReport, fail_on: str) -> Exit:
    """Return the exit code of a verdict."""
    match report.verdict:
        case CheckVerdict.FAILS:
            return Exit.FINDINGS
        case CheckVerdict.UNKNOWN:
            return Exit.FAILED
        case CheckVerdict.RISK if fail_on == CheckSeverity.RISK.value:
            return Exit.FINDINGS
        case _:
            return Exit.FINE


def make_ci_report(report: CheckReport, fail_on: str) -> CiReport:
    """Return a report for CI systems: what fails the command fails the job, and what nobody can judge is unsure."""
    levels = {**_LEVELS, CheckSeverity.RISK: FindingLevel.FAILURE} if fail_on == CheckSeverity.RISK.value else _LEVELS
    findings = [
        CiFinding(
            levels[finding.severity],
            finding.code.value,
            finding.message,
            finding.service,
            finding.evidence,
            finding.file,
            finding.line,
        )
        for finding in report.findings
    ]
    if report.verdict is CheckVerdict.UNKNOWN:
        findings.append(CiFinding(FindingLevel.UNSURE, "unknown", report.summary))
    ailing = {finding.service for finding in report.findings if levels[finding.severity] is FindingLevel.FAILURE}
    return CiReport(
        "check",
        report.project,
        report.verdict.value,
        report.summary,
        tuple(findings),
        passed=tuple(service for service in report.services if service not in ailing),
        meanings={rule.code.value: rule.meaning for rule in CHECK_RULES},
        root=str(Path.cwd()),
    )


def _read_edits(edits: Sequence[str], replaced: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the original and the edited text of each file that is to be judged with an edit.

    Raises:
        InvalidInputError, SettingsError: A file cannot be read, or an edit does not fit it.
    """
    original: dict[str, str] = {}
    edited: dict[str, str] = {}
    for word in replaced:
        path, equals, source = word.partition("=")
        if not equals or not path or not source:
            msg = f"--file-from {clean_name(word)[:64]}: must be PATH=FILE, or PATH=- for standard input"
            raise SettingsError(msg, {"flag": "--file-from"})
        name = _absolute(path)
        original[name] = _read(Path(name), must_exist=False)
        edited[name] = sys.stdin.read() if source == STDIN else _read(Path(source))
    for word in edits:
        path, line, change = _split_edit(word)
        name = _absolute(path)
        if name not in edited:
            original[name] = edited[name] = _read(Path(name))
        edited[name] = apply_edit(edited[name], line, change)
    return original, edited


def _split_edit(word: str) -> tuple[str, int, str]:
    """Return path, line and OLD:NEW; the path may hold colons."""
    parts = word.split(":")
    for index in range(1, len(parts) - 2):
        if parts[index].isascii() and parts[index].isdecimal():
            return ":".join(parts[:index]), int(parts[index]), ":".join(parts[index + 1 :])
    msg = f"--edit {clean_name(word)[:64]}: must be PATH:LINE:OLD:NEW"
    raise SettingsError(msg, {"flag": "--edit"})


def apply_edit(text: str, number: int, change: str) -> str:
    """Return a text with OLD replaced by NEW in one line.

    Both may hold colons: of the ways to split `change`, the longest OLD counts that stands in the line.

    Raises:
        InvalidInputError: There is no such line, or OLD does not stand in it just once.
    """
    lines = text.splitlines(keepends=True)
    if not 0 < number <= len(lines):
        msg = f"--edit: there is no line {number}; the file has {len(lines)}"
        raise InvalidInputError(msg, {"flag": "--edit"})
    line = lines[number - 1]
    splits = [(change[:at], change[at + 1 :]) for at, sign in enumerate(change) if sign == ":" and at > 0]
    old, new = next(((old, new) for old, new in reversed(splits) if old in line), ("", ""))
    if not old or line.count(old) != 1:
        problem = "what is to be replaced does not stand in it" if not old else "it stands there more than once"
        msg = f"--edit: line {number}: {problem}"
        raise InvalidInputError(msg, {"flag": "--edit"})
    lines[number - 1] = line.replace(old, new)
    return "".join(lines)


def _absolute(path: str) -> str:
    return os.path.normpath(Path.cwd() / path)


def _read(path: Path, *, must_exist: bool = True) -> str:
    try:
        return read_regular_file(path).decode("utf-8", "surrogateescape")
    except UnreadableFileError as error:
        if not must_exist and not path.exists():
            return ""
        msg = f"{clean_name(str(path))} {error}"
        raise InvalidInputError(msg, {"file": clean_name(str(path))}) from None
