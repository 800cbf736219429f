"""Promise: what a container's environment holds as a secret is hidden in every fact of it; identities stay."""

import json
from typing import Any

from bcon_exporter.engine.containers import Inventory
from bcon_exporter.engine.log_cursors import LogCursors, LogSource
from bcon_exporter.engine.parse import decode_array, parse_config, parse_container, parse_image, secrets_of
from bcon_exporter.engine.scan import HostOptions
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.secrets.hide_in_models import hide_in_config, hide_in_facts
from bcon_exporter.secrets.known_secrets import KnownSecrets
from bcon_exporter.secrets.masking import Sealer
from tests.engine.test_parse import ID, make_inspected, make_listed
from tests.factories import NOON

SECRET = "Qx7" + "rT9vLm2p"
OTHER_SECRET = "zK4" + "mW8pTq3n"
SEALER = Sealer(b"k")
OTHER_ID = "2" + ID[1:]
PROJECT_LABELS = {"com.docker.compose.project": "shop", "com.docker.compose.service": "web"}


def full_of(secret: str) -> dict[str, Any]:
    """An inspect answer that has a secret wherever one can stand."""
    raw = make_inspected()
    raw["Mounts"] = [
        {"Type": "bind", "Source": f"/srv/{secret}", "Destination": f"/in/{secret}", "RW": True},
        {"Type": "volume", "Name": secret, "Source": "/x", "Destination": "/data", "RW": True},
    ]
    raw["State"]["Error"] = f"unable to find user {secret}"
    raw["State"]["Health"]["Log"][-1]["Output"] = f"probing as {secret}"
    raw["Config"] |= {
        "Image": f"{secret}/web:{secret}",
        "User": secret,
        "Hostname": f"h-{secret}",
        "Cmd": ["run", secret],
        "Entrypoint": [f"--{secret}"],
        "WorkingDir": f"/{secret}",
        "Labels": {**PROJECT_LABELS, "x.basicauth": f"u:{secret}", f"x.{secret}": "y"},
    }
    raw["HostConfig"] |= {
        "ExtraHosts": [f"{secret}:10.0.0.9", f"h:{secret}"],
        "Tmpfs": {f"/{secret}": ""},
        "NetworkMode": secret,
        "LogConfig": {"Type": "json-file", "Config": {"tag": secret}},
        "Dns": [secret],
        "Annotations": {"x": secret},
    }
    raw["NetworkSettings"] = {"Networks": {secret: {"Aliases": [secret], "DriverOpts": {"x": secret}}}}
    return raw


def holder(*entries: str) -> dict[str, Any]:
    raw = full_of(SECRET)
    raw["Config"]["Env"] = list(entries)
    return raw


def facts_text(raw: dict[str, Any]) -> str:
    known = KnownSecrets(secrets_of(raw))
    facts = parse_container(make_listed(), raw, secrets=known)
    assert facts is not None
    config = parse_config(raw, parse_image({"Config": raw["Config"]}, SEALER), SEALER, known)
    return facts.model_copy(update={"config": config}).model_dump_json()


IDENTITIES = (f'"{SECRET}/web:***"', f'"network_mode":"{SECRET}"', f'"name":"{SECRET}"', f'"source":"{SECRET}"')


def test_it_is_hidden_in_every_fact_and_the_names_of_things_stay() -> None:
    text = facts_text(holder(f"DB_PASSWORD={SECRET}"))
    for identity in (*IDENTITIES, f'"networks.{SECRET}', f"volume {SECRET}"):
        assert identity in text
        text = text.replace(identity, "")
    assert SECRET not in text
    assert text.count("***") >= 20


def test_a_label_under_a_secrets_name_is_a_secret_elsewhere_too() -> None:
    raw = holder()
    raw["Config"]["Labels"]["app.password"] = SECRET
    assert f"run {SECRET}" not in facts_text(raw)
    assert "probing as ***" in facts_text(raw)


def test_other_variables_hide_nothing() -> None:
    assert f"probing as {SECRET}" in facts_text(holder(f"RELEASE={SECRET}", "DB_PASSWORD=postgres"))


def test_what_is_learned_later_is_hidden_in_each_text_also_where_no_other_holds_it() -> None:
    facts = parse_container(make_listed(), full_of(SECRET), secrets=KnownSecrets())
    assert facts is not None
    facts = facts.model_copy(update={"unread": {"logs": f"no user {SECRET}"}})
    first, *parts = facts.model_dump_json().split(SECRET)
    assert len(parts) >= 15
    for only in range(len(parts)):
        text = first + "".join((SECRET if at == only else "harmless") + part for at, part in enumerate(parts))
        alone = ContainerFacts.model_validate_json(text)
        beside = alone.model_copy(update={"labels": {**alone.labels, "note": OTHER_SECRET}})
        hidden = hide_in_facts(alone, KnownSecrets(frozenset((SECRET,))))
        hidden_beside = hide_in_facts(beside, KnownSecrets(frozenset((SECRET, OTHER_SECRET))))
        assert hidden_beside.labels["note"] == "***"
        assert hidden.model_copy(update={"labels": {}}) == hidden_beside.model_copy(update={"labels": {}}), text
        assert hidden.labels == {key: value for key, value in hidden_beside.labels.items() if key != "note"}


def test_what_is_learned_later_is_hidden_as_if_it_had_been_known() -> None:
    raw, known = full_of(SECRET), KnownSecrets(frozenset((SECRET,)))
    before, after = (parse_container(make_listed(), raw, secrets=one) for one in (KnownSecrets(), known))
    assert before is not None
    assert hide_in_facts(before, known) == after != before
    image = parse_image({"Config": raw["Config"]}, SEALER)
    config, hidden = (parse_config(raw, image, SEALER, one) for one in (KnownSecrets(), known))
    assert hide_in_config(config, known) == hidden != config


def test_while_its_environment_is_unread_a_container_shows_plain_labels_only() -> None:
    listed = make_listed(Labels={**PROJECT_LABELS, "x.basicauth": f"u:{SECRET}", "x.tier": "backend"})
    facts = parse_container(listed, secrets=None)
    assert facts is not None
    assert facts.labels == {**PROJECT_LABELS, "x.basicauth": "***", "x.tier": "backend"}


def scan(inventory: Inventory, inspected: dict[str, dict[str, Any]]) -> None:
    listed = [make_listed(Id=one, Labels={**PROJECT_LABELS, "note": f"of {SECRET}"}) for one in (ID, OTHER_ID)]
    inventory.update(decode_array(json.dumps(listed)))
    for one, raw in inspected.items():
        inventory.update_inspected(one, raw, 1.0)
    inventory.hide_learned()


def with_note(container_id: str, *environment: str) -> dict[str, Any]:
    raw = make_inspected(Id=container_id)
    raw["Config"] |= {"Labels": {**PROJECT_LABELS, "note": f"of {SECRET}"}, "Env": list(environment)}
    return raw


def test_what_a_container_holds_is_hidden_in_those_of_its_project_that_were_read_before_it() -> None:
    inventory = Inventory(HostOptions())
    scan(inventory, {ID: with_note(ID), OTHER_ID: with_note(OTHER_ID, f"DB_PASSWORD={SECRET}")})
    assert {known.facts.labels["note"] for known in inventory.entries.values()} == {"of ***"}


def test_of_a_container_that_cannot_be_inspected_any_more_its_environment_is_still_known() -> None:
    inventory = Inventory(HostOptions())
    scan(inventory, {ID: with_note(ID, f"DB_PASSWORD={SECRET}"), OTHER_ID: with_note(OTHER_ID)})
    inventory.mark_uninspected(ID, "it hangs")
    assert inventory.entries[ID].facts.labels["note"] == "of ***"
    inventory.retain([OTHER_ID])
    scan(inventory, {})
    assert inventory.entries[ID].facts.labels["note"] == "***"


def test_kept_lines_hide_what_is_learned_before_the_next_read() -> None:
    cursors = LogCursors()
    raw = b"2026-11-21T22:42:55.481855266Z tried " + SECRET.encode() + b"\n"
    cursors.take("a", raw, LogSource(True, None), since=None, tail=10)

    logs = cursors.take("a", b"", LogSource(True, None, KnownSecrets(frozenset((SECRET,)))), since=None, tail=10)

    assert [line.text for line in logs.lines] == ["tried ***"]


def test_kept_lines_hide_what_is_learned_after_they_were_read() -> None:
    cursors = LogCursors()
    stamp = b"2026-11-21T22:42:55.481855266Z "
    raw = b"".join(stamp + line + b"\n" for line in (b"tried " + SECRET.encode(), b"done"))
    first = cursors.take("a", raw, LogSource(True, None), since=None, tail=10)
    assert first.lines[0].text == f"tried {SECRET}"
    held = cursors.held_bytes
    known = KnownSecrets(frozenset((SECRET,)))
    kept = cursors.get_lines("a", since=None, driver=None, secrets=known)
    assert kept is not None
    assert [line.text for line in kept.lines] == ["tried ***", "done"]
    assert cursors.held_bytes == held - len(SECRET) + len("***")
    assert cursors.get_lines("a", since=NOON, driver=None, secrets=known) is not None
