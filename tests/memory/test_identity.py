"""Promise: a container and its events agree on whose past it is, and two that differ never share one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.memory.identity import identity_of, identity_of_event
from tests.factories import NOON, compose
from tests.journal.keepers import container, event

TEXT = st.text('ab/[]",0_', min_size=1, max_size=8)


@given(TEXT, TEXT, TEXT, st.integers(0, 3), st.booleans())
def test_a_container_and_its_events_have_one_identity(
    name: str, project: str, service: str, number: int, oneoff: bool
) -> None:
    labels = compose(service, project, number=number, oneoff=oneoff)
    told = event(NOON, "start", name, project=project, service=service, number=number, oneoff=oneoff)
    assert identity_of(container(name=name, compose=labels)) == identity_of_event(told)
    assert identity_of(container(name=name)) == identity_of_event(event(NOON, "start", name))


@given(st.tuples(TEXT, TEXT, st.integers(0, 3)), st.tuples(TEXT, TEXT, st.integers(0, 3)))
def test_replicas_that_differ_have_identities_that_differ(one: tuple[str, str, int], two: tuple[str, str, int]) -> None:
    names = [
        identity_of_event(event(NOON, "start", project=project, service=service, number=number))
        for project, service, number in (one, two)
    ]
    assert (names[0] == names[1]) == (one == two)


def test_a_hook_has_a_past_of_its_own() -> None:
    hook = container(name="shop-web-pre_start-0", compose=compose("web", hook="pre_start"))
    told = event(NOON, "die", "shop-web-pre_start-0", project="shop", service="web", oneoff=True)
    assert identity_of(hook) == identity_of_event(told) != identity_of(container(compose=compose("web")))


def test_a_name_like_a_replica_is_not_one() -> None:
    assert identity_of(container(name='["shop", "web", 1]')) != identity_of(container(compose=compose("web")))


@pytest.mark.parametrize(
    ("name", "same"),
    [("0123456789ab_api", True), ("0123456789abc_api", False), ("0123456789a_api", False), ("0123456789AB_api", False)],
)
def test_only_composes_temporary_names_are_normalised(name: str, same: bool) -> None:
    assert (identity_of(container(name=name)) == identity_of(container(name="api"))) is same
