"""The lanes: what each runs, where, and what it proves; and in which order the plans run them.

A plan is a list of stages. The tracks of a stage run side by side, the lanes of a track one after the other. What
stands side by side leaves room for it: a guest has one CPU and mostly waits, lint uses one core.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.docker.engines import IN_THE_GUEST, NEWEST_PYTHON, OWN
from tests.runs.smoke import SMOKE_TESTS

WORKERS = os.environ.get("WORKERS") or str(min((os.cpu_count() or 1) + 1, 4))
SIDE_BY_SIDE = ("-n", WORKERS, "--dist", "worksteal")
ON_AN_ENGINE = "docker or integration or slow"
LONG = {"TEST_NIGHTLY": "1"}


@dataclass(frozen=True)
class Lane:
    """One part of a run.

    Attributes:
        proves: What stands proven once it has passed, in words.
        tests: Pytest's arguments.
        side_by_side: Pytest's arguments that spread them over workers.
        make: Instead of tests a target of the Makefile …
        on: … or names of `tests.docker.engines.ALL`, on which the tests that belong to them run.
        engine: The engine of TEST_DOCKER; None for tests that need none, "chosen" for the one that the run is about.
        environ: What else stands in its environment.
    """

    name: str
    proves: str
    tests: tuple[str, ...] = ()
    side_by_side: tuple[str, ...] = ()
    make: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    engine: str | None = None
    environ: Mapping[str, str] = field(default_factory=dict)


Stage = tuple[tuple[Lane, ...], ...]

LINT = Lane("lint", "format, style, types and import contracts hold", make=("lint",))
UNIT = Lane(
    "unit",
    "every part by itself, without a process",
    tests=(
        *("-p", "no:schemathesis", "-p", "no:anyio", "--hypothesis-profile=unit", "--ignore=tests/docker"),
        *("-m", "not docker and not integration and not slow and not alone"),
    ),
    side_by_side=SIDE_BY_SIDE,
)
SMOKE = Lane(
    "smoke",
    "each promise of README, tool, face and row of docs/reliability.md once, from a container to its message",
    tests=SMOKE_TESTS,
    side_by_side=("-n", WORKERS, "--dist", "loadscope"),
    engine=OWN,
)
WHOLE = Lane(
    "whole",
    "everything on the newest engine; recorded hosts are answered as they always were, byte for byte",
    tests=("-m", f"({ON_AN_ENGINE}) and not alone"),
    side_by_side=SIDE_BY_SIDE,
    engine="chosen",
)
PAIRS = Lane(
    "pairs",
    "the stacks end to end: image, Prometheus, Alertmanager, Swarm; drift of lifelike projects; the demonstration",
    tests=("-m", "in_pairs"),
    side_by_side=("-n", "2", "--dist", "loadfile"),
    engine="chosen",
)
ALONE = Lane(
    "alone",
    "what fills a machine or is a matter of milliseconds: floods, freezes, churn, pages in a browser",
    tests=("-m", "alone and not in_pairs"),
    engine="chosen",
)
IN_GUEST = Lane(
    "guest",
    "what cgroups decide of the contract, on v2 with systemd: from inside, and by the API alone",
    on=IN_THE_GUEST,
)
OTHER_PYTHON = Lane(
    "python", "on the newest Python: every part by itself, and how a process begins and ends", on=(NEWEST_PYTHON,)
)
OWN_CONTRACT = Lane("own", "the contract on this machine's own engine", on=(OWN,))

TEST: tuple[Stage, ...] = (((LINT,), (UNIT,)), ((SMOKE,),))
"""What `make test` runs."""

REST: tuple[Stage, ...] = (
    ((WHOLE,),),
    ((PAIRS,),),
    ((ALONE,),),
    ((IN_GUEST,), (OWN_CONTRACT, OTHER_PYTHON)),
)
"""What `make test-all` runs besides."""

NIGHTLY: tuple[Stage, ...] = tuple(
    ((lane,),)
    for lane in (
        Lane(
            "examples",
            "the unit tests with all examples that hypothesis draws by default",
            tests=("--ignore=tests/docker", "-m", "not docker and not integration and not alone"),
            side_by_side=SIDE_BY_SIDE,
        ),
        Lane(
            "projects",
            "drift of all lifelike projects and every change of them",
            tests=("tests/docker/test_drift_corpus.py",),
            engine="chosen",
            environ=LONG,
        ),
        Lane(
            "canaries",
            "of 200 secrets none is shown, whichever container is asked for in whichever format",
            tests=("tests/docker/test_security_canaries.py",),
            engine="chosen",
            environ=LONG,
        ),
        Lane(
            "counts",
            "10,000 scrapes during scans, 500 clients that leave nothing behind",
            tests=(
                "tests/docker/test_daemon_serving.py",
                "tests/outputs/mcp/test_daemon.py",
            ),
            engine="chosen",
            environ=LONG,
        ),
        Lane("fuzz", "50,000 malformed requests, texts searched for what costs too much", make=("fuzz",)),
        Lane("soak", "1,000 containers, a log of 1 GB, two hours of churn and faults", make=("soak",)),
        Lane("mutants", "each guard, when it is broken, is missed by a test", make=("mutants",)),
        Lane("incidents", "36 cascades, 12 pairs and 17 quiet things through Alertmanager", make=("incidents",)),
        Lane("deployments", "every deployment is foretold by check and judged by verify", make=("deployments",)),
        Lane(
            "engines",
            "the contract on 26.1, 28.5, its image store and a guest from outside; newest Python",
            make=("engines",),
            environ=LONG,
        ),
        Lane("accuracy", "the log corpus and the scenarios, beside a naive matcher", make=("accuracy",)),
    )
)
"""The long forms, which take hours."""
