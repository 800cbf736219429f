"""Quiet over HTTP changes the daemon's own state, for people of this site only."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.outputs.http.form_tokens import form_token
from bcon_exporter.outputs.http.users import Users
from tests.factories import NOON, compose, container, snapshot
from tests.left_open import close_later
from tests.outputs.http.asking import ask, error_of, site_of, users
from tests.outputs.scenes import make_context, scan_of
from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.outputs.http import Site

HOST = snapshot(container(name="shop-web-1", compose=compose("web")))
HERE = "http://localhost:19877"
OWN = {"origin": HERE, "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"}
MOVING = {"name": "shop", "duration": "1h", "why": "moving"}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A site over a host that was scanned, with a state file."""
    keeper = MemoryKeeper.open(tmp_path / "state.db", retention_seconds=32 * 86400, now=NOON)
    context = make_context(HOST, memory=keeper, now=lambda: NOON)
    context.scans.publish_diagnosis(scan_of(HOST))
    yield site_of(context)
    keeper.close()


def quiet_names(site: Site) -> list[str]:
    return [one["name"] for one in ask(site, "GET", "/api/v1/quiet").json()["result"]["quiet"]]


def basic(name: str, password: str) -> dict[str, str]:
    return {"authorization": f"Basic {b64encode(f'{name}:{password}'.encode()).decode()}"}


def test_it_is_begun_listed_and_ended(site: Site) -> None:
    begun = ask(site, "POST", "/api/v1/quiet", json=MOVING)
    assert begun.json()["result"] == {
        "name": "shop", "source": "command", "until": "2026-01-01T13:00:00Z", "why": "moving", "cut": False,
    }  # fmt: skip
    assert quiet_names(site) == ["shop"]
    assert ask(site, "POST", "/api/v1/quiet/end", json={"name": "shop"}).status_code == 200
    assert quiet_names(site) == []


@table(("asked", "until", "cut"), [("30d", "2026-01-31T12:00:00Z", False), ("60d", "2026-01-31T12:00:00Z", True)])
def test_a_quiet_that_is_cut_says_so(asked: str, until: str, cut: bool) -> None:
    keeper = close_later(MemoryKeeper.open(None, retention_seconds=32 * 86400, now=NOON))
    context = make_context(HOST, memory=keeper, now=lambda: NOON)
    context.scans.publish_diagnosis(scan_of(HOST))
    begun = ask(site_of(context), "POST", "/api/v1/quiet", json={"name": "shop", "duration": asked}).json()["result"]
    assert (begun["until"], begun["cut"]) == (until, cut)


@pytest.mark.parametrize(
    ("path", "body", "code", "says"),
    [
        ("/api/v1/quiet", {"name": "shpo", "duration": "1h"}, "not_found", "shop"),
        (
            "/api/v1/quiet",
            {"name": "shop", "duration": "soon"},
            "invalid_input",
            "duration: must be how long",
        ),
        ("/api/v1/quiet", {"name": "shop", "duration": "99999999999999999999d"}, "invalid_input", "duration"),
        ("/api/v1/quiet", {"name": "../x", "duration": "1h"}, "invalid_input", "name"),
        ("/api/v1/quiet", {"name": "shop", "duration": "1h", "for": 1}, "invalid_input", "for"),
        ("/api/v1/quiet/end", {"name": "shop"}, "not_found", "nobody"),
        ("/api/v1/incidents/2026-nothing/acknowledge", {}, "not_found", "incident"),
    ],
)
def test_what_is_wrong_comes_in_the_envelope(site: Site, path: str, body: Any, code: str, says: str) -> None:
    error = error_of(ask(site, "POST", path, json=body))
    assert error["code"] == code
    assert says in error["message"]
    assert quiet_names(site) == []


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
@table("path", ["/api/v1/quiet", "/api/v1/quiet/end", "/api/v1/incidents/x/acknowledge"])
def test_other_web_sites_change_nothing(site: Site, path: str, headers: dict[str, str]) -> None:
    answer = ask(site, "POST", path, json=MOVING, headers=headers)
    assert answer.status_code == 403
    assert quiet_names(site) == []


def test_json_is_demanded_so_that_no_plain_form_passes(site: Site) -> None:
    answer = ask(site, "POST", "/api/v1/quiet", content=b'{"name":"shop"}', headers={"content-type": "text/plain"})
    assert answer.status_code == 415


def send_form(site: Site, headers: dict[str, str] | None = None, **changes: str) -> Any:
    """Send the form as the page does; `changes` replace any of its fields."""
    fields = {**MOVING, "back": "/p/shop?x=1", "token": form_token({"headers": []}), **changes}
    return ask(site, "POST", "/quiet", data=fields, headers=OWN if headers is None else headers)


def test_the_pages_form_mutes_and_leads_back(site: Site) -> None:
    answer = send_form(site)
    assert (answer.status_code, answer.headers["location"]) == (303, "./p/shop?x=1")
    assert quiet_names(site) == ["shop"]
    assert send_form(site, end="1").status_code == 303
    assert quiet_names(site) == []


@pytest.mark.parametrize(
    ("headers", "changes"),
    [
        ({}, {}),
        ({"origin": HERE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, {}),
        ({"origin": HERE, "sec-fetch-site": "none", "sec-fetch-mode": "navigate"}, {}),
        ({**OWN, "origin": "https://evil.example"}, {}),
        (OWN, {"token": ""}),
        (OWN, {"token": "0" * 64}),
        (OWN, {"token": form_token({"headers": [(b"authorization", basic("eve", "x")["authorization"].encode())]})}),
    ],
)
def test_a_form_that_was_not_made_here_for_this_user_is_refused(
    site: Site, headers: dict[str, str], changes: dict[str, str]
) -> None:
    answer = send_form(site, headers, **changes)
    assert answer.status_code == 403
    assert quiet_names(site) == []


@pytest.mark.parametrize(
    "back", ["", "https://evil.example", "//evil.example", "/\\evil.example", "/x\r\nset-cookie: a=b"]
)
def test_a_form_leads_to_this_site_only(site: Site, back: str) -> None:
    assert send_form(site, back=back).headers["location"] == "./"


def test_a_user_has_a_token_of_their_own(site: Site) -> None:
    known, ada = users(ada="lovelace"), basic("ada", "lovelace")
    token = form_token({"headers": [(b"authorization", ada["authorization"].encode())]})
    fields = {**MOVING, "token": token}
    assert ask(site, "POST", "/quiet", data=fields, headers=OWN, known=known).status_code == 401
    assert ask(site, "POST", "/quiet", data=fields, headers={**OWN, **ada}, known=known).status_code == 303
    assert token != form_token({"headers": []})


def test_each_who_shows_a_bearer_token_has_a_form_token_of_their_own(site: Site) -> None:
    names = ("ci", "ops")
    known = Users({}, tokens={name: hashlib.sha256(name.encode()).hexdigest() for name in names})
    bearer = {name: {"authorization": f"Bearer {name}"} for name in names}
    tokens = {name: form_token({"headers": [(b"authorization", f"Bearer {name}".encode())]}) for name in names}
    for name, other in (names, names[::-1]):
        fields = {**MOVING, "token": tokens[other]}
        assert ask(site, "POST", "/quiet", data=fields, headers={**OWN, **bearer[name]}, known=known).status_code == 403
        fields = {**MOVING, "token": tokens[name]}
        assert ask(site, "POST", "/quiet", data=fields, headers={**OWN, **bearer[name]}, known=known).status_code == 303
    named = form_token({"headers": [(b"authorization", basic("ci", "x")["authorization"].encode())]})
    assert len({*tokens.values(), named, form_token({"headers": []})}) == 4
