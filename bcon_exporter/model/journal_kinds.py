"""Kinds of entries of the journal; light, since the command line names them before anything else is loaded."""

from enum import StrEnum


class JournalKind(StrEnum):
    """What happened.

    A `stop` is an end that somebody asked for, that the engine's own shutdown brought, or with exit code 0; a `kill`
    was asked for with a signal; `crash` and `oom` were not asked for. A `note` is what a person told the exporter: that
    something is quiet, that they are on an incident, or what they know; or what became of a note.
    """

    START = "start"
    STOP = "stop"
    KILL = "kill"
    CRASH = "crash"
    OOM = "oom"
    PAUSE = "pause"
    UNPAUSE = "unpause"
    REMOVE = "remove"
    HEALTH = "health"
    IMAGE_CHANGE = "image_change"
    CONFIG_CHANGE = "config_change"
    NETWORK_CONNECT = "network_connect"
    NETWORK_DISCONNECT = "network_disconnect"
    ENGINE_RESTART = "engine_restart"
    SYMPTOM_ON = "symptom_on"
    SYMPTOM_OFF = "symptom_off"
    DRIFT_ON = "drift_on"
    DRIFT_OFF = "drift_off"
    DEPLOYMENT = "deployment"
    INCIDENT_OPEN = "incident_open"
    INCIDENT_CLOSE = "incident_close"
    NOTE = "note"
    GAP = "gap"


ORDINARY = frozenset(
    {
        JournalKind.START,
        JournalKind.STOP,
        JournalKind.KILL,
        JournalKind.CRASH,
        JournalKind.OOM,
        JournalKind.PAUSE,
        JournalKind.UNPAUSE,
        JournalKind.REMOVE,
        JournalKind.HEALTH,
        JournalKind.SYMPTOM_ON,
        JournalKind.SYMPTOM_OFF,
        JournalKind.GAP,
    }
)
"""What a container can bring about by itself, as often as it likes: repetitions of it are counted, and it is the first
to go where the journal is full."""

CHANGES = frozenset(JournalKind) - {
    JournalKind.SYMPTOM_ON,
    JournalKind.SYMPTOM_OFF,
    JournalKind.INCIDENT_OPEN,
    JournalKind.INCIDENT_CLOSE,
    JournalKind.NOTE,
    JournalKind.GAP,
}
"""What changed on the host, not what was concluded of it."""
