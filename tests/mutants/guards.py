"""The guards of the package: each with one way to break it and the tests that must then fail.

To add one, add a line: its name (see `breaking`), how it is broken, and the tests. The file of tests is given once a group,
below `tests/`; a test is named as pytest names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.mutants.breaking import (
    Break,
    NoSuchGuardError,
    always,
    broken_source,
    never,
    returns,
    set_to,
    with_keyword,
    with_text,
    without,
    without_raise,
)

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = "bcon_exporter"


@dataclass(frozen=True)
class Guard:
    """One guard broken in one way.

    Attributes:
        tests: At least one of them must fail.
    """

    name: str
    way: Break
    tests: tuple[str, ...]

    @property
    def how(self) -> str:
        """How it is broken, in words."""
        return self.way.how

    def break_in(self, tree: Path) -> tuple[Path, str]:
        """Return the file that the guard stands in and its text without the guard; nothing is written.

        Raises:
            NoSuchGuardError: It is not there.
        """
        return broken_source(tree / PACKAGE, self.name, self.way)


@dataclass(frozen=True)
class ShippedGuard:
    """A guard in a file that is no Python: a piece of its text, and what stands there instead."""

    path: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        """The file."""
        return self.path

    @property
    def how(self) -> str:
        """How it is broken, in words."""
        return f"`{self.old}` is `{self.new}`"

    def break_in(self, tree: Path) -> tuple[Path, str]:
        """As for `Guard`."""
        path = tree / self.path
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if self.old not in text:
            message = f"no such guard: {self.path} does not hold {self.old!r}"
            raise NoSuchGuardError(message)
        return path, text.replace(self.old, self.new, 1)


class _Tests:
    """The tests of one file, so that a line below need not repeat its path."""

    def __init__(self, file: str) -> None:
        self._file = f"tests/{file}"

    def __call__(self, name: str, way: Break, *tests: str) -> Guard:
        return Guard(name, way, self._named(tests))

    def shipped(self, path: str, old: str, new: str, *tests: str) -> ShippedGuard:
        return ShippedGuard(path, old, new, self._named(tests))

    def _named(self, tests: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{self._file}::{test}" for test in tests) or (self._file,)


_allowlist = _Tests("engine/test_allowlist.py")
_client = _Tests("engine/test_client.py")
_host = _Tests("engine/test_docker_host.py")
_events = _Tests("engine/test_event_log.py")
_http_reader = _Tests("engine/test_http.py")
_wire = _Tests("engine/test_http_parser.py")
_logs = _Tests("engine/test_log_cursors.py")
_log_stream = _Tests("engine/test_log_stream.py")
_read_logs = _Tests("engine/test_read_logs.py")
_any_answer = _Tests("engine/test_malformed_answers.py")
_unresponsive = _Tests("engine/test_unresponsive.py")
_oom = _Tests("memory/test_oom_kills.py")
_kernel = _Tests("engine/test_kernel_kills.py")
_fresh = _Tests("tools/test_fresh_snapshot.py")
_parse_config = _Tests("engine/test_parse_config.py")

ENGINE = (
    # what may be asked of the engine
    _allowlist("ALLOWED_METHODS", set_to("frozenset({'GET', 'HEAD', 'POST'})"), "test_no_other_method_passes"),
    _allowlist("check_request", returns("None"), "test_everything_else_is_refused"),
    _allowlist("check_request", with_text("_PATH.fullmatch", "_PATH.match"), "test_everything_else_is_refused"),
    _allowlist("check_request", never("MAX_TARGET_CHARS"), "test_everything_else_is_refused"),
    _allowlist("check_request", with_text("'..' in path", "False"), "test_everything_else_is_refused"),
    _allowlist("is_valid_reference", returns("True"), "test_what_passes_as_a_reference_has_no_meaning_in_a_path"),
    _allowlist("is_valid_image", returns("True"), "test_image_references_are_told_from_paths"),
    _client("ReadOnlyClient.send", without("check_request"), "test_no_write_and_no_path_beyond_the_list_leaves"),
    _http_reader("http.fetch", without("check_request"), "test_nothing_is_sent_when_one_target_is_not_allowed"),
    _http_reader("http.follow", without("check_request"), "test_nothing_is_followed_that_is_not_allowed"),
    # how long it may take, and what it may answer
    _http_reader("_Loop._drop_overdue", returns("None"), "test_a_stuck_request_holds_up_others_only_until_patience_ends", "test_one_stuck_request_does_not_cost_the_others"),
    _http_reader("_Loop.run", never("self._deadline"), "test_an_engine_that_says_nothing_is_left_in_time"),
    _wire("HEAD_LIMIT_BYTES", set_to("10 ** 12"), "test_garbage_is_malformed"),
    _wire("AnswerReader._add_body", never("end - start > room"), "test_a_longer_body_than_allowed_is_cut_and_its_connection_not_used_again"),
    _host("get_object", returns("raw[key]"), "test_any_json_anywhere_is_a_snapshot_or_an_error_of_ours", "test_nonsense_about_one_container_costs_that_one_only"),
    _any_answer("decode_json", with_text("(ValueError, RecursionError)", "ValueError"), "test_no_answer_costs_more_than_what_it_is_about"),
    _any_answer("json_fields._decode_value", with_text("(ValueError, RecursionError)", "ValueError"), "test_no_answer_costs_more_than_what_it_is_about"),
    _any_answer("get_list", returns("raw.get(key)"), "test_no_answer_costs_more_than_what_it_is_about"),
    _any_answer("json_fields.parse_time", with_text("(ValueError, OverflowError)", "KeyError"), "test_no_answer_costs_more_than_what_it_is_about"),
    # what is remembered of it
    _events("EventLog.add_backfill", never("full and (not has_known_event)"), "test_a_full_ring_of_only_unknown_events_is_a_gap"),
    _events("EventLog._add", never("key in self._seen"), "test_a_backfill_and_the_stream_that_overlap_give_each_event_once"),
    _events("EventLog.forget_later_than", returns("None"), "test_only_an_event_that_is_still_to_come_is_forgotten_and_a_gap"),
    _read_logs("_find_unchanged_lines", never("window.ended_run == _run_of(facts)"), "test_the_logs_of_an_ended_container_are_read_once"),
    _logs("LogCursors.query", always("since is None or self._outlasts is not None"), "test_the_first_read_asks_for_no_older_lines_than_count"),
    _logs("LogCursors._drop_first", with_text("[-MOST_OUTLASTING:]", "[:]"), "test_of_the_lines_that_outlast_the_window_the_newest_are_kept"),
    _logs("LogCursors._count_excess", returns("0"), "test_one_container_keeps_its_newest_lines_within_its_cap"),
    _logs("LogCursors.take", never("_has_gap"), "test_more_new_lines_than_the_tail_say_that_some_were_left_out"),
    _logs("LogCursors.take", never("cursor is None and lines"), "test_lines_without_stamps_are_not_read_twice"),
    _logs("LogCursors.take", with_text("if new and window.cursor is not None else ()", "if False else ()"), "test_a_value_whose_name_ended_the_read_before_is_masked"),
    _logs("LogCursors.take", with_text("source.secrets, before", "NO_SECRETS, before"), "test_a_new_line_hides_what_the_container_is_known_to_hold"),
    _log_stream("finish_entries", with_text("secrets.hide_lines(texts)", "texts"), "test_what_the_container_is_known_to_hold_is_masked_before_the_line_is_clipped"),
    _fresh("fresh_snapshot._drain", with_text("kills is None", "True"), "test_kills_are_looked_for_as_soon_as_events_are_taken_and_never_by_who_only_replays"),
    _fresh("fresh_snapshot.observe", with_text("context.host.exclusive_access(seconds)", "__import__('contextlib').nullcontext()"), "test_nobody_takes_events_away_from_who_reads_the_host"),
    _fresh("fresh_snapshot._observe", with_text("remember or context.one_shot", "True"), "test_only_a_scheduled_scan_that_reads_logs_or_usage_moves_what_the_next_reads_on_from"),
    _fresh("observe_snapshot", always("readings is not None"), "test_only_a_scheduled_scan_that_reads_logs_or_usage_moves_what_the_next_reads_on_from"),
    _read_logs("read_logs_of_all", never("not inventory.knows_secrets_of(container_id)"), "test_a_container_of_which_nobody_knows_the_secrets_has_no_log_to_show"),
    _read_logs("_find_refusal", with_text("refused_run != _run_of(entry.facts)", "False"), "test_a_log_that_is_refused_is_asked_for_again_in_the_next_run_only"),
    _read_logs("_add_answer", with_text("(facts.finished_at is not None)", "True"), "test_while_nobody_knows_when_a_run_has_ended_its_last_lines_are_asked_for_again"),
    _logs("LogCursors._count_excess", with_text("max(1, self._holding)", "len(self._windows)"), "test_logs_that_hold_nothing_take_no_share_of_the_whole"),
    _logs("LogCursors.note_wanted", never("window.tail"), "test_more_than_before_is_read_anew_and_less_is_not"),
    _host("DockerHost.read_kills", never("not self.endpoint.is_local"), "test_of_an_engine_elsewhere_this_machines_kernel_says_nothing"),
    # whom the kernel has killed
    _unresponsive("EngineSession._query_group", always("not isinstance(outcome, DeadlineExceededError)"), "test_a_container_that_hangs_again_is_left_alone_for_longer"),
    _unresponsive("EngineSession._record_result", never("result.are_suspects"), "test_one_inspect_that_hangs_alone_does_not_count_as_the_endpoint_down"),
    _kernel("kernel_log.parse_kill", with_text("level not in _LEVELS or ", ""), "test_no_other_record_is_taken_for_a_kill"),
    _kernel("kernel_log.parse_kill", with_text("(not stamp.isdigit()) or ", ""), "test_no_other_record_is_taken_for_a_kill"),
    _kernel("kernel_log.parse_kill", with_text("len(stamp) > 17", "False"), "test_no_other_record_is_taken_for_a_kill"),
    _oom("oom_kills._Search._is_new", returns("True"), "test_the_engines_own_event_stays_the_only_one"),
    _oom("oom_kills._Search._record_deaths", never("event.exit_code != _KILL_CODE"), "test_an_end_of_another_kind_is_not_the_kernels"),
    _oom("oom_kills._Search._record_deaths", always("killed_at is None"), "test_who_was_killed_by_somebody_was_not_killed_by_the_kernel"),
    _oom("oom_kills._Search._record_deaths", with_text(" or abs(event.at - killed_at) > _REPORTED_WITHIN", ""), "test_a_kill_of_the_run_before_is_none_of_this_one"),
    _oom("oom_kills._Search._explain_deaths", never("len(places) > counted.kills"), "test_more_ends_than_kills_prove_nothing"),
    _oom("oom_kills._Search._explain_deaths", with_text("counted.kills - len(places)", "counted.kills"), "test_a_kill_explains_one_end"),
    _oom("oom_kills._Search._is_reported", returns("False"), "test_a_dying_container_whose_end_is_not_known_yet_is_told_once"),
    _oom("oom_kills._Search._is_reported", with_text(" and min(ends, key=lambda end: abs(end - at)) == died_at", ""), "test_a_container_that_is_killed_again_and_again_is_told_each_time"),
    _oom("CountedKills.may_have_caused", with_text("not death.is_counted and ", ""), "test_an_end_that_one_look_explains_takes_no_kill_from_the_next"),
    _oom("CountedKills.may_have_caused", with_text("self.since <= ", ""), "test_an_end_from_before_the_first_look_takes_no_kill_from_another"),
    _oom("CountedKills.may_have_caused", with_text("is_of_it and ", ""), "test_a_dying_container_that_was_still_counted_takes_no_kill_from_another"),
    _oom("oom_kills._Search._count", with_text(" + self._not_yet_in_slice", ""), "test_a_kill_that_its_container_counts_before_the_slice_explains_nobody_elses_end"),
    _oom("oom_kills._Search._count", with_text("counts.number <= before.number", "counts is before"), "test_counts_that_were_held_up_are_not_counted_back"),
    _oom("oom_kills._Search._was_told_before", returns("False"), "test_what_an_earlier_process_has_told_is_not_told_again"),
    _oom("oom_kills._Search._is_news", with_text("event.at in told or ", ""), "test_an_event_that_is_known_as_it_is_proves_that_the_engine_still_knows_it"),
    _oom("oom_kills._Search._forget", with_text(" or key in waiting", ""), "test_what_the_engine_told_long_ago_is_told_once_though_its_container_is_read_later"),
    _oom("oom_kills._Search._forget", returns("None"), "test_what_is_over_is_forgotten_also_where_no_container_is_there"),
    _kernel("cgroup._Files.count_kills", always("not calm"), "test_no_count_is_read_while_the_kernel_kills_nothing"),
    _kernel("cgroup._Files.count_kills", with_text("not calm or ", ""), "test_counts_are_read_once_the_kernel_has_killed_something"),
    _kernel("cgroup._Files.count_kills", with_text(" or self._killed != 0", ""), "test_a_count_that_is_not_zero_is_read_each_time_for_its_cgroup_may_be_made_anew"),
    _kernel("CgroupReader._is_calm", returns("True"), "test_counts_are_read_once_the_kernel_has_killed_something"),
    _kernel("CgroupReader._is_calm", returns("False"), "test_no_count_is_read_while_the_kernel_kills_nothing"),
    _kernel("CgroupReader._is_calm", with_text("(total, total)", "(self._host_kills[0], total)"), "test_counts_are_read_once_the_kernel_has_killed_something"),
    _kernel("CgroupReader._is_calm", with_text("total is not None and ", ""), "test_counts_are_read_each_time_where_the_host_has_none"),
    _parse_config("find_podman_defaults", returns("()"), "test_what_podman_gives_each_container_is_as_if_its_image_gave_it"),
    _parse_config("find_podman_defaults", never("_MARK"), "test_docker_gives_no_such_thing"),
)  # fmt: skip

_cleaning = _Tests("secrets/test_cleaning.py")
_masking = _Tests("secrets/test_masking.py")
_known = _Tests("secrets/test_known_secrets.py")
_parse_secrets = _Tests("engine/test_parse_secrets.py")
_book = _Tests("test_host_secrets.py")
_hook_identity = _Tests("memory/test_identity.py")
_hook_drift = _Tests("drift/test_rules.py")
_hook_event = _Tests("engine/test_parse_event.py")
_hidden = _Tests("drift/test_hidden_secrets.py")
_env_files = _Tests("compose/test_env_files.py")
_inputs = _Tests("model/test_tool_inputs.py")
_registry = _Tests("tools/test_registry.py")
_daemon = _Tests("test_daemon.py")
_own_log = _Tests("security/test_log_of_the_daemon.py")

TEXT = (
    _cleaning("strip_controls", returns("raw"), "test_acting_characters_are_removed_or_shown"),
    _cleaning("_ESCAPES", set_to("{}"), "test_clean_text_is_encodable_and_has_no_control_but_tab_and_line_feed"),
    _cleaning("clean_name", returns("strip_controls(raw)"), "test_a_clean_name_is_one_line"),
    _cleaning("clip_text", returns("text"), "test_clips_only_above_the_limit"),
    _masking("mask_text", returns("text"), "test_every_secret_of_the_corpus_is_masked"),
    _masking("mask_tokens", returns("line"), "test_every_issued_secret_is_masked_wherever_it_stands"),
    _masking("issuer_tokens._find_spans", never("len(spans) == MOST_MATCHES"), "test_after_very_many_tokens_of_one_kind_the_rest_of_a_line_is_masked"),
    _masking("_no_digest", returns("MASK"), "test_a_digest_of_64_bytes_is_no_key"),
    _masking("mask_key_blocks", returns("lines"), "test_a_key_that_comes_in_two_scans_is_masked_in_both"),
    _masking("mask_following_lines", returns("lines"), "test_a_value_apart_from_its_name_is_masked_and_nothing_else"),
    _masking("private_keys._mask_vault", returns("None"), "test_a_value_apart_from_its_name_is_masked_and_nothing_else"),
    _masking("private_keys._mask_vault", never("_VAULT_LINE"), "test_a_value_apart_from_its_name_is_masked_and_nothing_else"),
    _masking("private_keys._mask_next", returns("None"), "test_a_value_apart_from_its_name_is_masked_and_nothing_else"),
    _masking("private_keys._split_head", returns("split_prefix(line)"), "test_a_value_apart_from_its_name_is_masked_and_nothing_else"),
    _masking("following_lines._tagged_value", returns("iter(())"), "test_a_value_apart_from_its_name_is_masked_and_nothing_else"),
    _masking("following_lines._cells", returns("iter(())"), "test_a_value_apart_from_its_name_is_masked_and_nothing_else"),
    _masking("following_lines._cells", always("word and"), "test_a_value_apart_from_its_name_is_masked_and_nothing_else"),
    _masking("pairs._is_placeholder", returns("False"), "test_a_value_apart_from_its_name_is_masked_and_nothing_else"),
    _masking("pairs._is_placeholder", returns("True"), "test_every_secret_of_the_corpus_is_masked"),
    _masking("masking._searcher", with_text("options.log_errors = False", "pass"), "test_text_that_fills_the_memory_of_a_search_writes_nothing"),
    _masking("mask_pairs", returns("line"), "test_every_secret_of_the_corpus_is_masked"),
    _masking("mask_pair", returns("mask_text(value)"), "test_a_pair_is_masked_by_its_key_or_by_its_shape"),
    _masking("masking._mask_value", with_text("masked == value and ", ""), "test_no_secret_is_kept_in_memory_by_masking_it"),
    _masking("masking._mask_value", never("len(_harmless) >= _MOST_HARMLESS"), "test_values_without_secrets_are_kept_but_not_for_ever"),
    _masking("key_strength", returns("'no'"), "test_names_of_secrets_are_known"),
    _masking("safe_text", returns("mask_text(clip_text(strip_controls(raw), max_chars))"), "test_a_secret_known_by_its_shape_is_masked_before_it_is_cut"),
    _masking("Sealer.seal", with_text("self._key", "b'same for all'"), "test_fingerprints_compare_values_and_need_the_key"),
    _masking("masking._shown", never("root == 'environment'"), "test_environment_values_are_never_shown_and_others_are_masked"),
    # what an environment holds
    _known("find_secrets", returns("frozenset()"), "test_a_value_under_a_secret_name_is_hidden"),
    _known("is_plain_word", returns("True"), "test_what_is_no_plain_word_is_hidden"),
    _known("is_plain_word", returns("False"), "test_a_plain_word_is_masked_under_its_own_name_only"),
    _known("KnownSecrets.hide", returns("text"), "test_a_value_under_a_secret_name_is_hidden"),
    _known("KnownSecrets.too_many", returns("False"), "test_with_more_values_than_can_be_searched_nothing_is_shown"),
    _known("text_forms", returns("(value,)"), "test_a_value_is_hidden_in_every_form_that_text_gives_it"),
    _known("base64_cores", returns("()"), "test_a_value_is_hidden_in_every_form_that_text_gives_it"),
    _known("suspect_lines._FORMS_KEPT", set_to("10 ** 9"), "test_of_the_expressions_of_many_containers_the_newest_are_kept"),
    _known("_find_all", always("not within"), "test_a_short_value_is_hidden_as_a_whole_word_only"),
    _known("KnownSecrets.hide", never("self.too_many"), "test_with_more_values_than_can_be_searched_nothing_is_shown"),
    _known("_url_passwords", returns("()"), "test_the_password_of_a_url_is_a_secret_under_any_name"),
    _parse_secrets("names_identity", returns("False"), "test_it_is_hidden_in_every_fact_and_the_names_of_things_stay"),
    _parse_secrets("hide_in_facts", returns("facts"), "test_what_is_learned_later_is_hidden_as_if_it_had_been_known"),
    _parse_secrets("Inventory.hide_learned", returns("None"), "test_what_a_container_holds_is_hidden_in_those_of_its_project_that_were_read_before_it"),
    _parse_secrets("LogCursors.get_lines", with_text("self._hide(container_id, secrets)", "self.window(container_id)"), "test_kept_lines_hide_what_is_learned_after_they_were_read"),
    _parse_secrets("parse_labels", with_text("secrets is not None or", "True or"), "test_while_its_environment_is_unread_a_container_shows_plain_labels_only"),
    _parse_secrets("LogCursors.take", with_text("self._hide(container_id, source.secrets)", "self.window(container_id)"), "test_kept_lines_hide_what_is_learned_before_the_next_read"),
    _book("HostSecrets.retain", returns("None"), "test_removed_containers_are_forgotten"),
    _book("HostSecrets._of_project", never("whole.too_many"), "test_a_container_with_too_many_secrets_hides_its_own_texts_and_not_those_of_the_project_it_claims"),
    _book("HostSecrets._forget_projects", returns("None"), "test_projects_that_are_long_gone_are_forgotten_and_those_with_containers_are_not"),
    _book("hide_in_snapshot", always("version == snapshot.hidden_version"), "test_a_snapshot_hides_what_was_learned_while_it_was_taken_whoever_learned_it"),
    _book("hide_in_snapshot", with_text(" or book.of_project(facts.compose.project)", ""), "test_of_a_container_that_was_never_inspected_what_its_project_holds_is_hidden"),
    _book("host_secrets._known_to", never("known is None and"), "test_an_event_of_a_container_that_was_never_inspected_is_kept_without_what_its_project_holds"),
    _book("host_secrets._known_to", returns("NO_SECRETS"), "test_an_event_is_kept_without_a_secret_tag"),
    _book("hide_in_events", returns("batch"), "test_an_event_is_kept_without_a_secret_tag"),
    _hidden("_mask_like", returns("text"), "test_what_stands_in_the_place_of_a_mask_is_masked_unless_it_is_a_plain_word"),
    _hidden("has_other_image", never("fingerprint is not None"), "test_two_secret_tags_are_two_images"),
    _hidden("add_field", never("existing is not None"), "test_paths_that_are_masked_alike_still_tell_that_one_has_changed"),
    _env_files("EnvFiles._may_read", returns("True"), "test_the_daemon_reads_no_file_outside_of_the_roots"),
    _env_files("EnvFiles.secrets_of", returns("KnownSecrets()"), "test_an_error_of_compose_shows_nothing_of_the_files_that_it_may_read_nor_tells_what_others_hold"),
    _env_files("EnvFiles.secrets_of", always("request.roots is None"), "test_an_error_of_compose_shows_nothing_of_the_files_that_it_may_read_nor_tells_what_others_hold"),
    _registry("hide_in_error", returns("error"), "test_an_error_shows_nothing_that_containers_hold_as_secrets"),
    _registry("hide_in_error", never("isinstance(error, ContainerNotFoundError"), "test_a_guesser_is_not_told_that_a_name_he_asks_for_is_a_secret"),
    _registry("hide_in_error", with_text("key in _NAMES", "False"), "test_an_error_names_projects_as_they_are_called"),
    _inputs("Frozen.model_config", with_text("extra='forbid'", "extra='ignore'"), "test_refusals_are_in_plain_words"),
    _registry("CONTAINER_PATTERN", set_to("'^.*$'"), "test_bad_input_is_named_by_its_field"),
    _registry("GetContainerLogsInput.tail", with_keyword("le", "10 ** 9"), "test_bad_input_is_named_by_its_field"),
    _registry("ExplainErrorInput.error_pattern", with_text("max_length=256", "max_length=10 ** 6"), "test_bad_input_is_named_by_its_field"),
    _registry("PathText", set_to("Annotated[str, StringConstraints(min_length=1)]"), "test_bad_input_is_named_by_its_field"),
    _registry("_defect", returns("InternalError(str(error))"), "test_a_defect_becomes_an_id_without_message_or_traceback"),
    _own_log("safe", returns("text"), "test_a_hostile_name_stays_within_its_line"),
    _daemon("OncePerMinute.filter", returns("True"), "test_what_clients_cause_is_written_once_a_minute_with_how_often_it_happened"),
    _own_log("_Lines._safe", returns("safe(text)"), "test_what_an_environment_holds_is_masked_in_messages_and_tracebacks"),
    _own_log("format_error", always("isinstance(one, _SAYS_NO_VALUES)"), "test_words_that_quote_a_value_do_not_stand_in_a_traceback"),
)  # fmt: skip

_gate = _Tests("outputs/http/test_access_control.py")
_tricks = _Tests("security/test_access_control_tricks.py")
_protocol = _Tests("outputs/http/test_protocol.py")
_listeners = _Tests("outputs/http/test_listeners.py")
_connections = _Tests("outputs/http/test_connections.py")
_limits = _Tests("outputs/http/test_rate_limits.py")
_api = _Tests("outputs/http/test_api.py")
_pages = _Tests("outputs/http/test_pages.py")
_live = _Tests("pages/test_live.py")
_log_panel = _Tests("pages/test_log_panel.py")
_log_tail = _Tests("tools/test_log_tail.py")
_web_config = _Tests("outputs/http/test_web_config.py")
_tls_reload = _Tests("outputs/http/test_tls_reload.py")
_threads = _Tests("outputs/http/test_tool_calls.py")
_single_flight = _Tests("tools/test_single_flight.py")

HTTP = (
    # who may ask what
    _gate("ListenerPolicy.serves_all", returns("True"), "test_beyond_loopback_without_users_only_the_open_paths_are_served"),
    _gate("OPEN_PATHS", set_to("frozenset(('/', '/metrics', '/-/healthy', '/-/ready', '/openapi.json'))"), "test_what_anybody_may_ask_holds_no_report"),
    _gate("access_control.is_open", returns("True"), "test_what_anybody_may_ask_holds_no_report"),
    _gate("access_control.is_open", with_text("path.startswith(DOCUMENTS_PATH)", "DOCUMENTS_PATH in path"), "test_what_anybody_may_ask_holds_no_report"),
    _gate("Gate._answer", never("user is None"), "test_with_users_every_route_of_every_listener_needs_one"),
    _gate("PROBE_PATHS", set_to("frozenset(('/-/healthy', '/-/ready', '/metrics'))"), "test_with_users_every_route_of_every_listener_needs_one"),
    _gate("ListenerPolicy.knows_host", returns("True"), "test_every_route_on_loopback_refuses_a_rebound_host_name"),
    _gate("ListenerPolicy.takes_any_host", returns("True"), "test_every_route_on_loopback_refuses_a_rebound_host_name"),
    _gate("ListenerPolicy.takes_any_host", with_text("not self.loopback and ", ""), "test_every_route_on_loopback_refuses_a_rebound_host_name"),
    _gate("ListenerPolicy.takes_any_host", with_text(" or not self.serves_all(users)", ""), "test_what_is_served_without_users_takes_any_name"),
    _gate("Gate._answer", never("not policy.takes_any_host(path, users)"), "test_every_route_that_serves_reports_beyond_loopback_refuses_a_rebound_host_name"),
    _gate("Gate._answer", never("path == MCP_PATH"), "test_agents_are_served_beyond_loopback_to_users_only_even_where_all_else_is_open"),
    _gate("Users.name_of_token", with_text("hmac.compare_digest(known, digest)", "True"), "test_a_bearer_token_is_as_good_as_a_password_everywhere"),
    _gate("Gate._find_user", never("name is None"), "test_who_guesses_tokens_has_to_wait_and_a_good_token_has_not"),
    _gate("_check_origin", with_text("foreign or across", "across"), "test_other_web_sites_cannot_ask"),
    _gate("_check_origin", with_text("foreign or across", "foreign"), "test_other_web_sites_cannot_ask"),
    _gate("SECURITY_HEADERS", set_to("()"), "test_every_answer_carries_the_safe_headers"),
    _pages("_template_environment", with_keyword("autoescape", "False"), "test_the_page_escapes_what_comes_from_outside"),
    _pages("PAGE_POLICY", set_to("b\"default-src 'self'\""), "test_the_page_escapes_what_comes_from_outside"),
    _gate("Pages._render", never("scope['bcon.bare']"), "test_reports_do_not_stand_on_the_bare_page"),
    _gate("ListenerPolicy.strip_prefix", never("self.route_prefix"), "test_below_a_prefix_all_is_served_and_beside_it_nothing"),
    _live("LiveStreams._tell", with_text("still_admitted()", "True"), "test_a_stream_ends_when_the_users_are_reloaded"),
    _live("LiveStreams._tell", with_text("(not self.is_closed)", "True"), "test_a_stream_ends_when_the_daemon_stops"),
    _live("LogTails._follow", with_text("self._live.is_closed", "False"), "test_a_tail_ends_with_its_user_and_with_the_daemon"),
    _live("LogTails._follow", with_text("(not still_admitted())", "False"), "test_a_tail_ends_with_its_user_and_with_the_daemon"),
    _live("Gate._answer_limited", with_text("scope['path'].startswith(TAIL_PATH)", "False"), "test_tails_count_among_the_streams_of_a_client"),
    _log_tail("LogTail.read", never("seen[at] > 0"), "test_each_line_is_shown_once_and_those_of_one_moment_too"),
    _log_tail("LogTail._remember", with_text("_LINES_BEFORE", "1"), "test_a_reading_begins_before_the_newest_line_so_that_a_secret_has_its_prompt_before_it"),
    _log_panel("log_panel._newest_that_fit", never("left < 0"), "test_a_page_stays_small_whatever_is_printed"),
    _live("serve_stream", never("place is not None"), "test_where_connections_run_out_a_stream_makes_room"),
    _live("serve_all", with_text("connections is None", "not connections"), "test_where_connections_run_out_a_stream_makes_room"),
    _live("STREAM_PATH", set_to("'/'"), "test_a_client_has_so_many_streams_and_requests_go_on"),
    _pages("Pages.ready", always("good or"), "test_strangers_get_no_hint"),
    # passwords
    _gate("Users.check", never("too_long"), "test_a_password_longer_than_bcrypt_compares_is_refused_even_if_its_beginning_fits"),
    _gate("Users.check", with_text("b'\\x00' in credentials.password", "False"), "test_anything_but_the_right_pair_is_401"),
    _web_config("_FAKE_TAIL", set_to("b''"), "test_an_unknown_user_costs_a_check_at_the_same_cost_as_a_known_one"),
    _gate("Users.remembers", returns("True"), "test_a_good_pair_is_remembered_and_a_bad_one_is_not"),
    _web_config("_BCRYPT_PATTERN", set_to("'.*'"), "test_what_is_wrong_is_named_and_nothing_is_quoted"),
    _tls_reload("BoundedProtocol._is_outdated", returns("False"), "test_an_open_connection_is_no_way_round"),
    # sizes, times, numbers
    _gate("BODY_MAX_BYTES", set_to("10 ** 9"), "test_bodies_above_64_kib_are_refused"),
    _gate("buffer_body", with_text("asyncio.timeout(seconds)", "asyncio.timeout(None)"), "test_a_body_that_does_not_come_is_a_timeout"),
    _listeners("HEADERS_MAX_BYTES", set_to("10 ** 9"), "test_malformed_requests_get_a_4xx_and_stop_nothing"),
    _protocol("HEADER_SECONDS", set_to("60.0"), "test_no_client_may_take_longer_than_is_promised"),
    _protocol("BoundedProtocol._enter", without("self.loop.call_later"), "test_a_second_request_has_the_same_time_as_the_first"),
    _protocol("BoundedProtocol.pause_writing", without("self._follow"), "test_who_does_not_read_one_long_answer_loses_the_connection"),
    _protocol("BoundedProtocol._follow", never("self.conn.their_state is h11.SEND_BODY"), "test_who_trickles_a_body_after_the_answer_loses_the_connection"),
    _protocol("BoundedProtocol.send_400_response", never("self._is_answering"), "test_what_is_no_http_is_refused_in_the_envelope_once_and_nothing_is_logged"),
    # connections
    _connections("CONNECTIONS_MAX", set_to("10 ** 6"), "test_there_are_half_as_many_as_descriptors_and_never_more_than_the_most"),
    _connections("Connections.admit", never("self._clients[client] >= self.most_per_client"), "test_one_address_has_half_of_the_places_and_makes_room_for_itself_only"),
    _connections("Connections.admit", never("not has_room"), "test_where_everybody_is_worked_for_a_new_one_is_refused"),
    _connections("Connections.note_working", returns("None"), "test_who_has_waited_longest_makes_room_and_who_is_worked_for_stays"),
    _connections("Connections.note_held", never("self._held_bytes > _HELD_BYTES_MAX"), "test_unread_answers_hold_so_much_memory_in_all_and_the_slowest_reader_loses_its_own"),
    _connections("client_of", with_text("64", "128"), "test_clients_are_counted_by_address_or_network"),
    _connections("Place.disconnect", returns("None"), "test_one_address_has_half_of_the_places_and_makes_room_for_itself_only"),
    _listeners("HANDSHAKE_SECONDS", set_to("60.0"), "test_who_never_ends_the_tls_handshake_has_few_places_for_five_seconds_and_keeps_nobody_out"),
    _listeners("_CIPHERS", set_to("'DEFAULT'"), "test_no_cbc_suite_is_spoken"),
    # how often
    _limits("RequestLimits.count", without_raise(), "test_a_client_that_asks_too_often_gets_429_and_when_to_come_again"),
    _limits("Places.running", without_raise(), "test_so_many_requests_are_answered_at_once_of_one_client_and_of_all"),
    _limits("SCRAPED_PATHS", set_to("frozenset()"), "test_scrapes_and_probes_are_never_too_many"),
    _limits("PasswordChecks.check", never("wait"), "test_wrong_passwords_are_checked_a_few_times_and_then_refused_without_a_check"),
    _limits("PasswordChecks.check", never("self._waiting[client] >= _CHECKS_PER_CLIENT"), "test_few_checks_wait_for_each_other_and_fewer_of_one_client"),
    _limits("Gate._find_user", never("path in PROBE_PATHS"), "test_probes_check_no_password"),
    _limits("TokenBuckets._put", never("len(self._buckets) > CLIENTS_MAX"), "test_buckets_are_kept_for_so_many_clients"),
    _limits("GoodPairs._digest", with_text("hashed +", "b'' +"), "test_a_good_pair_stays_known_over_a_reload_while_its_users_hash_is_the_same"),
    _gate("parse_basic", with_text("ValueError", "UnicodeDecodeError"), "test_anything_but_the_right_pair_is_401"),
    _api("read_json", never("media_type != 'application/json'"), "test_bodies_that_are_no_input_are_refused"),
    _api("read_query", never("name in query"), "test_bad_requests_are_refused_in_the_envelope"),
    _threads("RequestThreads.run", never("self._running >= self._limit"), "test_without_a_free_thread_it_is_refused"),
    _threads("ToolCalls.call", always("task is None"), "test_a_thousand_identical_requests_are_one_call_in_one_thread"),
    _single_flight("SingleFlight.run", never("run is own"), "test_identical_requests_share_one_run"),
    _single_flight("SingleFlight._with_slot", without_raise(), "test_one_more_than_the_limit_is_refused"),
)  # fmt: skip

_printed = _Tests("outputs/test_text.py")

PRINTED = (
    _printed("terminal._span", with_text("strip_controls(span.text)", "span.text"), "test_untrusted_text_controls_no_terminal_and_is_no_markup"),
    _printed("markdown.escape", with_text(".translate(_SPECIAL)", ""), "test_untrusted_text_is_no_markup_in_markdown"),
    _printed("markdown.escape_start", returns("text"), "test_what_begins_a_line_begins_no_list_and_no_heading"),
    _printed("markdown.fence", with_text("max(3, _longest_run(body) + 1)", "3"), "test_a_log_stays_one_block_whatever_it_says"),
    _printed("markdown._code", with_text("_longest_run([text])", "0"), "test_a_command_stays_one_block_whatever_it_says"),
)  # fmt: skip

_sandbox = _Tests("compose/test_sandbox.py")
_files = _Tests("compose/test_files.py")
_reader = _Tests("compose/test_reader.py")
_paths = _Tests("security/test_compose_paths.py")
_failures = _Tests("compose/test_failures.py")
_roots = _Tests("security/test_compose_roots.py")
_involved = _Tests("compose/test_involved_files.py")
_hostile = _Tests("security/test_compose_text.py")
_patience = _Tests("compose/test_background_work.py")
_app = _Tests("test_app.py")
_what_if = _Tests("tools/test_what_if.py")
_config_text = _Tests("tools/test_config_text.py")
_operations = _Tests("tools/test_operations.py")
_environment = _Tests("compose/test_environment_values.py")
_refused = _Tests("security/test_refused_files.py")
_encodings = _Tests("secrets/test_encodings.py")
_odd_names = _Tests("security/test_odd_names.py")
_last_release = _Tests("interface/test_last_release.py")
_stages = _Tests("interface/test_stages.py")
_for_report = _Tests("tools/test_report_snapshot.py")

COMPOSE = (
    _files("is_within", returns("True"), "test_over_http_every_forbidden_path_gives_one_and_the_same_error"),
    _files("real_path", returns("path"), "test_over_http_every_forbidden_path_gives_one_and_the_same_error"),
    _roots("_Walk._check_root", returns("None"), "test_a_file_outside_of_the_roots_is_not_read_however_it_is_named"),
    _roots("reader._check_involved", returns("None"), "test_what_is_no_small_regular_file_is_refused_at_once"),
    _roots("running_projects.is_allowed", returns("True"), "test_with_roots_unset_a_label_makes_the_daemon_look_at_nothing"),
    _roots("_find_forbidden_path", returns("None"), "test_with_roots_unset_a_label_makes_the_daemon_look_at_nothing"),
    _roots("InvolvedFiles.is_unchanged", returns("True"), "test_an_answer_counts_only_if_the_files_are_still_those_that_were_checked"),
    _roots("_node_of", never("_BINARY_TAG"), "test_a_name_that_cannot_be_told_counts_as_outside"),
    _roots("variables.expand", with_text("values is None or", ""), "test_a_name_with_a_variable_of_an_env_file_that_cannot_be_understood_counts_as_outside"),
    _roots("_Walk._walk_include", with_text("scope.directory, scope.mistaken", "scope.directory"), "test_all_that_compose_opens_is_known_before"),
    _involved("_MOST_FILES", set_to("10 ** 6"), "test_too_many_files_are_not_kept"),
    _hostile("yaml_nodes._DEEPEST", set_to("10 ** 6"), "test_what_would_cost_too_much_ends_the_walk"),
    _hostile("_MOST_TAG_DIRECTIVES", set_to("10 ** 6"), "test_what_would_cost_too_much_ends_the_walk"),
    _hostile("_MOST_EVENTS", set_to("10 ** 9"), "test_what_would_cost_too_much_ends_the_walk"),
    _hostile("involved_files._MOST_BYTES", set_to("10 ** 12"), "test_a_file_that_leads_to_much_more_text_is_not_followed"),
    _sandbox("limited_launcher.confine", returns("False"), "test_a_confined_binary_cannot_read_a_file_outside_although_the_compose_file_includes_it"),
    _patience("MOST_IN_BACKGROUND", set_to("100"), "test_no_more_than_two_go_on_beside"),
    _patience("background_work.LONGEST_PAUSE_SECONDS", set_to("10 ** 6"), "test_what_timed_out_is_left_alone_twice_as_long_each_time_up_to_ten_minutes"),
    _files("check_file", never("S_ISREG"), "test_command_line_tells_absent_directory_and_device_apart"),
    _files("FILE_BYTES", set_to("10 ** 12"), "test_a_file_may_have_one_mebibyte"),
    _sandbox("_FORCED", set_to("{}"), "test_only_the_given_environment_is_seen_and_remote_includes_are_off"),
    _sandbox("_environment", returns("{**__import__('os').environ, **environ, **_FORCED}"), "test_only_the_given_environment_is_seen_and_remote_includes_are_off"),
    _sandbox("limited_process._end", with_text("os.killpg(process.pid, signal.SIGKILL)", "process.kill()"), "test_a_run_that_hangs_is_ended_with_everything_it_started"),
    _sandbox("limited_process._exchange", with_text("len(buffer) > cap", "False"), "test_endless_output_is_cut"),
    _sandbox("limited_launcher.main", without("resource.setrlimit"), "test_memory_beyond_the_limit_is_refused", "test_nothing_can_be_written"),
    _reader("explain_failure", returns("ComposeParseError(complaint)"), "test_parse_errors_name_file_and_line_and_never_quote_the_file"),
    _app("_compose_options", always("trusted"), "test_the_daemons_compose_sees_nothing_of_the_daemons_environment"),
    # edits that nobody has written
    _what_if("what_if.show_lines", returns("text.split('\\n')"), "test_a_secret_cannot_be_guessed_by_what_is_said_to_stand_in_a_line"),
    _what_if("HostSecrets.copy", returns("self"), "test_what_an_edit_says_is_a_secret_hides_nothing_of_the_host"),
    _what_if("ComposeReader._find_target", with_text("not allowed or ", ""), "test_a_daemon_judges_edits_below_its_roots_and_tells_nothing_of_other_files"),
    _config_text("ComposeReader.read_text", never("is_within"), "test_a_file_is_shown_where_it_may_be"),
    _config_text("config_text.read_config", with_text("show_lines(found.text, found.file, context.secrets.hide)", "found.text.split('\\n')"), "test_a_file_is_shown_where_it_may_be"),
    _operations("write_command", never("tells_commands"), "test_no_command_is_told_where_an_agent_could_run_it"),
    _operations("check_host", returns("None"), "test_what_is_wrong_is_named"),
    _what_if("refuse_unread", returns("None"), "test_an_edit_that_no_name_leads_to_is_refused"),
)  # fmt: skip

_client_lines = _Tests("diagnosis/test_client_lines.py")
_repairs = _Tests("diagnosis/test_repairs.py")
_cascades = _Tests("diagnosis/test_cascades.py")
_advice = _Tests("diagnosis/test_advice.py")
_judged_lines = _Tests("diagnosis/test_judged_lines.py")
_line_screen = _Tests("diagnosis/test_line_filter.py")
_log_reader = _Tests("diagnosis/test_log_reader.py")
_judging = _Tests("diagnosis/test_diagnose.py")
_jobs = _Tests("schedule/test_jobs.py")
_counts = _Tests("schedule/test_log_counts.py")
_everyday = _Tests("diagnosis/test_everyday_programs.py")
_multiline = _Tests("diagnosis/test_multiline.py")
_removed = _Tests("diagnosis/test_removed_containers.py")
_links = _Tests("diagnosis/test_links.py")
_growth = _Tests("growth/test_growth.py")

DIAGNOSIS = (
    # who is meant by a line
    _client_lines("peer_names._without_client_and_links", returns("line"), "test_a_failed_connection_is_read"),
    _cascades("peer_state._may_explain_failure", returns("True"), "TestNobodyIsBlamedFalsely::test_by_a_removed_namesake_before_the_client_was_made"),
    _cascades("peer_state._may_explain_failure", never("client is not None"), "TestNobodyIsBlamedFalsely::test_nor_where_the_new_one_was_slow_to_start"),
    _cascades("causes._rank_below", returns("cause"), "TestChains::test_who_only_sees_bad_answers_of_a_sufferer_joins"),
    # what is over
    _repairs("recovered_connections._is_well", returns("True"), "TestThePeerIsBack::test_nor_while_the_peer_is_ill"),
    _repairs("recovered_connections._is_well", with_text("runs_well(peer, now) and ", ""), "TestThePeerIsBack::test_nor_while_the_peer_is_ill"),
    _repairs("recovered_connections._is_well", with_text(" and (not waits)", ""), "TestThePeerIsBack::test_nor_while_the_peer_is_ill"),
    _repairs("recovered_connections._is_well", with_text(" and (lost_network(peer) is None)", ""), "TestThePeerIsBack::test_nor_while_the_peer_is_ill"),
    _repairs("recovered_connections._is_well", with_text(" and (not is_looping(peer, now, thresholds))", ""), "TestThePeerIsBack::test_nor_while_the_peer_is_ill"),
    _repairs("recovered_connections._keeps_logging", returns("True"), "TestThePeerIsBack::test_of_a_peer_that_never_went_away_silence_alone_says_nothing"),
    _repairs("recovered_connections._is_within_outage", returns("False"), "TestThePeerIsBack::test_what_fell_with_it_is_over_too"),
    _repairs("recovered_connections._is_within_outage", with_text("during and ", ""), "TestThePeerIsBack::test_what_failed_at_another_time_is_not"),
    _repairs("recovered_connections._is_within_outage", with_text("hit.signature.category not in _OWN_TROUBLES", "True"), "TestThePeerIsBack::test_but_not_a_trouble_of_its_own"),
    _repairs("last_exit.has_stabilised", returns("True"), "TestThePeerIsBack::test_a_loop_for_want_of_it_is_over_once_it_has_come_up"),
    _repairs("last_exit.has_stabilised", never("not runs_well"), "TestThePeerIsBack::test_not_when_it_has_run_no_longer_than_before_or_is_unhealthy"),
    _repairs("last_exit.has_stabilised", with_text("COME_UP_RUNS * max(lived[-5:], default=0)", "0"), "TestThePeerIsBack::test_not_when_it_has_run_no_longer_than_before_or_is_unhealthy"),
    _repairs("working_again.works_again", returns("False"), "TestTheLogTellsIt::test_requests_are_answered_again"),
    _repairs("working_again.works_again", with_text(" and (not done.issubset(_kinds_of_work(buffer, near, last + 1)))", ""), "TestTheLogTellsIt::test_but_not_when_these_were_answered_all_along"),
    _repairs("working_again.works_again", with_text("AFTER_ONE if failures == 1 else AFTER_MANY", "1"), "TestTheLogTellsIt::test_one_line_of_work_is_too_little"),
    _repairs("log_events._answers", never("is_lost_answer"), "TestTheLogTellsIt::test_no_answer_of_a_server_makes_up_for_requests_that_this_one_answered_badly"),
    _repairs("log_events._answers", never("failed_hosts and answering_hosts"), "TestTheLogTellsIt::test_of_another_host_it_is_none"),
    _repairs("log_events._answers", with_text("same_server(answer.text, failure.text)", "True"), "TestTheLogTellsIt::test_of_another_server_it_is_none"),
    _repairs("oom_killed._is_of_an_earlier_run", returns("False"), "TestTheFlagOfTheOomKiller::test_one_that_was_started_again_is_well"),
    _repairs("log_events._fell_with", returns("False"), "TestTheLogTellsIt::test_an_error_of_which_nothing_is_known_is_over_with_the_failures_that_it_stands_beside"),
    _repairs("log_events._fell_with", returns("event.failed and not event.hits"), "TestTheLogTellsIt::test_an_error_of_which_nothing_is_known_is_over_with_the_failures_that_it_stands_beside"),
    _repairs("working_again.routine_resumed", returns("False"), "TestTheRoutineGoesOn::test_after_failures_of_any_kind"),
    _repairs("working_again._stopped_and_resumed", returns("True"), "TestTheRoutineGoesOn::test_not_when_it_went_on_all_along"),
    _repairs("working_again._stopped_and_resumed", with_text(" and (places[0] < episode[0][0])", ""), "TestTheRoutineGoesOn::test_nor_when_it_was_never_said_before"),
    _repairs("working_again._stopped_and_resumed", with_text(" and lasted >= least", ""), "TestTheRoutineGoesOn::test_nor_when_the_failures_were_too_short_to_stop_it"),
    _repairs("working_again._stopped_and_resumed", with_text("max(MISSED * pause, timedelta(seconds=OUTAGE_SECONDS))", "MISSED * pause"), "TestTheRoutineGoesOn::test_nor_when_it_comes_in_bursts"),
    _repairs("working_again._stopped_and_resumed", with_text(" and hiccups <= HICCUPS", ""), "TestTheRoutineGoesOn::test_two_hiccups_are_part_of_the_outage_and_more_are_none"),
    _repairs("recovered_connections.drop_past_slowness", always("REPEATS"), "TestNobodySaysSo::test_slow_queries_that_come_no_more"),
    _repairs("recovered_connections.drop_past_full_disk", with_text("suffered and well_again", "True"), "TestNobodySaysSo::test_a_full_disk_once_the_clients_that_failed_with_it_get_on"),
    _repairs("recovered_connections._is_quiet", returns("True"), "TestNobodySaysSo::test_slow_queries_that_come_no_more"),
    _repairs("last_exit.outlived_last_crash", returns("True"), "TestNobodySaysSo::test_what_it_said_before_a_start_since_which_it_has_run_for_much_longer"),
    _repairs("last_exit._is_fresh_replacement", with_text("[lifecycle.predecessors_restarts:]", ""), "TestMadeAnew::test_is_well_at_once_even_if_the_engine_restarted_the_old_one_meanwhile"),
    _repairs("last_exit._is_fresh_replacement", returns("True"), "TestMadeAnew::test_not_when_it_was_restarted_itself"),
    # a hook is no replica
    _hook_identity("identity.identity_of", with_text(" or not compose.is_replica", ""), "test_a_hook_has_a_past_of_its_own"),
    _hook_drift("pairing.pair_project", with_text(" or not claim.is_replica", ""), "test_a_hook_is_neither_replica_nor_extra"),
    _hook_event("event._container_event", with_text(" or bool(_label(attributes, 'hook'))", ""), "test_a_hook_is_no_replica_of_its_service"),
    # who was removed
    _removed("MAX_REMOVED", set_to("10 ** 9"), "TestWhatIsKept::test_the_newest_where_very_many_come_and_go"),
    _removed("REMEMBERED_SECONDS", set_to("10 ** 9"), "TestWhatIsKept::test_a_removed_one_for_half_an_hour"),
    _removed("removed_containers.remember", never("snapshot.partial"), "TestWhatIsKept::test_all_of_it_where_only_some_were_read"),
    _removed("find_removed", with_text(" and (not record.is_oneoff)", ""), "TestARemovedContainer::test_the_end_of_a_single_run_is_as_it_should_be"),
    _removed("find_removed", with_text(" and (_identity(record.name, record) not in taken)", ""), "TestARemovedContainer::test_not_once_another_is_in_its_place"),
    _removed("find_past_addresses", with_text("sorted(remembered.values(), key=lambda container: container.seen_at)", "remembered.values()"), "TestFormerAddresses::test_are_those_of_who_had_them_last"),
    _removed("removed_containers.find_renamed", with_text(" and (gone.started_at < container.created_at <= until)", ""), "TestARemovedContainer::test_one_that_was_there_before_is_not_its_new_name"),
    _removed("find_trouble", with_text("peer.id in context.removed and ", ""), "TestARemovedContainer::test_one_that_docker_is_still_removing_is_not_gone_yet"),
    _removed("peer_state._removed", never("too_early"), "TestARemovedContainer::test_nor_when_the_failures_were_over_before"),
    # whom a failure leads to
    _links("parse_peer_field", returns("None"), "TestAnotherLineOfTheEventNamesIt::test_and_is_followed"),
    _links("may_be_a_label", returns("False"), "TestLabelsOfAProxy::test_a_name_that_only_the_proxy_knows_leads_to_what_it_declares"),
    _links("peers._declared_services", returns("frozenset(('check', 'api'))"), "TestLabelsOfAProxy::test_not_to_a_container_whose_name_is_a_word_of_the_line"),
    _links("server_rejections._server_of", with_text("len(declared) == 1 and ", ""), "TestACertificate::test_of_several_declared_none_is_guessed"),
    _links("server_rejections._rejected_since_created", with_text(" and (made > server.created_at)", ""), "TestRefusedLogins::test_but_to_the_server_where_that_was_made_anew"),
    _links("rule.Case.only_rejects_logins", returns("False"), "TestRefusedLogins::test_lead_to_the_client"),
    _links("rule.Case.disk_full_since", returns("None"), "TestASharedVolume::test_is_filled_by_the_first_that_says_so"),
    _links("evidence._drop_timeouts_beside_rejection", returns("hits"), "TestRefusedLogins::test_a_pool_that_waited_for_it_is_no_trouble_of_the_connection"),
    _growth("event_bounds", with_text("start > earliest", "start > 0"), "test_cost_grows_with_the_text_and_no_faster"),
    # what is no failure
    _advice("log_rule._is_warning_of_another", returns("False"), "TestWarnings::test_several_are_one_symptom_and_a_warning"),
    _judged_lines("rule.Case._is_by_own_check", returns("False"), "test_what_its_own_health_check_provokes_is_no_failure"),
    _judged_lines("rule.Case._is_by_own_check", never("HealthStatus.UNHEALTHY"), "test_what_its_own_health_check_provokes_is_no_failure"),
    # what ordinary programs write
    _everyday("log_recovery.try_of", returns("None"), "test_a_failure_after_which_the_next_try_succeeded_is_over"),
    _everyday("log_recovery.try_of", with_text("int(match.group(1))", "0"), "test_but_not_one_whose_tries_all_failed"),
    _everyday("log_recovery.gives_up", returns("False"), "test_a_try_before_the_program_gave_up_is_not_over"),
    _everyday("log_recovery.gives_up", returns("True"), "test_a_try_before_a_failure_of_something_else_is_over"),
    _everyday("log_events._tried_again", returns("set()"), "test_a_failure_after_which_the_next_try_succeeded_is_over"),
    _everyday("log_events._tried_again", with_text("this.number < this.limit and ", ""), "test_but_not_one_whose_tries_all_failed"),
    _everyday("log_events._tried_again", with_text("(following.number <= this.number or is_over)", "True"), "test_all_tries_before_the_one_that_succeeded_are_over"),
    _everyday("log_events._tried_again", with_text(" or is_over", ""), "test_all_tries_before_the_one_that_succeeded_are_over"),
    _everyday("log_events._tried_again", with_text("following.number <= this.number or is_over", "is_over"), "test_all_tries_before_the_one_that_succeeded_are_over"),
    _everyday("log_events._tried_again", with_text(" if goes_on else None", ""), "test_but_not_one_whose_tries_all_failed"),
    _everyday("log_events._is_late_only", returns("False"), "test_an_upstream_that_answers_late_is_slow_and_no_more", "test_what_calls_itself_slow_is_slow"),
    _everyday("log_events._is_late_only", returns("signature.category is Category.SLOW"), "test_a_worker_that_was_ended_because_it_took_too_long_is_an_error"),
    _everyday("failure_phrases.is_timed_out_answer", returns("False"), "test_an_upstream_that_answers_late_is_slow_and_no_more"),
    _everyday("failure_phrases.is_timed_out_answer", returns("True"), "test_an_upstream_that_answers_late_is_slow_and_no_more"),
    _everyday("log_levels.redis_warning", returns("None"), "test_redis_knows_no_level_worse_than_warning"),
    _everyday("log_levels.redis_warning", never("message.lower()"), "test_redis_knows_no_level_worse_than_warning"),
    _everyday("multiline._logs_below_error", returns("False"), "test_a_trace_below_a_record_has_its_level"),
    _everyday("multiline._logs_below_error", returns("True"), "test_a_trace_that_follows_an_unrelated_line_of_information_counts"),
    _multiline("multiline._ends_python_trace", returns("False"), "test_what_frames_of_python_led_to_belongs_to_them_whatever_its_name_ends_with"),
    _multiline("multiline._ends_python_trace", with_text("any((line.text.startswith(_PYTHON_FRAME) for line in frame)) and ", ""), "test_a_class_below_an_indented_line_that_is_no_frame_is_a_record_of_its_own"),
    _everyday("signature_hits._names_no_peer", returns("False"), "test_of_chained_exceptions_the_one_that_names_the_server_tells_whom_it_is_about"),
    _everyday("signature_hits._names_no_peer", returns("True"), "test_of_chained_exceptions_the_first_that_names_a_server_stands_for_all"),
    # what a scan has read before
    _log_reader("LogReader._look_through", with_text(" or cached.catalogue is not catalogue", ""), "test_another_catalogue_reads_all_again"),
    _log_reader("LogReader._look_through", never("cached.lines is not lines"), "test_it_finds_in_a_growing_window_what_is_found_in_each_by_itself"),
    _log_reader("LogReader._look_through", always("cached.catalogue is not catalogue"), "test_a_line_of_two_windows_is_looked_at_once"),
    _log_reader("LogReader.read", never("cached.events is not None"), "test_what_was_found_in_the_same_lines_is_not_looked_for_again"),
    _log_reader("LogReader._remember", never("known.size <= self._room"), "test_what_was_found_in_the_same_lines_is_not_looked_for_again"),
    _log_reader("LogReader._remember", always("known.size <= self._room"), "test_it_remembers_so_many_events_and_no_more"),
    _log_reader("LogReader._remember", with_text("before.size if before is not None else 0", "0"), "test_a_log_that_is_asked_for_twice_takes_its_room_once"),
    _log_reader("LogReader.end_scan", returns("None"), "test_a_log_that_was_not_read_in_a_scan_is_forgotten"),
    _log_reader("LogReader.end_scan", with_text("(self._now, {}, MOST_BYTES)", "({**self._before, **self._now}, {}, MOST_BYTES)"), "test_a_log_that_was_not_read_in_a_scan_is_forgotten"),
    _log_reader("LogReader.end_scan", with_text("{}, MOST_BYTES", "{}, self._room"), "test_each_scan_has_room_for_as_many_events"),
    _log_reader("_look_at_gained", with_text("0 <= at - lost < kept", "at - lost < kept"), "test_it_finds_in_a_growing_window_what_is_found_in_each_by_itself"),
    _log_reader("_look_at_gained", with_text("0 <= at - lost < kept", "0 <= at - lost"), "test_a_last_line_that_has_become_another_is_read_again"),
    _log_reader("_look_at_gained", with_text("lines[kept:]", "()"), "test_it_finds_in_a_growing_window_what_is_found_in_each_by_itself"),
    _log_reader("find_common", with_text("lines[:common] == before[first:first + common]", "True"), "test_nothing_is_common_where_a_line_in_the_middle_has_changed"),
    _log_reader("find_common", with_text("(kept, kept - 1)", "(kept,)"), "test_what_two_windows_have_in_common_is_known_where_lines_were_lost_gained_or_grown"),
    # when a scan's time is over
    _judging("diagnose._judge_all", with_text("too_late or inputs.too_late_to_judge()", "False"), "test_what_there_is_no_time_for_is_told_as_not_evaluated_and_what_was_held_stays"),
    _judging("diagnose._find_causes", with_text("too_late or inputs.too_late_for_causes()", "False"), "test_where_there_is_no_time_for_causes_symptoms_are_told_and_the_causes_of_the_scan_before_stand"),
    _judging("causes.with_earlier_causes", with_text("conclusion.out_of_time or ", ""), "test_where_there_is_no_time_for_causes_symptoms_are_told_and_the_causes_of_the_scan_before_stand"),
    _jobs("DiagnoseJob._judge", with_text("context.monotonic() > judging_ends", "False"), "test_every_part_of_a_scan_looks_at_the_clock_and_ends_at_the_deadline"),
    _jobs("date_explanations", with_text(" or (container_key(diagnosis) in known and _may_be_ill(diagnosis))", ""), "test_an_explanation_begins_when_it_is_found_and_keeps_its_start_until_the_container_is_well"),
    _jobs("DiagnoseJob._judge", with_keyword("too_late_for_causes", "lambda: False"), "test_every_part_of_a_scan_looks_at_the_clock_and_ends_at_the_deadline"),
    _counts("count_events", with_text("too_late or is_too_late()", "False"), "test_what_there_is_no_time_to_count_is_counted_by_the_next_scan"),
    # many patterns in one search
    _line_screen("Expressions._join_wordless", always("not any("), "test_one_that_cannot_be_joined_leaves_the_others_joined"),
    _line_screen("Expressions._join_wordless", with_text("re2.error", "KeyError"), "test_expressions_that_cannot_be_joined_to_one_are_candidates_all_the_same"),
)  # fmt: skip

_state = _Tests("journal/test_state_file.py")
_pasts = _Tests("journal/test_pasts.py")
_costs = _Tests("journal/test_first_seen_and_costs.py")
_pushed = _Tests("alerting/test_pushed_alerts.py")
_push_watch = _Tests("outputs/alertmanager/test_watch.py")
_lock = _Tests("journal/test_file_lock.py")
_upgrade = _Tests("journal/test_upgrade.py")
_totals = _Tests("journal/test_totals.py")
_waiting = _Tests("journal/test_memory_to_file.py")
_scheduler = _Tests("schedule/test_scheduler.py")
_timing = _Tests("schedule/test_timing.py")
_watchdog = _Tests("schedule/test_watchdog.py")
_regular_files = _Tests("test_regular_files.py")
_exposition = _Tests("outputs/metrics/test_exposition.py")
_catalogue = _Tests("catalogue/test_loader.py")
_causes = _Tests("catalogue/test_causes.py")
_settings = _Tests("settings/test_load.py")
_reload = _Tests("test_reload.py")
_shipped = _Tests("architecture/test_shipped_files.py")
_stacks = _Tests("deploy/test_stacks.py")
_bill = _Tests("deploy/test_bill_of_materials.py")
_replay = _Tests("tools/test_replay.py")
_light = _Tests("cli/test_light.py")
_parts = _Tests("cli/test_parts.py")
_terminal = _Tests("cli/test_terminal.py")
_process = _Tests("cli/test_process.py")
_exits = _Tests("diagnosis/rules/test_exit_error.py")
_kills = _Tests("diagnosis/rules/test_oom_killed.py")

HOUSE = (
    _last_release("families.CONTAINER_LABELS", set_to("('container', 'project')"), "test_no_stable_name_of_the_last_release_is_gone"),
    _for_report("report_snapshot._strip_engine", returns("engine"), "test_what_no_diagnosis_reads_is_left_out"),
    _for_report("report_snapshot._strip_container", returns("container"), "test_what_no_diagnosis_reads_is_left_out"),
    _for_report("reduce_for_report", always("not part.differing"), "test_where_a_part_says_something_else_all_containers_are_kept_and_what_still_differs_is_named"),
    _stages("stages._fits", returns("False"), "test_the_answer_of_a_deprecated_address_has_the_header_and_leads_to_the_page"),
    _stages("Command.start", never("self.stage.notice"), "test_a_deprecated_command_says_so_on_standard_error_and_in_help"),
    _stages("_warn_of_stages", never("notice and settings.was_given"), "test_a_deprecated_setting_that_was_given_is_warned_of_where_it_was_written"),
    _exits("_is_still_to_be_told", returns("False"), "test_of_an_end_a_moment_ago_nobody_knows_yet_who_asked_for_it"),
    _kills("oom_killed._child", with_text("(case.now - at).total_seconds() >= ENDED_WITHIN_SECONDS", "True"), "test_of_a_kill_a_moment_ago_nobody_knows_yet_whether_the_container_outlived_it"),
    _scheduler("Scheduler._on_due", never("was_refused and"), "test_who_asks_the_moment_a_scan_has_ended_gets_the_next_one"),
    _process("_interrupt_again", with_text("issubclass(lost.exc_type, KeyboardInterrupt)", "False"), "test_ctrl_c_is_heard_where_python_loses_it"),
    _waiting("bound_waiting_entries", returns("None"), "test_of_the_entries_that_wait_for_the_file_the_newest_are_kept_and_one_gap_tells_of_the_others"),
    _waiting("waiting_entries._tell", returns("None"), "test_of_the_entries_that_wait_for_the_file_the_newest_are_kept_and_one_gap_tells_of_the_others"),
    _lock("_is_ours", returns("True"), "test_a_second_daemon_leaves_the_file_to_the_first_and_says_so"),
    _lock("take_lock", with_text(" | os.O_NOFOLLOW", ""), "test_a_link_in_the_place_of_the_lock_is_not_followed"),
    _state("StateFile.write", never("self._is_closed"), "test_what_comes_after_the_end_is_written_nowhere"),
    _state("_check_intact", returns("None"), "test_a_damaged_file_is_set_aside_and_a_new_one_begun"),
    _state("_check_owner", returns("None"), "test_somebody_elses_database_is_left_alone"),
    _state("_make_room", never("path.stat().st_mode"), "test_a_file_that_others_may_read_is_made_private"),
    # what is kept, and for how long
    _pasts("lifecycle_facts._find_unseen_end", never("event.action == 'die'"), "test_an_end_whose_event_is_still_to_come_is_told_by_what_led_to_it"),
    _pasts("lifecycle_facts._find_unseen_end", never("not asked"), "test_of_an_end_that_no_event_told_nobody_knows_whether_it_was_asked_for"),
    _pasts("lifecycle_facts._find_unseen_end", with_text("container.exit_code == SIGNAL_BASE + SIGKILL", "True"), "test_the_kernels_word_tells_of_an_end_of_which_no_event_does"),
    _pasts("timeline._drop_oldest", with_text("past.counted - {counted_as(event) for event in dropped}", "past.counted"), "test_what_was_counted_is_known_no_longer_than_the_events_are"),
    _pasts("timeline._drop_oldest", with_text("if one not in gone", ""), "test_of_a_service_that_is_made_anew_again_and_again_no_more_is_kept_than_is_told"),
    _pasts("keep_lines", never("len(kept)"), "test_of_a_service_that_is_made_anew_again_and_again_no_more_is_kept_than_is_told"),
    _upgrade("keep_copy", returns("path"), "test_the_old_file_is_kept_as_it_was"),
    _upgrade("opening._prepare", with_text("'BEGIN IMMEDIATE'", "'SELECT 1'"), "test_one_that_is_killed_in_the_middle_is_taken_over_by_the_next_start"),
    _totals("join_pasts", with_text("sum(restarts) - (len(both) - twice)", "sum(restarts)"), "test_what_a_locked_file_had_counted_is_not_counted_again_when_it_is_free"),
    _totals("MemoryKeeper._join_unread", returns("None"), "test_totals_that_could_not_be_read_go_on_once_they_can"),
    _costs("tool_costs._ENTRIES_AT_ONCE", set_to("10 ** 6"), "test_a_report_of_many_calls_holds_few_of_them_at_a_time"),
    _pushed("remember_counters", with_text("now - COUNTED_FOR <= moment[0]", "moment[0]"), "test_what_no_window_reaches_and_what_is_still_to_come_is_not_remembered"),
    _pushed("remember_counters", with_text("<= moment[0] <= now", "<= moment[0]"), "test_what_no_window_reaches_and_what_is_still_to_come_is_not_remembered"),
    _pushed("remember_counters", never("[before for"), "test_counters_that_stand_still_are_remembered_once_however_often_they_are_looked_at"),
    _pushed("_open_alert", with_text("inputs.is_muted(incident) or ", ""), "test_one_that_is_muted_waits_and_speaks_when_that_ends_and_one_that_was_told_goes_on"),
    _pushed("follow_merges", never("ended.merged_into is None"), "test_a_merge_after_it_was_told_updates_it_and_opens_and_ends_nothing"),
    _pushed("has_waited", with_text("1.5 * interval", "interval"), "test_without_a_scan_it_waits_so_long_at_most_and_a_clock_that_is_set_back_holds_nothing_up"),
    _push_watch("watch_outage", never("context.host.is_up()"), "test_an_engine_that_is_away_is_one_incident_of_the_host_while_it_is"),
    _push_watch("_Finder._find_of_projects", with_text(" and record.project not in ill", ""), "test_a_failed_deployment_is_told_by_the_incident_that_its_project_has"),
    _scheduler("Scheduler.find_hang", returns("None"), "test_a_scan_that_does_not_end_is_told_though_its_turns_come"),
    _scheduler("HUNG_AFTER_SECONDS", set_to("0.0"), "test_a_scan_that_is_not_started_for_three_intervals_and_half_a_minute_is_told"),
    _timing("bring_forward", returns("None"), "test_a_run_that_is_due_later_than_an_interval_from_now_is_due_at_once"),
    _timing("watch_clock", without("bring_forward"), "test_a_step_of_the_real_clock_neither_stops_nor_multiplies_nor_miscounts_scans"),
    _timing("NextSlot.get_next_fire_time", with_text("(behind // self.interval + 1) * self.interval", "self.interval"), "test_the_next_run_is_the_first_slot_still_to_come"),
    _watchdog("Watchdog.turn", returns("None"), "test_a_process_that_makes_no_turn_ends_and_tells_where_it_was"),
    _watchdog("LEAST_SECONDS", set_to("1.0"), "test_the_scheduler_may_be_silent_for_four_intervals_and_for_two_minutes_at_least"),
    _regular_files("read_regular_file", never("max_bytes"), "test_what_is_no_small_regular_file_is_refused_at_once_in_one_line"),
    _regular_files("_refuse_other_kinds", returns("None"), "test_what_is_no_small_regular_file_is_refused_at_once_in_one_line"),
    _exposition("cap_series", returns("(list(samples), 0)"), "test_above_the_cap_whole_informational_families_go_and_are_counted"),
    _exposition("LABEL_MAX_CHARS", set_to("10 ** 6"), "test_long_label_values_end_in_a_hash"),
    _exposition("label_value", returns("plain_label(raw)"), "test_any_text_gives_a_label_that_parses_back"),
    _catalogue("find_flaw", returns("None"), "test_a_slow_pattern_is_refused"),
    _catalogue("catalogue.loader._compile", with_keyword("maxsize", "0"), "test_at_a_reload_the_catalogue_in_use_stays_until_a_signature_changes"),
    _causes("catalogue.causes._refuse", without_raise(), "test_a_mistake_among_causes_is_refused_by_name"),
    _causes("check_use", returns("None"), "test_a_cause_that_nothing_names_is_refused"),
    _causes("catalogue.loader._put_words", without_raise(), "test_a_signature_that_names_no_known_cause_is_refused_with_its_line"),
    _causes("causes_of_hits", always("known.issuperset(cause.needs)"), "test_a_cause_that_needs_a_fact_is_said_only_where_it_is_known"),
    _settings("sources._walk", without_raise(), "test_a_bad_file_is_refused_with_its_line"),
    _settings("read_environment", without_raise(), "test_an_unknown_variable_is_refused_with_a_near_match"),
    _reload("ReloadOnSighup.run", without("self._record"), "test_a_defect_does_not_pass_for_success"),
    # the command line
    _light("parsing.parse", with_text("not unknown and ", ""), "test_what_loads_little_refuses_what_is_wrong_all_the_same"),
    _light("parsing.parse", with_text("(not any(('.' in name for name in vars(arguments)))) and ", ""), "test_a_setting_given_to_version_is_heeded"),
    _light("parsing._has_setting", returns("False"), "test_what_loads_little_refuses_what_is_wrong_all_the_same"),
    _light("parsing._has_setting", returns("True"), "test_what_answers_at_once_loads_next_to_nothing"),
    _parts("Unseen.take", never("seen[entry] > 0"), "test_following_shows_each_line_once"),
    _parts("Unseen.take", with_text("seen[entry] -= 1", "pass"), "test_following_shows_each_line_once"),
    _parts("Unseen.take", without("self._at_last.clear"), "test_following_shows_each_line_once"),
    _terminal("host_views._check_drift", with_text("if name in own", ""), "test_drift_of_a_project_lists_no_foreign_containers"),
    _replay("host_views._check_drift", with_text("date_differences(report, since)", "report"), "test_drift_of_the_host_and_of_a_project_tells_since_when"),
    _terminal("_width_of_output", returns("None"), "test_a_pipe_is_as_wide_as_columns_says"),
    _terminal("_width_of_output", with_text("_LEAST_WIDTH", "0"), "test_a_pipe_is_as_wide_as_columns_says"),
    # what is shipped
    _shipped.shipped("deploy/requirements.lock", " \\\n    --hash=sha256:", " # ", "test_lock_files_are_hashed_and_name_no_registry"),
    _bill.shipped("deploy/bill_of_materials.py", "if not PINNED.fullmatch(base)", "if False", "test_a_release_takes_no_base_without_a_digest"),
    _bill.shipped("deploy/bill_of_materials.py", "if without := ", "if False and ", "test_licences_are_collected_and_a_component_without_one_is_refused"),
    _stacks.shipped("deploy/compose.agent.yaml", "read_only: true", "read_only: false", "test_every_service_is_hardened_and_limited"),
)  # fmt: skip

_verify_rules = _Tests("deployments/test_verify_rules.py")
_verify_watch = _Tests("deployments/test_verify_watch.py")
_due = _Tests("memory/test_deployments.py")
_deployment_verdicts = _Tests("schedule/test_deployment_verdicts.py")
_check_rules = _Tests("deployments/test_check_rules.py")
_check_reading = _Tests("deployments/test_check_reading.py")
_known_secrets_of_environments = _Tests("secrets/test_known_secrets.py")
_incidents = _Tests("incidents/test_grouping.py")
_changes = _Tests("incidents/test_changes.py")
_troubles = _Tests("incidents/test_troubles.py")
_config_changes = _Tests("memory/test_config_changes.py")
_muting = _Tests("incidents/test_quiet.py")
_quiet_routes = _Tests("outputs/http/test_quiet.py")
_quiet_tools = _Tests("tools/test_quiet.py")
_notes = _Tests("tools/test_notes.py")
_repetitions = _Tests("memory/test_repetitions.py")
_fair_share = _Tests("journal/test_fair_share.py")
_stores = _Tests("tools/test_stores.py")
_notes_routes = _Tests("outputs/http/test_notes.py")
_note_questions = _Tests("outputs/mcp/test_note_questions.py")
_notices = _Tests("incidents/test_notices.py")
_delivery = _Tests("outputs/messages/test_delivery.py")
_sender = _Tests("outputs/messages/test_sender.py")
_messages = _Tests("outputs/messages/test_wording.py")
_message_start = _Tests("outputs/messages/test_start.py")
_bounded = _Tests("test_bounded_http.py")
_one_heap = _Tests("test_one_heap.py")
_tool_calls = _Tests("outputs/http/test_tool_calls.py")
_many_services = _Tests("tools/test_many_services.py")
_stdio = _Tests("outputs/mcp/test_stdio.py")
_other_owner = _Tests("journal/test_other_owner.py")

DEPLOYMENTS_AND_INCIDENTS = (
    # what is told of a deployment
    _verify_rules("rule_context._is_its_own", returns("True"), "test_a_crash_of_the_container_that_was_replaced_is_none_of_it"),
    _verify_rules("ServiceCase.ends", with_text("(not (end.requested or end.shutdown)) and ", ""), "test_a_restart_that_somebody_asked_for_is_no_failure"),
    _verify_rules("port_refused._is_refused", with_text(" and any(('refused' in line.lower() for line in cause.evidence))", ""), "test_a_health_check_that_gets_no_answer_in_time_says_nothing_of_its_own_port"),
    _verify_watch("watch._find_before", returns("frozenset()"), "test_what_was_there_before_the_deployment_is_no_news"),
    _verify_watch("watch._keep_certain", always("settled"), "test_nothing_is_certain_while_up_may_just_be_about_to_begin"),
    _verify_watch("used_files.find_other_files", with_text("container.created_at + CLOCK_SLACK < since", "False"), "test_files_of_an_earlier_deployment_are_not"),
    _verify_watch("slower_start.find_slower_starts", with_text(" and (seconds - longest >= SLOWER_BY)", ""), "test_a_slower_start_is_a_note"),
    _due("memory.deployments.find_due", with_text(" and snapshot.taken_at - at >= QUIET_FOR", ""), "test_it_is_due_a_minute_after_it_went_quiet"),
    _due("memory.deployments._go_on", with_text(" and newest[project] <= record.at", ""), "test_it_does_not_where_something_was_deployed_since"),
    _due("memory.deployments._go_on", with_text(" or (now - at > JUDGED_WITHIN)", ""), "test_what_was_deployed_while_the_daemon_was_restarted_is_judged"),
    _deployment_verdicts("DeploymentJudge.look", with_text("threading.Thread(target=self._judge_due, name='deployments', daemon=True).start()", "self._judge_due()"), "test_a_scan_waits_for_no_verdict_and_begins_no_second_round"),
    _deployment_verdicts("DeploymentJudge.look", always("self._judging.acquire"), "test_a_scan_waits_for_no_verdict_and_begins_no_second_round"),
    # what a deployment would meet
    _check_rules("check.judge._verdict", with_text(" or failed", ""), "test_who_could_not_judge_everything_does_not_say_that_it_would_come_up"),
    _check_rules("port_taken._processes", always("published.find(binding) is None"), "test_the_engine_itself_listens_on_the_port_of_the_container_that_is_replaced"),
    _check_rules("PlannedDeployment.is_replaced", with_text("claim.service in self._looked_after", "True"), "test_port_taken_only_by_what_runs_and_stays"),
    _check_reading("ComposeReader.resolve_deployment", with_text("not involved.is_unchanged()", "False"), "test_files_that_change_while_they_are_read_are_not_judged"),
    _check_rules("check.rules.name_taken._find_wanted", with_text(" and int(number) <= service.replicas", ""), "test_two_billion_replicas_are_not_counted_out"),
    _check_rules("wanted_deployment.is_image_name", returns("True"), "test_a_name_that_no_image_can_have_fails"),
    _check_reading("edited_files.refuse_unread", without_raise(), "test_an_edit_behind_an_absolute_name_is_refused"),
    _check_reading("key_locations._count_texts", returns("0"), "test_mappings_in_a_list_count_too"),
    _known_secrets_of_environments("find_secrets", with_text(" and (not (key == 'PWD' and value.startswith('/')))", ""), "test_the_folder_of_the_shell_is_no_secret_though_it_is_called_pwd"),
    # incidents, and what changed before them
    _incidents("grouping._is_failure", returns("True"), "test_warnings_open_nothing_and_join_what_is_open"),
    _incidents("_Fold._take_group", with_text("self._host.at - tracked.incident.started_at <= MERGED_WITHIN", "True"), "test_after_two_minutes_it_stays_one_of_its_own"),
    _incidents("_Fold._merge_into", without("self._end_merged"), "test_it_is_merged_too_where_the_roots_incident_was_opened_before_anything_tied_the_two"),
    _notices("follow_merges", with_text("while incident_id not in open_ids and incident_id not in passed", "if incident_id not in open_ids"), "test_what_is_merged_twice_between_two_looks_is_told_as_a_change_of_what_it_is_a_part_of_in_the_end"),
    _incidents("_Fold._take_group", with_text("not self._was_well(tracked)", "True"), "test_a_new_root_of_one_that_was_well_again_has_an_incident_of_its_own"),
    _incidents("grouping._find_outside_peer", returns("None"), "test_those_that_miss_the_same_host_outside_of_docker_are_one_incident"),
    _incidents("incidents.changes._begins_it", returns("False"), "test_what_was_done_to_the_root_while_the_first_scan_ran_is_told_too"),
    _incidents("_Fold.run", with_text("self._host.has_watched and ", ""), "test_a_shutdown_before_the_first_look_of_a_new_exporter_is_no_news"),
    _troubles("troubles._add_difference", with_text(" or now - since >= DIFFERENCE_STANDS_FOR", " or True"), "test_a_difference_is_a_trouble_when_it_has_stood_for_a_minute"),
    _troubles("_add_differences", with_text("project.project_name in deploying or ", ""), "test_what_a_deployment_has_not_started_yet_is_none"),
    _troubles("_add_differences", with_text(" and (not is_stale)", ""), "test_of_a_project_or_service_that_was_taken_down_nothing_is_missed"),
    _muting("quiet.is_muted", never("incident.acknowledged_at"), "test_an_incident_is_muted_by_a_quiet_root_for_a_while_by_all_members_and_by_a_person_who_is_on_it"),
    _muting("quiet.is_muted", with_text("now - incident.started_at < SUFFERERS_WAIT", "True"), "test_an_incident_is_muted_by_a_quiet_root_for_a_while_by_all_members_and_by_a_person_who_is_on_it"),
    _quiet_routes("is_own_form", with_text("is_from_here and ", ""), "test_a_form_that_was_not_made_here_for_this_user_is_refused"),
    _quiet_routes("is_own_form", with_text("hmac.compare_digest(token.encode(), form_token(scope).encode())", "True"), "test_a_form_that_was_not_made_here_for_this_user_is_refused"),
    _quiet_routes("form_tokens._user_of", with_text("'' if token is None else ", "'' if token is not None else "), "test_each_who_shows_a_bearer_token_has_a_form_token_of_their_own"),
    _quiet_routes("refuse_other_sites", without_raise(), "test_other_web_sites_change_nothing"),
    _notes_routes("tool_routes._add_post_route", never("tool.effect != 'read'"), "test_other_web_sites_change_nothing"),
    _note_questions("note_questions.write_and_ask", with_text("params.request_state != written.id", "params.input_responses is None"), "test_a_yes_without_a_question_is_answered_with_the_question"),
    _note_questions("note_questions.seal_question", with_text("bind_principal=_user_of", "bind_principal=None"), "test_a_yes_of_one_user_is_none_of_another"),
    _note_questions("_AgentServer.__init__", without("self.server.middleware.append"), "test_a_state_that_this_server_did_not_make_is_refused"),
    _note_questions("note_questions.can_ask", returns("True"), "test_a_client_that_cannot_ask_leaves_it_pending"),
    _notes("note_book.find_approved", with_text(" if note.approved_at is not None", ""), "test_the_note_of_an_agent_waits_and_is_shown_nowhere_until_a_person_approves_it"),
    _notes("note_book.check_room", without_raise(), "test_the_five_hundred_and_first_note_of_people_is_refused_and_one_of_an_agent_waits"),
    _repetitions("fold_repetitions", with_text("tally.rows < ROWS_OF_AN_HOUR", "True"), "test_of_each_kind_the_first_of_an_hour_are_told_and_the_rest_is_one_row"),
    _repetitions("fold_repetitions", with_text("told < ROWS_OF_A_DAY", "True"), "test_a_subject_has_so_many_rows_a_day_of_whatever_kind"),
    _repetitions("fold_repetitions", with_text("entry.kind not in ORDINARY", "False"), "test_incidents_changes_deployments_and_notes_are_told_each_time"),
    _repetitions("repetitions._is_over", with_text("tally.hour > now + HOUR", "False"), "test_a_clock_that_leaps_costs_no_count"),
    _repetitions("repetitions._bound", always("len(state.tallies) <= TALLIES_AT_MOST and len(state.days) <= TALLIES_AT_MOST"), "test_far_too_many_kinds_are_not_remembered_and_not_lost"),
    _repetitions("name_repeated", with_text("bool(entry.data.get('by_policy'))", "False"), "test_what_somebody_asked_for_is_no_repetition_of_what_came_by_itself"),
    _repetitions("share_out", with_text("left // (len(ascending) - number)", "left"), "test_whoever_has_little_keeps_all_of_it"),
    _fair_share("entry_rows._share", with_text("min(count, caps[owner])", "count"), "test_what_floods_the_journal_has_its_own_room_and_its_oldest_go"),
    _fair_share("find_excess", with_text("room.in_all - sum(lasting.values())", "room.in_all"), "test_ordinary_rows_go_before_those_of_incidents_and_changes"),
    _fair_share("find_excess", with_text("PRUNED_AT_ONCE", "10 ** 9"), "test_a_file_that_an_earlier_version_filled_becomes_smaller_by_and_by"),
    _fair_share("find_beyond", with_text("if identity in present", "if True"), "test_events_of_those_that_are_gone_go_first_the_least_recent_before_all"),
    _fair_share("timeline._drop_oldest", with_text("event.action == 'health_status' and beyond > 0", "False"), "test_a_loop_of_restarts_loses_no_end_that_health_would_push_out"),
    _fair_share("find_crowding", returns("{}"), "test_a_root_whose_incidents_never_stop_leaves_those_of_others"),
    _fair_share("_bound_failed_runs", always("len(ordered) <= FAILED_RUNS_AT_MOST"), "test_a_job_that_fails_each_minute_pushes_out_no_failed_run_of_another"),
    _fair_share("memory_rows._changed_repetitions", always("before.tallies is after.tallies"), "test_a_kill_in_the_open_hour_loses_no_count_and_a_command_reads_it"),
    _fair_share("count_of_day", returns("{}"), "test_a_restart_of_the_exporter_gives_no_new_day"),
    _stores("note_book._make_way", never("pending[caller] >= PENDING_OF_ONE"), "test_an_agent_that_writes_without_end_locks_nobody_out_of_notes"),
    _stores("note_book._make_way", never("pending.total() >= PENDING_AT_MOST"), "test_many_agents_together_push_out_those_that_have_most"),
    _stores("ChangeRates.count", without_raise(), "test_an_agent_that_writes_without_end_locks_nobody_out_of_notes", "test_one_person_is_limited_and_takes_nothing_from_another"),
    _stores("Watches.join", with_text("own >= MOST_WATCHES_OF_ONE", "False"), "test_who_starts_watches_leaves_places_for_others_and_results_of_others_stay"),
    _stores("Watches._forget", with_text("self._callers.get(run[1], '') == whose", "True"), "test_who_starts_watches_leaves_places_for_others_and_results_of_others_stay"),
    _stores("KeptPages.keep", with_text("counts[kept[0]] == max(counts.values())", "True"), "test_an_agent_that_begins_many_lists_ends_none_of_another"),
    _stores("find_costly", returns("{}"), "test_a_tool_that_is_called_without_end_pushes_no_other_out_of_the_ledger"),
    _notes("tools.notes.write_memory", never("request.dry_run"), "test_a_dry_run_is_the_default_stores_nothing_and_says_what_it_would_store"),
    _notes("tools.notes._masked", returns("note"), "test_secrets_are_masked_where_a_note_enters_by_the_rules_and_as_containers_hold_them"),
    _notes("tools.notes._to_answer", with_text("text=asked.text", "text=kept.text"), "test_an_agent_that_guesses_a_secret_does_not_learn_that_it_is_one"),
    _notes("MemoryKeeper._count_rows", with_text(" if row.code not in NOTE_CODES", ""), "test_notes_are_not_counted_among_the_entries_of_the_journal"),
    _quiet_routes("_own_path", returns("path"), "test_a_form_leads_to_this_site_only"),
    _quiet_tools("MemoryKeeper.acknowledge_incident", returns("None"), "test_a_person_who_is_on_an_incident_is_noted_once_and_a_scan_keeps_it"),
    _delivery("_confine_requests", with_text("'allow_redirects': False, ", ""), "test_no_redirect_is_followed"),
    _delivery("limited_process._exchange", with_text("clock.monotonic() + limits.timeout_seconds", "clock.monotonic() + 1000000.0"), "test_a_receiver_that_hangs_is_given_up"),
    _delivery("_keep_beginning", with_text("answer.raw.read(_ANSWER_BYTES, ", "answer.raw.read("), "test_of_an_answer_without_end_the_beginning_is_read_and_its_status_counts"),
    _delivery("_ANSWER_SECONDS", set_to("100.0"), "test_of_an_answer_without_end_the_beginning_is_read_and_its_status_counts"),
    _delivery("delivery._MEMORY_BYTES", set_to("1 << 40"), "test_a_receiver_whose_answer_fills_the_memory_is_told_of"),
    _message_start("MessageSenders.start", with_text("threading.Thread(target=self._check, name='receivers', daemon=True).start()", "self._check()"), "test_the_start_waits_for_no_check_of_a_receiver_and_what_is_wrong_is_told_later"),
    _sender("MessageSender.check", always("self.state.usable is None"), "test_a_message_that_arrived_knows_better_than_a_check_that_ends_later"),
    _tool_calls("ToolCaller.call", with_text("await call_within(tool, self._calls.call(name, payload), seconds)", "await self._calls.call(name, payload)"), "test_a_call_that_takes_too_long_is_answered_in_time_with_an_error_that_says_so"),
    _many_services("check.hide_among", with_text("hide(joined) == joined", "False"), "test_of_many_sentences_only_those_with_a_secret_are_searched_apart"),
    _many_services("check.hide_among", with_text("hide(joined) == joined", "True"), "test_of_many_sentences_only_those_with_a_secret_are_searched_apart"),
    _stdio("BoundedLines.readline", with_text("self._stream.readline(LINE_MAX_BYTES + 1)", "self._stream.readline()"), "test_a_line_of_a_hundred_megabytes_is_refused_in_little_memory_and_the_next_one_is_answered"),
    _other_owner("opening._make_room", never("owner not in (0, os.geteuid())"), "test_root_uses_the_file_of_another_user_and_says_who_can_change_it"),
    _one_heap("use_one_heap", returns("None"), "test_all_threads_have_one_heap"),
    _bounded("BoundedConnection._cut", without("socket.socket.shutdown"), "test_an_answer_that_trickles_is_cut_when_its_time_is_over"),
    _bounded("BoundedConnection.connect", with_text("do_handshake_on_connect=False", "do_handshake_on_connect=True"), "test_an_answer_that_trickles_is_cut_when_its_time_is_over"),
    _bounded("BoundedConnection.read", never("self._is_cut"), "test_an_answer_that_trickles_is_cut_when_its_time_is_over"),
    _bounded("BoundedConnection.read", never("len(body) > max_bytes"), "test_an_answer_is_read_up_to_its_cap_and_no_further"),
    _sender("MessageSender.tell", never("state != before"), "test_the_intent_is_in_the_state_file_before_the_message_leaves"),
    _messages("Wording._clean", returns("text"), "test_no_secret_and_no_line_break_of_a_container_leaves"),
    _incidents("_Fold._refresh", never("self._host.at - since < WELL_FOR"), "test_it_ends_when_all_members_are_well_for_two_scans_and_two_minutes"),
    _incidents("_Fold._has_new_sign", returns("False"), "test_old_lines_in_the_log_keep_it_not_open_and_new_ones_do"),
    _incidents("_Fold._is_after_shutdown", with_text(" and self._host.at - ended < AFTER_SHUTDOWN", ""), "test_a_shutdown_from_before_the_exporter_began_is_no_incident"),
    _incidents("incidents.changes.find_changes", with_text("(not entry.data.get('by_policy')) and ", ""), "test_what_changed_before_it_is_told_the_own_project_first_and_the_nearest_first"),
    _changes("changes.began_in_a_pause", returns("True"), "test_a_failure_within_a_stop_on_request_that_is_over_was_asked_for"),
    _changes("changes.Surroundings.include", returns("True"), "test_what_changed_before_is_what_could_have_to_do_with_it"),
    _incidents("evidence.fold_evidence", never("size > EVIDENCE_BYTES"), "test_evidence_is_cut_to_four_kibibytes"),
    _config_changes("config_changes._is_by_image", returns("False"), "test_what_another_image_brings_and_what_was_not_read_is_no_change"),
    _config_changes("config_changes._is_plain", returns("True"), "test_a_sentence_in_a_label_stays_out_of_the_text"),
    _config_changes("config_changes._forget_old", with_text("absent[:KEPT_AT_MOST]", "absent"), "test_names_of_one_run_each_do_not_fill_the_memory"),
)  # fmt: skip

_disk_engine = _Tests("engine/test_stored_data.py")
_log_sizes = _Tests("engine/test_log_sizes.py")
_disk_memory = _Tests("memory/test_disk_usage.py")
_cost_of_a_scan = _Tests("journal/test_cost_of_a_scan.py")
_disk_journal = _Tests("journal/test_disk.py")
_disk_watch = _Tests("schedule/test_disk_watch.py")
_disk_tool = _Tests("tools/test_disk.py")
_log_unbounded = _Tests("diagnosis/rules/test_log_unbounded.py")

DISK = (
    # what the engine says of its disk, and how often it is asked
    _disk_engine("EngineSession.call", with_text("self.options.read_timeout_seconds if may_take_seconds is None else may_take_seconds", "self.options.read_timeout_seconds"), "test_it_may_take_longer_than_any_other_answer"),
    _disk_engine("stored_data._hide_in_tags", returns("data"), "test_no_tag_shows_what_a_container_holds"),
    _disk_engine("stored_data._size", returns("raw.get(key)"), "test_what_is_not_told_is_not_zero", "test_whatever_stands_there_nothing_is_raised"),
    _disk_engine("stored_data._shown", returns("volume"), "test_names_are_cleaned"),
    _disk_watch("DiskWatch._may_ask", returns("True"), "test_one_that_took_long_rests_longer_and_logs_do_not"),
    _disk_watch("DiskWatch.look", always("self._reading.acquire"), "test_never_two_at_once_and_nobody_waits"),
    _disk_watch("DiskWatch._ask", with_text("max(EVERY_SECONDS, REST_SHARE * took_seconds)", "EVERY_SECONDS"), "test_one_that_took_long_rests_longer_and_logs_do_not"),
    _disk_watch("DiskWatch._wait_at_start", returns("0.0"), "test_who_restarts_often_asks_no_more_often"),
    _disk_watch("DiskWatch._ask", never("self._stopped.is_set"), "test_what_ends_with_the_daemon_is_no_failure_of_the_engine"),
    _disk_tool("tools.disk._read_now", always("asked_at is None"), "test_a_command_that_goes_on_looks_at_logs_again_and_asks_every_five_minutes"),
    _disk_tool("_answer_command", with_text("of_daemon.engine_id == engine_id", "True"), "test_a_command_takes_a_fresh_reading_of_the_same_engine_else_it_reads"),
    _disk_tool("_answer_command", with_text("< FRESH", "< FRESH * 9"), "test_a_command_takes_a_fresh_reading_of_the_same_engine_else_it_reads"),
    _disk_tool("_answer_command", with_text("told.engine_id == engine_id", "True"), "test_a_command_asks_the_daemon_of_its_engine"),
    # log files
    _log_sizes("log_sizes.read_log_size", with_text(" or facts.id not in path", ""), "test_a_path_that_is_not_this_containers_is_not_looked_at"),
    _log_sizes("log_sizes._tell_absent", returns("0"), "test_what_is_not_seen_is_unknown_with_the_mount_that_helps"),
    _log_sizes("log_sizes._size_of_rotated", returns("0"), "test_rotated_files_count_compressed_or_not"),
    _log_sizes("parse.container._is_log_bounded", returns("False"), "test_which_driver_bounds_its_log"),
    # growth
    _disk_memory("disk_usage._was_emptied", returns("False"), "test_a_log_that_was_emptied_begins_anew_unless_it_rotates"),
    _disk_memory("disk_usage._add", with_text("timedelta() < at - one.at <= KEPT", "True"), "test_it_is_the_growth_of_the_last_day_at_most", "test_a_clock_that_was_set_back_gives_no_growth_of_the_future"),
    _disk_memory("disk_usage._find_growth", always("SHORTEST"), "test_nothing_is_told_of_too_short_a_time"),
    _disk_tool("disk_usage._fold_logs", never("reading.engine_id"), "test_another_engines_disk_is_forgotten"),
    _cost_of_a_scan("MemoryKeeper._save_later", always("threading.get_ident() not in self._scans"), "test_a_scan_is_one_transaction"),
    _cost_of_a_scan("MemoryKeeper._query", without("self._save_due"), "test_who_reads_what_is_stored_meanwhile_reads_all_of_it"),
    _cost_of_a_scan("MemoryKeeper._save_later", never("threading.get_ident() not in self._scans"), "test_what_another_thread_must_keep_at_once_does_not_wait_for_a_scan"),
    _disk_journal("MemoryKeeper._write", with_text("statements.append(insert_samples(self._sizes))", "pass"), "test_growth_goes_on_after_a_restart"),
    _disk_journal("prune_samples", returns("('DELETE FROM disk WHERE at < ?', [(0,)])"), "test_a_size_of_an_hour_is_a_row_for_a_day"),
    # when an unbounded log is worth a word
    _log_unbounded("log_unbounded._judge", never("case.thresholds.log_file_bytes"), "test_only_a_large_log_is_told"),
    _log_unbounded("log_unbounded._seconds_until_full", with_text("min(LOOKED_AHEAD_SECONDS, FORESIGHT * growth.known_for_seconds)", "LOOKED_AHEAD_SECONDS"), "test_a_rate_tells_of_no_more_than_24_times_its_own_time"),
    _log_unbounded("log_unbounded._seconds_until_full", with_text(" and is_to_blame", ""), "test_who_writes_less_than_a_tenth_is_not_to_blame"),
    _log_unbounded("log_unbounded._free_bytes", with_text("disk.path == root", "True"), "test_only_the_engines_own_disk_counts"),
    _log_unbounded("_advice_of_rules", with_text("rule.type in ADVISORY and ", "False and "), "test_it_explains_nothing_else_that_is_wrong"),
    _log_unbounded("NotEvaluated.is_advisory", returns("False"), "test_what_cannot_be_seen_is_not_evaluated_and_takes_no_words"),
)  # fmt: skip

_trust = _Tests("agents/test_untrusted_text.py")
_paging = _Tests("agents/test_paging.py")
_view = _Tests("agents/test_answer_rendering.py")

AGENTS = (
    # whose words are whose
    _trust("_is_marked", returns("False"), "test_every_text_of_a_result_is_sorted"),
    _trust("write_command", with_text("is_odd_name(word)", "False"), "test_no_tool_tells_the_sentence_outside_of_untrusted"),
    _trust("sort_fields", with_text("frozenset(marked | unsorted)", "frozenset(marked)"), "test_a_text_that_nobody_has_sorted_is_not_trusted"),
    _trust("sort_fields", with_text("frozenset(marked | unsorted)", "frozenset()"), "test_no_tool_tells_the_sentence_outside_of_untrusted"),
    _trust("is_safe_field", returns("True"), "test_no_tool_tells_the_sentence_outside_of_untrusted"),
    _trust("is_odd_name", returns("False"), "test_no_tool_tells_the_sentence_outside_of_untrusted"),
    _trust("_UNLESS", set_to("{}"), "test_no_tool_tells_the_sentence_outside_of_untrusted"),
    _trust("texts.read_incident", with_text("change.text for change in incident.changes if change.kind is not JournalKind.CONFIG_CHANGE", "change.text for change in incident.changes"), "test_no_tool_tells_the_sentence_outside_of_untrusted"),
    _trust("answer_rendering.render_error", with_text("find_odd_names_in(_plain(error.details))", "find_odd_names_in(details)"), "test_no_refusal_hint_or_completion_tells_the_sentence_outside_of_untrusted"),
    _trust("nearest_names", with_text(" if not is_odd_name(candidate)", ""), "test_no_refusal_hint_or_completion_tells_the_sentence_outside_of_untrusted"),
    _trust("_AgentServer._complete", with_text(" if not is_odd_name(name)", ""), "test_no_refusal_hint_or_completion_tells_the_sentence_outside_of_untrusted"),
    _view("_write_report", with_text("find_odd_names(value)", "()"), "test_what_stands_before_rows_names_nothing_that_no_name_can_be"),
    _view("agents.findings._evidence", returns("iter(())"), "test_detail_adds_causes_what_to_do_and_the_untrusted_evidence"),
    _view("render_chosen", with_text("{'untrusted': chosen}", "{'result': chosen}"), "test_what_was_chosen_from_a_report_is_untrusted_whatever_it_is"),
    # what an edit shows
    _what_if("what_if._is_hidden", returns("False"), "test_no_change_leaves_a_secret_without_what_it_is_known_by"),
    _what_if("what_if._refuse_unhidden", without_raise(), "test_no_change_leaves_a_secret_without_what_it_is_known_by"),
    _what_if("what_if.apply_changes", with_text("hidden_after.is_certain", "True"), "test_a_value_of_a_variable_cannot_be_guessed_and_can_be_replaced"),
    _what_if("what_if.show_lines", with_text("hide_environment(text, path).text", "text"), "test_a_value_of_a_variable_cannot_be_guessed_and_can_be_replaced"),
    _what_if("what_if._refuse_shown_variables", without_raise(), "test_no_edit_makes_the_value_of_any_variable_one_that_is_told"),
    _environment("_hide_comments", returns("hidden"), "test_no_value_of_a_compose_file_is_shown_and_all_else_stays"),
    _environment("environment_values._hide_lines", returns("text"), "test_of_what_cannot_be_read_no_value_is_shown"),
    _environment("_hide_env_file", never("quote"), "test_an_env_file_has_its_keys_alone"),
    _encodings("KnownSecrets._hide_hex", returns("text"), "test_a_known_secret_is_hidden_in_each_encoding"),
    _encodings("KnownSecrets._hide_escaped", returns("text"), "test_a_known_secret_is_hidden_in_each_encoding"),
    _encodings("KnownSecrets._hide_split", returns("text"), "test_every_split_of_a_secret_over_lines_is_hidden"),
    _encodings("KnownSecrets._hide_split", never("checks_left < 0"), "test_lines_that_all_might_be_halves_are_bounded"),
    _encodings("find_suspect_lines", returns("[]"), "test_in_much_text_the_same_is_hidden_as_in_little"),
    _encodings("suspect_lines._strip_wrapping", returns("list(lines)"), "test_in_much_text_the_same_is_hidden_as_in_little"),
    _encodings("suspect_lines._make_search", with_text("searched[0].append(escapes)", "None"), "test_in_much_text_the_same_is_hidden_as_in_little"),
    _encodings("_continued_word", returns("iter(())"), "test_a_secret_whose_name_is_written_with_escapes_is_masked"),
    _encodings("mask_pairs", always("_ESCAPED_HEAD.search(line) is None"), "test_a_secret_whose_name_is_written_with_escapes_is_masked"),
    _encodings("escapes._MOST_LEVELS", set_to("1"), "test_a_known_secret_is_hidden_in_each_encoding"),
    _odd_names("ContainedRow._draw", returns("caller()"), "test_what_raises_while_a_row_is_drawn_costs_that_row"),
    _odd_names("container_table.to_rows", without("context.errors.contained"), "test_what_raises_in_one_row_of_a_page_costs_that_row"),
    _odd_names("AnyName", set_to("ProjectName"), "test_each_link_of_a_page_leads_to_a_page"),
    _refused("ComposeReader._learn_unresolved", without("self._book.learn_files"), "test_no_format_shows_what_a_file_holds_that_compose_refuses"),
    _refused("parse_compose_file", without("_pairs_of_nodes"), "test_what_a_file_holds_is_known_from_its_text"),
    # the budget, and pages
    _paging("_fit_rows", with_text("used + frame(count) > max_bytes", "False"), "test_a_row_larger_than_the_budget_is_made_to_fit_so_that_the_next_page_goes_on"),
    _paging("_fit_rows", never("written and (not taken)"), "test_a_row_larger_than_the_budget_is_made_to_fit_so_that_the_next_page_goes_on"),
    _paging("agents.paging.shrink", returns("value"), "test_a_value_is_made_to_fit"),
    _paging("_fit_object", never("used > max_bytes"), "test_untrusted_texts_that_do_not_fit_are_left_out_and_counted"),
    _paging("agents.paging._fence", with_text("map(compact, lines)", "lines"), "test_a_fence_cannot_be_ended_from_inside"),
    _view("_is_changed", returns("False"), "test_a_page_of_another_state_of_the_host_says_so"),
)  # fmt: skip

GUARDS: tuple[Guard | ShippedGuard, ...] = (
    *ENGINE, *TEXT, *PRINTED, *HTTP, *COMPOSE, *DIAGNOSIS, *DEPLOYMENTS_AND_INCIDENTS, *DISK, *AGENTS, *HOUSE
)  # fmt: skip
