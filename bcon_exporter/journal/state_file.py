"""The state file, that never fails its user: while it cannot be used, a database in memory stands in for it."""

import logging
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bcon_exporter.errors import StateFileError
from bcon_exporter.journal.event_rows import Statement
from bcon_exporter.journal.memory_to_file import move_memory_to_file
from bcon_exporter.journal.opening import (
    CorruptError,
    UnusableError,
    copy_to_memory,
    open_file,
    open_memory,
    read_copy,
    set_aside,
    translate,
)
from bcon_exporter.journal.waiting_entries import bound_waiting_entries, find_newest_id, find_oldest_taken

if TYPE_CHECKING:
    from bcon_exporter.journal.file_lock import FileLock

RETRY_SECONDS = 60.0

logger = logging.getLogger(__name__)


class StateFile:
    """One connection, swapped when the file fails and when it can be used again.

    Not thread-safe: `MemoryKeeper` holds the lock.

    Attributes:
        status: "file" while the state file is used, "memory" when it should be but cannot, "none" when there is none.
        reason: Why it is not "file".
        lost: What the file held cannot be read any more; whoever knows some of it writes it once more.
        knows_journal_since: From when on memory has the journal while the file has more of it; else None.
    """

    def __init__(self, path: Path | None, *, read_only: bool) -> None:
        self._path = path
        self._read_only = read_only
        self._connection = open_memory()
        self._lock: FileLock | None = None
        self._opened: tuple[int, int] | None = None
        self._retry_at: datetime | None = None
        self._was_read = self._is_copy = False
        self._saved_id = 0  # of the newest entry of the journal that came from the file
        self._is_closed = False
        self.lost = False
        self.knows_journal_since: datetime | None = None
        self.status: Literal["file", "memory", "none"] = "none"
        self.reason: str | None = None
        self.errors_total = 0

    def open(self, now: datetime) -> None:
        """Open the file, or say why not and go on in memory."""
        if self._path is None:
            self.reason = "no state file is set"
            return
        try:
            if self._read_only:
                self._open_copy(self._path)
            else:
                self._open_file(self._path, now)
        except UnusableError as error:
            self._complain(str(error), now)

    def _open_copy(self, path: Path) -> None:
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self.reason = f"there is no {path}: no daemon has run here"
            return
        except OSError as error:
            msg = f"{path} cannot be read: {error.strerror}"
            raise UnusableError(msg) from None
        self._opened = _find(path)
        self._swap(read_copy(path), "file", None)

    def _open_file(self, path: Path, now: datetime) -> None:
        opened = open_file(path, now)
        self._lock = opened.lock
        if opened.set_aside is not None:
            self.errors_total += 1
            logger.warning("The state database was damaged; it is now %s, and a new one begins.", opened.set_aside)
        self._opened = _find(path)
        self._was_read = True
        self._swap(opened.connection, "file", None)

    def _swap(
        self, connection: sqlite3.Connection, status: Literal["file", "memory", "none"], reason: str | None
    ) -> None:
        self._connection.close()
        self._connection = connection
        self.status, self.reason, self.knows_journal_since = status, reason, None

    @property
    def file_id(self) -> str:
        """Device and inode of the file that is used or was copied; "" for memory alone."""
        return ":".join(map(str, self._opened)) if self.status == "file" and self._opened else ""

    def _complain(self, reason: str, now: datetime) -> None:
        """Count a failure; the log hears of it when the status changes, not at every scan."""
        self.errors_total += 1
        self._retry_at = now + timedelta(seconds=RETRY_SECONDS)
        if self.status != "memory":
            logger.warning("The history is kept in memory only: %s.", reason)
        self.status, self.reason = "memory", reason

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a SELECT; none after the end.

        Raises:
            StateFileError: The file fails. The next write may tell that it cannot be used, and goes to memory.
        """
        if self._is_closed:
            return []
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            logger.debug("A query of the state database failed: %s", error)
            self.errors_total += 1
            msg = f"the state file cannot be read: {error}; look for room, rights and faults of its disk, and ask again"
            raise StateFileError(msg) from error

    def query_if_readable(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the same, and no rows where the file fails: for what must go on without them."""
        try:
            return self.query(sql, parameters)
        except StateFileError:
            return []

    def write(self, statements: Iterable[Statement], now: datetime) -> None:
        """Run all statements in one transaction; when the file fails, in memory; after the end, nowhere."""
        wanted = [(sql, rows) for sql, rows in statements if rows]
        if not wanted or self._is_closed:
            return
        try:
            self._leave_if_removed(now)
            self._run(wanted)
        except sqlite3.Error as error:
            self._survive(error, wanted, now)

    def _survive(self, error: sqlite3.Error, wanted: list[Statement], now: datetime) -> None:
        try:
            self._fall_back(error, now)
            self._run(wanted)
        except sqlite3.Error as again:
            self.errors_total += 1
            logger.debug("Memory fails too: %s", again)

    def _run(self, wanted: list[Statement]) -> None:
        _run(self._connection, wanted)
        if self.status == "memory":
            bound_waiting_entries(self._connection, self._saved_id)

    def _fall_back(self, error: sqlite3.Error, now: datetime) -> None:
        """Go on in memory with what can still be read of the file."""
        if self._path is None or self.status != "file" or self._read_only:
            raise error
        problem = translate(error, self._path)
        problem = self._leave(problem, self._path, now, is_lost=isinstance(problem, CorruptError))
        if isinstance(problem, CorruptError):
            self._begin_anew(self._path, now)

    def _leave_if_removed(self, now: datetime) -> None:
        """Go on in memory when the file is no longer at its path: it can still be written, but nobody would find it."""
        if self._path is None or self._opened is None or self.status != "file" or _find(self._path) == self._opened:
            return
        removed = UnusableError(f"{self._path} was removed or replaced while it was in use")
        self._leave(removed, self._path, now, is_lost=True)
        if self._lock is not None:  # its file may be gone too, and would then keep nobody from a new one
            self._lock.close()
            self._lock = None

    def _leave(self, problem: UnusableError, path: Path, now: datetime, *, is_lost: bool) -> UnusableError:
        """Copy the file to memory and go on there; return why, which is the copying when that fails too.

        Args:
            problem: Why it is left.
            path: The file.
            now: When it is tried again depends on it.
            is_lost: Another file will take its place, so that memory must hold all of it.
        """
        try:
            memory, self._is_copy = copy_to_memory(self._connection, whole=is_lost), True
            self._saved_id = find_newest_id(memory)
        except sqlite3.Error as unreadable:
            problem, self.lost = translate(unreadable, path), True
            memory, self._is_copy, self._saved_id = open_memory(), False, 0
        self._swap(memory, "file", None)
        if not is_lost:
            self.knows_journal_since = find_oldest_taken(memory, self._saved_id)
        self._complain(str(problem), now)
        return problem

    def _begin_anew(self, path: Path, now: datetime) -> None:
        """Set a file aside that broke under us; the next retry opens a new one."""
        try:
            logger.warning("The damaged state database is now %s.", set_aside(path, now))
        except UnusableError as error:
            self.reason = str(error)

    def retry(self, now: datetime) -> bool:
        """Try the file again once in a while; True when it has taken over what memory held."""
        if self._path is None or self._read_only or self.status != "memory" or self._retry_at is None:
            return False
        early = self._retry_at - timedelta(seconds=RETRY_SECONDS)
        if early <= now < self._retry_at:
            return False
        was_read, reason = self._was_read, self.reason
        try:
            opened = open_file(self._path, now, self._lock)
            self._lock = opened.lock
            self._take_over(opened.connection)
            self._opened = _find(self._path)
        except UnusableError as error:
            self._complain(str(error), now)
            return False
        if was_read:
            logger.warning("The history is kept in %s again.", self._path)
        else:
            logger.warning("The state file %s is taken over; until now: %s.", self._path, reason)
        return True

    def _take_over(self, connection: sqlite3.Connection) -> None:
        try:
            move_memory_to_file(self._connection, connection, continues=self._was_read, is_copy=self._is_copy)
        except sqlite3.Error as error:
            connection.close()
            raise translate(error, self._path or Path()) from None
        self._was_read = True
        self._swap(connection, "file", None)

    def close(self) -> None:
        """Let go of the file; a thread that is slower than the end of the daemon has nothing to write to."""
        self._is_closed = True
        self._connection.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _find(path: Path) -> tuple[int, int] | None:
    """Return device and inode of what is at a path; None when nothing is, or when it may not be looked at."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _run(connection: sqlite3.Connection, statements: Iterable[Statement]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for sql, rows in statements:
            connection.executemany(sql, rows)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
