"""The words for agents: every severity, symptom and error of ours has one, as it was agreed."""

from __future__ import annotations

import json
from pathlib import Path

from bcon_exporter.agents.finding_categories import (
    CATEGORY_OF,
    ERROR_CODE_OF,
    SEVERITY_BACK,
    SEVERITY_OF,
    AgentCategory,
    AgentErrorCode,
    AgentSeverity,
    category_of,
    worst_of,
)
from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.errors import ErrorCode
from bcon_exporter.model.check_report import CheckSeverity
from bcon_exporter.model.findings import STATUSES, Severity, SymptomType
from bcon_exporter.model.signatures import Category
from bcon_exporter.outputs.http.replies import STATUS_BY_CODE
from tests.table_rows import table

TABLES = Path(__file__).parent / "kinds.json"


def write_tables() -> str:
    """All maps, from the enums."""
    signatures = load_catalogue().signatures
    tables = {
        "severities": {str(one): SEVERITY_OF[one] for one in (*STATUSES, *Severity, *CheckSeverity)},
        "severities back": {one: str(SEVERITY_BACK[one]) for one in AgentSeverity},
        "categories": {one: category_of(one) for one in SymptomType},
        "categories of signatures": {
            one.id: category_of(one.symptom, (one.id,))
            for one in signatures
            if category_of(one.symptom, (one.id,)) is not category_of(one.symptom)
        },
        "errors": {one: ERROR_CODE_OF[one] for one in ErrorCode},
    }
    return json.dumps(tables, indent=2) + "\n"


def test_the_tables_are_the_golden_ones() -> None:
    assert write_tables() == TABLES.read_text()


def test_what_is_worse_here_is_never_better_there() -> None:
    ranks = list(AgentSeverity)
    for ours in (STATUSES, tuple(Severity), tuple(reversed(CheckSeverity))):
        told = [ranks.index(SEVERITY_OF[one]) for one in ours]
        assert told == sorted(told)
    assert list(SEVERITY_BACK) == ranks
    assert all(SEVERITY_OF[ours] is theirs for theirs, ours in SEVERITY_BACK.items())


def test_every_symptom_has_a_category_and_mesh_is_never_said() -> None:
    assert set(CATEGORY_OF) == set(SymptomType)
    assert AgentCategory.MESH not in CATEGORY_OF.values()


@table(
    ("symptom", "signatures", "category"),
    [
        (SymptomType.NETWORK_ERROR, ("net_dns_silent", "net_refused"), AgentCategory.DNS),
        (SymptomType.NETWORK_ERROR, ("net_refused", "net_dns"), AgentCategory.CONNECTIVITY),
        (SymptomType.NETWORK_ERROR, ("tls_expired",), AgentCategory.TLS),
        (SymptomType.NETWORK_ERROR, (), AgentCategory.CONNECTIVITY),
        (SymptomType.LOG_ERROR, ("auth_postgres",), AgentCategory.POLICY),
        (SymptomType.LOG_ERROR, ("port_in_use",), AgentCategory.ROUTING),
        (SymptomType.LOG_ERROR, ("data_corrupt",), AgentCategory.STORAGE),
        (SymptomType.LOG_ERROR, ("a_users_own",), AgentCategory.LOGS),
        (SymptomType.OOM_KILLED, ("net_dns",), AgentCategory.RESOURCES),
    ],
)
def test_the_most_frequent_signature_says_which_kind_of_failure_it_is(
    symptom: SymptomType, signatures: tuple[str, ...], category: AgentCategory
) -> None:
    assert category_of(symptom, signatures) is category


def test_every_kind_of_shipped_signatures_of_log_errors_is_known() -> None:
    kinds = {Category.AUTH_FAILURE, Category.PERMISSION, Category.PORT_IN_USE}
    plain = [
        one.id
        for one in load_catalogue().signatures
        if one.symptom is SymptomType.LOG_ERROR
        and one.category in kinds
        and not one.benign
        and category_of(one.symptom, (one.id,)) is AgentCategory.LOGS
    ]
    assert plain == []


def test_every_error_has_a_code_and_an_http_status() -> None:
    assert set(ERROR_CODE_OF) == set(ErrorCode) == set(STATUS_BY_CODE)
    assert ERROR_CODE_OF[ErrorCode.PERMISSION_DENIED] is AgentErrorCode.AUTH_FAILED


def test_of_no_severity_the_worst_is_ok() -> None:
    assert worst_of([]) is AgentSeverity.OK
    assert worst_of([AgentSeverity.INFO, AgentSeverity.CRITICAL, AgentSeverity.WARNING]) is AgentSeverity.CRITICAL


if __name__ == "__main__":
    TABLES.write_text(write_tables())
