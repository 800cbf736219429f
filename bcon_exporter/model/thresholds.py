"""The numbers that rules compare against. Settings fill them; rules only read them. docs/symptoms.md uses them."""

from pydantic import Field

from bcon_exporter.model.base import Frozen


class Thresholds(Frozen):
    """Limits, windows and holds of the symptom rules.

    Ratios are 0 to 1, times in seconds. A container's label `bcon.threshold.<name>` overrides one for it.
    """

    cpu_ratio: float = Field(0.80, gt=0, le=1, description="high_cpu above this share of the CPUs it may use")
    memory_ratio: float = Field(0.85, gt=0, le=1, description="high_memory above this share of the limit")
    throttled_ratio: float = Field(0.50, gt=0, le=1, description="cpu_throttled above this share of periods")
    pids_ratio: float = Field(0.90, gt=0, le=1, description="pids_limit above this share of the pids limit")
    disk_ratio: float = Field(0.90, gt=0, le=1, description="disk_pressure above this share of a file system")
    clear_margin_ratio: float = Field(
        0.05, ge=0, le=0.5, description="a usage symptom clears this far below its threshold"
    )
    clear_scans: int = Field(2, ge=1, le=100, description="a usage symptom clears after so many scans below")
    usage_window_seconds: float = Field(60, ge=1, le=3600, description="usage is the mean over this time")
    restart_count: int = Field(3, ge=1, description="restart_loop from so many restarts in the window")
    restart_window_seconds: float = Field(3600, ge=60, le=86400, description="window of restart_loop")
    restart_quiet_seconds: float = Field(
        600, ge=10, le=86400, description="a loop without a restart for so long is history"
    )
    log_window_seconds: float = Field(600, ge=10, le=86400, description="log lines count for so long")
    log_error_count: int = Field(1, ge=1, description="log_error from so many error events in the window")
    exit_age_seconds: float = Field(
        86400, ge=60, description="an exit older than this, that nothing wants running, is history"
    )
    hold_seconds: float = Field(120, ge=0, le=3600, description="event-like symptoms are held at least so long")
    hold_scans: int = Field(2, ge=1, le=100, description="event-like symptoms are held for at least so many scans")
    slow_probe_ratio: float = Field(0.80, gt=0, le=1, description="slow_response above this share of the time-out")
    starting_seconds: float = Field(300, ge=1, description="starting for longer than this beyond its start period")
    created_seconds: float = Field(3, ge=1, description="never_started when created for longer than this")
    paused_seconds: float = Field(0, ge=0, description="paused for longer than this")
    log_file_bytes: int = Field(
        104_857_600, ge=1, description="log_unbounded from so many bytes of a log that nothing bounds"
    )
    flap_count: int = Field(4, ge=2, description="health_flapping from so many changes within an hour")
