"""GitHub's annotations: workflow commands, one a line."""

from bcon_exporter.outputs.ci_formats.findings import CiFinding, CiReport, FindingLevel, make_safe

_COMMANDS = {
    FindingLevel.FAILURE: "error",
    FindingLevel.UNSURE: "warning",
    FindingLevel.WARNING: "warning",
    FindingLevel.NOTE: "notice",
}
_IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render_github(report: CiReport) -> str:
    """Return a command for each finding and a last one for the verdict.

    A line feed in a text would begin another command, so none is left; what the runner reads as one is escaped.
    """
    report = make_safe(report)
    last = f"::notice title={f'bcon-exporter {report.command}'.translate(_IN_PROPERTY)}::{_escape(report.summary)}"
    return "".join(f"{line}\n" for line in (*(_command(finding, report) for finding in report.findings), last))


def _command(finding: CiFinding, report: CiReport) -> str:
    subject = f"{finding.service}: " if finding.service else ""
    properties = {"file": finding.file, "line": finding.line if finding.file else None}
    properties["title"] = f"{subject}{finding.code} (bcon-exporter {report.command})"
    given = ",".join(f"{key}={str(value).translate(_IN_PROPERTY)}" for key, value in properties.items() if value)
    return f"::{_COMMANDS[finding.level]} {given}::{_escape(finding.full_message)}"


def _escape(message: str) -> str:
    return message.translate(_IN_MESSAGE)
