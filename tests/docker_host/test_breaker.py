"""A hanging endpoint is asked no more than once per interval, and comes back with its first answer."""

from bcon_exporter.docker_host.breaker import ENDPOINT_NAMES, Breaker, Breakers


def test_a_closed_breaker_lets_all_through() -> None:
    assert Breaker(10.0).ask(0.0) == "all"


def test_an_open_breaker_lets_one_probe_through_per_interval() -> None:
    breaker = Breaker(10.0)
    breaker.report(100.0, "hangs")
    assert breaker.ask(109.9) == "none"
    assert breaker.ask(110.0) == "probe"
    assert breaker.ask(110.1) == "none"
    assert breaker.ask(120.0) == "probe"


def test_a_failed_probe_counts_from_its_end() -> None:
    breaker = Breaker(10.0)
    breaker.report(100.0, "hangs")
    assert breaker.ask(110.0) == "probe"
    breaker.report(115.0, "hangs")
    assert breaker.ask(124.9) == "none"
    assert breaker.ask(125.0) == "probe"


def test_an_answer_closes_it() -> None:
    breaker = Breaker(10.0)
    breaker.report(100.0, "hangs")
    breaker.report(101.0, None)
    assert breaker.ask(101.0) == "all"


def test_one_open_breaker_leaves_the_others_closed() -> None:
    breakers = Breakers(10.0)
    breakers.report("stats", 0.0, "hangs")
    assert breakers.up() == {name: name != "stats" for name in ENDPOINT_NAMES}
    assert breakers.reason("stats") == "hangs"
    assert breakers.ask("logs", 1.0) == "all"


def test_another_interval_counts_at_once_also_for_an_open_breaker() -> None:
    breakers = Breakers(100.0)
    breakers.report("stats", 0.0, "hangs")
    breakers.set_probe_interval(10.0)
    assert (breakers.ask("stats", 9.9), breakers.ask("stats", 10.0)) == ("none", "probe")
