"""Promise: an agent reads lines of known projects' files and of files below the roots: no secret, no other file."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bcon_exporter.agents.answer_rendering import ViewOptions, render_answer
from bcon_exporter.regular_files import MAX_FILE_BYTES
from bcon_exporter.tools import call_tool, find_tool
from tests.factories import NOON
from tests.table_rows import table
from tests.tools.hosts import context_of
from tests.tools.test_what_if import FILE, Shop

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = "No Compose file can be read at this path."
SECRETS = ("hunter2", "swordfish", "fast", "correct-horse")


def read(shop: Shop, path: str, **asked: Any) -> dict[str, Any]:
    answer = call_tool(shop.context, "read_config", {"path": path, **asked}).data()
    assert not [secret for secret in SECRETS if secret in json.dumps(answer)]
    return answer


def make_shop(folder: Path, *, trusted: bool, rooted: bool) -> Shop:
    """A shop beside files that no project reads, one of them a link out of the folder."""
    shop = Shop(folder / "shop", trusted=trusted, roots=(folder / "shop",) if rooted else ())
    (shop.folder / "other.yaml").write_text("password: correct-horse\nlevel: 3\n")
    (shop.folder / "large.yaml").write_text("#" * (MAX_FILE_BYTES + 1))
    (folder / "outside.yaml").write_text("level: 3\n")
    (shop.folder / "link.yaml").symlink_to(folder / "outside.yaml")
    os.mkfifo(shop.folder / "pipe.yaml")
    return shop


HIDDEN = FILE.replace("fast", "***").replace("${TOKEN}", "***").splitlines()


@table("trusted", [True, False])
@table(
    ("name", "shown"),
    [
        ("compose.yaml", HIDDEN),
        ("", HIDDEN),
        (".env", ["TOKEN=***"]),
        ("db.env", ["DB_PASSWORD=***"]),
        ("other.yaml", ["password: ***", "level: 3"]),
        ("link.yaml", REFUSED),
        ("../outside.yaml", REFUSED),
        ("absent.yaml", REFUSED),
        ("pipe.yaml", "pipe"),
        ("large.yaml", "larger than 1 MiB"),
    ],
)
def test_a_file_is_shown_where_it_may_be(tmp_path: Path, name: str, shown: list[str] | str, trusted: bool) -> None:
    shop = make_shop(tmp_path, trusted=trusted, rooted=True)
    answer = read(shop, f"{shop.folder}/{name}".rstrip("/"))
    if isinstance(shown, str):
        assert (shown if trusted else REFUSED) in answer["error"]["message"]
        return
    told = answer["result"]
    assert [(one["line"], one["text"]) for one in told["lines"]] == list(enumerate(shown, 1))
    assert told["total"] == len(shown)
    assert told["projects"] == ([] if name == "other.yaml" else ["shop"])


def test_without_roots_the_daemon_shows_none_and_a_command_those_of_projects(tmp_path: Path) -> None:
    daemon = make_shop(tmp_path / "daemon", trusted=False, rooted=False)
    assert REFUSED in read(daemon, str(daemon.file))["error"]["message"]
    command = make_shop(tmp_path / "command", trusted=True, rooted=False)
    assert read(command, str(command.file))["result"]["projects"] == ["shop"]
    for other in ("other.yaml", "/etc/shadow", "/proc/self/environ"):
        assert REFUSED in read(command, str(command.folder / other))["error"]["message"]


def test_an_agent_pages_through_a_file_and_gets_its_text_apart(tmp_path: Path) -> None:
    shop = make_shop(tmp_path, trusted=True, rooted=True)
    tool = find_tool("read_config")
    envelope = call_tool(shop.context, tool.name, {"path": str(shop.file), "limit": 2, "offset": 3})
    page = json.loads(render_answer(tool, envelope, ViewOptions(offset=3), "h1", NOON).body)
    assert page["rows"] == [
        {"line": 4, "untrusted": ["    image: app:1"]},
        {"line": 5, "untrusted": ["    environment:"]},
    ]
    assert page["more"]["total"] == len(HIDDEN)
    assert page["more"]["next"]["offset"] == 5


def test_a_snapshot_holds_no_file() -> None:
    context = replace(context_of(), one_shot=True)
    assert call_tool(context, "read_config", {"path": "/srv/compose.yaml"}).code == "not_available"
