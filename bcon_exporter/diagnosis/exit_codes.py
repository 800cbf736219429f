"""What exit codes mean (Linux signals, Docker's own codes of a failed start)."""

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.model.signatures import CauseText

_SIGNALS = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
    9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
    24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}  # fmt: skip
_CAUSES = {
    1: "program_error", 2: "wrong_usage", 126: "command_not_executable", 127: "command_not_found", 128: "start_refused",
    132: "illegal_instruction", 134: "program_aborted", 135: "bus_error", 136: "arithmetic_error",
    137: "killed_from_outside.by_exit_code", 139: "segmentation_fault", 141: "broken_pipe",
    143: "terminated_from_outside", 152: "cpu_time_exhausted", 153: "file_size_exceeded", 159: "system_call_refused",
    255: "host_or_engine_stopped",
}  # fmt: skip


def signal_of(code: int) -> str | None:
    """Return the signal that ended a program, by its exit code; None where none did."""
    return _SIGNALS.get(code - 128)


def explain_exit(code: int) -> str:
    """Return the code with its signal: "137 (SIGKILL)"."""
    signal = signal_of(code)
    return f"{code} ({signal})" if signal else str(code)


def cause_of_exit(code: int) -> CauseText:
    """Return the cause that the exit code alone gives."""
    by_default = "ended_by_signal" if signal_of(code) else "program_error.other_code"
    return known_cause(_CAUSES.get(code, by_default))
