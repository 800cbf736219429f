"""SARIF 2.1.0, which code hosts show beside the changed lines."""

import json
from typing import Any
from urllib.parse import quote

from bcon_exporter import DOCS_URL, __version__
from bcon_exporter.outputs.ci_formats.findings import CiFinding, CiReport, FindingLevel, make_safe

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_HELP = f"{DOCS_URL}deployments.md"
_LEVELS = {
    FindingLevel.FAILURE: "error",
    FindingLevel.UNSURE: "warning",
    FindingLevel.WARNING: "warning",
    FindingLevel.NOTE: "note",
}


def render_sarif(report: CiReport) -> str:
    """Return a SARIF log with one run."""
    report = make_safe(report)
    codes = list(dict.fromkeys(finding.code for finding in report.findings))
    driver = {
        "name": f"bcon-exporter {report.command}",
        "version": __version__,
        "informationUri": _HELP,
        "rules": [_rule(code, report) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True}],
        "results": [_result(finding, codes) for finding in report.findings],
        "properties": {"project": report.project, "verdict": report.verdict},
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str, report: CiReport) -> dict[str, Any]:
    return {"id": code, "shortDescription": {"text": report.meanings.get(code, code)}, "helpUri": _HELP}


def _result(finding: CiFinding, codes: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _LEVELS[finding.level],
        "message": {"text": finding.full_message},
    }
    location: dict[str, Any] = {}
    if finding.file is not None:
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(finding.file)}}
        if finding.line is not None:
            location["physicalLocation"]["region"] = {"startLine": finding.line}
    if finding.service is not None:
        location["logicalLocations"] = [{"name": finding.service, "kind": "member"}]
    if location:
        result["locations"] = [location]
    return result


def _uri(file: str) -> str:
    return ("file://" if file.startswith("/") else "") + quote(file, safe="/")
