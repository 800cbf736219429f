"""Where a cause would fit many failures, the program's own message is quoted with it, and is to be searched for."""

import pytest

from bcon_exporter.diagnosis import analyze
from bcon_exporter.diagnosis.quoted_messages import MAX_CHARS, message_in
from bcon_exporter.model.findings import LikelyCause
from bcon_exporter.model.log_reports import LogAnalysis
from tests.diagnosis.judging import diagnose, shipped
from tests.factories import ago, container, ended, exited, line, logs

SEARCH = "Search the program's documentation and its issue tracker for the very words that it says."

MESSAGES = {
    "2026-03-02 10:00:01.123 UTC [61] ERROR:  the zork is out of frobs": "the zork is out of frobs",
    "[10:00:01] [main/INFO]: the zork is out of frobs": "the zork is out of frobs",
    "2026/03/01 10:00:00 [emerg] 31#31: the zork is out of frobs": "the zork is out of frobs",
    "E0305 10:12:03.114000       1 zork.go:116] the zork is out of frobs": "the zork is out of frobs",
    '{"level": "error", "msg": "the zork", "err": "out of frobs"}': "the zork: out of frobs",
    '{"level": "error", "msg": ["no text"]}': '{"level": "error", "msg": ["no text"]}',
    '{"level": "error", "msg": ': '{"level": "error", "msg":',
    'level=error ts=1 caller=x msg="the zork" err="out of \\"frobs\\""': 'the zork: out of "frobs"',
    '2026-03-02T10:00:01Z ERR error="the zork is out of frobs" container=blog-1': "the zork is out of frobs",
    "Zork: no such  frobnicator": "Zork: no such frobnicator",
    "2026-03-02 10:00:01": "2026-03-02 10:00:01",
    f"ERROR {'z' * 400}": f"{'z' * (MAX_CHARS - 1)}…",
    "": "",
}


def test_a_message_is_one_short_line_without_time_level_and_field_names() -> None:
    assert {text: message_in(text) for text in MESSAGES} == MESSAGES


def _analyze(*texts: str) -> LogAnalysis:
    return analyze(logs(*texts).lines, shipped())


def _first(report: LogAnalysis) -> tuple[LikelyCause, str]:
    return report.causes[0], report.suggestions[0].action


def test_an_error_that_no_signature_knows_is_quoted() -> None:
    cause, step = _first(_analyze("2026-03-02 10:00:01 ERROR the zork is out of frobs"))

    assert (cause.id, cause.says, step) == ("program_reports_error", "the zork is out of frobs", SEARCH)
    assert cause.full_text.endswith(' It says: "the zork is out of frobs".')
    assert "zork" not in cause.description


def test_of_a_trace_the_exception_is_quoted() -> None:
    trace = (
        "Traceback (most recent call last):",
        '  File "/srv/a.py", line 3, in <module>',
        "    x()",
        "zork.FrobError: no",
    )
    assert _analyze(*trace).causes[0].says == "zork.FrobError: no"


@pytest.mark.parametrize(
    ("text", "is_searched"),
    [
        ("yaml.scanner.ScannerError: mapping values are not allowed here", True),
        ("failed to read: yaml: line 12: did not find expected key", False),
        ("ERROR configuration file /etc/zork.conf is invalid", False),
        ("Error: invalid configuration value", True),
        ("RuntimeException: No application encryption key has been specified.", True),
        ("Error: ZORK_SECRET is required", False),
    ],
)
def test_nobody_is_sent_to_a_file_or_setting_that_the_message_does_not_name(text: str, *, is_searched: bool) -> None:
    report = _analyze(text)

    assert report.causes[0].says is not None
    assert (report.suggestions[0].action == SEARCH) is is_searched
    assert any("that the message names" in step.action for step in report.suggestions) is not is_searched


def test_a_cause_that_says_why_is_not_quoted() -> None:
    report = _analyze("ERROR dial tcp 172.18.0.3:5432: connect: connection refused")
    assert all(cause.says is None for cause in report.causes)


def test_the_last_words_of_a_failed_run_are_quoted() -> None:
    words = logs(line("Zork: no such frobnicator", at=ago(61)))
    report = diagnose(exited(9, seconds_ago=60, logs=words))

    assert report.likely_causes[0].id == "program_error"
    assert report.likely_causes[0].says == "Zork: no such frobnicator"
    assert report.suggestions[0].action == SEARCH
    assert "Zork" not in report.summary + report.detailed_explanation


def test_what_a_run_said_that_was_stopped_on_request_is_not_quoted() -> None:
    end = ended(143, at=ago(60), requested=True)
    report = diagnose(exited(143, exit_facts=end, logs=logs(line("bye", at=ago(61)))))
    assert all(cause.says is None for cause in report.likely_causes)


def test_a_running_container_quotes_its_first_failure() -> None:
    report = diagnose(container(logs=logs("ERROR first thing", "ERROR second thing")))
    assert [cause.says for cause in report.likely_causes] == ["first thing"]
