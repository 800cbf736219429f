"""Messages without Alertmanager: what each receiver has been told."""

from enum import StrEnum

from bcon_exporter.model.base import Frozen, UtcDatetime
from bcon_exporter.model.findings import Severity


class NoticeKind(StrEnum):
    """Why a receiver is told of an incident; `changed`: it was merged into another, of which this tells."""

    OPENED = "opened"
    WORSE = "worse"
    CHANGED = "changed"
    ENDED = "ended"


class Notice(Frozen):
    """One step of one incident that a receiver is to be told."""

    incident_id: str
    kind: NoticeKind
    severity: Severity


class Told(Frozen):
    """What a receiver knows of an incident.

    Attributes:
        seen_at: At which scan it was first seen.
        severity: The worst that was told; None before the first message.
        told_at: When the last message arrived.
        is_due: A message was due, whether it could be sent or not: should the incident end first, its end is told.
        was_muted: It was due while the host or all its members were quiet; after that only what is critical speaks.
        has_changed: Another incident was merged into it, of which the receiver knows.
    """

    seen_at: UtcDatetime
    severity: Severity | None = None
    told_at: UtcDatetime | None = None
    is_due: bool = False
    was_muted: bool = False
    has_changed: bool = False


class Sending(Frozen):
    """A message that is under way: saved before it is sent, gone when it has arrived.

    Attributes:
        key: The same however often it is sent: receivers can tell a repeat by it.
        notices: One message may tell of several incidents.
    """

    key: str
    notices: tuple[Notice, ...]
    since: UtcDatetime


class ReceiverState(Frozen):
    """What is remembered of one receiver.

    Attributes:
        told: By the id of the incident.
        digest_at: When the last weekly digest arrived.
    """

    told: dict[str, Told] = {}
    sending: Sending | None = None
    digest_at: UtcDatetime | None = None
