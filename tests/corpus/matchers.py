"""Two readers of a log that answer in the corpus' labels: the product's analysis, and a naive matcher beside it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis import analyze, lines_of
from tests.corpus.excerpts import CAUSES, SYMPTOMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bcon_exporter.model.signatures import Catalogue

NAIVE = {
    "LOG_ERROR": "error|exception|fatal|panic|traceback",
    "NETWORK_ERROR": "refused|timed? ?out|unreachable|connection reset|name resolution|no such host",
    "OOM_KILLED": "out of memory|oom",
    "DISK_PRESSURE": "no space left|disk full|read-only file system",
    "auth_failure": "authentication failed|access denied|login failed|invalid password|unauthorized",
    "permission": "permission denied|operation not permitted",
    "config_error": "invalid config|configuration error",
    "missing_dependency": "no such file|module ?not ?found|cannot find module|command not found",
    "port_in_use": "address already in use",
}
"""What one writes in five minutes: words, wherever they stand."""
_COMPILED = {label: re.compile(words, re.IGNORECASE) for label, words in NAIVE.items()}


def match_naively(lines: Sequence[str]) -> frozenset[str]:
    """The labels whose words occur in any line."""
    text = "\n".join(lines)
    return frozenset(label for label, words in _COMPILED.items() if words.search(text))


def match_with_product(lines: Sequence[str]) -> frozenset[str]:
    """The labels that `bcon-exporter analyze-log` answers for these lines, by its own function."""
    report = analyze(lines_of(lines), _catalogue())
    symptoms = {symptom.type.value.upper() for symptom in report.symptoms}
    kinds = {category.value for category in report.categories}
    return frozenset(symptoms & set(SYMPTOMS)) | frozenset(kinds & set(CAUSES))


@cache
def _catalogue() -> Catalogue:
    return load_catalogue()
