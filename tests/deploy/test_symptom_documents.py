"""Promise: what the documents say of symptoms and signatures is what rules, thresholds and catalogue say."""

from deploy.name_documents import NAMES, write_names
from deploy.symptom_documents import (
    SIGNATURES,
    SYMPTOMS,
    default_numbers,
    in_words,
    write_signatures,
    write_symptoms,
)
from tests.table_rows import table

STALE = "stale: run `make docs`"


def test_the_symptoms_document_is_current() -> None:
    assert write_symptoms() == SYMPTOMS.read_text(), STALE


def test_the_signatures_document_is_current() -> None:
    assert write_signatures() == SIGNATURES.read_text(), STALE


def test_conditions_show_the_defaults_of_thresholds() -> None:
    numbers = default_numbers()
    assert (numbers["cpu_ratio"], numbers["restart_count"], numbers["log_window_seconds"]) == (
        "80 %",
        "3",
        "10 minutes",
    )
    assert f"| CPU above {numbers['cpu_ratio']} of what" in SYMPTOMS.read_text()


@table(
    ("seconds", "words"),
    [(1, "a second"), (3, "3 seconds"), (60, "a minute"), (90, "90 seconds"), (600, "10 minutes"), (3600, "an hour"),
     (86_400, "a day"), (0, "0 seconds")],
)  # fmt: skip
def test_times_are_told_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_the_names_that_agents_know_are_written_from_the_table() -> None:
    assert NAMES.read_text() == write_names(), "run `make docs`"
