"""What hangs is asked ever more rarely, and comes back with its first answer; what answers is asked as before."""

import pytest

from bcon_exporter.engine.endpoint_health import ENDPOINT_NAMES, EndpointHealth, EngineHealth
from tests.engine.test_docker_host import BAD, GOOD


def test_an_endpoint_that_answers_is_asked_for_all() -> None:
    assert EndpointHealth().permit(0.0, 10.0) == "all"


def test_one_that_fails_is_asked_once_an_interval() -> None:
    endpoint = EndpointHealth()
    endpoint.report(100.0, "hangs")
    assert endpoint.permit(109.9, 10.0) == "none"
    assert endpoint.permit(110.0, 10.0) == "probe"
    assert endpoint.permit(110.1, 10.0) == "none"
    assert endpoint.permit(120.0, 10.0) == "probe"


def test_a_failed_probe_counts_from_its_end() -> None:
    endpoint = EndpointHealth()
    endpoint.report(100.0, "hangs")
    assert endpoint.permit(110.0, 10.0) == "probe"
    endpoint.report(115.0, "hangs")
    assert endpoint.permit(124.9, 10.0) == "none"
    assert endpoint.permit(125.0, 10.0) == "probe"


def test_an_answer_ends_its_failure() -> None:
    endpoint = EndpointHealth()
    endpoint.report(100.0, "hangs")
    endpoint.report(101.0, None)
    assert endpoint.permit(101.0, 10.0) == "all"


def test_one_that_fails_leaves_the_others_alone() -> None:
    health = EngineHealth(10.0)
    health.is_reached = True
    health.report("stats", 0.0, "hangs")
    assert health.endpoints_up() == {name: name != "stats" for name in ENDPOINT_NAMES}
    assert health.failure("stats") == "hangs"
    assert health.permit("logs", 1.0) == "all"


def test_another_interval_counts_at_once_also_for_one_that_fails() -> None:
    health = EngineHealth(100.0)
    health.report("stats", 0.0, "hangs")
    health.set_probe_interval(10.0)
    assert (health.permit("stats", 9.9), health.permit("stats", 10.0)) == ("none", "probe")


@pytest.mark.parametrize(("times", "seconds"), [(1, 5.0), (2, 15.0), (3, 60.0), (9, 60.0)])
def test_who_was_stuck_is_asked_again_after_a_while_that_grows_to_a_minute(times: int, seconds: float) -> None:
    health = EngineHealth(10.0)
    for _ in range(times):
        health.note_silence("logs", BAD, "hangs", 100.0)
    just_before = 100.0 + seconds - 0.001
    assert health.split("logs", [GOOD, BAD], just_before) == ([GOOD], {BAD: "hangs"})
    assert health.split("inspect", [GOOD, BAD], just_before) == ([GOOD, BAD], {})
    assert health.split("logs", [GOOD, BAD], 100.0 + seconds) == ([GOOD, BAD], {})


def test_an_answer_makes_the_next_wait_short_again() -> None:
    health = EngineHealth(10.0)
    for _ in range(3):
        health.note_silence("logs", BAD, "hangs", 100.0)
    health.note_answer("logs", BAD)
    health.note_silence("logs", BAD, "hangs", 200.0)
    assert health.split("logs", [BAD], 205.0) == ([BAD], {})


def test_who_is_still_stuck_then_says_nothing_about_the_endpoint() -> None:
    health = EngineHealth(10.0)
    assert not health.were_all_silent("logs", [BAD])
    health.note_silence("logs", BAD, "hangs", 100.0)
    assert health.were_all_silent("logs", [BAD])
    assert not health.were_all_silent("logs", [BAD, GOOD])
    health.note_answer("logs", BAD)
    assert not health.were_all_silent("logs", [BAD])


def test_who_was_stuck_is_asked_at_once_when_the_engine_tells_of_it() -> None:
    health = EngineHealth(10.0)
    for _ in range(3):
        health.note_silence("logs", BAD, "hangs", 100.0)
        health.note_silence("logs", GOOD, "hangs", 100.0)
    health.ask_again({BAD})
    assert health.split("logs", [BAD, GOOD], 101.0) == ([BAD], {GOOD: "hangs"})
    assert health.were_all_silent("logs", [BAD]), "it may hang still"
    health.note_silence("logs", BAD, "hangs", 102.0)
    assert health.split("logs", [BAD], 107.0) == ([BAD], {})


def test_all_are_asked_again_once_the_engine_is_back_and_the_removed_are_forgotten() -> None:
    health = EngineHealth(10.0)
    health.note_silence("logs", BAD, "hangs", 100.0)
    health.retain([GOOD])
    assert health.split("logs", [BAD], 100.0) == ([BAD], {})
    health.note_silence("logs", BAD, "hangs", 100.0)
    health.note_return(101.0)
    assert health.split("logs", [BAD], 100.0) == ([BAD], {})
