"""Notes over HTTP: a person decides, for this site only; reports show them with the next request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.findings import DriftType
from bcon_exporter.model.incidents import IncidentState, TrackedIncident
from bcon_exporter.tools.change_rates import AGENT_CHANGES_AT_ONCE
from tests.factories import NOON, compose, container, snapshot
from tests.incidents.test_quiet import incident
from tests.outputs.http.asking import ask, error_of, site_of, users_with_tokens
from tests.outputs.scenes import difference, drift_report, drift_scan, make_context, scan_of
from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.outputs.http import Site

HOST = snapshot(container(name="shop-web-1", compose=compose("web")))
INCIDENT = incident("shop-web-1")
NOTE = {"text": "exits with 3 every Sunday, harmless", "about": {"container": "shop-web-1"}}
WRITTEN = {**NOTE, "dry_run": False}
TOOL = "/api/v1/tools/write_memory"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A site over a host that was scanned, with a state file."""
    keeper = MemoryKeeper.open(tmp_path / "state.db", retention_seconds=32 * 86400, now=NOON)
    tracked = TrackedIncident(incident=INCIDENT, members=("web",))
    keeper.fold_incidents(lambda _: FoldedIncidents(IncidentState(open=(tracked,))), NOON)
    context = make_context(HOST, memory=keeper, now=lambda: NOON)
    context.scans.publish_diagnosis(scan_of(HOST))
    context.scans.publish_drift(drift_scan(drift_report("shop", difference(DriftType.IMAGE_MISMATCH))))
    yield site_of(context)
    keeper.close()


def result(site: Site, method: str, path: str, **options: Any) -> Any:
    answer = ask(site, method, path, **options)
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def states(site: Site) -> list[str]:
    return [one["status"] for one in result(site, "GET", "/api/v1/notes")["notes"]]


def test_a_note_of_an_agent_is_listed_approved_shown_and_removed(site: Site) -> None:
    written = result(site, "POST", TOOL, json=WRITTEN)
    assert (written["id"], written["status"]) == ("n1", "pending")
    assert states(site) == ["pending"]
    assert "notes" not in result(site, "GET", "/api/v1/diagnosis")["reports"][0]
    assert result(site, "POST", "/api/v1/notes/n1/approve")["status"] == "approved"
    told = result(site, "GET", "/api/v1/diagnosis")
    assert [one["text"] for one in told["notes"]] == [NOTE["text"]]
    assert [one["text"] for one in told["reports"][0]["notes"]] == [NOTE["text"]]
    assert result(site, "GET", "/api/v1/containers/shop-web-1/diagnosis")["notes"][0]["id"] == "n1"
    assert result(site, "POST", "/api/v1/notes/n1/remove")["id"] == "n1"
    assert states(site) == []
    assert "notes" not in result(site, "GET", "/api/v1/diagnosis")


def test_a_person_adds_and_refuses(site: Site) -> None:
    assert result(site, "POST", "/api/v1/notes", json=NOTE)["status"] == "approved"
    result(site, "POST", TOOL, json={**WRITTEN, "text": "another"})
    assert states(site) == ["pending", "approved"]
    assert result(site, "POST", "/api/v1/notes/n2/refuse")["id"] == "n2"
    assert states(site) == ["approved"]


def test_the_last_drift_shows_the_notes_about_it(site: Site) -> None:
    result(site, "POST", "/api/v1/notes", json={"text": "on purpose", "about": {"drift": "image_mismatch"}})
    assert [one["text"] for one in result(site, "GET", "/api/v1/drift")["reports"][0]["notes"]] == ["on purpose"]
    assert [one["text"] for one in result(site, "GET", "/api/v1/drift/shop")["notes"]] == ["on purpose"]


def test_an_incident_shows_the_notes_about_its_members_and_keeps_none(site: Site) -> None:
    result(site, "POST", "/api/v1/notes", json=NOTE)
    path = f"/api/v1/incidents/{INCIDENT.id}"
    assert [one["text"] for one in result(site, "GET", path)["notes"]] == [NOTE["text"]]
    result(site, "POST", "/api/v1/notes/n1/remove")
    assert "notes" not in result(site, "GET", path)


def test_the_pages_show_what_is_approved_and_escape_it(site: Site) -> None:
    pages = ("/", "/c/shop-web-1", "/p/shop", f"/i/{INCIDENT.id}")
    result(site, "POST", TOOL, json={**WRITTEN, "text": "a pending one"})
    for about in ({}, NOTE["about"], {"project": "shop"}):
        result(site, "POST", "/api/v1/notes", json={"text": f"<script>of {about}</script>", "about": about})
    for path in pages:
        text = ask(site, "GET", path).text
        assert "<script>of" not in text
        assert "&lt;script&gt;of" in text
        assert "a pending one" not in text


@pytest.mark.parametrize(
    ("path", "body", "code", "says"),
    [
        ("/api/v1/notes", {"text": "x" * 1001}, "invalid_input", "text"),
        ("/api/v1/notes", {**NOTE, "expires": "soon"}, "invalid_input", "expires"),
        ("/api/v1/notes", WRITTEN, "invalid_input", "dry_run"),
        ("/api/v1/notes/n7/approve", {}, "not_found", "no note n7"),
        ("/api/v1/notes/n7/refuse", {}, "not_found", "no note n7"),
        ("/api/v1/notes/n7/remove", {}, "not_found", "no note n7"),
        ("/api/v1/notes/7/approve", {}, "invalid_input", "note_id"),
    ],
)
def test_what_is_wrong_comes_in_the_envelope(site: Site, path: str, body: Any, code: str, says: str) -> None:
    error = error_of(ask(site, "POST", path, json=body))
    assert error["code"] == code
    assert says in error["message"]
    assert states(site) == []


@table(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "navigate"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
    ],
    shared=["site"],
)
@table("path", [TOOL, "/api/v1/notes", *(f"/api/v1/notes/n1/{do}" for do in ("approve", "refuse", "remove"))])
def test_other_web_sites_change_nothing(site: Site, path: str, headers: dict[str, str]) -> None:
    result(site, "POST", TOOL, json=WRITTEN)
    body = {TOOL: {**WRITTEN, "text": "planted"}, "/api/v1/notes": {**NOTE, "text": "planted"}}.get(path, {})
    assert ask(site, "POST", path, json=body, headers=headers).status_code == 403
    assert states(site) == ["pending"]


def test_json_is_demanded_so_that_no_plain_form_passes(site: Site) -> None:
    for path in (TOOL, "/api/v1/notes"):
        answer = ask(site, "POST", path, content=b'{"text":"planted"}', headers={"content-type": "text/plain"})
        assert answer.status_code == 415
    assert states(site) == []


@pytest.mark.promise("F22")
def test_an_agent_that_floods_over_http_stops_no_other_caller_and_no_person(site: Site) -> None:
    """Each user is one caller; an answer of 429 says when to come again."""
    known = users_with_tokens(noisy="n" * 32, quiet="q" * 32)
    noisy, quiet = ({"authorization": f"Bearer {letter * 32}"} for letter in "nq")

    def post(headers: dict[str, str], path: str, text: str) -> int:
        more = {} if path == "/api/v1/notes" else {"dry_run": False}
        return ask(site, "POST", path, json={"text": text, **more}, headers=headers, known=known).status_code

    assert post(quiet, TOOL, "of a quiet agent") == 200
    answers = [post(noisy, TOOL, f"flood {number}") for number in range(30)]
    assert answers == [200] * AGENT_CHANGES_AT_ONCE + [429] * (30 - AGENT_CHANGES_AT_ONCE)
    assert post(quiet, TOOL, "of a quiet agent, too") == 200
    assert post(noisy, "/api/v1/notes", "of a person who is the same user") == 200
    listed = ask(site, "GET", "/api/v1/notes", headers=quiet, known=known).json()["result"]["notes"]
    assert len(listed) == AGENT_CHANGES_AT_ONCE + 3
