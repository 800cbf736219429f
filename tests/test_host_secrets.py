"""Promise: what one container or file of a project holds as a secret is hidden in all of that project only."""

import pytest

from bcon_exporter.host_secrets import MOST_EMPTY_PROJECTS, HostSecrets, hide_in_events, hide_in_snapshot
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent
from bcon_exporter.secrets.known_secrets import MOST_VALUES
from tests.factories import NOON, compose, container, logs, snapshot

OLD, NEW, OTHER = "Qx7" + "rT9vLm2p", "Wk3" + "pZ8nBc5d", "Hj6" + "tR2mXq9s"


def values(*found: str) -> frozenset[str]:
    return frozenset(found)


def test_a_secret_of_one_container_is_hidden_in_the_others_of_its_project_only() -> None:
    book = HostSecrets()
    book.learn_container("db", "shop", values(OLD))
    book.learn_container("web", "shop", values())
    book.learn_container("alone", None, values(OTHER))
    assert book.of_container("web").hide(OLD) == "***"
    assert book.of_container("web").hide(OTHER) == OTHER
    assert book.of_container("alone").hide(f"{OTHER} {OLD}") == f"*** {OLD}"
    assert book.of_container("unknown").hide(OLD) == OLD


def test_what_a_projects_files_said_before_stays_known() -> None:
    book = HostSecrets()
    book.learn_files("shop", values(OLD))
    book.learn_files("shop", values(NEW))
    assert book.of_project("shop").hide(f"{OLD} {NEW}") == "*** ***"


def test_what_files_say_is_hidden_in_the_containers_and_the_other_way_round() -> None:
    book = HostSecrets()
    book.learn_container("web", "shop", values(OLD))
    book.learn_files("shop", values(NEW))
    assert book.of_container("web").hide(f"{OLD} {NEW}") == "*** ***"
    assert book.of_project("shop").hide(f"{OLD} {NEW}") == "*** ***"


def test_the_object_is_the_same_until_something_is_learned() -> None:
    book = HostSecrets()
    book.learn_container("web", "shop", values(OLD))
    book.learn_files("shop", values(NEW))
    before, version = book.of_container("web"), book.version
    book.learn_container("web", "shop", values(OLD))
    book.learn_files("shop", values(NEW))
    book.retain(["web"])
    assert book.of_container("web") is before
    assert book.version == version
    book.learn_container("db", "shop", values(OTHER))
    assert book.of_container("web") is not before
    assert book.version != version


def test_removed_containers_are_forgotten() -> None:
    book = HostSecrets()
    book.learn_container("web", "shop", values(OLD))
    book.retain([])
    assert book.of_project("shop").hide(OLD) == OLD
    assert book.of_known("web") is None


def test_projects_that_are_long_gone_are_forgotten_and_those_with_containers_are_not() -> None:
    book = HostSecrets()
    book.learn_container("web", "shop", values(OLD))
    book.learn_files("shop", values(NEW))
    for number in range(2 * MOST_EMPTY_PROJECTS):
        book.learn_container(f"test-{number}", f"run-{number}", values(f"{OTHER}{number}"))
        book.learn_files(f"run-{number}", values(f"{OTHER}-{number}"))
        book.of_container(f"test-{number}")
        book.retain(["web"])
        book.of_project(f"run-{number}")
    sizes = {name: len(kept) for name, kept in vars(book).items() if isinstance(kept, dict)}
    assert max(sizes.values()) <= MOST_EMPTY_PROJECTS + 2, sizes
    assert book.of_project("shop").hide(f"{OLD} {NEW}") == "*** ***"
    last = 2 * MOST_EMPTY_PROJECTS - 1
    assert book.of_project(f"run-{last}").hide(f"{OTHER}-{last}") == "***"


def test_a_container_that_moves_takes_its_secrets_along() -> None:
    book = HostSecrets()
    book.learn_container("web", "shop", values(OLD))
    assert book.of_project("shop").hide(OLD) == "***"
    book.learn_container("web", "other", values(OLD))
    assert book.of_project("shop").hide(OLD) == OLD
    assert book.of_project("other").hide(OLD) == "***"


def test_a_container_with_too_many_secrets_hides_its_own_texts_and_not_those_of_the_project_it_claims() -> None:
    book = HostSecrets()
    book.learn_files("shop", values(NEW))
    book.learn_container("web", "shop", values())
    book.learn_container("evil", "shop", values(*(f"aB3defgh{n}xyz" for n in range(MOST_VALUES + 1))))
    assert book.of_container("evil").hide("anything") == "***"
    assert book.of_container("web").hide(f"anything but {NEW}") == "anything but ***"


def test_the_log_of_the_exporter_hides_what_anybody_holds() -> None:
    book = HostSecrets()
    book.learn_files("shop", values(NEW))
    book.learn_container("web", "shop", values(OLD))
    book.learn_container("alone", None, values(OTHER))
    assert book.hide(f"{OLD} {NEW} {OTHER} rest") == "*** *** *** rest"


@pytest.mark.parametrize(("image", "kept"), [(f"app:{OLD}", "app:***"), ("app:1", "app:1"), ("", "")])
def test_an_event_is_kept_without_a_secret_tag(image: str, kept: str) -> None:
    book = HostSecrets()
    book.learn_container("web", None, values(OLD))
    event = LifecycleEvent(at=NOON, action="start", container_id="web", name="web", image=image)
    batch = hide_in_events(EventBatch(events=(event,), covers_since=NOON), book)
    assert [one.image for one in batch.events] == [kept]


def test_an_event_of_a_container_that_was_never_inspected_is_kept_without_what_its_project_holds() -> None:
    book = HostSecrets()
    book.learn_files("shop", values(NEW))
    event = LifecycleEvent(at=NOON, action="die", container_id="gone", name="web", image=f"app:{NEW}", project="shop")
    batch = hide_in_events(EventBatch(events=(event,), covers_since=NOON), book)
    assert [one.image for one in batch.events] == ["app:***"]


def test_nothing_of_it_is_printed() -> None:
    book = HostSecrets()
    book.learn_container("web", "shop", values(OLD))
    assert OLD not in repr(book) + str(book.of_project("shop")) + f"{book.of_container('web')!r}"


def texts_of(taken: HostSnapshot) -> list[str]:
    """What the log of the first container shows."""
    found = taken.containers[0].logs
    assert found is not None
    return [line.text for line in found.lines]


def test_a_snapshot_hides_what_was_learned_while_it_was_taken_whoever_learned_it() -> None:
    book = HostSecrets()
    web = container(name="web", compose=compose(project="shop"), logs=logs(f"login with {NEW}"))
    book.learn_container(web.id, "shop", values(OLD))
    taken = snapshot(web).model_copy(update={"hidden_version": book.version})
    assert hide_in_snapshot(taken, book) is taken
    book.learn_files("shop", values(NEW))  # by another thread, say, which compares the project meanwhile

    hidden = hide_in_snapshot(taken, book)

    assert texts_of(hidden) == ["login with ***"]
    assert hide_in_snapshot(hidden, book) is hidden


def test_of_a_container_that_was_never_inspected_what_its_project_holds_is_hidden() -> None:
    book = HostSecrets()
    web = container(name="web", compose=compose(project="shop"), logs=logs(f"login with {NEW}"))
    book.learn_files("shop", values(NEW))

    hidden = hide_in_snapshot(snapshot(web), book)

    assert texts_of(hidden) == ["login with ***"]
