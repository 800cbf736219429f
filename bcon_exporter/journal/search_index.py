"""The index of what can be searched: SQLite finds the texts that have a term of the question, and they are scored.

It is made of the shipped texts when it is first asked, and lives in memory; incidents are added as they end, notes as
they are approved.
"""

import sqlite3
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from bcon_exporter.search import Question, SearchText, Statistics, find_terms, score_text, subject_of

_CANDIDATES = 60
_RARE = 300
_NOTHING = object()
_REFERENCE_SHARE = 0.9
"""Of the score of a section of a long page: what was written to answer one question comes before what mentions it."""


class SearchIndex:
    """Terms of shipped texts, of incidents and of notes; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._close: Callable[[], object] | None = None
        self._version: object = None
        self._shipped: Mapping[str, SearchText] = {}
        self._documents: Mapping[str, frozenset[str]] = {}
        self._incidents: set[str] = set()
        self._incidents_mark: object = _NOTHING
        self._incident_frequencies: Counter[str] = Counter()
        self._notes: object = _NOTHING
        self._statistics = Statistics.of(())

    def prepare(self, version: object, load: Callable[[], Iterable[SearchText]]) -> None:
        """Index the shipped texts, unless those of this version are.

        Args:
            version: Of the texts; another one is loaded anew.
            load: Returns them.
        """
        with self._lock:
            if self._connection is not None and self._version == version:
                return
            terms = {text.id: (text, *_find_fields(text)) for text in load()}
            if self._close is not None:
                self._close()
            connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._close = weakref.finalize(self, connection.close)  # with the index: nobody else has it
            _make_tables(connection)
            _insert(connection, "shipped", [(name, "", title, body) for name, (_, title, body) in terms.items()])
            self._statistics = Statistics.of((title, body) for _, title, body in terms.values())
            self._shipped = {name: text for name, (text, _, _) in terms.items()}
            documents: dict[str, set[str]] = {}
            for text, title, body in terms.values():
                documents.setdefault(subject_of(text.document), set()).update(title, body)
            self._documents = {name: frozenset(words) for name, words in documents.items()}
            self._connection, self._version = connection, version
            self._incidents, self._incidents_mark = set(), _NOTHING
            self._incident_frequencies.clear()
            self._notes = _NOTHING

    def take_incidents(
        self, mark: object, list_ids: Callable[[], Collection[str]], load: Callable[[str], SearchText | None]
    ) -> None:
        """Index the incidents that are new, and forget those that are gone.

        Args:
            mark: The same as last time as long as there is nothing new.
            list_ids: Returns the ids of all incidents that are over.
            load: Returns one as a text; None when it is gone meanwhile.
        """
        with self._lock:
            if self._connection is None or mark == self._incidents_mark:
                return
            ids = set(list_ids())
            texts = [text for name in ids - self._incidents if (text := load(name)) is not None]
            texts.sort(key=_when)
            gone = [(name,) for name in self._incidents - ids]
            self._connection.executemany("DELETE FROM incidents WHERE id = ?", gone)
            rows = [(text.id.partition("/")[2], _when(text), *_find_fields(text)) for text in texts]
            _insert(self._connection, "incidents", rows)
            for _, _, title, body in rows:
                self._incident_frequencies.update({*title, *body})
            self._incidents, self._incidents_mark = ids, mark

    def take_notes(self, mark: object, load: Callable[[], Iterable[SearchText]]) -> None:
        """Index all notes anew where there is another set of them.

        Args:
            mark: The same as last time as long as they are the same.
            load: Returns those that may be found.
        """
        with self._lock:
            if self._connection is None or mark == self._notes:
                return
            rows = [(text.id.partition("/")[2], _when(text), *_find_fields(text)) for text in load()]
            self._connection.execute("DELETE FROM notes")
            _insert(self._connection, "notes", rows)
            self._notes = mark

    def read_question(self, words: str) -> Question:
        """Return a question with the weights of its terms."""
        return Question.of(words, self._statistics)

    def find_shipped(self, question: Question) -> list[tuple[SearchText, float]]:
        """Return shipped texts with their scores, the best first; of each document only the best."""
        with self._lock:
            rows = self._select(
                "shipped", " OR ".join(map(_quote, question.weights)), "bm25(shipped, 0.0, 0.0, 3.0, 1.0)"
            )
            scored = [(self._shipped[name], self._score(question, name, title, body)) for name, _, title, body in rows]
        best: dict[str, tuple[SearchText, float]] = {}
        for text, score in sorted(scored, key=lambda one: -one[1]):
            best.setdefault(text.document, (text, score))
        return list(best.values())

    def shipped(self, name: str) -> SearchText | None:
        """Return a shipped text by its id."""
        return self._shipped.get(name)

    def find_incidents(self, question: Question) -> list[tuple[str, str, float]]:
        """Return ids of incidents that are over, each with when it began and its score.

        To rank thousands takes long, so the newest that have all terms are taken first, then those with a rare one.
        """
        frequencies = self._incident_frequencies
        terms = [term for term in question.weights if frequencies[term]]
        rare = [term for term in terms if frequencies[term] <= _RARE] or sorted(terms, key=frequencies.__getitem__)[:1]
        with self._lock:
            rows = self._select("incidents", " AND ".join(map(_quote, terms)), "rowid DESC")
            if len(rows) < _CANDIDATES:
                rows += self._select("incidents", " OR ".join(map(_quote, rare)), "bm25(incidents), rowid DESC")
        return [(name, at, self._score(question, name, title, body)) for name, at, title, body in dict.fromkeys(rows)]

    def find_notes(self, question: Question) -> list[tuple[str, str, float]]:
        """Return ids of notes, each with when it was written and its score."""
        with self._lock:
            rows = self._select("notes", " OR ".join(map(_quote, question.weights)), "bm25(notes), rowid DESC")
        return [(name, at, self._score(question, name, title, body)) for name, at, title, body in rows]

    def score(self, question: Question, text: SearchText) -> float:
        """Return the score of a text that is not indexed."""
        return score_text(question, *_find_fields(text), self._statistics)

    def _select(self, table: str, wanted: str, order: str) -> list[tuple[str, str, str, str]]:
        if self._connection is None or not wanted:
            return []
        sql = f"SELECT id, at, title, body FROM {table} WHERE {table} MATCH ? ORDER BY {order} LIMIT {_CANDIDATES}"  # noqa: S608 -- our own names
        return self._connection.execute(sql, (wanted,)).fetchall()

    def _score(self, question: Question, name: str, title: str, body: str) -> float:
        text = self._shipped.get(name)
        document = self._documents[subject_of(text.document)] if text is not None else ()
        score = score_text(question, title.split(), body.split(), self._statistics, document)
        return score * _REFERENCE_SHARE if "#" in name else score


def _when(text: SearchText) -> str:
    return text.at.isoformat() if text.at is not None else ""


def _quote(term: str) -> str:
    return f'"{term}"'


def _find_fields(text: SearchText) -> tuple[list[str], list[str]]:
    return find_terms(text.title), find_terms("\n".join((text.body, text.hidden, *text.untrusted)))


def _make_tables(connection: sqlite3.Connection) -> None:
    for table in ("shipped", "incidents", "notes"):
        connection.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(id UNINDEXED, at UNINDEXED, title, body)")


def _insert(
    connection: sqlite3.Connection, table: str, rows: Sequence[tuple[str, str, Sequence[str], Sequence[str]]]
) -> None:
    connection.execute("BEGIN")
    connection.executemany(
        f"INSERT INTO {table} VALUES (?, ?, ?, ?)",  # noqa: S608 -- our own names
        [(name, at, " ".join(title), " ".join(body)) for name, at, title, body in rows],
    )
    connection.execute("COMMIT")
