"""The tables of the state file, and the conversions of their columns."""

from datetime import UTC, datetime, timedelta

APPLICATION_ID = 0x62636F6E
"""ASCII "bcon": whose file it is."""

SCHEMA_VERSION = 2

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

TABLES: dict[str, str] = {
    "meta": "(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "memory": "(key TEXT PRIMARY KEY, at INTEGER NOT NULL, value TEXT NOT NULL) WITHOUT ROWID",
    "events": (
        "(identity TEXT NOT NULL, container_id TEXT NOT NULL, at INTEGER NOT NULL, action TEXT NOT NULL,"
        " detail TEXT NOT NULL, image TEXT NOT NULL, counted INTEGER NOT NULL DEFAULT 0,"
        " PRIMARY KEY (identity, at, container_id, action, detail)) WITHOUT ROWID"
    ),
    "usage": (
        "(at INTEGER NOT NULL, container_id TEXT NOT NULL, cpu_mean REAL, cpu_max REAL, memory_mean REAL,"
        " memory_max REAL, PRIMARY KEY (at, container_id)) WITHOUT ROWID"
    ),
    "disk": (
        "(subject TEXT NOT NULL, at INTEGER NOT NULL, size INTEGER NOT NULL, PRIMARY KEY (subject, at)) WITHOUT ROWID"
    ),
    "costs": "(at INTEGER NOT NULL, id TEXT NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (at, id)) WITHOUT ROWID",
    "incidents": (
        "(id TEXT PRIMARY KEY, started_at INTEGER NOT NULL, ended_at INTEGER, project TEXT, root TEXT NOT NULL,"
        " code TEXT NOT NULL, ended_by TEXT, incident TEXT NOT NULL) WITHOUT ROWID"
    ),
    "journal": (
        "(id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, host TEXT NOT NULL, project TEXT,"
        " service TEXT, container TEXT, code TEXT, severity TEXT, text TEXT NOT NULL, data TEXT NOT NULL)"
    ),
}
"""Memory's values by key (see `memory_rows`), the events of all identities, what containers used in each five minutes
of the last day, how large logs, layers and volumes were in its hours, the ledger of tool calls, incidents as they ended
or merged, the journal."""

_MORE = (
    "CREATE INDEX IF NOT EXISTS events_at ON events (at)",
    "CREATE INDEX IF NOT EXISTS journal_at ON journal (at)",
    "CREATE INDEX IF NOT EXISTS journal_container ON journal (container, at)",
    "CREATE INDEX IF NOT EXISTS journal_service ON journal (service, at)",
    "CREATE INDEX IF NOT EXISTS journal_project ON journal (project, at)",
    "CREATE INDEX IF NOT EXISTS incidents_at ON incidents (started_at)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS journal_words USING fts5(text, content='journal', content_rowid='id')",
    "CREATE TRIGGER IF NOT EXISTS journal_added AFTER INSERT ON journal BEGIN"
    " INSERT INTO journal_words(rowid, text) VALUES (new.id, new.text); END",
    "CREATE TRIGGER IF NOT EXISTS journal_removed AFTER DELETE ON journal BEGIN"
    " INSERT INTO journal_words(journal_words, rowid, text) VALUES ('delete', old.id, old.text); END",
)


def schema_statements() -> tuple[str, ...]:
    """Return the statements that make an empty database ours."""
    tables = tuple(f"CREATE TABLE IF NOT EXISTS {name} {columns}" for name, columns in TABLES.items())
    marks = (f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {SCHEMA_VERSION}")
    return (*tables, *_MORE, *marks)


def to_micros(at: datetime) -> int:
    """Return microseconds since 1970: exact, and ordered as the times are."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """Return the time that `to_micros` was given."""
    return _EPOCH + timedelta(microseconds=micros)
