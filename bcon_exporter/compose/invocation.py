"""Calls the Compose binary for one project: builds the arguments and parses the answers."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bcon_exporter.compose.failures import explain_failure, unset_variables
from bcon_exporter.errors import DeadlineExceededError
from bcon_exporter.limited_process import RunOutcome

Runner = Callable[[tuple[str, ...], Path, Mapping[str, str]], RunOutcome]
"""Runs the binary with these arguments, in this directory, with these extra variables."""

_PROBE_VALUES = ("65431", "bcon-probe")
"""Values tried for unset variables, to see which fields depend on them: a number fits ports, a word fits names."""
_ALL_PROFILES: tuple[str, ...] = ("--profile", "*")


@dataclass(frozen=True)
class ComposeInvocation:
    """The files and flags of one call. Paths are local ones, not the Docker host's."""

    files: tuple[Path, ...]
    project_name: str | None
    project_directory: Path | None
    env_files: tuple[Path, ...] = ()
    profiles: tuple[str, ...] = ()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The global flags."""
        flags: list[str] = []
        for file in self.files:
            flags += ["-f", str(file)]
        if self.project_name:
            flags += ["-p", self.project_name]
        if self.project_directory:
            flags += ["--project-directory", str(self.project_directory)]
        for file in self.env_files:
            flags += ["--env-file", str(file)]
        for profile in self.profiles:
            flags += ["--profile", profile]
        return tuple(flags)

    @property
    def cwd(self) -> Path:
        """The directory it runs in."""
        return self.project_directory or self.files[0].parent


@dataclass(frozen=True)
class ResolvedModel:
    """A project as Compose resolved it; raw values, never to be shown.

    Attributes:
        model: The whole model, services of inactive profiles included.
        enabled: Names of the services that `up` would start.
        hashes: Service → config hash.
        unset: Names of variables without a value.
        probe: The model with the unset variables given a value; None when nothing is unset or no value fits.
        variables: Names and values that interpolation used: of the environment, of env files, defaults.
    """

    model: Mapping[str, Any]
    enabled: frozenset[str]
    hashes: Mapping[str, str]
    unset: tuple[str, ...] = ()
    probe: Mapping[str, Any] | None = field(default=None)
    variables: tuple[tuple[str, str], ...] = field(default=(), repr=False)


def resolve_model(invocation: ComposeInvocation, run: Runner) -> ResolvedModel:
    """Ask the binary for the model, the hashes, and what an unset variable would change.

    Raises:
        ComposeParseError: It refuses the files.
        DeadlineExceededError: It took too long.
        OSError: It cannot be started.
    """
    profiles = _ALL_PROFILES
    outcome = _run_config(invocation, run, profiles)
    if outcome.exit_code != 0 and not outcome.timed_out:
        # A service of an inactive profile may be broken without hurting anyone: Compose itself does not look at it.
        profiles = ()
        outcome = _run_config(invocation, run, profiles)
    model = _parse_model(outcome, invocation)
    unset = unset_variables(outcome.errors)
    services = model.get("services") or {}
    enabled = frozenset(services)
    if any(service.get("profiles") for service in services.values()):
        enabled = _parse_names(run((*invocation.arguments, "config", "--services"), invocation.cwd, {}), invocation)
    hashes = resolve_hashes(invocation, run, profiles)
    probe = _resolve_with_probe_values(invocation, run, profiles, unset)
    return ResolvedModel(model, enabled, hashes, unset, probe, tuple(_find_variables(invocation, run)))


def resolve_leniently(invocation: ComposeInvocation, run: Runner) -> Mapping[str, Any] | None:
    """Return the model of files that Compose refuses, as far as it reads them without looking for contradictions.

    Env files are then not read; the services name them. None where it refuses the files all the same.
    """
    lenient = ("--format", "json", "--no-consistency", "--no-env-resolution")
    outcome = run((*invocation.arguments, *_ALL_PROFILES, "config", *lenient), invocation.cwd, {})
    if outcome.exit_code != 0 or outcome.timed_out:
        return None
    try:
        model = json.loads(outcome.output.replace("$$", "$"))
    except ValueError:
        return None
    return model if isinstance(model, dict) else None


def resolve_hashes(invocation: ComposeInvocation, run: Runner, flags: tuple[str, ...] = ()) -> dict[str, str]:
    """Return service → config hash; empty where the binary fails.

    Args:
        invocation: The files and flags.
        run: Runs the binary.
        flags: Further global flags.
    """
    outcome = run((*invocation.arguments, *flags, "config", "--hash", "*"), invocation.cwd, {})
    if outcome.exit_code != 0 or outcome.timed_out:
        return {}
    pairs = (line.split() for line in outcome.output.splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}  # noqa: PLR2004 — "name hash"


def resolve_hashes_with_override(invocation: ComposeInvocation, run: Runner) -> dict[str, str]:
    """Return service → config hash, with one more Compose file read from the standard input."""
    return resolve_hashes(invocation, run, (*_ALL_PROFILES, "-f", "-"))


def _run_config(
    invocation: ComposeInvocation, run: Runner, profiles: tuple[str, ...], extra: Mapping[str, str] | None = None
) -> RunOutcome:
    return run((*invocation.arguments, *profiles, "config", "--format", "json"), invocation.cwd, extra or {})


def _resolve_with_probe_values(
    invocation: ComposeInvocation, run: Runner, profiles: tuple[str, ...], unset: tuple[str, ...]
) -> Mapping[str, Any] | None:
    for value in _PROBE_VALUES if unset else ():
        outcome = _run_config(invocation, run, profiles, dict.fromkeys(unset, value))
        if outcome.exit_code == 0 and not outcome.timed_out:
            return _parse_model(outcome, invocation)
    return None


def _find_variables(invocation: ComposeInvocation, run: Runner) -> Iterator[tuple[str, str]]:
    """Yield names and values that interpolation used; nothing before Compose 2.29, which cannot list them."""
    outcome = run((*invocation.arguments, "config", "--environment"), invocation.cwd, {})
    if outcome.exit_code == 0 and not outcome.timed_out:
        yield from parse_variables(outcome.output)
    outcome = run((*invocation.arguments, "config", "--variables", "--format", "json"), invocation.cwd, {})
    if outcome.exit_code != 0 or outcome.timed_out:
        return
    try:
        variables = json.loads(outcome.output)
    except ValueError:
        return
    for name, variable in variables.items() if isinstance(variables, dict) else ():
        for key in ("DefaultValue", "PresenceValue"):
            if isinstance(variable, dict) and isinstance(variable.get(key), str):
                yield name, variable[key]


def parse_variables(text: str) -> Iterator[tuple[str, str]]:
    """Parse lines "NAME=value"; a line without a name continues the value of the line before it."""
    name, lines = "", list[str]()
    for line in text.split("\n"):
        before, equals, after = line.partition("=")
        if equals and before.isidentifier():
            yield name, "\n".join(lines)
            name, lines = before, [after]
        else:
            lines.append(line)
    yield name, "\n".join(lines)


def _parse_model(outcome: RunOutcome, invocation: ComposeInvocation) -> Mapping[str, Any]:
    _raise_on_failure(outcome, invocation)
    # The binary doubles every dollar sign of its output, so that it could be read as a Compose file again.
    model = json.loads(outcome.output.replace("$$", "$"))
    if not isinstance(model, dict):
        complaint = "empty compose file"
        raise explain_failure(complaint, [str(file) for file in invocation.files])
    return model


def _parse_names(outcome: RunOutcome, invocation: ComposeInvocation) -> frozenset[str]:
    _raise_on_failure(outcome, invocation)
    return frozenset(outcome.output.split())


def _raise_on_failure(outcome: RunOutcome, invocation: ComposeInvocation) -> None:
    if outcome.timed_out:
        msg = f"Compose did not resolve {invocation.files[0]} in time. Does it expand YAML aliases without bound?"
        raise DeadlineExceededError(msg, {"file": str(invocation.files[0])})
    if outcome.exit_code != 0:
        raise explain_failure(outcome.errors, [str(file) for file in invocation.files])
