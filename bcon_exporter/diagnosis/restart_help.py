"""Whether a restart would help a container: what is behind its trouble, and what a restart leaves as it is. Pure.

A restart makes the process anew, in the same container: image, configuration, limits, networks and volumes stay.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import LikelyCause, Severity, Symptom, SymptomType
from bcon_exporter.model.quantities import show_size, show_times
from bcon_exporter.model.reports import DiagnosisReport

SURE = 0.5
"""A cause below this confidence decides nothing."""
SAME_END_TIMES = 2
"""Restarts that did not help, after which one more will not."""


@dataclass(frozen=True, slots=True)
class RestartHelp:
    """Whether a restart would help.

    Attributes:
        helps: True: what is wrong is gone after it, at least for a while. False: it would be the same again. None: it
            may help, the facts do not decide it.
        why: One sentence in our words.
        peer: Name of the other container that is to be looked at instead.
    """

    helps: bool | None
    why: str
    peer: str | None = None


_SAME_LIMIT = "a restart gives it the same limit"
_SAME_CONFIGURATION = "a restart keeps its configuration, and with it what is wrong"
_SAME_CREDENTIALS = "a restart keeps the credentials that are refused"
_SAME_IMAGE = "a restart keeps the image that it was made of"
_SAME_MOUNTS = "a restart keeps its mounts and their owners"
_SAME_SPACE = "a restart frees no space"
_SAME_HOST = "a restart changes nothing of the host"
_SAME_NETWORKS = "a restart keeps the networks and addresses that it uses"
_SAME_DATA = "a restart keeps the data that it fails over"
_OUTSIDE = "the trouble is outside of this container"
_SAME_CHECK = "a restart keeps its health check as it is"
_ENDS_AGAIN = "its program ends by itself, and would again"

NO: Mapping[str, str] = {
    cause: why
    for why, causes in {
        _SAME_LIMIT: (
            *("memory_limit_too_low", "memory_near_limit", "cpu_limit_too_low", "too_little_cpu", "shm_too_small"),
            *("heap_too_small", "php_memory_limit", "address_space_limit", "store_limit_too_low"),
            *("nofile_limit_too_low", "cpu_time_exhausted", "file_size_exceeded", "pids_limit_reached"),
            *("memory_by_design", "connection_limit_too_low"),
        ),
        _SAME_CREDENTIALS: (
            *("wrong_credentials", "mistyped_password", "volume_keeps_old_password", "credentials_missing"),
            *("wrong_auth_database", "app_password_needed", "default_user_is_local", "grant_missing"),
            *("health_check_credentials", "token_expired"),
        ),
        _SAME_CONFIGURATION: (
            *("config_invalid", "variable_missing", "wrong_arguments", "wrong_usage", "wrong_listen_address"),
            *("wrong_user", "declared_nowhere", "maintenance_left_on", "capability_missing", "device_not_given"),
            *("security_profile_forbids",),
            *("docker_socket_forbidden", "system_call_refused", "security_setting_refused", "ulimit_refused"),
            *("resource_limit_refused", "start_refused", "user_missing", "working_dir_invalid", "runtime_missing"),
            *("log_driver_unreachable", "log_not_rotated", "localhost_in_container", "timeout_too_short"),
            *("lock_order", "integration_failed", "licence_expired"),
        ),
        _SAME_IMAGE: (
            *("command_not_found", "command_not_executable", "command_not_in_image", "interpreter_missing"),
            *("script_without_shebang", "crlf_line_endings", "wrong_architecture", "built_for_other_base"),
            *("dependency_not_installed", "dependency_version_changed", "template_not_found", "file_not_in_image"),
            *("image_changed", "version_changed", "cpu_features_missing", "illegal_instruction", "ca_missing"),
        ),
        _SAME_MOUNTS: (
            *("file_not_mounted", "volume_owner_mismatch", "mount_read_only", "data_directory_unwritable"),
            *("path_forbidden", "file_mode_too_open", "owner_not_changeable", "mount_noexec"),
            *("mount_type_mismatch", "mount_source_missing", "device_missing", "volume_shared"),
        ),
        _SAME_SPACE: (*("volume_full", "docker_root_full", "shared_volume_full", "disk_quota_exceeded"),),
        _SAME_DATA: ("migration_not_run", "server_read_only", "repository_missing"),
        _SAME_HOST: (
            *("disk_failing", "host_memory_low", "host_memory_exhausted", "host_sysctl_too_low", "overcommit_disabled"),
            *(
                "inotify_watches_exhausted",
                "clock_wrong",
                "firewall_rules_lost",
                "port_taken",
                "port_held_by_container",
            ),
            *("port_held_by_host", "publish_address_missing", "removal_failed", "packets_dropped"),
        ),
        _SAME_NETWORKS: (
            *("name_unknown", "alias_missing", "no_shared_network", "default_bridge_without_dns", "wrong_port"),
            *("published_port_used_inside", "wrong_address", "address_malformed", "no_network", "no_such_container"),
            *("address_gone", "name_lost", "no_route", "dns_down", "network_missing", "network_address_taken"),
            *("tls_mismatch", "certificate_expired", "certificate_name_mismatch", "acme_name_elsewhere"),
            *("acme_rate_limited", "joined_container_down"),
        ),
        _OUTSIDE: (
            *("outside_peer", "outside_name", "peer_down", "peer_not_running", "peer_not_listening", "peer_fails"),
            *("peer_crashed", "peer_overloaded", "upstream_slow", "server_full", "dependency_not_ready"),
            *("server_out_of_memory", "server_not_serving"),
            *("dependency_down", "dependency_stopped", "dependency_removed", "dependency_restarting"),
            *("dependency_starting", "dependency_unhealthy", "dependency_paused", "dependency_disconnected"),
            *("dependency_ailing", "dependency_overloaded", "dependency_changed", "dependency_refuses_work"),
            *("waits_for_dependency", "hook_failed", "slow_queries", "request_too_slow"),
        ),
        _SAME_CHECK: ("health_command_missing", "health_check_too_tight", "slow_health_probe"),
        _ENDS_AGAIN: ("main_process_ends", "crash_loop", "restarts_used_up"),
    }.items()
    for cause in causes
}
"""Cause → what a restart leaves as it is."""
YES: Mapping[str, str] = {
    "killed_from_outside": "it was killed from outside, and a restart brings it up again",
    "terminated_from_outside": "it was ended from outside, and a restart brings it up again",
    "host_or_engine_stopped": "it fell with the host or the engine, and a restart brings it up again",
    "engine_crashed": "it fell with the engine, and a restart brings it up again",
    "engine_stopped": "it ended with the engine, and a start brings it up again",
    "engine_overloaded": "the engine was too slow to start it, and may now",
    "not_started_yet": "a restart starts it",
    "paused_by_hand": "it runs after a restart, but `docker unpause` loses nothing that it is doing",
    "namespace_gone": "a restart lets it join the network of the container that it shares it with, as that is now",
    "dependency_restarted": "what it needs was restarted and runs again: a restart connects it anew",
    "memory_leak": "a restart frees what it holds, until it has leaked as much again",
    "thread_leak": "a restart ends its threads, until it has leaked as many again",
    "file_descriptor_leak": "a restart closes its files, until it has leaked as many again",
    "connection_leak": "a restart closes its connections, until it has leaked as many again",
    "idle_connection_cut": "a restart opens its connections anew",
    "started_too_early": "what it needs may be there now",
}
"""Cause → why a restart helps, at least for a while."""
MAYBE = frozenset(
    (
        *("health_check_fails", "health_check_timeout", "health_answers_error", "nothing_listens", "own_service_hangs"),
        *("cpu_busy", "service_overloaded", "slow_start", "worker_too_slow", "program_error", "program_bug"),
        *("program_reports_error", "program_aborted", "unhandled_error", "native_crash", "segmentation_fault"),
        *("bus_error", "arithmetic_error", "broken_pipe", "ended_by_signal", "stop_signal_ignored", "stale_lock"),
        *("unclean_shutdown", "started_twice", "port_taken_inside", "child_program_fails", "stream_unavailable"),
    )
)
"""Causes that a restart may end or not."""
_MAY = "a restart may help or not: the facts do not tell"
_HISTORY = frozenset((SymptomType.RESTART_LOOP, SymptomType.OOM_KILLED, SymptomType.EXIT_ERROR))


def judge_restart(facts: ContainerFacts, report: DiagnosisReport) -> RestartHelp:
    """Return whether a restart would help a container, by its facts and what the diagnosis says of it."""
    name = facts.name
    if facts.state in (ContainerState.REMOVING, ContainerState.DEAD):
        return RestartHelp(helps=False, why=f"{name} is {facts.state}, and the engine starts it no more")
    symptoms = [one for one in report.symptoms if one.severity.rank >= Severity.WARNING.rank]
    if not symptoms:
        return _judge_without_symptoms(facts, report)
    cause = _first_cause(report, symptoms)
    if report.root is not None and (cause is None or cause.id not in YES):
        return RestartHelp(helps=False, why=f"its trouble comes from {report.root}", peer=report.root)
    again = _ends_the_same(facts, symptoms)
    if again is not None and (cause is None or NO.get(cause.id, _ENDS_AGAIN) == _ENDS_AGAIN):
        return RestartHelp(helps=False, why=f"{again}{_moved(facts)}")
    if cause is None:
        return RestartHelp(helps=None, why=f"no cause is known; {_MAY}{_moved(facts)}")
    return _judge_cause(cause, facts)


def _judge_without_symptoms(facts: ContainerFacts, report: DiagnosisReport) -> RestartHelp:
    name = facts.name
    stopped = facts.lifecycle is not None and facts.lifecycle.stop_requested is True
    match facts.state:
        case ContainerState.CREATED:
            return RestartHelp(helps=True, why=f"{name} was never started, and {YES['not_started_yet']}")
        case ContainerState.EXITED if stopped:
            return RestartHelp(helps=True, why=f"{name} was stopped on request, and a restart starts it again")
        case ContainerState.EXITED if facts.exit_code == 0:
            return RestartHelp(helps=False, why=f"{name} has done its work and ended with 0; a restart runs it again")
        case ContainerState.EXITED:
            return RestartHelp(helps=None, why=f"{name} ended with code {facts.exit_code}; {_MAY}")
        case ContainerState.PAUSED:
            return RestartHelp(helps=True, why=f"{name} is paused: {YES['paused_by_hand']}")
        case _ if report.is_unchecked:
            return RestartHelp(helps=None, why=f"it is not known whether {name} is well; {_MAY}")
        case _:
            return RestartHelp(helps=False, why=f"nothing is seen wrong with {name}{_moved(facts)}")


def _first_cause(report: DiagnosisReport, symptoms: Iterable[Symptom]) -> LikelyCause | None:
    """Return the likeliest cause of what counts, if it is sure enough."""
    shown = {symptom.type for symptom in symptoms}
    for cause in report.likely_causes:
        if cause.confidence < SURE:
            break
        if not cause.related_symptoms or shown.intersection(cause.related_symptoms):
            return cause
    return None


def _judge_cause(cause: LikelyCause, facts: ContainerFacts) -> RestartHelp:
    told = cause.description.rstrip(".")
    peer = cause.peer if cause.id.startswith(("dependency_", "peer_")) else None
    if cause.id in NO:
        limit = f" of {show_size(facts.limits.memory_bytes)}" if _is_of_memory(cause, facts) and facts.limits else ""
        return RestartHelp(helps=False, why=f"{told}; {NO[cause.id]}{limit}{_moved(facts)}", peer=peer)
    if cause.id in YES:
        return RestartHelp(helps=True, why=f"{told}; {YES[cause.id]}")
    return RestartHelp(helps=None, why=f"{told}; {_MAY}{_moved(facts)}", peer=peer)


def _is_of_memory(cause: LikelyCause, facts: ContainerFacts) -> bool:
    is_limited = facts.limits is not None and facts.limits.memory_bytes is not None
    return is_limited and cause.id in ("memory_limit_too_low", "memory_near_limit", "memory_by_design")


def _ends_the_same(facts: ContainerFacts, symptoms: Iterable[Symptom]) -> str | None:
    """Return that restarts were tried, and it ended the same way after each; None where that is not so."""
    past = facts.lifecycle
    if past is None or len(past.restarts) < SAME_END_TIMES or not any(one.type in _HISTORY for one in symptoms):
        return None
    ends = [end for end in past.exits if not end.requested and not end.shutdown][-SAME_END_TIMES - 1 :]
    codes = {end.exit_code for end in ends}
    if len(ends) < SAME_END_TIMES or len(codes) != 1:
        return None
    times = show_times(len(past.restarts))
    return f"its policy has restarted {facts.name} {times} in the last day, and it ended with code {codes.pop()} again"


def _moved(facts: ContainerFacts) -> str:
    """Return that its tag stands for another image by now."""
    now = facts.config.image_id_of_tag if facts.config is not None else None
    if now is None or facts.image_id is None or now == facts.image_id:
        return ""
    return f"; {facts.image} stands for another image by now, and a restart keeps the old one: recreate it instead"
