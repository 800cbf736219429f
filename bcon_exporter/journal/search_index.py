"""The index of what can be searched: SQLite finds the texts that have a term of the question, and they are scored.

It is made of the shipped texts when it is first asked, and lives in memory; incidents are added as they end.
"""

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from bcon_exporter.search import Question, SearchText, Statistics, find_terms, score_text

_CANDIDATES = 60


class SearchIndex:
    """Terms of shipped texts and of incidents; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._version: object = None
        self._shipped: Mapping[str, SearchText] = {}
        self._incidents: set[str] = set()
        self._statistics = Statistics(0, {}, 1.0)

    def prepare(self, version: object, load: Callable[[], Iterable[SearchText]]) -> None:
        """Index the shipped texts, unless those of this version are.

        Args:
            version: Of the texts; another one is loaded anew.
            load: Returns them.
        """
        with self._lock:
            if self._connection is not None and self._version == version:
                return
            connection = _open()
            terms = {text.id: (text, find_terms(text.title), find_terms(text.body)) for text in load()}
            _insert(connection, "shipped", [(name, title, body) for name, (_, title, body) in terms.items()])
            self._statistics = Statistics.of((title, body) for _, title, body in terms.values())
            self._shipped = {name: text for name, (text, _, _) in terms.items()}
            self._connection, self._version, self._incidents = connection, version, set()

    def take_incidents(self, ids: Collection[str], load: Callable[[str], SearchText | None]) -> None:
        """Index the incidents that are new, and forget those that are gone.

        Args:
            ids: Of all incidents that are over.
            load: Returns one as a text; None when it is gone meanwhile.
        """
        with self._lock:
            new, gone = set(ids) - self._incidents, self._incidents - set(ids)
            if self._connection is None or not (new or gone):
                return
            texts = [text for name in sorted(new) if (text := load(name)) is not None]
            self._connection.executemany("DELETE FROM incidents WHERE id = ?", [(name,) for name in gone])
            rows = [(text.id.partition("/")[2], *_find_fields(text)) for text in texts]
            _insert(self._connection, "incidents", rows)
            self._incidents = set(ids)

    def read_question(self, words: str) -> Question:
        """Return a question with the weights of its terms."""
        return Question.of(words, self._statistics)

    def find_shipped(self, question: Question) -> list[tuple[SearchText, float]]:
        """Return shipped texts with their scores, the best first; of each document only the best."""
        with self._lock:
            found = self._find("shipped", question)
            scored = [(self._shipped[name], score) for name, score in found]
        best: dict[str, tuple[SearchText, float]] = {}
        for text, score in sorted(scored, key=lambda one: -one[1]):
            best.setdefault(text.document, (text, score))
        return list(best.values())

    def shipped(self, name: str) -> SearchText | None:
        """Return a shipped text by its id."""
        return self._shipped.get(name)

    def find_incidents(self, question: Question) -> list[tuple[str, float]]:
        """Return ids of incidents that are over with their scores, the best first."""
        with self._lock:
            return sorted(self._find("incidents", question), key=lambda one: -one[1])

    def score(self, question: Question, text: SearchText) -> float:
        """Return the score of a text that is not indexed."""
        return score_text(question, *_find_fields(text), self._statistics)

    def _find(self, table: str, question: Question) -> list[tuple[str, float]]:
        if self._connection is None or not question.weights:
            return []
        wanted = " OR ".join(f'"{term}"' for term in question.weights)
        rows = self._connection.execute(
            f"SELECT id, title, body FROM {table} WHERE {table} MATCH ?"  # noqa: S608 -- our own names
            f" ORDER BY bm25({table}, 0.0, 3.0, 1.0) LIMIT {_CANDIDATES}",
            (wanted,),
        ).fetchall()
        return [
            (name, score_text(question, title.split(), body.split(), self._statistics)) for name, title, body in rows
        ]


def _find_fields(text: SearchText) -> tuple[list[str], list[str]]:
    return find_terms(text.title), find_terms("\n".join((text.body, *text.untrusted)))


def _open() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    for table in ("shipped", "incidents"):
        connection.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(id UNINDEXED, title, body)")
    return connection


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[str, Any, Any]]) -> None:
    connection.execute("BEGIN")
    connection.executemany(
        f"INSERT INTO {table} VALUES (?, ?, ?)",  # noqa: S608 -- our own names
        [(name, " ".join(title), " ".join(body)) for name, title, body in rows],
    )
    connection.execute("COMMIT")
