"""Alerts on bcon-exporter itself: whether it is there, sees its engine, scans, and is heard."""

from bcon_exporter.alerting import recordings as held
from bcon_exporter.alerting.expressions import (
    HOST,
    Age,
    Always,
    Expr,
    Increase,
    OnlyPrometheus,
    Scaled,
    Without,
    above,
    is_value,
    series,
)
from bcon_exporter.alerting.rule import MINUTE, AlertRule, AlertSeverity, Scope

_ENGINE_AWAY = is_value(series("bcon_up"), 0)
_PUSH_FAILS = """min by (job, instance) (
    rate(bcon_alertmanager_notification_failures_total[5m])
  /
    rate(bcon_alertmanager_notifications_total[5m])
) > 0.5"""


def _exporter(
    name: str, severity: AlertSeverity, expr: Expr, wait_seconds: int, summary: str, description: str
) -> AlertRule:
    return AlertRule(
        name=name,
        scope=Scope.EXPORTER,
        severity=severity,
        expr=expr,
        wait_seconds=wait_seconds,
        summary=summary,
        description=description,
    )


ON_THE_EXPORTER: tuple[AlertRule, ...] = (
    _exporter(
        "BconWatchdog",
        AlertSeverity.NONE,
        Always(),
        0,
        "Alerting works.",
        "Always fires. When it stops arriving, the way from bcon-exporter or Prometheus to you is broken.",
    ),
    _exporter(
        "BconExporterAbsent",
        AlertSeverity.CRITICAL,
        OnlyPrometheus("absent(bcon_build_info)"),
        10 * MINUTE,
        "No bcon-exporter is scraped.",
        "This Prometheus has no metrics of any bcon-exporter: nobody watches the containers.",
    ),
    _exporter(
        "BconExporterDown",
        AlertSeverity.CRITICAL,
        OnlyPrometheus(f"up == 0\n  and on (job, instance) {held.BLIND.name}"),
        5 * MINUTE,
        "bcon-exporter on {instance} is down.",
        "It does not answer scrapes any more. What was firing there is held as it was last seen.",
    ),
    _exporter(
        "BconExporterVanished",
        AlertSeverity.WARNING,
        OnlyPrometheus(
            "group by (job, instance) (last_over_time(bcon_build_info[6h]))\n  unless on (job, instance) up"
        ),
        10 * MINUTE,
        "bcon-exporter on {instance} is no longer a target.",
        "It was scraped within the last 6 hours and has left service discovery since.",
    ),
    _exporter(
        "BconDockerUnreachable",
        AlertSeverity.CRITICAL,
        _ENGINE_AWAY,
        2 * MINUTE,
        "The Docker engine on {instance} does not answer.",
        "bcon-exporter runs but cannot reach its engine. What was firing there is held as it was last seen.",
    ),
    _exporter(
        "BconDockerEndpointDown",
        AlertSeverity.WARNING,
        Without(is_value(series("bcon_docker_endpoint_up"), 0), _ENGINE_AWAY, HOST),
        5 * MINUTE,
        "The engine's endpoint {endpoint} on {instance} does not answer.",
        "The engine answers otherwise: it hangs in part, and the facts that come from there are missing.",
    ),
    _exporter(
        "BconScanStale",
        AlertSeverity.WARNING,
        Without(
            above(
                Age(series("bcon_scan_last_success_timestamp_seconds")),
                Scaled(3, series("bcon_scan_interval_seconds")),
            ),
            _ENGINE_AWAY,
            HOST,
        ),
        2 * MINUTE,
        "The {scan} scan on {instance} is stale.",
        "The last good scan is older than three intervals although the engine answers; its metrics are withheld.",
    ),
    _exporter(
        "BconScanSlow",
        AlertSeverity.WARNING,
        Without(
            above(series("bcon_scan_last_duration_seconds"), Scaled(0.8, series("bcon_scan_interval_seconds"))),
            _ENGINE_AWAY,
            HOST,
        ),
        15 * MINUTE,
        "The {scan} scan on {instance} takes almost its whole interval.",
        "Scans have taken more than 80 % of their interval for a quarter of an hour: soon some will be missed.",
    ),
    _exporter(
        "BconScanMissed",
        AlertSeverity.WARNING,
        Without(above(Increase(series("bcon_scans_missed_total"), 30), 3), _ENGINE_AWAY, HOST),
        0,
        "The {scan} scan on {instance} misses its turn.",
        "More than three scans within 30 minutes could not start, since the one before was not over.",
    ),
    _exporter(
        "BconConfigReloadFailed",
        AlertSeverity.WARNING,
        is_value(series("bcon_config_last_reload_successful"), 0),
        5 * MINUTE,
        "bcon-exporter on {instance} could not reload its settings.",
        "The settings in force are the old ones: the next start would fail. The log names the line.",
    ),
    _exporter(
        "BconSeriesDropped",
        AlertSeverity.WARNING,
        above(series("bcon_series_dropped"), 0),
        5 * MINUTE,
        "bcon-exporter on {instance} leaves series out.",
        "The cap on series is reached: whole families of informational metrics are missing.",
    ),
    _exporter(
        "BconStateErrors",
        AlertSeverity.WARNING,
        above(Increase(series("bcon_state_errors_total"), 10), 0),
        5 * MINUTE,
        "bcon-exporter on {instance} cannot use its state file.",
        "The history is kept in memory only; it will be lost with the next restart.",
    ),
    _exporter(
        "BconAlertPushFailing",
        AlertSeverity.CRITICAL,
        OnlyPrometheus(_PUSH_FAILS),
        10 * MINUTE,
        "No Alertmanager accepts alerts from {instance}.",
        "bcon-exporter pushes alerts itself, and not one of the configured Alertmanagers takes them.",
    ),
    AlertRule(
        name="BconComposeUnreadable",
        scope=Scope.EXPORTER,
        severity=AlertSeverity.WARNING,
        expr=is_value(series("bcon_compose_unreadable", reason="parse_error"), 1),
        wait_seconds=5 * MINUTE,
        summary="Compose refuses the files of {project} on {instance}.",
        description="The files have an error, so whether the project runs as they say cannot be told.",
    ),
)
