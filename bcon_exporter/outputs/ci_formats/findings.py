"""What the formats for CI are made from: a verdict and findings, whichever command they are of.

Every text may come from a container or a Compose file, so each is cleaned and masked here, once for all formats.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from bcon_exporter.secrets.masking import safe_name, safe_text


class FindingLevel(StrEnum):
    """What a finding means for the job: FAILURE fails it, UNSURE could not be judged, the others are told only."""

    FAILURE = "failure"
    UNSURE = "unsure"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class CiFinding:
    """One thing that was found.

    Attributes:
        code: Stable name of what it is.
        service: None where it belongs to no service.
        message: What, and what to do; one or more lines.
        evidence: Lines behind it, as programs wrote them.
        file, line: Where it stands, from 1; None where that is not known.
    """

    level: FindingLevel
    code: str
    message: str
    service: str | None = None
    evidence: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None

    @property
    def full_message(self) -> str:
        """The message with its evidence, a line each."""
        return "\n".join((self.message, *self.evidence))


@dataclass(frozen=True, slots=True)
class CiReport:
    """One command's answer.

    Attributes:
        command: "check" or "verify".
        project: Name of the Compose project.
        summary: The verdict in one sentence.
        findings: The worst first.
        passed: Services of which nothing is wrong.
        meanings: Code → what it stands for, in one sentence.
        root: Folder below which files are named without it.
    """

    command: str
    project: str
    verdict: str
    summary: str
    findings: tuple[CiFinding, ...] = ()
    passed: tuple[str, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)
    root: str = ""


def make_safe(report: CiReport) -> CiReport:
    """Return a report without secrets and without characters that act; files are named relative to its root."""
    return replace(
        report,
        project=safe_name(report.project),
        verdict=safe_name(report.verdict),
        summary=safe_text(report.summary),
        findings=tuple(_make_safe(finding, report.root) for finding in report.findings),
        passed=tuple(map(safe_name, report.passed)),
    )


def _make_safe(finding: CiFinding, root: str) -> CiFinding:
    return replace(
        finding,
        code=safe_name(finding.code),
        message=safe_text(finding.message),
        service=None if finding.service is None else safe_name(finding.service),
        evidence=tuple(map(safe_text, finding.evidence)),
        file=None if finding.file is None else safe_name(_below(finding.file, root)),
        line=finding.line if finding.line is not None and finding.line > 0 else None,
    )


def _below(file: str, root: str) -> str:
    """Return the path relative to the root; one that lies outside stays as it is."""
    folder = root.rstrip("/") + "/"
    return os.path.relpath(file, root) if root and file.startswith(folder) else file
