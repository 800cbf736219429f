"""What `make test` asks of a real engine: for each promise, tool and face a test that shows it in seconds.

A row of docs/reliability.md that no test of this table and no unit test shows stands below with its reason, or
tests/architecture/test_runs.py fails.
"""

from __future__ import annotations

FIRST_LOOK = "tests/docker/test_first_look.py"
FAULTS = "tests/docker/test_daemon_faults.py"

SMOKE: dict[str, tuple[str, ...]] = {
    "README's table, and each face: terminal, page, metrics, API, message, alert, agent": (FIRST_LOOK,),
    "every tool, address and command, and nothing but reads reaches the engine": (
        "tests/docker/test_read_only.py::test_only_reads_reach_the_engine_and_it_logs_no_event_of_ours",
    ),
    "an incident from a crash to its message, over a restart and a kill of the exporter": (
        "tests/docker/test_incidents.py",
        "tests/docker/test_messages.py",
        "tests/docker/test_page.py",
    ),
    "what is read of an engine": (
        "tests/docker/test_host_snapshot.py::test_states_exits_logs_limits_and_configuration_are_read",
        "tests/docker/test_host_snapshot.py::test_usage_comes_from_cgroup_files_where_they_can_be_read",
        "tests/docker/test_host_snapshot.py::test_only_what_changed_is_inspected_again",
        "tests/docker/test_host_snapshot.py::test_a_new_log_line_appears_once_and_an_old_one_stays",
        "tests/docker/test_host_events.py::test_a_stop_a_crash_and_a_kill_are_told_apart_by_the_live_stream",
        "tests/docker/test_journal.py::test_what_a_replaced_container_has_got_and_what_was_changed_in_place_is_told_by_field",
        "tests/docker/test_history_engine.py::test_an_oom_kill_is_told_and_a_childs_too",
        "tests/docker/test_readers.py::test_lines_streams_and_hostile_bytes",
    ),
    "drift": (
        "tests/docker/test_drift_projects.py::test_a_project_that_declares_nearly_everything_has_no_drift",
        "tests/docker/test_drift_projects.py::test_scaling_and_one_off_runs",
    ),
    "check and verify": (
        "tests/deployments/test_check_cases.py::test_the_command_exits_by_its_verdict_and_writes_every_format",
        "tests/docker/test_verify_faults.py::test_breaking_it_off_gives_the_verdict_so_far",
    ),
    "faults: F1 to F4, F10, F12": (
        f"{FAULTS}::test_a_killed_engine_that_comes_back_is_whole_again_without_a_false_restart_loop",
        f"{FAULTS}::test_a_socket_that_nobody_listens_on_is_told_as_such",
        f"{FAULTS}::test_a_forbidden_socket_is_told_as_such",
        f"{FAULTS}::test_it_ends_cleanly_when_told_to",
        f"{FAULTS}::test_a_bad_setting_at_the_start_is_one_line_and_exit_2",
        "tests/docker/test_host_faults.py::test_when_only_stats_hang_the_rest_is_fresh_and_usage_is_marked_stale",
        "tests/docker/test_faults_state.py::test_a_damaged_file_is_set_aside",
        "tests/docker/test_daemon_serving.py::test_a_port_in_use_is_one_line_and_exit_2",
    ),
    "Compose's binary is confined": (
        "tests/compose/test_sandbox.py::test_only_the_given_environment_is_seen_and_remote_includes_are_off",
        "tests/compose/test_sandbox.py::test_nothing_can_be_written",
        "tests/compose/test_reader.py::test_values_come_from_dot_env_env_file_extends_and_include",
        "tests/compose/test_files.py",
    ),
    "what is shipped": (
        "tests/alerting/test_rules.py::test_promtool_finds_no_fault_in_the_rules",
        "tests/deploy/test_stacks.py::test_every_service_is_hardened_and_limited",
        "tests/outputs/mcp/test_stdio.py::test_every_line_is_a_message_and_the_end_of_input_is_the_end",
        "tests/outputs/mcp/test_stdio.py::test_a_line_of_a_hundred_megabytes_is_refused_in_little_memory_and_the_next_one_is_answered",
        "tests/cli/test_process.py::test_ctrl_c_ends_a_watch_cleanly",
    ),
}
"""What is shown → the tests that show it, as pytest names them."""

SMOKE_TESTS = tuple(test for tests in SMOKE.values() for test in tests)

LONGER = {
    "F6": "1,000 containers take minutes to start",
    "F7": "a log of 1 GB",
    "F13": "needs Alertmanager, which `make test` does not install",
    "F24": "the 90 days are written first",
    "F14": "clients that dawdle are closed after half a minute",
    "F15": "500 containers in 256 MB",
}
"""Rows of docs/reliability.md that only `make test-all` shows."""
