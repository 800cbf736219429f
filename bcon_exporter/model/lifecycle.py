"""What happened to a container over time: events, exits, restarts."""

from dataclasses import dataclass
from datetime import timedelta

from bcon_exporter.model.base import Frozen, UtcDatetime

_ENGINES_WORDS = (
    " admiring adoring affectionate agitated amazing angry awesome beautiful blissful bold boring brave busy "
    "charming clever compassionate competent condescending confident cool cranky crazy dazzling determined "
    "distracted dreamy eager ecstatic elastic elated elegant eloquent epic exciting fervent festive flamboyant "
    "focused friendly frosty funny gallant gifted goofy gracious great happy hardcore heuristic hopeful hungry "
    "infallible inspiring intelligent interesting jolly jovial keen kind laughing loving lucid magical modest "
    "musing mystifying naughty nervous nice nifty nostalgic objective optimistic peaceful pedantic pensive "
    "practical priceless quirky quizzical recursing relaxed reverent romantic sad serene sharp silly sleepy stoic "
    "strange stupefied suspicious sweet tender thirsty trusting unruffled upbeat vibrant vigilant vigorous "
    "wizardly wonderful xenodochial youthful zealous zen "
)
"""With which Docker and Podman begin the names that they make up (moby, pkg/namesgenerator)."""
_RUN, _RUN_DIGITS, _HEX = "-run-", 12, "0123456789abcdef"
CONTAINER_ACTIONS = frozenset(
    (
        *("create", "start", "die", "kill", "stop", "restart", "oom", "pause", "unpause", "destroy", "rename"),
        *("update", "health_status", "resize"),
    )
)
"""What the engine tells of a container, as far as it is read; `resize` is of the terminal at which somebody runs it."""
NETWORK_ACTIONS = frozenset(("connect", "disconnect"))
"""What it tells of a network and a container."""
HEALTH_EVENTS_KEPT = 500
"""Of one container, the newest: what is counted of a check that flips all the time is a lower bound."""

SELF_REMOVAL_TAKES = timedelta(seconds=10)
"""Of a container made with `--rm`, from its end at most; what takes longer is stuck, or somebody removed it later."""


@dataclass(frozen=True, slots=True)
class LifecycleEvent:
    """One engine event about one container.

    Attributes:
        at: The engine's time, to the nanosecond where it gives it (kept to the microsecond).
        action: One of `CONTAINER_ACTIONS` or `NETWORK_ACTIONS`.
        container_id: Full id.
        oneoff: Of a single run of a command or of a hook: the container is no replica of its service.
        exit_code: Of a die event.
        signal: Number, of a kill event.
    """

    at: UtcDatetime
    action: str
    container_id: str
    name: str
    image: str = ""
    project: str | None = None
    service: str | None = None
    number: int | None = None
    oneoff: bool = False
    exit_code: int | None = None
    signal: int | None = None
    health: str | None = None


@dataclass(frozen=True, slots=True)
class EventBatch:
    """What the engine's event stream brought since the last time it was asked.

    Attributes:
        events: Oldest first, without duplicates.
        covers_since: Nothing that happened since this time is missing, save a gap; None when nothing could be read.
        gap: Events were lost beyond back-fill since the last batch.
        broken_at: When the engine was last heard, each time that it has forgotten since what it had told: it restarted.
        covered_until: Events after it are not here yet, for the stream is down; None while it is open.
    """

    events: tuple[LifecycleEvent, ...]
    covers_since: UtcDatetime | None
    gap: bool = False
    broken_at: tuple[UtcDatetime, ...] = ()
    covered_until: UtcDatetime | None = None


class ExitFacts(Frozen):
    """One end of a container's main process.

    Attributes:
        signal: Number of the signal that ended it (exit code above 128), None for an ordinary exit.
        oom: True when the kernel's OOM killer was seen at this exit.
        requested: Somebody asked for it: stop, restart, recreation, removal ("Requested" in docs/symptoms.md).
        shutdown: It fell together with the engine's or host's shutdown.
        after_crash: Such a shutdown, in which the engine or host died without ending it: found dead, or ended, by the
            engine that came up next.
        forced: A requested stop that needed SIGKILL.
        killed: A `kill` event with SIGKILL, or with the signal that ended it, stood just before it without a stop
            (`docker kill`): not the kernel.
        last_lines: The last log lines before it, masked; empty when unread, and for all but the newest ends.
    """

    at: UtcDatetime
    exit_code: int | None
    signal: int | None = None
    oom: bool = False
    lifetime_seconds: float | None = None
    requested: bool = False
    shutdown: bool = False
    after_crash: bool = False
    forced: bool = False
    killed: bool = False
    image: str = ""
    last_lines: tuple[str, ...] = ()


class FailedRun(Frozen):
    """A run that failed and removed itself (`docker run --rm`), as jobs of a timer are run: no container is left of it.

    Attributes:
        name: What the container was called.
        oom: The kernel killed it for want of memory.
        mended_at: When a later run of the same job ended with 0; None where none has.
        is_from_before: It ended before any exporter watched, and is known from the engine's memory.
    """

    name: str
    project: str | None = None
    image: str = ""
    ended_at: UtcDatetime
    exit_code: int | None = None
    oom: bool = False
    mended_at: UtcDatetime | None = None
    is_from_before: bool = False

    @property
    def job(self) -> str:
        """What is run again and again; see `name_job`."""
        return name_job(self.name, self.image)


def name_job(name: str, image: str) -> str:
    """Return what tells a job over its runs: its name, without what Compose adds to each run; its image without a name.

    A name that the engine made up ("eager_turing") is another one each time.
    """
    service, _, run = name.rpartition(_RUN)
    if service and len(run) == _RUN_DIGITS and not run.strip(_HEX):
        return service
    first, _, second = name.partition("_")
    is_made_up = f" {first} " in _ENGINES_WORDS and second[:-1].isalpha() and second[-1:].isalnum() and second.islower()
    return image if image and is_made_up else name


class LifecycleFacts(Frozen):
    """The known past of a container's identity (project, service, number; else its name), across recreation.

    Attributes:
        observed_since: Nothing is known from before this time.
        complete: False when the event stream had a gap since then.
        exits: Oldest first, the last 24 hours, at most 50; and the last one of a container that does not run.
        restarts: Times of restarts that nobody asked for, oldest first, the last 24 hours.
        predecessors_restarts: How many of these, the first ones, were of containers in whose place this one was put.
        oom_kills: Times of OOM kills, of the main or a child process, the last 24 hours.
        stop_requested: For a container that does not run: whether its last exit was asked for; None when unknown.
        stopping_since: When the newest run was sent its stop signal, whether it has ended since or not; None when it
            was not. A program that goes on all the same has it too.
        health_changes: Times at which health flipped between healthy and unhealthy, the last hour.
        paused_at: Of a paused container: since when; None when unknown.
        previous_image: The image before the last change of it, with its time in `image_changed_at`. Where only the id
            changed (another image under the same tag), it is the image's own name.
        previous_image_id: Id of that image; None when it was never read.
        previous_image_version: Its version by label, else by tag; None where neither told.
    """

    observed_since: UtcDatetime
    complete: bool = True
    exits: tuple[ExitFacts, ...] = ()
    restarts: tuple[UtcDatetime, ...] = ()
    predecessors_restarts: int = 0
    oom_kills: tuple[UtcDatetime, ...] = ()
    restarts_total: int = 0
    oom_kills_total: int = 0
    stop_requested: bool | None = None
    stopping_since: UtcDatetime | None = None
    health_changes: tuple[UtcDatetime, ...] = ()
    paused_at: UtcDatetime | None = None
    previous_image: str | None = None
    previous_image_id: str | None = None
    previous_image_version: str | None = None
    image_changed_at: UtcDatetime | None = None


class HostMemory(Frozen):
    """What a daemon remembers of the containers that are there, for a command that has not watched itself.

    Attributes:
        engine_id: The engine that it watches; None when unknown.
        state_file: Device and inode of the file that it keeps its memory in ("2049:131"); "" where it uses none, None
            where it does not tell.
        pasts: Full container id → lifecycle, without log lines.
    """

    engine_id: str | None
    state_file: str | None = None
    pasts: dict[str, LifecycleFacts] = {}


def without_lines(past: LifecycleFacts) -> LifecycleFacts:
    """Return a lifecycle without what the log said before its ends."""
    return past.model_copy(update={"exits": tuple(end.model_copy(update={"last_lines": ()}) for end in past.exits)})
