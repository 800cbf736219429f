"""What `up` adds to a service beyond its files is no difference, and its hash then not one to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.compose.desired_project import make_project
from bcon_exporter.compose.invocation import ResolvedModel
from bcon_exporter.compose.wanted_deployment import make_deployment
from bcon_exporter.drift import detect_drift
from bcon_exporter.secrets.masking import Sealer
from tests.drift.builders import project, replica, service
from tests.factories import NOON, snapshot

if TYPE_CHECKING:
    from bcon_exporter.model.desired import DesiredService


def desired(**services: dict[str, Any]) -> dict[str, DesiredService]:
    """The services of a resolved model, by name."""
    model = {"name": "shop", "services": {name: {"image": "app:1", **one} for name, one in services.items()}}
    resolved = ResolvedModel(model=model, hashes=dict.fromkeys(services, "h1"), enabled=frozenset(services))
    made = make_project(resolved, Sealer(b"0123456789abcdef"), NOON, shell_known=True)
    return {one.name: one for one in made.services or ()}


@pytest.mark.parametrize(
    ("says", "takes_variables", "config_hash"),
    [
        ({}, False, "h1"),
        ({"depends_on": {"cache": {"condition": "service_started"}}}, False, "h1"),
        ({"depends_on": {"cloud": {"condition": "service_started"}}}, True, None),
        ({"models": {"llm": None}}, True, None),
        ({"use_api_socket": True}, False, None),
    ],
)
def test_up_gives_some_services_what_no_file_tells(
    says: dict[str, Any], config_hash: str | None, *, takes_variables: bool
) -> None:
    found = desired(web=says, cache={}, cloud={"provider": {"type": "cloud"}})["web"]
    assert (found.takes_variables, found.config_hash) == (takes_variables, config_hash)


def test_the_hooks_of_a_service_are_counted() -> None:
    assert desired(web={"pre_start": [{"command": ["true"]}, {"command": ["true"]}]})["web"].pre_start == 2


def test_variables_of_a_provider_are_no_drift_but_those_of_the_file_are() -> None:
    wanted = service("web", {"environment.MODE": "a"}, takes_variables=True, config_hash=None)
    given = replica("web", fields={"environment.MODE": "a", "environment.DB_URL": "x"})
    assert detect_drift(project(wanted), snapshot(given, networks=(), volumes=())).differences == ()
    changed = replica("web", fields={"environment.MODE": "b", "environment.DB_URL": "x"})
    found = detect_drift(project(wanted), snapshot(changed, networks=(), volumes=())).differences
    assert [one.field for one in found] == ["environment.MODE"]


def test_a_hook_of_a_deployment_has_what_it_runs_and_mounts() -> None:
    hooks = [
        {"command": ["true"], "image": "tool:1", "per_replica": True},
        {"command": ["true"], "volumes": [{"type": "bind", "source": "/x", "target": "/y", "bind": {}}]},
        {"command": ["true"], "image": "shop-made", "volumes": [{"type": "volume", "source": "data", "target": "/d"}]},
    ]
    model = {
        "name": "shop",
        "services": {"web": {"image": "app:1", "pre_start": hooks}, "made": {"build": {"context": "."}}},
    }
    made = make_deployment(model, {"web", "made"})
    web = next(one for one in made.wanted.services if one.name == "web")
    assert [(one.name, one.image, one.is_built, one.per_replica) for one in web.hooks] == [
        ("pre_start[0]", "tool:1", False, True),
        ("pre_start[1]", "app:1", False, False),
        ("pre_start[2]", "shop-made", True, False),
    ]
    assert ([one.source for one in web.hooks[1].binds], web.volumes) == (["/x"], ("data",))
    assert made.images["web pre_start[0]"] == "tool:1"
