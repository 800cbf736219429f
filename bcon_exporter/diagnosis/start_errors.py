"""Tells the reasons apart for which the engine could not start a container: what `State.Error` says.

Read with Docker 20.10 to 28 and runc 1.1 and 1.2. The exit code tells less: a mount that cannot be made leaves 127,
as a missing command does.
"""

import re  # noqa: TID251 - sees at most 4096 characters of what the engine says
from dataclasses import dataclass

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.model.signatures import CauseText

MAX_CHARS = 4096


@dataclass(frozen=True, slots=True)
class StartError:
    """One way in which a start is refused: the engine's words, and the cause with what to do."""

    pattern: re.Pattern[str]
    summary: str
    cause_name: str

    @property
    def cause(self) -> CauseText:
        """Its cause, with what to do."""
        return known_cause(self.cause_name)


def _kind(pattern: str, summary: str, cause_name: str) -> StartError:
    return StartError(re.compile(pattern, re.IGNORECASE), summary, cause_name)


START_ERRORS: tuple[StartError, ...] = (
    _kind(
        r"init was OOM-killed|memory limit too low",
        "The memory limit is too low even for its start.",
        "memory_limit_too_low.at_start",
    ),
    _kind(
        r"port is already allocated|address already in use.{0,80}:[0-9]|:[0-9]{1,5}[^\n]{0,80}address already in use"
        r"|ports are not available|failed to bind host port",
        "A port of the host that it publishes is taken.",
        "port_taken",
    ),
    _kind(
        r"bind: cannot assign requested address",
        "It publishes a port on an address that the host does not have.",
        "publish_address_missing",
    ),
    _kind(
        r"\AAddress already in use|requested address is not available|no available IPv[46] addresses"
        r"|address is already in use by",
        "The address that it asks for on a network is taken, or none is left.",
        "network_address_taken",
    ),
    _kind(
        r"cannot join network of a non running container|can(?:no|')t join (?:network namespace|IPC|PID|UTS) of"
        r"|joining network namespace of container|No such container",
        "The container whose network it shares does not run.",
        "joined_container_down",
    ),
    _kind(
        r"network \S{1,128} not found|could not find a network matching|network \S{1,128} is ambiguous"
        r"|endpoint with name \S{1,128} already exists|could not find an available, non-overlapping",
        "A network that it needs cannot be used.",
        "network_missing",
    ),
    _kind(
        r"are you trying to mount a directory onto a file|not a directory: unknown: Are you|mount[^\n]{0,400}: not a "
        r"directory",
        "A mount joins a file and a directory.",
        "mount_type_mismatch",
    ),
    _kind(
        r"bind source path does not exist|error mounting [^\n]{0,400}no such file or directory"
        r"|error while mounting volume[^\n]{0,400}(?:no such file or directory|no such device)"
        r"|failed to mount local volume|VolumeDriver\.Mount|error while mounting volume",
        "A mount cannot be made.",
        "mount_source_missing",
    ),
    _kind(
        r"error gathering device information|error mounting[^\n]{0,200}/dev/",
        "A device that it needs is not there.",
        "device_missing",
    ),
    _kind(
        r"could not select device driver|nvidia-container-cli|unknown or invalid runtime name|unknown runtime specified"
        r"|cannot find runtime|OCI runtime[^\n]{0,60}executable file not found",
        "The runtime or device driver that it asks for is not installed.",
        "runtime_missing",
    ),
    _kind(
        r"logging driver|syslog delivery error",
        "Its log driver cannot be used.",
        "log_driver_unreachable",
    ),
    _kind(
        r"unable to find (?:user|group)|no matching entries in (?:passwd|group) file",
        "The user that it should run as does not exist in the image.",
        "user_missing",
    ),
    _kind(
        r"chdir to cwd|cannot mkdir:|mkdir [^\n]{0,200}: not a directory|outside of (?:the )?container mount namespace",
        "Its working directory cannot be used.",
        "working_dir_invalid",
    ),
    _kind(
        r"setting rlimit|rlimits? for ready process",
        "A ulimit that it asks for cannot be set.",
        "ulimit_refused",
    ),
    _kind(
        r"apparmor|seccomp|selinux|unable to apply caps|capabilit|sysctl|userns|uid_map|/proc/sys/",
        "A security or kernel setting cannot be applied.",
        "security_setting_refused",
    ),
    _kind(
        r"no space left on device|disk quota exceeded",
        "The engine's disk is full.",
        "docker_root_full.at_start",
    ),
    _kind(
        r"iptables|nftables|no chain/target/match",
        "The engine could not set its firewall rules.",
        "firewall_rules_lost",
    ),
    _kind(
        r"exec format error",
        "Its program is not made for this machine.",
        "wrong_architecture",
    ),
    _kind(
        r"exec:? [^\n]{0,300}permission denied|is a directory: unknown",
        "Its command may not be executed.",
        "command_not_executable.at_start",
    ),
    _kind(
        r"executable file not found|exec:? [^\n]{0,300}no such file or directory",
        "Its command does not exist.",
        "command_not_found.at_start",
    ),
    _kind(
        r"cgroup|cpuset|cpu\.|memory\.",
        "A resource limit cannot be set.",
        "resource_limit_refused",
    ),
    _kind(
        r"context deadline exceeded|timed? ?out|containerd[^\n]{0,60}(?:not running|unavailable)|connection refused",
        "The engine was too slow or lost its runtime while it started the container.",
        "engine_overloaded",
    ),
)


def start_error_of(error: str) -> StartError | None:
    """Return the start error that `State.Error` reports; None for an unknown one."""
    text = error[:MAX_CHARS]
    return next((kind for kind in START_ERRORS if kind.pattern.search(text)), None)
