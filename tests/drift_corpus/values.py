"""Values of every field of a service that an engine keeps: what is equal has no drift, what differs is named.

A row is the paths that are to be named, as docs/drift.md has them, and forms of a service that differ in these alone,
written as YAML. No path stands where the forms mean the same, or no container shows the difference.
{folder} is the project's folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

IMAGE = "bcon-test:1"
OUTSIDE = "outside"
"""A container that belongs to no project."""


@dataclass(frozen=True)
class Pair:
    """Two forms of a service: as it was made, and as the file has it then."""

    paths: tuple[str, ...]
    made: str
    changed: str


def _pairs(paths: str, *forms: str) -> list[Pair]:
    """Pair each form with the next one, and the last with the first."""
    named = tuple(paths.split())
    return [Pair(named, made, changed) for made, changed in zip(forms, (*forms[1:], forms[0]), strict=True)]


def write_project(forms: dict[str, str], folder: str) -> str:
    """Return a Compose file named "stack" with a service for each form, and those that they refer to."""
    services: dict[str, Any] = {
        "share": {"image": IMAGE, "ipc": "shareable"},
        "source": {"image": IMAGE, "volumes": ["data:/v"]},
        "many": {"image": IMAGE, "volumes": ["data:/w"]},
    }
    for name, form in forms.items():
        text = form.replace("{folder}", folder)
        services[name] = {"image": IMAGE, **yaml.safe_load(text if text.startswith("{") else f"{{{text}}}")}
    networks = {"more": {"ipam": {"config": [{"subnet": "172.31.252.0/24"}]}}}
    return yaml.safe_dump({"name": "stack", "services": services, "volumes": {"data": {}}, "networks": networks})


def _binds(*propagations: str) -> list[str]:
    return [f'volumes: ["{{folder}}:/m:{propagation}"]' for propagation in propagations]


def _long_binds(*propagations: str) -> list[str]:
    forms = [f", bind: {{propagation: {propagation}}}" if propagation else "" for propagation in propagations]
    return [f"volumes: [{{type: bind, source: '{{folder}}', target: /m{form}}}]" for form in forms]


_BIND = "volumes: [{type: bind, source: '{folder}', target: /m, bind: {selinux: %s}}]"

_BIND_OPTION = "volumes: [{type: bind, source: '{folder}', target: /m, %s}]"

VALUES: tuple[Pair, ...] = (
    *_pairs("volumes./m.propagation", *_binds("ro,private", "ro,rshared", "ro,shared", "ro,rslave", "ro,slave", "ro")),
    *_pairs("volumes./m.propagation", *_binds("rslave", "rprivate")),
    *_pairs("volumes./m.propagation", *_long_binds("private", "rshared", "shared", "rslave", "slave", "")),
    *_pairs("volumes./m", *_binds("ro", "rw")),
    *_pairs("volumes./m", 'volumes: ["{folder}:/m"]', 'volumes: ["data:/m"]', "volumes: [/m]"),
    *_pairs("volumes./m.selinux", *_binds("z", "Z", "rw")),
    *_pairs("volumes./m.selinux", *(_BIND % mode for mode in "zZ")),
    *_pairs(
        "volumes./m.consistency",
        "volumes: [{type: tmpfs, target: /m, consistency: cached}]",
        "volumes: [{type: tmpfs, target: /m, consistency: delegated}]",
        "volumes: [{type: tmpfs, target: /m}]",
    ),
    *_pairs(
        "volumes./m", "volumes: [{type: tmpfs, target: /m, read_only: true}]", "volumes: [{type: tmpfs, target: /m}]"
    ),
    *_pairs("restart", "deploy: {restart_policy: {}}", "{restart: always}"),
    *_pairs("", *_binds("cached", "delegated", "rw")),
    *_pairs(
        "", *(_BIND_OPTION % option for option in ("consistency: cached", "consistency: default", "read_only: false"))
    ),
    *_pairs(
        "",
        "volumes: [{type: bind, source: '{folder}', target: /m, bind: {create_host_path: false}}]",
        'volumes: ["{folder}:/m"]',
    ),
    *_pairs("", "platform: linux/amd64", "{}"),
    *_pairs("", "pull_policy: never", "pull_policy: always", "pull_policy: missing", "pull_policy: build"),
    *_pairs("", "attach: false", "{}"),
    *_pairs(
        "", "ports: [{target: 80, published: '28093', name: a, app_protocol: http, mode: host}]", "ports: ['28093:80']"
    ),
    *_pairs(
        "healthcheck.start_interval",
        "healthcheck: {test: 'true', start_period: 9s, start_interval: 1s}",
        "healthcheck: {test: 'true', start_period: 9s, start_interval: 2s}",
    ),
    *_pairs("volumes./m.nocopy", 'volumes: ["data:/m:nocopy"]', 'volumes: ["data:/m"]'),
    *_pairs(
        "volumes./m.nocopy",
        "volumes: [{type: volume, source: data, target: /m, volume: {nocopy: true}}]",
        "volumes: [{type: volume, source: data, target: /m}]",
    ),
    *_pairs(
        "volumes./m",
        "volumes: [{type: volume, source: data, target: /m, read_only: true}]",
        "volumes: [{type: volume, source: data, target: /m}]",
        "volumes: [{type: tmpfs, target: /m}]",
        "volumes: [{type: tmpfs, target: /m, tmpfs: {size: 1m}}]",
        "volumes: [{type: tmpfs, target: /m, tmpfs: {size: 1m, mode: 448}}]",
        "volumes: [{type: tmpfs, target: /m, tmpfs: {mode: 0755}}]",
        "volumes: [{type: tmpfs, target: /m, read_only: true}]",
    ),
    *_pairs("volumes_from", "volumes_from: [source]", "volumes_from: [many]"),
    *_pairs("", "volumes_from: [source]", 'volumes_from: ["source:ro"]'),
    *_pairs("tmpfs./t", "tmpfs: /t", 'tmpfs: ["/t:size=1m"]', 'tmpfs: ["/t:size=1m,mode=700,noexec"]'),
    *_pairs("ipc", "ipc: host", "ipc: private", "ipc: shareable", "ipc: none", 'ipc: "service:share"'),
    *_pairs("pid", "pid: host", "{}", 'pid: "service:share"'),
    *_pairs("userns_mode", "userns_mode: host", "{}"),
    *_pairs("uts", "uts: host", "{}"),
    *_pairs("cgroup", "cgroup: host", "cgroup: private"),
    *_pairs(
        "network_mode",
        "network_mode: host",
        "network_mode: none",
        "network_mode: bridge",
        'network_mode: "service:share"',
        'network_mode: "container:outside"',
    ),
    *_pairs("ulimits.nofile", "ulimits: {nofile: 100}", "ulimits: {nofile: {soft: 50, hard: 100}}"),
    *_pairs("ulimits.core", "ulimits: {core: -1}", "ulimits: {core: 0}"),
    *_pairs("device_cgroup_rules", 'device_cgroup_rules: ["c 1:3 r"]', 'device_cgroup_rules: ["c 1:3 rw"]', "{}"),
    *_pairs("logging.driver", "logging: {driver: none}", "logging: {driver: local}", "logging: {driver: json-file}"),
    *_pairs(
        "logging.options.max-size",
        "logging: {driver: json-file, options: {max-size: 1m}}",
        "logging: {driver: json-file, options: {max-size: 2m}}",
    ),
    *_pairs(
        "restart",
        "restart: always",
        "restart: unless-stopped",
        "restart: on-failure",
        'restart: "on-failure:3"',
        'restart: "no"',
    ),
    *_pairs(
        "restart",
        "deploy: {restart_policy: {condition: any}}",
        "deploy: {restart_policy: {condition: none}}",
        "deploy: {restart_policy: {condition: on-failure}}",
        "deploy: {restart_policy: {condition: on-failure, max_attempts: 2}}",
    ),
    *_pairs("restart", "{restart: always, deploy: {restart_policy: {condition: none}}}", "restart: always"),
    *_pairs("stop_signal", "stop_signal: SIGINT", "stop_signal: SIGQUIT", "stop_signal: RTMIN+3", "{}"),
    *_pairs("stop_grace_period", "stop_grace_period: 0s", "stop_grace_period: 1m30s", "{}"),
    *_pairs(
        "healthcheck.test",
        "healthcheck: {test: ['CMD', 'true']}",
        "healthcheck: {test: 'true'}",
        "healthcheck: {test: NONE}",
        "healthcheck: {test: ['CMD-SHELL', 'false']}",
        "healthcheck: {disable: true}",
    ),
    *_pairs("healthcheck.test", "healthcheck: {test: ['NONE']}", "{}"),
    *_pairs(
        "healthcheck.interval",
        "healthcheck: {test: 'true', interval: 5s}",
        "healthcheck: {test: 'true', interval: 1500ms}",
        "healthcheck: {test: 'true'}",
    ),
    *_pairs(
        "healthcheck.timeout", "healthcheck: {test: 'true', timeout: 5s}", "healthcheck: {test: 'true', timeout: 1m}"
    ),
    *_pairs("healthcheck.retries", "healthcheck: {test: 'true', retries: 1}", "healthcheck: {test: 'true'}"),
    *_pairs("healthcheck.start_period", "healthcheck: {test: 'true', start_period: 9s}", "healthcheck: {test: 'true'}"),
    *_pairs("ports.80/tcp", "ports: ['80']", "ports: ['28080:80']", "ports: ['127.0.0.1:28080:80']", "{expose: [80]}"),
    *_pairs("ports.80/tcp", "ports: ['28081-28083:80']", "ports: ['28082:80']", "ports: ['[::1]:28082:80']"),
    *_pairs("ports.81/tcp ports.81/udp", "ports: ['28090:81/udp']", "ports: ['28090:81']"),
    *_pairs("ports.82/sctp", "ports: [{target: 82, published: '28091', protocol: sctp}]", "{expose: ['82/sctp']}"),
    *_pairs("expose.7001/tcp", "expose: ['7000-7001']", "expose: ['7000']"),
    *_pairs("extra_hosts.a", "extra_hosts: ['a:10.0.0.1']", "extra_hosts: ['a=10.0.0.2']", "extra_hosts: {a: '::1'}"),
    *_pairs("extra_hosts.a", "extra_hosts: ['a:host-gateway']", "extra_hosts: ['a:10.0.0.1', 'a:10.0.0.2']", "{}"),
    *_pairs("dns", "dns: 1.1.1.1", "dns: [1.1.1.1, 8.8.8.8]", "dns: [8.8.8.8, 1.1.1.1]", "{}"),
    *_pairs("dns_search", "dns_search: a.test", "dns_search: [a.test, b.test]", "dns_search: .", "{}"),
    *_pairs("dns_opt", "dns_opt: ['ndots:2']", "dns_opt: ['ndots:1']"),
    *_pairs("sysctls.net.core.somaxconn", "sysctls: [net.core.somaxconn=10]", "sysctls: {net.core.somaxconn: 11}"),
    *_pairs("links.db", "links: ['source:db']", "links: ['many:db']"),
    *_pairs("devices./dev/x", "devices: ['/dev/null:/dev/x']", "devices: ['/dev/null:/dev/x:r']", "{}"),
    *_pairs("labels.a", "labels: {a: '1'}", "labels: ['a=2']", "labels: [a]", "{}"),
    *_pairs("labels.a", "labels: {a: 0}", "labels: {a: false}", "labels: {a: ''}"),
    *_pairs("cgroup_parent", "cgroup_parent: /bcon-x", "cgroup_parent: /bcon-y"),
    *_pairs("shm_size", "shm_size: 1m", "shm_size: 2m", "{}"),
    *_pairs("oom_score_adj", "oom_score_adj: 10", "oom_score_adj: -10", "oom_score_adj: 0"),
    *_pairs("group_add", "group_add: [10]", "group_add: ['10', daemon]", "{}"),
    *_pairs("security_opt.no-new-privileges=true", "security_opt: ['no-new-privileges:true']", "{}"),
    *_pairs("security_opt.seccomp=unconfined", "security_opt: ['seccomp:unconfined']", "{}"),
    *_pairs("security_opt.label=disable", "security_opt: ['label:disable']", "{}"),
    *_pairs(
        "security_opt.label=user:u security_opt.label=user:v",
        "security_opt: ['label:user:u']",
        "security_opt: ['label=user:v']",
    ),
    *_pairs("security_opt.systempaths=unconfined", "security_opt: ['systempaths=unconfined']", "{}"),
    *_pairs("read_only", "read_only: true", "read_only: false"),
    *_pairs("init", "init: true", "init: false", "{}"),
    *_pairs("tty", "tty: true", "{}"),
    *_pairs("stdin_open", "stdin_open: true", "{}"),
    *_pairs("privileged", "privileged: true", "{}"),
    *_pairs("user", "user: '0'", "user: '0:0'", "{}"),
    *_pairs("working_dir", "working_dir: /tmp", "working_dir: /", "{}"),
    *_pairs("command", "command: serve", "command: [serve, '']", "command: []"),
    *_pairs("", "command: []", "command: null", "command: ''", "{}"),
    *_pairs("entrypoint", "entrypoint: sh -c", "entrypoint: ['sh']", "{}"),
    *_pairs("environment.A", "environment: {A: '1'}", "environment: {A: ''}", "environment: [A=2]", "{}"),
    *_pairs("environment.PATH", "environment: {PATH: null}", "{}"),
    *_pairs("hostname", "hostname: a", "hostname: b"),
    *_pairs("domainname", "domainname: a.test", "domainname: b.test"),
    *_pairs("", "mac_address: '02:42:ac:11:00:02'", "mac_address: '02:42:ac:11:00:03'", "{}"),
    *_pairs(
        "",
        "networks: {default: {mac_address: '02:42:ac:11:00:04'}}",
        "networks: {default: {mac_address: '02:42:ac:11:00:05'}}",
    ),
    *_pairs("networks.stack_more", "networks: {default: null, more: null}", "networks: [default]"),
    *_pairs("networks.stack_default.aliases.x", "networks: {default: {aliases: [x]}}", "networks: [default]"),
    *_pairs(
        "networks.stack_more.ipv4_address",
        "networks: {more: {ipv4_address: 172.31.252.10}}",
        "networks: {more: {ipv4_address: 172.31.252.11}}",
    ),
    *_pairs(
        "networks.stack_more.driver_opts.a",
        "networks: {more: {driver_opts: {a: '1'}}}",
        "networks: {more: {driver_opts: {a: '2'}}}",
    ),
    *_pairs("first_network", "networks: {default: null, more: {priority: 9}}", "networks: [default, more]"),
    *_pairs("", "networks: {default: {priority: 9}, more: null}", "networks: [default, more]"),
    *_pairs("mem_limit", "mem_limit: 64m", "mem_limit: 65m", "{}"),
    *_pairs("mem_reservation", "mem_reservation: 64m", "deploy: {resources: {reservations: {memory: 65m}}}"),
    *_pairs("memswap_limit", "{mem_limit: 64m, memswap_limit: 65m}", "{mem_limit: 64m, memswap_limit: -1}"),
    *_pairs("mem_swappiness", "mem_swappiness: 0", "mem_swappiness: 10"),
    *_pairs("", "mem_swappiness: 0", "{}"),
    *_pairs("cpus", "cpus: 0.5", "deploy: {resources: {limits: {cpus: '0.25'}}}", "{}"),
    *_pairs("cpu_shares", "cpu_shares: 512", "cpu_shares: 256"),
    *_pairs("cpu_quota", "cpu_quota: 50000", "cpu_quota: 51000"),
    *_pairs("cpu_period", "{cpu_period: 50000, cpu_quota: 20000}", "{cpu_period: 100000, cpu_quota: 20000}"),
    *_pairs("cpuset", "cpuset: '0'", "cpuset: '1'"),
    *_pairs("pids_limit", "pids_limit: 20", "pids_limit: -1", "deploy: {resources: {limits: {pids: 21}}}", "{}"),
    *_pairs("oom_kill_disable", "{mem_limit: 64m, oom_kill_disable: true}", "mem_limit: 64m"),
    *_pairs("cap_add", "cap_add: [net_admin]", "cap_add: [CAP_NET_RAW]", "cap_add: [ALL]", "{}"),
    *_pairs("cap_drop", "cap_drop: [net_admin]", "cap_drop: [ALL]"),
    *_pairs("annotations.a", "annotations: {a: '1'}", "annotations: {a: '2'}"),
    *_pairs("runtime", "runtime: runc", "runtime: io.containerd.runc.v2"),
    *_pairs("blkio_config.weight", "blkio_config: {weight: 300}", "blkio_config: {weight: 400}"),
    *_pairs(
        "blkio_config.device_read_bps./dev/null",
        "blkio_config: {device_read_bps: [{path: /dev/null, rate: 1mb}]}",
        "blkio_config: {device_read_bps: [{path: /dev/null, rate: 2mb}]}",
    ),
    *_pairs("gpus", "gpus: all", "gpus: [{count: 1}]", "{}"),
)
