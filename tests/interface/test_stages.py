"""Promise: a stage stands in one table, is read in the documents, and what will go says so where it is used."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from bcon_exporter.agents.schemas import describe_tools
from bcon_exporter.cli.commands import COMMANDS
from bcon_exporter.cli.completion_command import make_whole_parser
from bcon_exporter.cli.main import overview
from bcon_exporter.cli.parsing import NO_SETTINGS, Command, Invocation, make_parser
from bcon_exporter.outputs.http.openapi_models import describe_tool
from bcon_exporter.outputs.http.stages import STAGES, find_deprecated, mark_operations
from bcon_exporter.outputs.metrics import FAMILIES
from bcon_exporter.outputs.metrics.families import BY_NAME
from bcon_exporter.outputs.metrics.writing import header
from bcon_exporter.settings import list_settings, load_settings, show_default
from bcon_exporter.settings.model import stage_of
from bcon_exporter.settings.warnings import find_warnings
from bcon_exporter.stages import EXPERIMENTAL, STABLE, Stage, deprecated
from bcon_exporter.tools import TOOLS, find_tool
from tests.architecture.sources import ROOT
from tests.outputs.http.asking import ask, site_of
from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

GOING = deprecated("0.4.0", on="2027-02-01", gone="0.5.0", instead="the new one")
NOTICE = "deprecated since 0.4.0, may be gone from 0.5.0 on; use the new one"
STABILITY = (ROOT / "docs" / "stability.md").read_text()
TABLES: dict[str, tuple[str, Mapping[str, Stage]]] = {
    "metrics": ("docs/metrics.md", {family.name: family.stage for family in FAMILIES}),
    "settings": ("docs/configuration.md", {f"--{name}": stage_of(field) for name, field in list_settings().items()}),
    "tools": ("docs/api.md", {tool.name: tool.stage for tool in TOOLS}),
}
"""What is listed → its document, and the stage of each name."""


def of_word(stages: Mapping[str, Stage], word: str) -> set[str]:
    """The names that have a stage."""
    return {name for name, stage in stages.items() if stage.word == word}


def marked_in(document: str, word: str) -> set[str]:
    """The names whose row in a document's tables is marked with a stage."""
    rows = re.findall(rf"^\| `([^`]+)` \|.*\(\*{word}\*\) \|$", (ROOT / document).read_text(), re.MULTILINE)
    return set(rows)


@table("kind", TABLES)
def test_a_document_marks_what_is_not_stable(kind: str) -> None:
    document, stages = TABLES[kind]
    others = {name for _, named in TABLES.values() for name in named} - set(stages)

    for word in ("experimental", "deprecated"):
        marked = {name for name in marked_in(document, word) - others if not re.match(r"(GET|POST) ", name)}
        assert marked == of_word(stages, word)


def test_the_document_of_the_api_marks_the_addresses_that_are_not_stable() -> None:
    own = {address: stage for address, stage in STAGES.items() if not address.startswith("POST /api/v1/tools/")}
    told_elsewhere = {"POST /mcp"}

    for word in ("experimental", "deprecated"):
        marked = {name for name in marked_in("docs/api.md", word) if re.match(r"(GET|POST) ", name)}
        assert marked == of_word(own, word) - told_elsewhere


def test_the_page_about_stages_lists_all_that_is_experimental() -> None:
    commands = {command.name: command.stage for command in COMMANDS}
    addresses = {address: stage for address, stage in STAGES.items() if not address.startswith("POST /api/v1/tools/")}
    kinds = {**{kind: stages for kind, (_, stages) in TABLES.items()}, "commands": commands, "addresses": addresses}
    table_of_today = STABILITY.partition("## Experimental today")[2].partition("\n\nThese")[0]
    listed = {
        kind: set(re.findall(r"`([^`]+)`", row)) - {"POST /api/v1/tools/NAME"}
        for kind, row in re.findall(r"^\| (\w+) \| (.*) \|$", table_of_today, re.MULTILINE)
    }

    assert listed == {kind: of_word(stages, "experimental") for kind, stages in kinds.items()}
    going = [name for stages in kinds.values() for name in of_word(stages, "deprecated")]
    assert ("Nothing is deprecated today." in STABILITY) == (going == [])


def test_only_what_is_not_stable_names_its_stage() -> None:
    assert STABLE.notice == EXPERIMENTAL.notice == ""
    assert STABLE.add_to("Does it.") == "Does it."
    assert EXPERIMENTAL.add_to("Does it.") == "Does it. (experimental)"
    assert GOING.add_to("Does it.") == GOING.warn_in("Does it.") == f"Does it. ({NOTICE})"


@table("form", ["text", "openmetrics"])
def test_a_deprecated_metric_says_so_in_its_help_line(form: Any) -> None:
    family = BY_NAME["bcon_symptoms"]

    assert header(replace(family, stage=GOING), form).splitlines()[0] == (
        f"# HELP bcon_symptoms Containers that show the symptom; as of the last scan ({NOTICE})"
    )
    assert header(replace(family, stage=EXPERIMENTAL), form) == header(family, form)


class _Settings(BaseModel):
    retention: Annotated[str, GOING] = Field("", description="How long")


def test_a_deprecated_setting_that_was_given_is_warned_of_where_it_was_written() -> None:
    described = {"state.retention": _Settings.model_fields["retention"]}

    given = load_settings({}, {"HOME": "/root", "BCON_STATE__RETENTION": "40d"})
    assert find_warnings(given, described) == (f"BCON_STATE__RETENTION: the setting state.retention is {NOTICE}",)
    assert find_warnings(load_settings({}, {"HOME": "/root"}), described) == ()
    assert find_warnings(given) == ()


def test_a_deprecated_tool_says_so_in_every_list_of_tools() -> None:
    tool = replace(find_tool("get_disk_usage"), stage=GOING)

    assert describe_tool(tool).summary == tool.description == f"{tool.summary} ({NOTICE})"
    assert describe_tool(tool).stage == "deprecated"
    assert all(entry["description"] for entry in describe_tools("mcp", ("core", "ops", "agents")))


def test_a_deprecated_command_says_so_on_standard_error_and_in_help(capsys: pytest.CaptureFixture[str]) -> None:
    version = next(command for command in COMMANDS if command.name == "version")
    old = version._replace(name="release", stage=GOING)
    parser = ArgumentParser()
    old.add_arguments(parser)

    assert old.start(Invocation(parser.parse_args([]), load_settings, needs_settings=False)) == 0
    assert capsys.readouterr().err == f"bcon-exporter: release is {NOTICE}\n"
    assert NOTICE in " ".join(make_parser(old).format_help().split())


def test_help_names_the_stage_of_a_command_that_is_experimental() -> None:
    whole = " ".join(make_whole_parser().format_help().split())
    for command in COMMANDS:
        said = command.stage.word == "experimental"
        assert (f"{command.summary} (experimental)" in overview()) is said
        assert (f"{command.summary} (experimental)" in whole) is said
        assert (f"{command.summary} (experimental)" in " ".join(make_parser(command).format_help().split())) is said


def test_help_names_the_stage_of_a_setting_that_is_experimental() -> None:
    serve = next(command for command in COMMANDS if command.name == "serve")
    text = " ".join(make_parser(serve).format_help().split())

    for name, field in list_settings().items():
        said = (
            f"{field.description} (experimental)" in text
            or f"{field.description} (default: {show_default(field.default)}) (experimental)" in text
        )
        assert said is (stage_of(field) == EXPERIMENTAL), name


ADDRESSES = (
    # method and path that are asked, the address that is deprecated, where its link leads; None: no header
    ("GET", "/api/v1/health", "GET /api/v1/health", "../../docs/stability"),
    ("HEAD", "/api/v1/health", "GET /api/v1/health", "../../docs/stability"),
    ("GET", "/metrics", "GET /metrics", "docs/stability"),
    ("GET", "/c/shop-db-1", "GET /c/{container}", "../docs/stability"),
    ("POST", "/api/v1/tools/list_containers", "POST /api/v1/tools/list_containers", "../../../docs/stability"),
    ("GET", "/api/v1/containers/nothing", "GET /api/v1/containers/{container_id}", "../../../docs/stability"),
    ("GET", "/api/v1/containers", "GET /api/v1/containers/{container_id}", None),
    ("GET", "/api/v1/containers/nothing/stats", "GET /api/v1/containers/{container_id}", None),
    ("GET", "/api/v1/quiet", "POST /api/v1/quiet", None),
    ("GET", "/api/v1/health", "GET /api/v1/cost", None),
)


@table("case", ADDRESSES)
def test_the_answer_of_a_deprecated_address_has_the_header_and_leads_to_the_page(
    case: tuple[str, str, str, str | None],
) -> None:
    method, path, address, link = case
    answer = ask(replace(site_of(), deprecated={address: GOING}), method, path)

    assert answer.headers.get("deprecation") == (None if link is None else "@1801440000")
    assert answer.headers.get("link") == (None if link is None else f'<{link}>; rel="deprecation"; type="text/html"')


def test_only_deprecated_addresses_are_looked_for() -> None:
    assert find_deprecated({"GET /a": EXPERIMENTAL, "GET /b": GOING}) == {"GET /b": GOING}


def test_the_openapi_document_tells_the_stage_of_every_operation() -> None:
    document = ask(site_of(), "GET", "/openapi.json").json()
    told = {
        f"{method.upper()} {path}": operation["x-stage"]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in ("get", "post")
    }

    assert {address for address, word in told.items() if word == "experimental"} == set(STAGES) - {"POST /mcp"}
    assert set(told.values()) == {"stable", "experimental"}
    assert list(document["paths"]["/alerts"]["get"]["responses"]["200"]["content"]) == ["text/html"]


def test_a_deprecated_operation_is_marked_as_openapi_does_it() -> None:
    paths: dict[str, Any] = {"/a": {"get": {"responses": {}}, "parameters": []}}
    mark_operations(paths, {"GET /a": GOING})

    assert paths["/a"]["get"] == {
        "responses": {},
        "x-stage": "deprecated",
        "deprecated": True,
        "description": NOTICE,
    }


def test_a_row_that_names_no_stage_is_stable() -> None:
    assert Command("x", "Daemon", "Does it.", lambda _: None, "x:x", NO_SETTINGS).stage == STABLE
