"""State files in every condition."""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.journal.schema import SCHEMA_VERSION
from tests.factories import NOON, ago, usage
from tests.journal.keepers import batch, container, crash_loop, open_keeper, past_of


def works(keeper: MemoryKeeper) -> bool:
    """It keeps and tells what happens."""
    keeper.add_events(batch(*crash_loop(3, name="works")), NOON)
    keeper.conclude_first_seen("symptom", dict.fromkeys({"x"}), NOON)
    return past_of(keeper, container(name="works", usage=usage())).restarts_total == 3


def status_of(keeper: MemoryKeeper) -> str:
    """A call, since mypy takes a property for constant."""
    return keeper.status


def fill(path: Path) -> None:
    """A daemon has run here."""
    keeper = open_keeper(path)
    keeper.add_events(batch(*crash_loop(200)), NOON)
    past_of(keeper, container(usage=usage()))
    keeper.conclude_first_seen("symptom", dict.fromkeys({"old"}), ago(hours=5))
    keeper.close()


def corrupt_files(path: Path) -> list[str]:
    return sorted(p.name for p in path.parent.iterdir() if ".corrupt-" in p.name)


def damage_header(path: Path) -> None:
    path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])


def damage_an_index(path: Path) -> None:
    """Damage what nothing reads when the file is opened."""
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'journal_at'").fetchall()
        ((size,),) = connection.execute("PRAGMA page_size").fetchall()
    content = bytearray(path.read_bytes())
    content[(root - 1) * size : (root - 1) * size + 100] = b"\xff" * 100
    path.write_bytes(content)


def damage_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)


def truncate(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def replace_by_garbage(path: Path) -> None:
    path.write_bytes(b"this is not a database\n" * 5000)


@contextmanager
def unreadable(path: Path, *tables: str) -> Iterator[None]:
    """Whoever reads these tables of a file in use fails meanwhile, as with a part of the disk that cannot be read."""
    _rename(path, {table: f"hidden_{table}" for table in tables})
    try:
        yield
    finally:
        _rename(path, {f"hidden_{table}": table for table in tables})


def _rename(path: Path, names: Mapping[str, str]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for name, other in names.items():
            connection.execute(f"ALTER TABLE {name} RENAME TO {other}")


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
