"""Promise: every engine event that changes a container's life is read, noise is dropped, nonsense never raises."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.engine.parse import parse_event
from tests.table_rows import table

ID = "1d9ce5dc444139c94e0ffda0e4e5c52d67a15b50496f8eccdc30b5b3a711ae4d"


def make_event(action: str = "start", kind: str = "container", **attributes: str) -> dict[str, Any]:
    return {
        "Type": kind,
        "Action": action,
        "Actor": {"ID": ID, "Attributes": {"name": "web", "image": "bb:1"} | attributes},
        "time": 1795300183,
        "timeNano": 1795300183463183262,
    }


@table(
    "action",
    ["create", "start", "die", "kill", "stop", "restart", "oom", "pause", "unpause", "destroy", "rename", "update"],
)
def test_lifecycle_actions_are_read(action: str) -> None:
    event = parse_event(make_event(action))
    assert event is not None
    assert (event.action, event.container_id, event.name, event.image) == (action, ID, "web", "bb:1")
    assert event.at == datetime(2026, 11, 21, 22, 29, 43, 463183, tzinfo=UTC)


@table(
    "action",
    [
        "exec_create: sh -c x",
        "exec_start: sh",
        "exec_die",
        "attach",
        "top",
        "export",
        "copy",
        "archive-path",
        "",
    ],
)
def test_noise_is_dropped(action: str) -> None:
    assert parse_event(make_event(action)) is None


@pytest.mark.parametrize("kind", ["image", "volume", "network", "daemon", "builder", "plugin"])
def test_events_of_other_things_are_dropped(kind: str) -> None:
    assert parse_event(make_event("create", kind=kind)) is None


@pytest.mark.parametrize(
    ("code", "expected"), [("0", 0), ("137", 137), ("-1", -1), ("", None), ("x", None), ("9" * 30, None)]
)
def test_a_death_has_its_exit_code(code: str, expected: int | None) -> None:
    event = parse_event(make_event("die", exitCode=code))
    assert event is not None
    assert event.exit_code == expected


def test_podmans_names_of_actions_and_codes_are_known() -> None:
    event = parse_event(make_event("died", containerExitCode="3"))
    assert event is not None
    assert (event.action, event.exit_code) == ("die", 3)
    assert parse_event(make_event("cleanup")) is None


def test_a_restart_by_podmans_policy_is_not_one_that_somebody_asked_for() -> None:
    assert parse_event(make_event("restart", containerExitCode="0")) is None
    asked_for = parse_event(make_event("restart"))
    assert asked_for is not None
    assert asked_for.action == "restart"


@pytest.mark.parametrize(("text", "number"), [("15", 15), ("SIGTERM", 15), ("kill", 9), ("", None), ("NOPE", None)])
def test_a_kill_has_its_signal_by_number_or_name(text: str, number: int | None) -> None:
    event = parse_event(make_event("kill", signal=text))
    assert event is not None
    assert event.signal == number


@pytest.mark.parametrize(
    ("action", "health"), [("health_status: healthy", "healthy"), ("health_status:unhealthy", "unhealthy")]
)
def test_a_health_event_says_what_it_became(action: str, health: str) -> None:
    event = parse_event(make_event(action))
    assert event is not None
    assert (event.action, event.health) == ("health_status", health)


def test_compose_labels_give_the_identity() -> None:
    labels = {"project": "shop", "service": "web", "container-number": "2", "oneoff": "True"}
    event = parse_event(make_event(**{f"com.docker.compose.{key}": value for key, value in labels.items()}))
    assert event is not None
    assert (event.project, event.service, event.number, event.oneoff) == ("shop", "web", 2, True)


def test_a_hook_is_no_replica_of_its_service() -> None:
    labels = {"project": "shop", "service": "web", "hook": "pre_start", "hook-index": "0"}
    event = parse_event(make_event(**{f"com.docker.compose.{key}": value for key, value in labels.items()}))
    assert event is not None
    assert (event.service, event.number, event.oneoff) == ("web", None, True)


@pytest.mark.parametrize("action", ["connect", "disconnect"])
def test_a_network_event_names_the_container_by_id(action: str) -> None:
    raw = make_event(action, kind="network", container=ID, name="bridge") | {
        "Actor": {"ID": "net", "Attributes": {"container": ID}}
    }
    event = parse_event(raw)
    assert event is not None
    assert (event.action, event.container_id, event.name) == (action, ID, "")


def test_the_form_before_api_1_22_is_read() -> None:
    event = parse_event({"status": "die", "id": ID, "from": "bb:1", "time": 1795300183})
    assert event is not None
    assert (event.action, event.image, event.at.year) == ("die", "bb:1", 2026)


def test_hostile_names_are_cleaned() -> None:
    event = parse_event(make_event(name="\x1b[31mred\u202e\ud800", image="a\nb"))
    assert event is not None
    assert (event.name, event.image) == ("red\\u202e\\ud800", "a\\x0ab")


WILD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["die", "container"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["Type", "Action", "Actor", "ID", "Attributes", "time", "timeNano", "name"]), inner
        )
    ),
    max_leaves=10,
)


@given(WILD)
def test_any_json_never_raises(raw: Any) -> None:
    parse_event(raw)
