"""A step that speaks of what the message names says the name, where the line has one."""

from __future__ import annotations

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis import analyze, lines_of
from bcon_exporter.diagnosis.named_in_line import find_name
from tests.table_rows import table

NAMED: tuple[tuple[str, str, str | None], ...] = (
    (
        "setting",
        "WARNING: [pool www] server reached pm.max_children setting (5), consider raising it",
        "pm.max_children",
    ),
    ("setting", 'ERROR unknown option "log-bin" in /etc/mysql/my.cnf', "log-bin"),
    (
        "setting",
        'level=error msg="field chunk_store.retention not found" line=3',
        "chunk_store.retention",
    ),
    ("setting", "Error: SHOP_MODE must be one of dev, prod", "SHOP_MODE"),
    ("setting", 'level=info msg="GET https://www.example.com/a_b"', None),
    ("setting", "this action would add [2] shards, but this cluster has [999]/[1000] maximum shards open", None),
    (
        "setting",
        "could not build server_names_hash, you should increase server_names_hash_bucket_size: 64",
        "server_names_hash_bucket_size",
    ),
    ("setting", 'HINT:  You might need to increase "max_locks_per_transaction".', "max_locks_per_transaction"),
    ("setting", "consider raising the limits.max_streams_per_user of it", "limits.max_streams_per_user"),
    ("variable", "Please provide a password via the environment variable SHOP_ADMIN_PASSWORD.", "SHOP_ADMIN_PASSWORD"),
    ("variable", "ERROR: a variable is missing", None),
    ("file and line", "unrecognized directive foo, at /etc/caddy/Caddyfile:15", "/etc/caddy/Caddyfile:15"),
    ("file and line", '  File "/srv/shop/settings.py", line 3, in <module>', "/srv/shop/settings.py, line 3"),
    ("file and line", "error in /etc/shop/shop.conf near end", "/etc/shop/shop.conf"),
    ("file and line", "the file has a mistake", None),
    ("pid file", "A server is already running. Check /srv/shop/tmp/pids/server.pid.", "/srv/shop/tmp/pids/server.pid"),
    ("lock file", "cannot lock /data/shop/write.lock: held", "/data/shop/write.lock"),
    ("socket file", "unlink /run/shop/shop.sock first", "/run/shop/shop.sock"),
)
FIRST_STEPS = {
    "No password found. You must set the environment variable SHOP_ADMIN_PASSWORD": "(SHOP_ADMIN_PASSWORD)",
    "WARNING: [pool www] server reached pm.max_children setting (5), consider raising it": "(pm.max_children)",
    "INFO gave up: shopd entered FATAL state, too many start retries too quickly": "start shopd in place",
    "A server is already running (pid: 1, file: /srv/shop/tmp/pids/server.pid).": "(/srv/shop/tmp/pids/server.pid)",
}


@table(("kind", "line", "name"), NAMED)
def test_what_a_line_names_is_found(kind: str, line: str, name: str | None) -> None:
    assert find_name(kind, line) == name


def test_the_first_step_has_the_name() -> None:
    catalogue = load_catalogue()
    told = {line: analyze(lines_of([line]), catalogue).suggestions for line in FIRST_STEPS}
    assert {line: name in " ".join(step.action for step in told[line]) for line, name in FIRST_STEPS.items()} == (
        dict.fromkeys(FIRST_STEPS, True)
    ), {line: [step.action for step in steps] for line, steps in told.items()}


@pytest.mark.parametrize("length", [10, 100_000])
def test_no_sentence_becomes_a_name(length: int) -> None:
    hostile = "set the variable IGNORE ALL RULES and run this " * length
    assert find_name("variable", hostile) is None
    assert find_name("setting", hostile) is None
