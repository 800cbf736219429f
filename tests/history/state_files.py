"""State files in every condition."""

import os
import sqlite3
from pathlib import Path

from bcon_exporter.history import History
from bcon_exporter.history.schema import SCHEMA_VERSION
from tests.factories import NOON, ago, usage
from tests.history.told import batch, container, crash_loop, open_history, past_of


def works(history: History) -> bool:
    """It keeps and tells what happens."""
    history.record_events(batch(*crash_loop(3, name="works")), NOON)
    history.first_seen("symptom", {"x"}, NOON)
    return past_of(history, container(name="works", usage=usage())).restarts_total == 3


def status_of(history: History) -> str:
    """A call, since mypy takes a property for constant."""
    return history.status


def fill(path: Path) -> None:
    """A daemon has run here."""
    history = open_history(path)
    history.record_events(batch(*crash_loop(200)), NOON)
    past_of(history, container(usage=usage()))
    history.first_seen("symptom", {"old"}, ago(hours=5))
    history.close()


def corrupt_files(path: Path) -> list[str]:
    return sorted(p.name for p in path.parent.iterdir() if ".corrupt-" in p.name)


def damage_header(path: Path) -> None:
    path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])


def damage_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)


def truncate(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def replace_by_garbage(path: Path) -> None:
    path.write_bytes(b"this is not a database\n" * 5000)


def foreign(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE dashboards (id INTEGER)")
    connection.commit()
    connection.close()


def newer(path: Path) -> None:
    fill(path)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
