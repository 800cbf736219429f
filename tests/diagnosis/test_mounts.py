"""A path in a log line leads to the mount it lies on: what is full, read-only or another user's is named."""

from bcon_exporter.diagnosis.mounts import mount_at
from bcon_exporter.model.container_facts import ContainerFacts, Mount
from bcon_exporter.model.findings import LikelyCause
from bcon_exporter.model.wiring import Wiring
from tests.diagnosis.judging import diagnose
from tests.factories import container, logs

DATA = Mount(type="volume", source="shop_data", target="/var/lib/data")
FULL = "write /var/lib/data/base/1: no space left on device"


def writing(text: str, *mounts: Mount, name: str = "db", wiring: Wiring | None = None) -> ContainerFacts:
    return container(name=name, logs=logs(text), mounts=mounts, wiring=wiring)


def top(facts: ContainerFacts, *others: ContainerFacts) -> LikelyCause:
    return diagnose(facts, *others).likely_causes[0]


def test_a_full_volume_is_named_with_where_it_is_mounted() -> None:
    cause = top(writing(FULL, DATA))

    assert cause.id == "volume_full"
    assert cause.description == "The volume shop_data at /var/lib/data is full: no space or no inodes are left."


def test_who_shares_it_is_named_too() -> None:
    backup = container(name="backup", mounts=(DATA.model_copy(update={"target": "/in"}),))
    cause = top(writing(FULL, DATA), backup, container(name="other"))

    assert (cause.id, cause.peer) == ("shared_volume_full", "backup")
    assert "backup has it mounted too" in cause.description


def test_a_volume_that_others_only_read_is_not_shared_writing() -> None:
    reader = container(name="reader", mounts=(DATA.model_copy(update={"read_only": True}),))

    assert top(writing(FULL, DATA), reader).id == "volume_full"


def test_an_equal_target_of_another_volume_is_not_shared() -> None:
    other = container(name="other", mounts=(DATA.model_copy(update={"source": "blog_data"}),))

    assert top(writing(FULL, DATA), other).peer is None


def test_a_full_tmpfs_is_as_large_as_it_was_configured() -> None:
    report = diagnose(
        writing("dd: error writing '/x/f': No space left on device", Mount(type="tmpfs", source="", target="/x"))
    )

    assert report.likely_causes[0].description.startswith("The tmpfs at /x is full")
    assert "Enlarge the tmpfs" in report.suggestions[0].action


def test_a_path_outside_of_mounts_is_the_engines_own_disk() -> None:
    facts = writing("write /tmp/x: no space left on device", DATA)

    assert all("shop_data" not in cause.description for cause in diagnose(facts).likely_causes)


def test_a_read_only_mount_is_read_only_by_configuration() -> None:
    mount = DATA.model_copy(update={"read_only": True})
    cause = top(writing("touch: /var/lib/data/x: Read-only file system", mount))

    assert (cause.id, cause.confidence) == ("mount_read_only", 0.92)


def test_a_writable_mount_that_refuses_writes_is_no_matter_of_configuration() -> None:
    cause = top(writing("touch: /var/lib/data/x: Read-only file system", DATA))

    assert cause.confidence < 0.8


def test_a_read_only_root_is_told_from_a_failing_disk() -> None:
    cause = top(writing("touch: /app/x: Read-only file system", wiring=Wiring(read_only_root=True)))

    assert cause.id == "mount_read_only"
    assert "read_only" in cause.description


def test_a_forbidden_path_names_user_and_mount() -> None:
    mount = Mount(type="bind", source="/srv/x", target="/x")
    cause = top(writing("touch: /x/f: Permission denied", mount, wiring=Wiring(user="1000")))

    assert cause.id == "volume_owner_mismatch"
    assert cause.description == (
        "User 1000 may not use the directory /srv/x of the host at /x: it belongs to another user, "
        "or its mode does not allow it."
    )


def test_the_deepest_mount_counts_and_a_longer_name_is_another_path() -> None:
    outer, inner = Mount(type="bind", source="/a", target="/x"), Mount(type="bind", source="/b", target="/x/y")
    facts = container(mounts=(outer, inner))

    assert mount_at(facts, "open /x/y/z: denied") == inner
    assert mount_at(facts, "open /x/z: denied") == outer
    assert mount_at(facts, "open /xy/z: denied") is None
    assert mount_at(facts, "GET http://h/x/y/z: denied") is None
