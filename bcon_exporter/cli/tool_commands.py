"""Commands that run a tool."""

import json
import sys
from pathlib import Path
from typing import Any

from bcon_exporter.app import build_replay
from bcon_exporter.cli.exits import Exit, exit_of_error
from bcon_exporter.cli.follow_logs import follow_log
from bcon_exporter.cli.parsing import PROGRAM, Invocation
from bcon_exporter.cli.quiet_commands import acknowledge
from bcon_exporter.cli.screen import Screen, complain
from bcon_exporter.cli.tool_runner import close_context, exit_of, make_context, run_command_tool
from bcon_exporter.errors import InvalidInputError, SettingsError
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.model.tool_inputs import Words
from bcon_exporter.tools import Context, Envelope, call_tool, find_tool, run_tool
from bcon_exporter.tools.diagnosis import LAST_WORDS
from bcon_exporter.tools.digest import DIGEST
from bcon_exporter.tools.history_view import FOLDED_HISTORY
from bcon_exporter.tools.host_views import HOST_DIAGNOSIS, HOST_DRIFT, HOST_SNAPSHOT, HOST_STATS, NAMED_DIAGNOSIS
from bcon_exporter.tools.replay import snapshot_json, write_snapshot
from bcon_exporter.tools.report_snapshot import reduce_for_report, tell_report


def diagnose(call: Invocation) -> int:
    """Say what is wrong with all containers, or with those of some names and projects."""
    given = call.arguments
    if len(given.container) != 1:
        for flag, is_given in (("--no-logs", given.no_logs), ("--log-tail", given.log_tail is not None)):
            if is_given:
                msg = f"{flag} is for one container: name it (diagnose CONTAINER {flag} ...), or leave {flag} out"
                raise SettingsError(msg, {"flag": flag})
    if not given.container:
        return run_command_tool(call, HOST_DIAGNOSIS, {"include_healthy": given.all}, healthy_too=given.all)
    if len(given.container) == 1 and (given.no_logs or given.log_tail is not None):
        payload = _given(container_id=given.container[0], include_logs=not given.no_logs, log_tail=given.log_tail)
        return run_command_tool(call, "diagnose_container", payload)
    return run_command_tool(call, NAMED_DIAGNOSIS, {"names": given.container}, healthy_too=given.all)


def show_drift(call: Invocation) -> int:
    """Say where containers left their Compose files."""
    given = call.arguments
    if given.compose_file is None:
        return run_command_tool(call, HOST_DRIFT, _given(project_name=given.project_name))
    return run_command_tool(
        call, "detect_drift", _given(compose_file=given.compose_file, project_name=given.project_name)
    )


def list_containers(call: Invocation) -> int:
    """List containers."""
    filters: dict[str, str] = {}
    for item in call.arguments.filter:
        key, _, value = item.partition("=")
        if key in filters:
            msg = f"--filter {key}: give each key once; of a repeated one only one value would count"
            raise InvalidInputError(msg, {"errors": [{"field": f"filters.{key}", "message": "given more than once"}]})
        filters[key] = value
    return run_command_tool(call, "list_containers", {"all": call.arguments.all, "filters": filters or None})


def show_container(call: Invocation) -> int:
    """Show one container."""
    return run_command_tool(call, "get_container_info", {"container_id": call.arguments.container})


def show_stats(call: Invocation) -> int:
    """Show what containers use."""
    if call.arguments.container is None:
        return run_command_tool(call, HOST_STATS, {})
    return run_command_tool(call, "get_container_stats", {"container_id": call.arguments.container})


def show_logs(call: Invocation) -> int:
    """Show a container's log, or a part of it."""
    given = call.arguments
    parts = {"--previous": given.previous, "--around-crash": given.around_crash, "--follow": given.follow}
    none_beside = {**parts, "--until": given.until is not None, "--watch": given.watch is not None}
    chosen = [flag for flag, is_given in none_beside.items() if is_given]
    if any(parts.values()) and len(chosen) > 1:
        msg = f"{chosen[0]} and {chosen[1]} exclude each other"
        raise SettingsError(msg, {"flag": chosen[0]})
    payload = _given(
        container_id=given.container,
        tail=given.tail,
        since=given.since,
        until=given.until,
        timestamps=not given.no_timestamps,
        stream=given.stream,
    )
    if given.follow and given.format == "agent":
        msg = "--follow and --format agent exclude each other"
        raise SettingsError(msg, {"flag": "--follow"})
    if given.follow:
        return follow_log(call, payload, given.grep)
    part = "previous" if given.previous else "crash" if given.around_crash else "newest"
    return run_command_tool(call, "get_container_logs", payload | _given(grep=given.grep, part=part))


def list_untracked(call: Invocation) -> int:
    """List containers that no Compose file defines."""
    given = call.arguments
    payload = _given(compose_file=given.compose_file, project_name=given.project_name, all=given.all)
    return run_command_tool(call, "get_untracked_containers", payload)


def explain(call: Invocation) -> int:
    """Say what an error in a log means."""
    given = call.arguments
    if given.pattern is None:
        return run_command_tool(call, LAST_WORDS, _given(container_id=given.container, context_lines=given.context))
    payload = _given(container_id=given.container, error_pattern=given.pattern, context_lines=given.context)
    return run_command_tool(call, "explain_error", payload)


def show_history(call: Invocation) -> int:
    """Say what happened to containers."""
    given = call.arguments
    payload = _given(
        name=given.name, since=given.since, until=given.until, kind=given.kind, words=given.grep, limit=given.limit
    )
    return _show_history(call, payload)


def show_changes(call: Invocation) -> int:
    """Say what changed on this host."""
    given = call.arguments
    payload = _given(name=given.name, since=given.since, limit=given.limit)
    return _show_history(call, {**payload, "changes": True})


def _show_history(call: Invocation, payload: dict[str, Any]) -> int:
    """Show a history: with each loop as one row to people, row for row to programs and agents."""
    for_people = call.arguments.format in ("table", "markdown")
    return run_command_tool(call, FOLDED_HISTORY if for_people else "get_history", payload)


def show_digest(call: Invocation) -> int:
    """Say what a period was like."""
    return run_command_tool(call, DIGEST, _given(since=call.arguments.since))


def show_disk(call: Invocation) -> int:
    """Say who fills the disk."""
    return run_command_tool(call, "get_disk_usage", _given(limit=call.arguments.limit))


def show_incidents(call: Invocation) -> int:
    """Say which failures there were, or all of one."""
    given = call.arguments
    if given.acknowledge:
        return acknowledge(call)
    if given.id is not None:
        return run_command_tool(call, "get_incident", {"incident_id": given.id})
    only_open = True if given.open else None
    payload = _given(open=only_open, since=given.since, project=given.project, limit=given.limit)
    return run_command_tool(call, "list_incidents", payload)


def show_deployments(call: Invocation) -> int:
    """Say which deployments there were, and whether they succeeded."""
    payload = _given(project=call.arguments.project, limit=call.arguments.limit)
    return run_command_tool(call, "list_deployments", payload)


def check_health(call: Invocation) -> int:
    """Say whether the engine is reached."""
    return run_command_tool(call, "health_check", {})


def run_call(call: Invocation) -> int:
    """Run any tool with JSON as its input; print the envelope of the API, exit as the tool's own command does."""
    raw = sys.stdin.read() if call.arguments.input == "-" else call.arguments.input
    try:
        payload: Any = json.loads(raw)
    except (ValueError, RecursionError):
        msg = 'call: the input is not JSON; write it as \'{"container_id": "web"}\''
        raise InvalidInputError(msg, {"tool": call.arguments.tool}) from None
    for_agent = call.arguments.format == "agent"
    context = make_context(call)
    try:
        envelope = _call_for_agent(context, call, payload) if for_agent else _call(context, call, payload)
    finally:
        close_context(context)
    return exit_of(envelope, call.arguments.fail_on)


def _call(context: Context, call: Invocation, payload: Any) -> Envelope:
    envelope = call_tool(context, call.arguments.tool, payload)
    Screen(call.arguments.format, call.arguments.select).show(envelope)
    return envelope


def _call_for_agent(context: Context, call: Invocation, payload: Any) -> Envelope:
    """Run a tool whose input holds that of the view as well."""
    from bcon_exporter.cli.agent_format import ViewOptions, split_options, write_answer  # few ask for it

    tool = find_tool(call.arguments.tool).for_input(payload)
    if isinstance(payload, dict) and call.arguments.select is not None:
        payload = type(payload)({**payload, "select": call.arguments.select})
    options, rest = split_options(payload, tool) if isinstance(payload, dict) else (ViewOptions(), payload)
    envelope = run_tool(context, tool, Words(rest) if isinstance(payload, Words) else rest)
    write_answer(context, tool, envelope, options)
    return envelope


def run_operation(call: Invocation) -> int:
    """Run an operation of Flux or Scout, whose fields come as KEY=VALUE; print what agents read, or the envelope."""
    payload = Words(_read_words(call.arguments.words))
    context = make_context(call)
    try:
        for_agent = call.arguments.format == "agent"
        envelope = _call_for_agent(context, call, payload) if for_agent else _call(context, call, payload)
    finally:
        close_context(context)
    return exit_of(envelope, "never")


def _read_words(words: list[str]) -> dict[str, object]:
    """Return the fields that words give; the first may be the key alone: container:list.

    Raises:
        InvalidInputError: A word is none, or a field is given twice.
    """
    first = words[0] if words and "=" not in words[0] else None
    action, colon, subaction = (first or "").partition(":")
    fields: dict[str, object] = {"action": action} if first is not None else {}
    fields |= {"subaction": subaction} if colon else {}
    for word in words[first is not None :]:
        name, equals, value = word.partition("=")
        if not equals or name in fields:
            what = f"{name}: give it once" if equals else f"{name!r} is no KEY=VALUE"
            raise InvalidInputError(what, {"errors": [{"field": name, "message": "must be one KEY=VALUE"}]})
        fields[name] = value
    return fields


def run_snapshot(call: Invocation) -> int:
    """Write the facts of the host, which rules judge, secrets masked."""
    screen = Screen("json")
    context = make_context(call)
    try:
        with screen.progress("Reading containers ..."):
            envelope = run_tool(context, HOST_SNAPSHOT, {})
    finally:
        close_context(context)
    if envelope.error is not None:
        complain(envelope.error)
        return exit_of_error(envelope.error)
    snapshot = envelope.value
    if call.arguments.for_report is not None:
        snapshot = _for_report(call, snapshot)
    if call.arguments.output in (None, "-"):
        screen.write(snapshot_json(snapshot).decode())
    else:
        write_snapshot(Path(call.arguments.output), snapshot)
    return Exit.FINE


def _for_report(call: Invocation, snapshot: HostSnapshot) -> HostSnapshot:
    """Return what a report of a wrong diagnosis needs, and say on standard error what it is and holds."""

    def diagnose_part(part: HostSnapshot) -> tuple[DiagnosisReport, ...]:
        envelope = run_tool(build_replay(call.settings, part), HOST_DIAGNOSIS, {"include_healthy": True})
        if envelope.error is not None:
            raise envelope.error
        reports: tuple[DiagnosisReport, ...] = envelope.value.reports
        return reports

    reduced = reduce_for_report(snapshot, diagnose_part, call.arguments.for_report or None)
    for line in tell_report(reduced, len(snapshot.containers), len(snapshot_json(reduced.snapshot))):
        sys.stderr.write(f"{PROGRAM}: {line}\n")
    return reduced.snapshot


def _given(**fields: Any) -> dict[str, Any]:
    """Return the fields that were given."""
    return {name: value for name, value in fields.items() if value is not None}
