"""The corpus of Compose projects is large, and covers what drift compares: every field of docs/drift.md stands in a
project and is changed in one, but for those that say why not.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from yaml.nodes import MappingNode, ScalarNode

from bcon_exporter.model.findings import DriftType
from tests.drift_corpus.cases import choose_sample, kinds_of, read_cases
from tests.drift_corpus.images import read_names
from tests.drift_corpus.rewriting import read, section, walk

ROOT = Path(__file__).parents[2]
NOT_WRITTEN = {
    "cpu_count": "Windows only",
    "cpu_percent": "Windows only",
    "cpu_rt_period": "needs a kernel and an engine with a budget of real time",
    "cpu_rt_runtime": "needs a kernel and an engine with a budget of real time",
    "consistency": "without effect on Linux: tests/drift_corpus/values.py has it",
    "credential_spec": "Windows only",
    "device_read_bps": "needs to know a disk of the machine",
    "weight_device": "needs to know a disk of the machine",
    "first_network": "not a key: follows from priority",
    "models": "needs a plugin",
    "provider": "needs a plugin",
    "recursive": "refused below Engine 25",
    "start_interval": "refused below Engine 25",
    "subpath": "refused below Engine 26",
    "storage_opt": "needs a file system with quotas",
    "use_api_socket": "hands out the socket of the engine",
}
"""Keys that no project has, since it could not be brought up everywhere."""
NOT_CHANGED = {
    "annotations": "older engines leave it out: found, whatever the field",
    "blkio_config": "kernels without it leave it out: found, whatever the field",
    "weight": "kernels without it leave it out: found, whatever the field",
    "gw_priority": "older engines leave it out: found, whatever the field",
    "isolation": "has one value on Linux",
    "selinux": "tests/drift_corpus/values.py changes it",
}
"""Fields that a project has, and no change is found by."""
SERVICE_KEYS = """
    annotations attach blkio_config build cap_add cap_drop cgroup cgroup_parent command configs container_name
    cpu_count cpu_percent cpu_period cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares cpus cpuset credential_spec
    depends_on deploy develop device_cgroup_rules devices dns dns_opt dns_search domainname entrypoint env_file
    environment expose extends external_links extra_hosts gpus group_add healthcheck hostname image init ipc
    isolation label_file labels links logging mac_address mem_limit mem_reservation mem_swappiness memswap_limit
    models network_mode networks oom_kill_disable oom_score_adj pid pids_limit platform ports post_start pre_stop
    privileged profiles provider pull_policy read_only restart runtime scale secrets security_opt shm_size
    stdin_open stop_grace_period stop_signal storage_opt sysctls tmpfs tty ulimits use_api_socket user userns_mode
    uts volumes volumes_from working_dir
"""
"""Everything that the Compose format lets a service say."""


@cache
def documented() -> frozenset[str]:
    """The names of all fields and of their parts in the table of docs/drift.md."""
    table = (ROOT / "docs/drift.md").read_text().partition("\n## Fields")[2]
    cells = re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE)
    return frozenset(re.findall(r"[`.]([a-z][a-z0-9_]+)", " ".join(cells)))


@cache
def written() -> frozenset[str]:
    """Every key that stands somewhere in a service of the corpus."""
    keys: set[str] = set()
    for case in read_cases():
        for name in case.compose_files:
            services = section(read((case.folder / name).read_text()), "services")
            for node in walk(services) if services else ():
                if isinstance(node, MappingNode):
                    keys |= {str(key.value) for key, _ in node.value if isinstance(key, ScalarNode)}
    return frozenset(keys)


@cache
def changed() -> frozenset[str]:
    """Every field, and every part of one, that a change of the corpus is found by."""
    paths = [field for case in read_cases() for change in case.changes for _, _, field in change.found if field]
    return frozenset(part for path in paths for part in re.split(r"[./]", path))


def test_the_corpus_is_large_enough() -> None:
    cases = read_cases()
    changes = [change for case in cases for change in case.changes]
    kinds = {change.what for change in changes}
    assert len(cases) >= 60
    assert len(kinds) == len(changes) >= 40
    assert len([one for one in changes if one.edits]) >= 100
    assert len([one for one in changes if one.writes or one.environment]) >= 5
    assert len([one for one in changes if one.is_of_engine]) >= 20


def test_every_drift_type_an_unknown_and_no_drift_are_expected_somewhere() -> None:
    changes = [change for case in read_cases() for change in case.changes]
    assert {kind for change in changes for _, kind, _ in change.found} == {str(kind) for kind in DriftType}
    assert {change.status for change in changes} >= {"synced", "drifted"}
    assert {change.error for change in changes} > {"compose_parse_error", "compose_file_not_found"}
    assert "unknown" in {case.daemon for case in read_cases()}


def test_every_documented_field_stands_in_a_project() -> None:
    assert len(documented()) > 70
    assert documented() - written() - set(NOT_WRITTEN) == set()


def test_every_key_of_a_service_stands_in_a_project() -> None:
    assert set(SERVICE_KEYS.split()) - written() - set(NOT_WRITTEN) == set()


def test_every_documented_field_is_changed_in_a_project() -> None:
    assert documented() - changed() - set(NOT_WRITTEN) - set(NOT_CHANGED) == set()


def test_no_exception_is_needless() -> None:
    assert set(NOT_WRITTEN) & written() == set()
    assert set(NOT_CHANGED) & changed() == set()
    assert set(NOT_CHANGED) <= written()


def test_every_image_of_the_corpus_has_a_variant() -> None:
    named = [name for names in read_names().values() for name in names]
    assert len(named) == len(set(named))
    images: set[str] = set()
    for case in read_cases():
        for file in case.compose_files:
            images |= set(re.findall(r"image: *[\"']?([\w./-]+:[\w.-]+)", (case.folder / file).read_text()))
    assert len(images) > 60
    assert images - set(named) == set()


def test_the_sample_shows_every_kind_that_the_corpus_has_by_half_of_its_projects() -> None:
    sample = choose_sample(read_cases())
    assert {kind for case in sample for kind in kinds_of(case)} == {
        kind for case in read_cases() for kind in kinds_of(case)
    }
    assert len(sample) <= len(read_cases()) / 2
    assert choose_sample(sample) == sample
