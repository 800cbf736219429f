"""The tables of the state database, and the conversions of their columns."""

from datetime import UTC, datetime, timedelta

APPLICATION_ID = 0x62636F6E
"""ASCII "bcon": whose file it is."""

SCHEMA_VERSION = 1

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

TABLES: dict[str, str] = {
    "meta": "(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "events": (
        "(identity TEXT NOT NULL, container_id TEXT NOT NULL, at INTEGER NOT NULL, action TEXT NOT NULL,"
        " detail TEXT NOT NULL, image TEXT NOT NULL, counted INTEGER NOT NULL DEFAULT 0,"
        " PRIMARY KEY (identity, at, container_id, action, detail)) WITHOUT ROWID"
    ),
    "identities": (
        "(identity TEXT PRIMARY KEY, restarts_total INTEGER NOT NULL, oom_kills_total INTEGER NOT NULL,"
        " seen_at INTEGER NOT NULL) WITHOUT ROWID"
    ),
    "containers": (
        "(container_id TEXT PRIMARY KEY, identity TEXT NOT NULL, restart_count INTEGER, started_at INTEGER,"
        " policy TEXT, stop_signal INTEGER, seen_at INTEGER NOT NULL) WITHOUT ROWID"
    ),
    "images": "(container_id TEXT PRIMARY KEY, image_id TEXT NOT NULL) WITHOUT ROWID",
    "exit_lines": (
        "(container_id TEXT NOT NULL, at INTEGER NOT NULL, lines TEXT NOT NULL,"
        " PRIMARY KEY (container_id, at)) WITHOUT ROWID"
    ),
    "usage": "(container_id TEXT PRIMARY KEY, read_at INTEGER NOT NULL, usage TEXT NOT NULL) WITHOUT ROWID",
    "first_seen": (
        "(kind TEXT NOT NULL, key TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID"
    ),
    "alerts": "(id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL)",
    "costs": "(at INTEGER NOT NULL, id TEXT NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (at, id)) WITHOUT ROWID",
    "gaps": "(began INTEGER PRIMARY KEY, ended INTEGER NOT NULL)",
    "shutdowns": "(began INTEGER PRIMARY KEY, ended INTEGER NOT NULL)",
}

INDEXES = (
    "CREATE INDEX IF NOT EXISTS events_at ON events (at)",
    "CREATE INDEX IF NOT EXISTS containers_identity ON containers (identity)",
)


def schema_statements() -> tuple[str, ...]:
    """Return the statements that make an empty database ours."""
    tables = tuple(f"CREATE TABLE IF NOT EXISTS {name} {columns}" for name, columns in TABLES.items())
    marks = (f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {SCHEMA_VERSION}")
    return (*tables, *INDEXES, *marks)


def to_micros(at: datetime) -> int:
    """Return microseconds since 1970: exact, and ordered as the times are."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """Return the time that `to_micros` was given."""
    return _EPOCH + timedelta(microseconds=micros)
