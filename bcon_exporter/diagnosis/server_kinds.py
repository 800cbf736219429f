"""Finds the server that a line is about where it names no host, by its kind: "psycopg2…" is about PostgreSQL."""

from collections.abc import Iterable
from typing import NamedTuple

import re2

from bcon_exporter.diagnosis.container_lookup import ContainerLookup, ports_of
from bcon_exporter.model.container_facts import ContainerFacts

MAX_LINE = 1000
_PARTS = re2.compile(r"[a-z]+")


class ServerKind(NamedTuple):
    """A kind of server: a pattern for lines of its clients, its usual names, its ports."""

    words: str
    names: frozenset[str]
    ports: frozenset[int]


def _kind(words: str, names: str, *ports: int) -> ServerKind:
    return ServerKind(words, frozenset(names.split()), frozenset(ports))


_KINDS = (
    _kind(
        r"postgres|psycopg|asyncpg|\bpgx?\b|psql|\bPG::|postgrex|npgsql|pg_hba|SQLSTATE\[?(?:08|28|53|57)|role \""
        r"|connection to server at \S+(?: \(\S+\))?, port \d|could not translate host name",
        "postgres postgresql pg timescaledb postgis pgvector cockroach pgbouncer patroni",
        5432,
    ),
    _kind(
        r"mysql|mariadb|\(HY000\)|\[HY000\]|ERROR 1\d\d\d|\bER_[A-Z]|\((?:1040|1044|1045|1049|1114|1146), ",
        "mysql mariadb percona galera",
        3306,
    ),
    _kind(
        r"redis|jedis|lettuce|NOAUTH|WRONGPASS|MISCONF|OOM command|READONLY You|(?:CLUSTER|MASTER)DOWN|valkey",
        "redis valkey keydb dragonfly cache",
        6379,
    ),
    _kind(r"mongo", "mongo mongodb", 27017),
    _kind(r"amqp|rabbit|\bpika\b|kombu|ACCESS[_-]REFUSED", "rabbitmq rabbit mq queue broker amqp", 5672, 5671),
    _kind(r"kafka", "kafka redpanda broker", 9092, 9093),
    _kind(
        r"elastic|opensearch|cluster_block|index_not_found|master_not_discovered",
        "elasticsearch elastic opensearch es search",
        9200,
    ),
    _kind(r"clickhouse|DB::Exception", "clickhouse", 8123, 9000),
    _kind(r"memcache", "memcached memcache", 11211),
    _kind(r"mqtt|paho|mosquitto", "mqtt mosquitto emqx broker", 1883, 8883),
    _kind(r"\bS3\b|minio|NoSuchBucket|XMinio", "minio s3 garage ceph", 9000),
    _kind(r"ldap", "ldap openldap lldap", 389, 636),
    _kind(r"smtp", "smtp mail postfix mailhog mailpit", 25, 587, 465, 1025),
    _kind(r"influx", "influxdb influx", 8086),
    _kind(r"zookeeper|KeeperErrorCode", "zookeeper zk", 2181),
    _kind(r"\bnats\b", "nats", 4222),
    _kind(r"\betcd", "etcd", 2379),
    _kind(r"\bvault\b", "vault", 8200),
    _kind(r"consul|No cluster leader", "consul", 8500),
    _kind(r"sql|database|\bdb\b|relation \"", "db database sql postgres postgresql mysql mariadb", 5432, 3306, 1433),
)
"""The most specific first; the last is any database."""
_WORDS = tuple(re2.compile(f"(?i){kind.words}") for kind in _KINDS)
_SQL = _KINDS[0], _KINDS[1]
_ANY_DATABASE = frozenset({"db", "database", "sql"})
"""Names that people give to any database."""


def find_server(line: str, client: ContainerFacts, candidates: Iterable[ContainerFacts]) -> ContainerFacts | None:
    """Return the one container among `candidates` that is of the kind that the line is about.

    None where the line names no kind, where several are of it, or where `client` is one itself: then it tells of its
    own clients.
    """
    kind = kind_of_server(line)
    if kind is None or is_of_kind(client, kind):
        return None
    matching = {
        container.id: container for container in candidates if container.id != client.id and is_of_kind(container, kind)
    }
    return next(iter(matching.values())) if len(matching) == 1 else None


def kind_of_server(line: str) -> ServerKind | None:
    """Return the kind of server that a line is about; None where it names none."""
    return next((kind for kind, words in zip(_KINDS, _WORDS, strict=True) if words.search(line[:MAX_LINE])), None)


def has_kind(container: ContainerFacts) -> bool:
    """Return whether the kind of a container can be told at all."""
    return any(is_of_kind(container, kind) for kind in _KINDS)


def candidates_for(client: ContainerFacts, services: Iterable[str], lookup: ContainerLookup) -> list[ContainerFacts]:
    """Return the possible servers of `client`: its declared dependencies, or else the containers on its networks."""
    declared = [container for service in services for container in lookup.of_service(service, client)]
    return declared or list(lookup.on_shared_network(client))


def is_of_kind(container: ContainerFacts, kind: ServerKind) -> bool:
    """Return whether a container is of this kind, by its ports, its name and its image."""
    if kind.ports & ports_of(container):
        return True
    name = container.name if container.compose is None else container.compose.service  # not that of its project
    image = container.image.rpartition("/")[2].partition(":")[0]
    own = {part for name in (name, image) for part in _PARTS.findall(name.lower())}
    return bool(own & kind.names) or (kind in _SQL and bool(own & _ANY_DATABASE))
