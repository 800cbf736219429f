"""The symptom rules, in the order of SymptomType. Add a rule: write its file, add its line."""

from collections.abc import Mapping
from types import MappingProxyType

from bcon_exporter.diagnosis.rule import SymptomRule
from bcon_exporter.diagnosis.rules import (
    cpu_throttled,
    disk_pressure,
    exit_error,
    health_flapping,
    high_cpu,
    high_memory,
    log_error,
    log_unbounded,
    network_error,
    never_started,
    not_started_again,
    oom_killed,
    paused,
    pids_limit,
    restart_loop,
    slow_response,
    stale_namespace,
    start_failed,
    starting,
    unhealthy,
)
from bcon_exporter.model.findings import SymptomType

SYMPTOM_RULES: tuple[SymptomRule, ...] = (
    high_cpu.RULE,
    high_memory.RULE,
    oom_killed.RULE,
    restart_loop.RULE,
    exit_error.RULE,
    network_error.RULE,
    disk_pressure.RULE,
    slow_response.RULE,
    log_error.RULE,
    unhealthy.RULE,
    start_failed.RULE,
    never_started.RULE,
    paused.RULE,
    cpu_throttled.RULE,
    pids_limit.RULE,
    health_flapping.RULE,
    starting.RULE,
    log_unbounded.RULE,
    not_started_again.RULE,
    stale_namespace.RULE,
)
RULE_OF: Mapping[SymptomType, SymptomRule] = MappingProxyType({rule.type: rule for rule in SYMPTOM_RULES})
