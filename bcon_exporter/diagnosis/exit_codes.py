"""What exit codes mean (Linux signals, Docker's own codes of a failed start)."""

from bcon_exporter.model.signatures import CauseText

_SIGNALS = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
    9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
    24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}  # fmt: skip
_CAUSES = {
    1: ("program_error", "The program met an error and ended by itself; its log says which.", 0.5),
    2: ("wrong_usage", "Code 2 often says that the program or shell was called in a wrong way.", 0.4),
    126: ("command_not_executable", "The command exists but may not be executed.", 0.85),
    127: (
        "command_not_found",
        "A command, or a library of it, was not found in the image or on its PATH.",
        0.85,
    ),
    128: ("start_refused", "The engine could not start the container.", 0.6),
    132: (
        "illegal_instruction",
        "SIGILL ended it: the CPU lacks an instruction, or the program trapped itself.",
        0.7,
    ),
    134: ("program_aborted", "The program aborted itself: a failed assertion or an exhausted heap.", 0.7),
    135: ("bus_error", "The program touched memory or a file beyond its end.", 0.6),
    136: ("arithmetic_error", "The program divided by zero or the like.", 0.7),
    137: (
        "killed_from_outside",
        "SIGKILL leaves 137 behind; no event tells who sent it, no OOM kill was seen.",
        0.6,
    ),
    139: ("segmentation_fault", "A fault in memory (SIGSEGV) ended it, or it aborted itself as process 1.", 0.8),
    141: ("broken_pipe", "The reader of the program's output went away.", 0.6),
    143: (
        "terminated_from_outside",
        "SIGTERM leaves 143 behind; no event tells who sent it.",
        0.6,
    ),
    152: ("cpu_time_exhausted", "The program has used up the CPU time that its ulimit grants.", 0.7),
    153: ("file_size_exceeded", "The program wrote a file larger than its ulimit allows.", 0.7),
    159: ("system_call_refused", "The program made a system call that its seccomp profile forbids.", 0.7),
    255: ("host_or_engine_stopped", "The engine or the host went down, or the program ended with -1.", 0.5),
}
_BY_SIGNAL = ("ended_by_signal", "A signal that the program does not handle ended it.", 0.5)
_BY_ITSELF = ("program_error", _CAUSES[1][1], 0.4)
_GENERAL = frozenset({_BY_SIGNAL[0], _BY_ITSELF[0]})
_SOME_SIGNAL = 128 + 10


def explain_exit(code: int) -> str:
    """Return the code with its signal: "137 (SIGKILL)"."""
    signal = _SIGNALS.get(code - 128)
    return f"{code} ({signal})" if signal else str(code)


def cause_of_exit(code: int) -> CauseText:
    """Return the cause that the exit code alone gives."""
    name, text, confidence = _CAUSES.get(code) or (_BY_SIGNAL if code - 128 in _SIGNALS else _BY_ITSELF)
    return CauseText(id=name, text=text, confidence=confidence, general=name in _GENERAL)


def exit_causes() -> tuple[tuple[str, CauseText], ...]:
    """Every cause that an exit code can give, with its codes, for the docs."""
    other = (("above 128", cause_of_exit(_SOME_SIGNAL)),)
    return (*((str(code), cause_of_exit(code)) for code in _CAUSES), *other)
