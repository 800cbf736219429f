"""The formats for CI are well formed, whatever stands in a finding, and show no secret."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from bcon_exporter.outputs.ci_formats import (
    CiFinding,
    CiReport,
    FindingLevel,
    render_github,
    render_junit,
    render_sarif,
)
from tests.table_rows import table

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
HOSTILE = (
    "::error::injected",
    "one\n::error file=x::injected\r\n::stop-commands::x",
    "\x1b]0;title\x07 \x1b[31mred\x1b[0m \x9b31m",
    "]]> <!-- <![CDATA[ </failure> & \"'",
    "nul \x00 bell \x07 \ufffe \uffff \ud800 \x85 \u2028 \u202e",
    "%0A%25::,",
    f"password={SECRET}",
)
FORMATS = {"junit": render_junit, "sarif": render_sarif, "github": render_github}


def report_of(*findings: CiFinding, **changes: Any) -> CiReport:
    base = CiReport("check", "shop", "fails", "1 finding", findings, passed=("db",), root="/work/shop")
    return replace(base, **changes)


def finding_of(text: str, level: FindingLevel = FindingLevel.FAILURE) -> CiFinding:
    return CiFinding(level, "port_taken", text, service=text, evidence=(text, text), file=f"/work/shop/{text}", line=7)


def check_sarif(log: dict[str, Any]) -> None:
    """Hold a log to what the schema of SARIF 2.1.0 requires of the objects that we write."""
    assert log["version"] == "2.1.0"
    assert log["$schema"].startswith("https://")
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        assert driver["name"]
        rules = [rule["id"] for rule in driver["rules"]]
        assert len(set(rules)) == len(rules)
        assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
        assert all(isinstance(call["executionSuccessful"], bool) for call in run["invocations"])
        for result in run["results"]:
            assert result["message"]["text"]
            assert result["level"] in ("none", "note", "warning", "error")
            assert rules[result["ruleIndex"]] == result["ruleId"]
            for location in result.get("locations", ()):
                physical = location.get("physicalLocation")
                if physical is not None:
                    uri = physical["artifactLocation"]["uri"]
                    assert uri.isascii()
                    assert not set(uri) & set(' <>"\\^`{|}\n\r\t')
                    assert physical.get("region", {"startLine": 1})["startLine"] >= 1
                assert all(one["name"] for one in location.get("logicalLocations", ()))


@table("text", HOSTILE)
@table("level", FindingLevel)
def test_junit_is_well_formed_and_holds_every_finding_whatever_stands_in_it(text: str, level: FindingLevel) -> None:
    document = ET.fromstring(render_junit(report_of(finding_of(text, level))))
    suite = document.find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == ["port_taken", "check"]
    assert suite.get("tests") == "2"
    assert suite.get("failures") == str(len(suite.findall(".//failure")))
    assert suite.get("errors") == str(len(suite.findall(".//error")))


def test_junit_fails_for_failures_errs_for_what_is_unsure_and_passes_for_all_else() -> None:
    suite = ET.fromstring(render_junit(report_of(*(finding_of("x", level) for level in FindingLevel))))[0]
    outcomes = [[child.tag for child in case] for case in suite.findall("testcase")]
    assert outcomes == [["failure"], ["error"], ["system-out"], ["system-out"], []]


@pytest.mark.parametrize("text", HOSTILE)
def test_sarif_has_what_its_schema_requires_whatever_stands_in_a_finding(text: str) -> None:
    check_sarif(json.loads(render_sarif(report_of(finding_of(text)))))


def test_sarif_names_files_below_the_root_without_it_and_others_as_they_are() -> None:
    inside = CiFinding(FindingLevel.FAILURE, "port_taken", "x", file="/work/shop/sub dir/a.yaml", line=3)
    outside = replace(inside, file="/etc/b.yaml", line=0)
    log = json.loads(render_sarif(report_of(inside, outside)))
    found = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    assert found == [
        {"artifactLocation": {"uri": "sub%20dir/a.yaml"}, "region": {"startLine": 3}},
        {"artifactLocation": {"uri": "file:///etc/b.yaml"}},
    ]


def test_sarif_of_no_finding_is_whole() -> None:
    log = json.loads(render_sarif(report_of()))
    check_sarif(log)
    assert log["runs"][0]["results"] == []


@pytest.mark.parametrize("text", HOSTILE)
def test_github_is_given_one_command_for_each_finding_and_none_of_a_text(text: str) -> None:
    lines = render_github(report_of(finding_of(text))).split("\n")
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::notice", ""]
    properties = lines[0].removeprefix("::error ").partition("::")[0]
    assert [part.partition("=")[0] for part in properties.split(",")] == ["file", "line", "title"]
    assert "\r" not in lines[0]


def test_github_shows_the_message_as_it_is() -> None:
    found = CiFinding(FindingLevel.WARNING, "image_missing", "100% sure:\nyes, a", service="web")
    assert render_github(report_of(found)).splitlines()[0] == (
        "::warning title=web%3A image_missing (bcon-exporter check)::100%25 sure:%0Ayes, a"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_shows_a_secret_or_an_acting_character(form: str) -> None:
    shown = FORMATS[form](report_of(*map(finding_of, HOSTILE), summary=f"token {SECRET}", project=f"a {SECRET}"))
    assert SECRET not in shown
    assert not any(ord(character) < 32 and character not in "\n\t" for character in shown)
    assert "\u202e" not in shown


def test_junit_has_the_attributes_of_its_schema_alone_and_tells_the_place_in_the_text() -> None:
    found = CiFinding(
        FindingLevel.FAILURE, "port_taken", "taken", service="web", file="/work/shop/compose.yaml", line=7
    )
    bare = CiFinding(FindingLevel.NOTE, "log_unbounded", "unbounded", line=7)
    cases = ET.fromstring(render_junit(report_of(found, bare))).findall("testsuite/testcase")
    assert {name for case in cases for name in case.attrib} == {"classname", "name"}
    assert [case[0].text for case in cases[:2]] == ["taken\ncompose.yaml:7", "note: unbounded"]
