"""Tells the reasons apart for which the engine could not start a container: what `State.Error` says.

Read with Docker 20.10 to 28 and runc 1.1 and 1.2. The exit code tells less: a mount that cannot be made leaves 127,
as a missing command does.
"""

import re  # noqa: TID251 - sees at most 4096 characters of what the engine says
from dataclasses import dataclass

from bcon_exporter.model.findings import Urgency
from bcon_exporter.model.signatures import CauseText, SuggestionText

MAX_CHARS = 4096
_INSPECT_MOUNTS = "docker inspect -f '{{range .Mounts}}{{.Source}}:{{.Destination}} {{end}}' {name}"
_INSPECT_COMMAND = "docker inspect -f '{{.Path}} {{.Args}}' {name}"
_INSPECT_ERROR = "docker inspect -f '{{.State.Error}}' {name}"


@dataclass(frozen=True, slots=True)
class StartError:
    """One way in which a start is refused: the engine's words, the cause, and what to do."""

    pattern: re.Pattern[str]
    summary: str
    cause: CauseText
    suggestion: SuggestionText


def _kind(pattern: str, summary: str, cause: tuple[str, str, float], action: str, rationale: str, check: str
          ) -> StartError:  # fmt: skip
    name, text, confidence = cause
    return StartError(
        re.compile(pattern, re.IGNORECASE),
        summary,
        CauseText(id=name, text=text, confidence=confidence),
        SuggestionText(urgency=Urgency.IMMEDIATE, action=action, rationale=rationale, check=check),
    )


START_ERRORS: tuple[StartError, ...] = (
    _kind(
        r"init was OOM-killed|memory limit too low",
        "The memory limit is too low even for its start.",
        ("memory_limit_too_low", "The memory limit is below what the runtime needs to set the container up.", 0.95),
        "Raise the memory limit.",
        "Limit {memory_limit}; the kernel ended the container's first process before the program ran.",
        "docker inspect -f '{{.HostConfig.Memory}}' {name}",
    ),
    _kind(
        r"port is already allocated|address already in use.{0,80}:[0-9]|:[0-9]{1,5}[^\n]{0,80}address already in use"
        r"|ports are not available|failed to bind host port",
        "A port of the host that it publishes is taken.",
        ("port_taken", "Another process or container holds the port of the host.", 0.8),
        "Find who holds the port; stop that one or publish another port.",
        "Two listeners cannot share one address of the host.",
        "docker ps --format '{{.Names}} {{.Ports}}'",
    ),
    _kind(
        r"bind: cannot assign requested address",
        "It publishes a port on an address that the host does not have.",
        ("publish_address_missing", "The host has no such address (yet), for example before a VPN is up.", 0.92),
        "Correct the host address of the published port, or bring that address up first.",
        "A port can be published on addresses of this host only.",
        "ip -brief address",
    ),
    _kind(
        r"\AAddress already in use|requested address is not available|no available IPv[46] addresses"
        r"|address is already in use by",
        "The address that it asks for on a network is taken, or none is left.",
        ("network_address_taken", "Another container holds its fixed address, or the subnet is used up.", 0.9),
        "Give it another fixed address or none, or enlarge the network's subnet.",
        "Each address of a network is given out once.",
        "docker network inspect $(docker inspect -f '{{range $n, $_ := .NetworkSettings.Networks}}{{$n}} {{end}}' "
        "{name})",
    ),
    _kind(
        r"cannot join network of a non running container|can(?:no|')t join (?:network namespace|IPC|PID|UTS) of"
        r"|joining network namespace of container|No such container",
        "The container whose network it shares does not run.",
        ("joined_container_down", "It shares the network of a container that does not run or was replaced.", 0.92),
        "Start the container whose network it shares, then recreate this one.",
        "A recreated container has another id; those that joined the earlier one must be recreated too.",
        "docker inspect -f '{{.HostConfig.NetworkMode}}' {name}",
    ),
    _kind(
        r"network \S{1,128} not found|could not find a network matching|network \S{1,128} is ambiguous"
        r"|endpoint with name \S{1,128} already exists|could not find an available, non-overlapping",
        "A network that it needs cannot be used.",
        ("network_missing", "The network was removed, recreated under another id, or has a stale endpoint.", 0.92),
        "Recreate the container so that it joins the network as it is now.",
        "A container remembers its networks by id; a network of the same name is another one.",
        "docker network ls",
    ),
    _kind(
        r"are you trying to mount a directory onto a file|not a directory: unknown: Are you|mount[^\n]{0,400}: not a "
        r"directory",
        "A mount joins a file and a directory.",
        (
            "mount_type_mismatch",
            "The path on the host is a directory where a file is meant, or the reverse; Docker "
            "makes a directory of a path that does not exist.",
            0.95,
        ),
        "Compare the mount's path on the host with what the program expects; put the file there.",
        "A bind mount of a file that was not there yet has become an empty directory.",
        _INSPECT_MOUNTS,
    ),
    _kind(
        r"bind source path does not exist|error mounting [^\n]{0,400}no such file or directory"
        r"|error while mounting volume[^\n]{0,400}(?:no such file or directory|no such device)"
        r"|failed to mount local volume|VolumeDriver\.Mount|error while mounting volume",
        "A mount cannot be made.",
        ("mount_source_missing", "The directory, device or share behind a mount is not there.", 0.92),
        "Make the directory, device or network share behind the mount available again.",
        "The engine refuses to start a container with a mount missing.",
        _INSPECT_MOUNTS,
    ),
    _kind(
        r"error gathering device information|error mounting[^\n]{0,200}/dev/",
        "A device that it needs is not there.",
        ("device_missing", "The host has no such device (now).", 0.95),
        "Plug in or load the device, or take it out of the configuration.",
        "A device is looked up at each start.",
        "docker inspect -f '{{json .HostConfig.Devices}}' {name}",
    ),
    _kind(
        r"could not select device driver|nvidia-container-cli|unknown or invalid runtime name|unknown runtime specified"
        r"|cannot find runtime|OCI runtime[^\n]{0,60}executable file not found",
        "The runtime or device driver that it asks for is not installed.",
        ("runtime_missing", "The container runtime or GPU toolkit is not installed on this host.", 0.92),
        "Install the runtime or the GPU toolkit, or take the request out of the configuration.",
        "The engine has no driver for what the container asks for.",
        "docker info",
    ),
    _kind(
        r"logging driver|syslog delivery error",
        "Its log driver cannot be used.",
        ("log_driver_unreachable", "The log driver's server is down or wrongly configured.", 0.95),
        "Bring the log server up, or let the driver start without it (fluentd-async, mode non-blocking).",
        "Log driver {log_driver}: the engine connects it before the program starts.",
        "docker inspect -f '{{json .HostConfig.LogConfig}}' {name}",
    ),
    _kind(
        r"unable to find (?:user|group)|no matching entries in (?:passwd|group) file",
        "The user that it should run as does not exist in the image.",
        ("user_missing", "The configured user or group is not in the image's passwd file.", 0.95),
        "Use a user that the image has, or a numeric id.",
        "Names are looked up in the image, not on the host.",
        "docker inspect -f '{{.Config.User}}' {name}",
    ),
    _kind(
        r"chdir to cwd|cannot mkdir:|mkdir [^\n]{0,200}: not a directory|outside of (?:the )?container mount namespace",
        "Its working directory cannot be used.",
        ("working_dir_invalid", "The working directory is not a directory, or its user may not enter it.", 0.92),
        "Correct the working directory or its permissions.",
        "The runtime enters it, as the container's user, before the program starts.",
        "docker inspect -f '{{.Config.WorkingDir}} {{.Config.User}}' {name}",
    ),
    _kind(
        r"setting rlimit|rlimits? for ready process",
        "A ulimit that it asks for cannot be set.",
        ("ulimit_refused", "The ulimit is above what the engine itself may have.", 0.92),
        "Lower the ulimit, or raise the engine's own limit.",
        "A process cannot be given more than its parent has.",
        "docker inspect -f '{{json .HostConfig.Ulimits}}' {name}",
    ),
    _kind(
        r"apparmor|seccomp|selinux|unable to apply caps|capabilit|sysctl|userns|uid_map|/proc/sys/",
        "A security or kernel setting cannot be applied.",
        ("security_setting_refused", "The host lacks the profile, or forbids the setting.", 0.8),
        "Compare the security options and sysctls with what this host has.",
        "Profiles and kernel settings belong to the host, not to the image.",
        "docker inspect -f '{{json .HostConfig.SecurityOpt}} {{json .HostConfig.Sysctls}}' {name}",
    ),
    _kind(
        r"no space left on device|disk quota exceeded",
        "The engine's disk is full.",
        ("docker_root_full", "The engine cannot write below its root directory.", 0.95),
        "Free space on the file system of the engine's root directory.",
        "Without space no container can be started.",
        "docker system df",
    ),
    _kind(
        r"iptables|nftables|no chain/target/match",
        "The engine could not set its firewall rules.",
        ("firewall_rules_lost", "Something flushed the engine's firewall chains, such as a firewall's reload.", 0.85),
        "See what changed the host's firewall; the engine makes its chains anew when it starts.",
        "Published ports and networks need the engine's own chains.",
        "docker info",
    ),
    _kind(
        r"exec format error",
        "Its program is not made for this machine.",
        (
            "wrong_architecture",
            "The image was built for another CPU architecture, or a script lacks its first line.",
            0.9,
        ),
        "Compare the image's architecture with the host's, and look at the script's first line.",
        "The kernel cannot run the file as it is.",
        _INSPECT_COMMAND,
    ),
    _kind(
        r"exec:? [^\n]{0,300}permission denied|is a directory: unknown",
        "Its command may not be executed.",
        ("command_not_executable", "The command exists but lacks the execute bit, or is a directory.", 0.95),
        "Set the file's execute bit in the image, or name the program and not its directory.",
        "Exit code {exit_code}: the first word of the command must be an executable file of the image.",
        _INSPECT_COMMAND,
    ),
    _kind(
        r"executable file not found|exec:? [^\n]{0,300}no such file or directory",
        "Its command does not exist.",
        ("command_not_found", "The command does not exist in the image or on its PATH.", 0.95),
        "Correct the command or entrypoint, or install the program in the image.",
        "Exit code {exit_code}: the first word of the command must be an executable file of the image.",
        _INSPECT_COMMAND,
    ),
    _kind(
        r"cgroup|cpuset|cpu\.|memory\.",
        "A resource limit cannot be set.",
        (
            "resource_limit_refused",
            "A limit does not fit this host: more CPUs than there are, memory already in use.",
            0.75,
        ),
        "Compare the limits with what the host has.",
        "Limits are set in the host's control groups when the container starts.",
        "docker inspect -f '{{.HostConfig.CpusetCpus}} {{.HostConfig.NanoCpus}} {{.HostConfig.Memory}}' {name}",
    ),
    _kind(
        r"context deadline exceeded|timed? ?out|containerd[^\n]{0,60}(?:not running|unavailable)|connection refused",
        "The engine was too slow or lost its runtime while it started the container.",
        ("engine_overloaded", "The engine or containerd was overloaded or down at that moment.", 0.7),
        "Start it again once the engine answers, and look at the engine's own log.",
        "The container itself was not reached.",
        "docker info",
    ),
)


def start_error_of(error: str) -> StartError | None:
    """Return the start error that `State.Error` reports; None for an unknown one."""
    text = error[:MAX_CHARS]
    return next((kind for kind in START_ERRORS if kind.pattern.search(text)), None)


UNKNOWN_START = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Read the engine's own message; the container never wrote a log.",
    rationale="Nothing restarts a container whose start failed.",
    check=_INSPECT_ERROR,
)
