"""What was shown in earlier scans and must not vanish at once: hysteresis and holds as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from bcon_exporter.model.base import UtcDatetime
from bcon_exporter.model.container_facts import ComposeIdentity, NetworkAttachment
from bcon_exporter.model.findings import LikelyCause, Suggestion, Symptom, SymptomType


@dataclass(frozen=True, slots=True)
class Hold:
    """One symptom of one container that is being shown.

    Attributes:
        symptom: As it was last truly seen.
        since: When this episode began.
        seen_at: When it was last truly seen.
        scans: Scans that have shown it, held ones included.
        scans_below: Scans in a row in which a usage symptom was clearly below its threshold.
    """

    symptom: Symptom
    since: UtcDatetime
    seen_at: UtcDatetime
    scans: int = 1
    scans_below: int = 0


@dataclass(frozen=True, slots=True)
class EarlierConclusion:
    """What was said about a container when its symptoms were last truly seen.

    Attributes:
        points_to: Full id of the container that the likeliest cause pointed to; None when it was none.
    """

    causes: tuple[LikelyCause, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    points_to: str | None = None


@dataclass(frozen=True, slots=True)
class LostNetwork:
    """A network that a running container was taken from.

    Attributes:
        network: As it was: the names and the address that the container had on it.
        seen_at: When it was on it for the last time.
        gone_at: When it was first missed there.
    """

    network: NetworkAttachment
    seen_at: UtcDatetime
    gone_at: UtcDatetime


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is kept of a container from scan to scan.

    Attributes:
        lost: Networks that it was taken from, and has not come back to.
        seen_at: When it was there for the last time.
        gone_at: When it was first missed; None while it is there.
    """

    name: str
    image: str
    created_at: UtcDatetime
    compose: ComposeIdentity | None
    networks: tuple[NetworkAttachment, ...]
    seen_at: UtcDatetime
    gone_at: UtcDatetime | None = None
    lost: tuple[LostNetwork, ...] = ()

    @property
    def is_oneoff(self) -> bool:
        """Whether it was one run of a command, or of a hook: that such a container is gone is as it should be."""
        return self.compose is not None and not self.compose.is_replica


@dataclass(frozen=True, slots=True)
class HoldState:
    """All holds, by full container id. Containers without symptoms, and removed ones, are not in it.

    Attributes:
        conclusions: For those containers: a held symptom keeps the causes that it was seen with.
        remembered: Of all that are there, and of those that were there a short while ago.
    """

    holds: Mapping[str, Mapping[SymptomType, Hold]] = field(default_factory=lambda: MappingProxyType({}))
    conclusions: Mapping[str, EarlierConclusion] = field(default_factory=lambda: MappingProxyType({}))
    remembered: Mapping[str, Remembered] = field(default_factory=lambda: MappingProxyType({}))
