"""JUnit XML, which every CI system reads: a test case for each finding, and one for each service without any."""

from xml.etree import ElementTree as ET

from bcon_exporter.outputs.ci_formats.findings import CiFinding, CiReport, FindingLevel, make_safe


def render_junit(report: CiReport) -> str:
    """Return a JUnit document."""
    report = make_safe(report)
    levels = [finding.level for finding in report.findings]
    counts = {
        "tests": str(len(report.findings) + len(report.passed)),
        "failures": str(levels.count(FindingLevel.FAILURE)),
        "errors": str(levels.count(FindingLevel.UNSURE)),
    }
    name = f"bcon-exporter {report.command} {report.project}"
    suites = ET.Element("testsuites", {"name": name, **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": name, **counts, "skipped": "0"})
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", {"name": "verdict", "value": report.verdict})
    for finding in report.findings:
        _add_finding(suite, finding, report)
    for service in report.passed:
        ET.SubElement(suite, "testcase", {"classname": _class_of(service, report), "name": report.command})
    ET.SubElement(suite, "system-out").text = report.summary
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _add_finding(suite: ET.Element, finding: CiFinding, report: CiReport) -> None:
    case = ET.SubElement(suite, "testcase", {"classname": _class_of(finding.service, report), "name": finding.code})
    where = ":".join(
        str(part) for part in (finding.file, finding.line) if finding.file is not None and part is not None
    )
    text = "\n".join(filter(None, (finding.full_message, where)))
    match finding.level:
        case FindingLevel.FAILURE:
            ET.SubElement(case, "failure", _what(finding)).text = text
        case FindingLevel.UNSURE:
            ET.SubElement(case, "error", _what(finding)).text = text
        case FindingLevel.WARNING | FindingLevel.NOTE:
            ET.SubElement(case, "system-out").text = f"{finding.level}: {text}"


def _what(finding: CiFinding) -> dict[str, str]:
    return {"message": finding.message.partition("\n")[0], "type": finding.code}


def _class_of(service: str | None, report: CiReport) -> str:
    return f"{report.project}.{service}" if service else report.project
