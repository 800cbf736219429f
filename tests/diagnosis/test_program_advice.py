"""What a program itself asks for beside its failure becomes the first step, quoted and in its own field."""

from bcon_exporter.agents.findings import project_container
from bcon_exporter.diagnosis import analyze
from bcon_exporter.diagnosis.program_advice import find_advice
from bcon_exporter.model.log_reports import LogAnalysis
from tests.diagnosis.judging import diagnose, shipped
from tests.factories import ago, exited, line, logs

FOLLOW = "Follow what the program itself asks for, where its documentation agrees."
TIME = "2026-03-02 10:00:01"

ASKED = {
    ("ERROR frobs are off. Please set ZORK_FROBS and start again.",): "Please set ZORK_FROBS and start again.",
    ("ERROR frobs are off", "Run `zork --mend` once, then start it."): "Run `zork --mend` once, then start it.",
    ("ERROR zork: you need to create the device by", "executing the following as root:", "mknod /dev/zork c 1 2"): (
        "you need to create the device by executing the following as root: mknod /dev/zork c 1 2"
    ),
    (f"{TIME} UTC [1] ERROR:  frobs are off", f"{TIME} UTC [1] HINT:  You might need to increase max_frobs."): (
        "HINT: You might need to increase max_frobs."
    ),
    (
        "ERROR no frobs",
        "ERROR make sure that only one zork runs",
        "ERROR no frobs",
    ): "make sure that only one zork runs",
    (f"{TIME} ERROR frobs are off", f"{TIME} INFO please set ZORK_THEME for another theme"): None,
    (f"{TIME} ERROR frobs are off", f"{TIME} WARN no GPU", "To share it, set `share=True`."): None,
    ("ERROR frobs are off", "Please report this bug to the authors of zork."): None,
    ("ERROR frobs are off", "Please try again later."): None,
    ("ERROR Permission denied: try running again with sudo",): None,
    ("ERROR could not install frobs", "    raise FrobError('check the frobs')"): None,
    ("ERROR frobs are off",): None,
}


def test_it_is_found_in_the_line_of_the_failure_or_in_those_that_belong_to_it() -> None:
    found = {texts: find_advice(logs(*texts).lines, texts[0]) for texts in ASKED}
    found = {texts: advice and advice.removeprefix("zork: ") for texts, advice in found.items()}
    assert found == ASKED


def test_without_a_line_that_tells_the_last_ones_are_searched() -> None:
    last = ("zork 2 starts", "Backup the database and run zork --upgrade")
    assert find_advice(logs(*last).lines, None) == "Backup the database and run zork --upgrade"
    assert find_advice(logs("Please set ZORK.", *("served",) * 20).lines, None) is None
    assert find_advice(logs(*last).lines, "a line that is not there") is None


def _analyze(*texts: str) -> LogAnalysis:
    return analyze(logs(*texts).lines, shipped())


def test_it_is_quoted_beside_our_step_and_never_in_it() -> None:
    step = _analyze("2026-03-02 10:00:01 ERROR frobs are off. Please enable the frobs.").suggestions[0]

    assert (step.action, step.says) == (FOLLOW, "Please enable the frobs.")
    assert step.full_text == f'{FOLLOW} It says: "Please enable the frobs".'


def test_where_our_words_name_a_step_for_the_kind_it_comes_second() -> None:
    steps = _analyze(
        f'{TIME} UTC [1] FATAL:  private key file "/srv/zork.key" has group or world access',
        f"{TIME} UTC [1] DETAIL:  File must have permissions u=rw (0600) or less if owned by the database user.",
    ).suggestions

    assert "chmod 600" in steps[0].action
    assert steps[1].says is not None
    assert "u=rw (0600)" in steps[1].says


def test_of_an_ended_container_its_last_words_are_searched() -> None:
    words = logs(line("zork 2 starts", at=ago(62)), line("Backup the database and run zork --upgrade", at=ago(61)))
    report = diagnose(exited(1, seconds_ago=60, logs=words))

    assert report.suggestions[0].says == "Backup the database and run zork --upgrade"
    finding = project_container(report, detail=True)[0]
    assert "Backup the database and run zork --upgrade" in finding["untrusted"]
    assert "zork" not in finding["suggestion"] + finding["detail"]
    assert "zork" not in report.summary + report.detailed_explanation
