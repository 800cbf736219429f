"""Opens the state file, whatever is found there: bad files are set aside, other programs' files left alone."""

import contextlib
import logging
import os
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bcon_exporter.journal.file_lock import FileLock, TakenError, take_lock
from bcon_exporter.journal.schema import APPLICATION_ID, SCHEMA_VERSION, TABLES, schema_statements
from bcon_exporter.journal.upgrade import OLD_VERSION, keep_copy, upgrade
from bcon_exporter.journal.waiting_entries import WAITING_ENTRIES

logger = logging.getLogger(__name__)

PAGE_BYTES = 2048
"""Of a new file: each scan writes one page at least, so a smaller one halves what an idle host writes."""

BUSY_SECONDS = 0.25
"""How long a scan may wait for another process's lock."""

_PARTS = {
    "journal": (
        "SELECT * FROM journal WHERE kind = 'deployment' OR id >"  # noqa: S608 -- a number of our own
        f" (SELECT coalesce(max(id), 0) FROM journal) - {WAITING_ENTRIES}"
    ),
    "incidents": (
        "SELECT id, started_at, ended_at, project, root, code, ended_by, CASE WHEN id IN"
        " (SELECT id FROM incidents ORDER BY started_at DESC LIMIT 1000) THEN incident ELSE '' END FROM incidents"
    ),
}
"""What memory takes of the two largest tables while the file has the rest: the newest entries and each project's
verdicts; all incidents, since they are counted, but the text of the newest only."""

_CHECK_STEPS = 1000
_CHECK_CALLS = 20_000
"""The integrity check is given up after so many times so many steps (about a second): a start takes less than 3 s."""


class UnusableError(Exception):
    """The file cannot be used as the state database; the message says why, for people."""


class CorruptError(UnusableError):
    """The file is no intact database: it can be set aside."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection, and what had to be done for it.

    Attributes:
        lock: Keeps other daemons from the file until it is closed.
        set_aside: Where the bad file went.
    """

    connection: sqlite3.Connection
    lock: FileLock
    set_aside: Path | None = None


def open_memory() -> sqlite3.Connection:
    """Return an empty state database that lives as long as the process."""
    connection = _empty_memory()
    _prepare(connection)
    return connection


def copy_to_memory(source: sqlite3.Connection, *, whole: bool) -> sqlite3.Connection:
    """Return a copy of a state database that lives as long as the process.

    Args:
        source: Read.
        whole: Else the older part of the journal and the text of older incidents stay in the file: in 90 days they may
            become a hundred megabytes, and a full disk must not cost so much memory.

    Raises:
        sqlite3.Error: The source cannot be read.
    """
    memory = _empty_memory()
    try:
        if whole:
            source.backup(memory)
        else:
            _prepare(memory)
            _copy_parts(source, memory)
    except sqlite3.Error:
        memory.close()
        raise
    return memory


def _copy_parts(source: sqlite3.Connection, memory: sqlite3.Connection) -> None:
    with memory:
        memory.execute("BEGIN")
        for table in TABLES:
            rows = source.execute(_PARTS.get(table, f"SELECT * FROM {table}"))  # noqa: S608 -- words of our own
            marks = ",".join("?" * len(rows.description))
            memory.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)  # noqa: S608 -- as above


def _empty_memory() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)


def open_file(path: Path, now: datetime, lock: FileLock | None = None) -> Opened:
    """Return the state file, made if absent; a corrupt one is set aside and a new one made.

    Args:
        path: The file.
        now: Names what is set aside.
        lock: That of an earlier call, if it was not closed.

    Raises:
        UnusableError: It is locked, in use by another daemon, full, forbidden, another program's or a newer version's;
            it is left as it is.
    """
    _make_room(path)
    with contextlib.ExitStack() as undo:
        if lock is None:
            lock = _lock(path)
            undo.callback(lock.close)
        try:
            opened = Opened(_open_checked(path), lock)
        except CorruptError:
            aside = set_aside(path, now)
            opened = Opened(_open_checked(path), lock, set_aside=aside)
        undo.pop_all()
        return opened


def _lock(path: Path) -> FileLock:
    try:
        return take_lock(path.with_name(f"{path.name}.lock"), BUSY_SECONDS)
    except TakenError:
        msg = f"{path} is in use by another bcon-exporter; give each a file of its own (--state.path)"
    except OSError as error:
        msg = f"{path}.lock cannot be written: {error.strerror}"
    raise UnusableError(msg)


def _make_room(path: Path) -> None:
    """Make the folder (0700) and an empty file (0600), so that SQLite's own files are private too."""
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True, mode=0o700)
        if path.exists() and not path.is_file():
            msg = f"{path} is no regular file"
            raise UnusableError(msg)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
        owner = path.stat().st_uid
        if owner not in (0, os.geteuid()):
            logger.warning("The state file %s belongs to user %d, who can change what is remembered.", path, owner)
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}"
        raise UnusableError(msg) from None


def _open_checked(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        _check_owner(connection, path)
        _check_intact(connection, path)
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA journal_size_limit = 4194304")
        if _version(connection) == OLD_VERSION:
            logger.info("The state file of an earlier version is kept as %s.", keep_copy(connection, path))
        _prepare(connection)
    except BaseException as error:
        connection.close()
        if isinstance(error, OSError):
            msg = f"the state file of an earlier version cannot be kept as {path}.v1: {error.strerror}"
            raise UnusableError(msg) from None
        if isinstance(error, sqlite3.Error):
            raise translate(error, path) from None
        raise
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables, or turn those of an earlier version to today's; all or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _version(connection) == OLD_VERSION:
            upgrade(connection)
        for statement in schema_statements():
            connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _check_owner(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what is not ours: renaming or filling another program's database would break that program."""
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    version = _version(connection)
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if owner == APPLICATION_ID and version > SCHEMA_VERSION:
        msg = f"{path} was written by a newer bcon-exporter (schema {version}, this one knows {SCHEMA_VERSION})"
        raise UnusableError(msg)
    if owner != APPLICATION_ID and (owner or tables):
        msg = f"{path} is another program's database; give bcon-exporter a file of its own (--state.path)"
        raise UnusableError(msg)


def _check_intact(connection: sqlite3.Connection, path: Path) -> None:
    calls = 0

    def give_up() -> int:
        nonlocal calls
        calls += 1
        return int(calls > _CHECK_CALLS)

    connection.set_progress_handler(give_up, _CHECK_STEPS)
    try:
        with contextlib.suppress(sqlite3.OperationalError):
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                msg = f"{path} is damaged"
                raise CorruptError(msg)
    finally:
        connection.set_progress_handler(None, 0)


def translate(error: sqlite3.Error, path: Path) -> UnusableError:
    """Return what an error of SQLite's means for the file."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if isinstance(code, int) else None
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return CorruptError(f"{path} is no intact database")
    reasons = {
        sqlite3.SQLITE_FULL: "the disk is full",
        sqlite3.SQLITE_BUSY: "another process has locked it",
        sqlite3.SQLITE_LOCKED: "another process has locked it",
        sqlite3.SQLITE_READONLY: "it may not be written",
        sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
        sqlite3.SQLITE_IOERR: "reading or writing failed",
    }
    reason = reasons.get(primary, "SQLite failed") if primary is not None else "SQLite failed"
    return UnusableError(f"{path} cannot be used: {reason} ({error})")


def set_aside(path: Path, now: datetime) -> Path:
    """Rename a bad file and its companions to `<name>.corrupt-<time>`.

    Raises:
        UnusableError: They cannot be renamed.
    """
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    target = path.with_name(f"{path.name}.corrupt-{stamp}")
    number = 1
    while target.exists():
        number += 1
        target = path.with_name(f"{path.name}.corrupt-{stamp}-{number}")
    try:
        for suffix in ("-wal", "-shm", ""):
            companion = path.with_name(path.name + suffix)
            if companion.exists():
                companion.rename(target.with_name(target.name + suffix))
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        msg = f"{path} is damaged and cannot be set aside: {error.strerror}"
        raise UnusableError(msg) from None
    return target


def read_copy(path: Path) -> sqlite3.Connection:
    """Return a copy in memory of the state file that a daemon may be writing; the file is not touched.

    Raises:
        UnusableError: It cannot be read.
    """
    try:
        with contextlib.closing(_open_read_only(path)) as source:
            _check_owner(source, path)
            memory = copy_to_memory(source, whole=True)
        _prepare(memory)
    except sqlite3.Error as error:
        raise translate(error, path) from None
    return memory


def _open_read_only(path: Path) -> sqlite3.Connection:
    """Open without writing; where the folder may not be written and no writer is there, the file alone is read."""
    uri = path.absolute().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        connection.close()
        if not isinstance(error, sqlite3.OperationalError) or path.with_name(path.name + "-wal").exists():
            raise
        connection = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True, isolation_level=None)
    return connection
