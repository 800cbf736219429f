"""Promise: what the documents say of symptoms and signatures is what the rules and the catalogue say."""

import pytest

from tests.architecture.signature_documents import SIGNATURES, SYMPTOMS, write_signatures, write_symptoms

STALE = "stale: run `make docs`"


def test_the_symptoms_document_is_current() -> None:
    assert write_symptoms(SYMPTOMS.read_text()) == SYMPTOMS.read_text(), STALE


def test_the_signatures_document_is_current() -> None:
    assert write_signatures() == SIGNATURES.read_text(), STALE


def test_a_document_without_a_symptoms_section_is_refused() -> None:
    with pytest.raises(ValueError, match="has no section high_cpu"):
        write_symptoms("# Symptoms")


def test_a_description_that_differs_is_written_anew() -> None:
    current = SYMPTOMS.read_text()
    head, _, rest = current.partition("### paused\n\n")
    stale = f"{head}### paused\n\nSomething else.\n{rest.partition(chr(10))[2]}"
    assert write_symptoms(stale) == current
