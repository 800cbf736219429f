"""An image that does not exist is a fact; one that could not be read leaves the configuration unread."""

import json
from pathlib import Path

import pytest

from bcon_exporter.clock import utc_now
from bcon_exporter.engine import Wants
from bcon_exporter.model.container_facts import ContainerFacts
from tests.engine.fake_engine import FakeEngine, answer
from tests.engine.test_docker_host import GOOD, engine_with, entry, host_for

IMAGE = "sha256:" + "c" * 64
IMAGE_ANSWER = answer(json.dumps({"Id": IMAGE, "Config": {"Env": ["A=1"]}}).encode())
GONE = answer(b'{"message":"No such image"}', "404 Not Found")
FAILED = answer(b'{"message":"layer store"}', "500 Internal Server Error")
ONE_CONTAINER = {"/containers/json": answer(json.dumps([entry(GOOD)]).encode())}
INSPECTED = answer(
    json.dumps({"Id": GOOD, "Name": "/x", "Image": IMAGE, "State": {}, "Config": {"Image": "app:1"}}).encode()
)


def scan(path: Path, rules: dict[str, bytes]) -> list[ContainerFacts]:
    """Scan twice with these answers about images: what failed once is asked for again."""
    with FakeEngine(path, engine_with({**ONE_CONTAINER, f"{GOOD}/json": INSPECTED, **rules})) as engine:
        host = host_for(engine.url)
        wants = Wants(logs=False, usage=False, config=True)
        found = [host.observe(utc_now(), 5.0, wants).snapshot.containers[0]]
        rules_are_now_good = {"/images/": IMAGE_ANSWER}
    path.unlink()
    with FakeEngine(path, engine_with({**ONE_CONTAINER, f"{GOOD}/json": INSPECTED, **rules_are_now_good})):
        return [*found, host.observe(utc_now(), 5.0, wants).snapshot.containers[0]]


@pytest.mark.parametrize("failed", ["/images/app", "/images/sha256"])
@pytest.mark.parametrize("raw", [FAILED, answer(b"{}"), answer(b"<html>")])
def test_an_image_that_could_not_be_read_leaves_the_configuration_unread_until_it_can(
    tmp_path: Path, failed: str, raw: bytes
) -> None:
    before, after = scan(tmp_path / "s", {failed: raw, "/images/app:": GONE, "/images/": IMAGE_ANSWER})
    assert before.config is None
    assert before.unread["config"]
    assert after.config is not None
    assert after.config.image_id_of_tag == IMAGE
    assert after.config.image_fields
    assert "config" not in after.unread


def test_a_removed_image_is_a_fact(tmp_path: Path) -> None:
    before, _ = scan(tmp_path / "s", {"/images/": GONE})
    assert before.config is not None
    assert (before.config.image_id_of_tag, before.config.image_fields) == (None, None)
    assert "config" not in before.unread
