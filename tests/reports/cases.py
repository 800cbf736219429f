"""Reads a folder of reported failures.

A kind is a folder. In it stands a case as `NAME.log` beside `NAME.expected.json`, or as a folder with `run.sh` (which
stages the failure on an engine and asks the product) and `expected.json`. `expected` of that file says what is right:

    status        "error", "warning", "healthy", several with "/" or "or" between them
    cause         in words; "as above" and "as NAME" mean the same as another case of the kind
    first_step    in words
    must_not_say  phrases, with ";" between them
    words         optional: {"cause": ["pid|lock", "left"], …}, patterns that must all be there, instead of the words
                  that the judge takes from the sentence
    drift, verify, check, or a symptom's name: what that command, or that symptom, says ("synced", "fails: …")
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OWN = Path(__file__).parent / "own"
EXPECTED = "expected.json"
SCRIPT = "run.sh"
LOG_ENDING = ".expected.json"


@dataclass(frozen=True)
class Case:
    """One report.

    Attributes:
        path: The log, or the folder with `run.sh`.
        expected: What is right, by question.
        exit_code: How a container that prints the log ends; None: it goes on.
    """

    kind: str
    name: str
    path: Path
    expected: Mapping[str, Any]
    exit_code: int | None = None

    @property
    def id(self) -> str:
        """Kind and name."""
        return f"{self.kind}/{self.name}"

    @property
    def is_staged(self) -> bool:
        """Whether it needs an engine."""
        return self.path.is_dir()


def load_cases(folder: Path) -> tuple[Case, ...]:
    """Read all cases below a folder, by kind and name; references to other cases of a kind are followed."""
    cases: list[Case] = []
    for kind in sorted(path for path in folder.iterdir() if path.is_dir()):
        of_kind: list[Case] = []
        for path in sorted(kind.iterdir()):
            case = _read_case(kind.name, path)
            if case is not None:
                of_kind.append(case)
        cases += [_follow(case, of_kind[:index], of_kind) for index, case in enumerate(of_kind)]
    return tuple(cases)


def _read_case(kind: str, path: Path) -> Case | None:
    if path.is_dir() and (path / SCRIPT).is_file():
        stored = json.loads((path / EXPECTED).read_text())
        return Case(kind, path.name, path, stored["expected"])
    if path.name.endswith(LOG_ENDING):
        stored = json.loads(path.read_text())
        name = path.name.removesuffix(LOG_ENDING)
        return Case(kind, name, path.with_name(f"{name}.log"), stored["expected"], stored.get("exit"))
    return None


def _follow(case: Case, before: list[Case], of_kind: list[Case]) -> Case:
    expected = dict(case.expected)
    for question in ("cause", "first_step"):
        expected[question] = _referred(str(expected.get(question, "")), question, before, of_kind)
    return Case(case.kind, case.name, case.path, expected, case.exit_code)


def _referred(sentence: str, question: str, before: list[Case], of_kind: list[Case]) -> str:
    """Return the sentence that is meant: the rest of it ("as above: a thread …"), else that of the case referred to."""
    if not sentence.startswith("as "):
        return sentence
    reference, _, rest = sentence.removeprefix("as ").partition(":")
    if rest:
        return rest.strip()
    meant = [case for case in of_kind if case.name == reference] or list(reversed(before))
    sentences = [
        str(case.expected.get(question, "")).partition("above:")[2] or str(case.expected[question]) for case in meant
    ]
    return next((text.strip() for text in sentences if not text.startswith("as ")), "")
