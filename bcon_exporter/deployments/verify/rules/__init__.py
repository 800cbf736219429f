"""What makes a service bad, the most specific first. Add one: write its file, add its line."""

from bcon_exporter.deployments.verify.rule_context import VerifyRule
from bcon_exporter.deployments.verify.rules import (
    crash_loop,
    crashed,
    differs,
    hook_failed,
    new_errors,
    not_created,
    not_running,
    one_shot_failed,
    oom_killed,
    port_refused,
    start_failed,
    unhealthy,
    waits_for,
    wrong_replicas,
)

VERIFY_RULES: tuple[VerifyRule, ...] = (
    hook_failed.RULE,
    start_failed.RULE,
    oom_killed.RULE,
    one_shot_failed.RULE,
    crash_loop.RULE,
    crashed.RULE,
    waits_for.RULE,
    not_created.RULE,
    wrong_replicas.RULE,
    not_running.RULE,
    port_refused.RULE,
    unhealthy.RULE,
    differs.RULE,
    new_errors.RULE,
)
