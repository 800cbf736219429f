"""Each way in which the engine refuses a start is told apart by its own words, whatever the exit code."""

from typing import Any

from bcon_exporter.diagnosis.start_errors import MAX_CHARS, START_ERRORS, start_error_of
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.model.wiring import Wiring
from tests.diagnosis.judging import diagnose
from tests.factories import ago, container, exited, full_id
from tests.table_rows import table

RUNC = "failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: "
NEW_RUNC = f"failed to create task for container: {RUNC}"
OUTSIDE = "driver failed programming external connectivity on endpoint web (9d70c8dc6cc0): "


def refused(error: str, code: int = 128, **facts: Any) -> DiagnosisReport:
    base = {
        "state": ContainerState.CREATED,
        "created_at": ago(30),
        "started_at": None,
        "usage": None,
        "exit_code": code,
        "error": error,
    }
    return diagnose(container(**{**base, **facts}))


@table(
    ("error", "cause"),
    [
        (RUNC + 'exec: "/bin/nosuch": stat /bin/nosuch: no such file or directory: unknown', "command_not_found"),
        (RUNC + 'exec: "nosuch": executable file not found in $PATH: unknown', "command_not_found"),
        (NEW_RUNC + 'exec: "/noexec.sh": permission denied: unknown', "command_not_executable"),
        (RUNC + 'exec: "/etc": is a directory: unknown', "command_not_executable"),
        (RUNC + "exec /app: exec format error: unknown", "wrong_architecture"),
        (OUTSIDE + "Bind for 127.0.0.1:8081 failed: port is already allocated", "port_taken"),
        (OUTSIDE + "Error starting userland proxy: listen tcp4 0.0.0.0:80: bind: address already in use", "port_taken"),
        ("failed to bind host port for 0.0.0.0:80:172.17.0.2:80/tcp: address already in use", "port_taken"),
        (
            OUTSIDE + "Error starting userland proxy: listen tcp4 192.0.2.1:80: bind: cannot assign requested address",
            "publish_address_missing",
        ),
        ("Address already in use", "network_address_taken"),
        ("network gone not found", "network_missing"),
        ("endpoint with name web already exists in network shop_default", "network_missing"),
        (f"cannot join network of a non running container: {full_id('vpn')}", "joined_container_down"),
        (
            RUNC + 'error during container init: error mounting "/srv/app.conf" to rootfs at "/etc/app.conf": mount '
            "/srv/app.conf:/etc/app.conf (via /proc/self/fd/6), flags: 0x5000: not a directory: unknown: Are you "
            "trying to mount a directory onto a file (or vice-versa)? Check if the specified host path exists and is "
            "the expected type",
            "mount_type_mismatch",
        ),
        ("bind source path does not exist: /srv/data", "mount_source_missing"),
        (
            "error while mounting volume '/var/lib/docker/volumes/nv/_data': failed to mount local volume: mount "
            ":/x:/var/lib/docker/volumes/nv/_data, data: addr=192.0.2.9: no such device",
            "mount_source_missing",
        ),
        (
            'error gathering device information while adding custom device "/dev/ttyUSB0": no such file or directory',
            "device_missing",
        ),
        ('could not select device driver "" with capabilities: [[gpu]]', "runtime_missing"),
        ("unknown or invalid runtime name: nvidia", "runtime_missing"),
        ("failed to initialize logging driver: dial tcp 127.0.0.1:24224: connect: connection refused",
         "log_driver_unreachable"),
        ("unable to find user app: no matching entries in passwd file", "user_missing"),
        (RUNC + 'chdir to cwd ("/root/app") set in config.json failed: permission denied: unknown',
         "working_dir_invalid"),
        (RUNC + "error during container init: error setting rlimits for ready process: error setting rlimit type 7: "
         "operation not permitted: unknown", "ulimit_refused"),
        (RUNC + "container init was OOM-killed (memory limit too low?): unknown", "memory_limit_too_low"),
        ("mkdir /var/lib/docker/overlay2/ab/merged: no space left on device", "docker_root_full"),
        ("Unable to enable SKIP DNAT rule: (iptables failed: iptables --wait -t nat -I DOCKER: iptables: No "
         "chain/target/match by that name.", "firewall_rules_lost"),
        ('failed to write "99-100": write /sys/fs/cgroup/cpuset/docker/x/cpuset.cpus: invalid argument',
         "resource_limit_refused"),
        ("context deadline exceeded: unknown", "engine_overloaded"),
    ],
)  # fmt: skip
def test_each_refusal_has_its_cause(error: str, cause: str) -> None:
    kind = start_error_of(error)

    assert kind is not None
    assert kind.cause.id == cause
    assert kind.summary in refused(error).symptoms[-1].description


def test_a_mount_that_cannot_be_made_is_no_missing_command_although_the_code_is_the_same() -> None:
    error = RUNC + 'error mounting "/a" to rootfs at "/b": mount /a:/b: not a directory: unknown'

    causes = [cause.id for cause in refused(error, 127).likely_causes]

    assert causes[0] == "mount_type_mismatch"
    assert "missing_command" not in causes


def test_an_unknown_refusal_is_quoted_and_not_guessed_at() -> None:
    report = refused("the moon is in the wrong phase", 128)

    assert report.status == "critical"
    assert report.symptoms[-1].evidence == ("the moon is in the wrong phase",)
    assert report.suggestions[0].action.startswith("Read the engine's own message")


def test_every_kind_is_found_by_its_words_and_has_a_check_that_only_reads() -> None:
    reading = ("docker inspect ", "docker ps ", "docker network ", "docker info", "docker system df", "ip -brief")

    assert len({kind.cause.id for kind in START_ERRORS}) == len(START_ERRORS)
    for kind in START_ERRORS:
        (step,) = kind.cause.steps
        assert step.check is not None
        assert step.check.startswith(reading)


def test_only_the_beginning_of_an_endless_message_is_read() -> None:
    assert start_error_of("x" * MAX_CHARS + " no space left on device") is None


def test_the_container_whose_network_is_shared_is_named() -> None:
    vpn = exited(1, name="vpn")
    report = diagnose(
        container(
            name="client",
            state=ContainerState.CREATED,
            started_at=None,
            usage=None,
            exit_code=128,
            error=f"cannot join network of a non running container: {vpn.id}",
            wiring=Wiring(network_mode=f"container:{vpn.id}"),
        ),
        vpn,
    )

    top = report.likely_causes[0]
    assert (top.id, top.peer, report.root) == ("dependency_down", "vpn", "vpn")
    assert "whose network it shares" in top.description


def test_a_start_that_failed_after_good_runs_is_told_too() -> None:
    report = diagnose(exited(127, error="network gone not found", started_at=ago(hours=5)))

    assert report.likely_causes[0].id == "network_missing"
    assert report.status == "critical"
