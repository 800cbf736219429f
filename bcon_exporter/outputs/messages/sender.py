"""Tells receivers of incidents, each in a thread of its own: nothing waits for one that hangs."""

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.errors import StateFileError
from bcon_exporter.incidents import Scene, decide_message, note_arrival
from bcon_exporter.model.alerts import MessageReceiverState
from bcon_exporter.model.digest import DigestInput
from bcon_exporter.model.messages import ReceiverState, Sending
from bcon_exporter.model.receivers import Receiver
from bcon_exporter.outputs.messages.delivery import Delivery, Outgoing, check_address, deliver
from bcon_exporter.outputs.messages.wording import Wording, shorten
from bcon_exporter.tools import Context
from bcon_exporter.tools.digest import write_digest
from bcon_exporter.tools.incidents import find_open, find_pauses
from bcon_exporter.tools.quiet import find_quiet_now

_log = logging.getLogger(__name__)

LONGEST_PAUSE_SECONDS = 30.0
SHORT_PAUSE_SECONDS = 2.0
REFUSED_SECONDS = 3600.0
"""So long a message is sent as it is to a receiver that refuses it."""
UNREADABLE_FOR = timedelta(minutes=5)
"""So long a message waits for an incident that cannot be read: others wait behind it."""
FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 5.0, 60.0


@dataclass(frozen=True)
class MessageSettings:
    """How messages name this host, and where they lead."""

    host: str = ""
    external_url: str | None = None
    weekly_digest: bool = False


class MessageSender:
    """Tells one receiver.

    Args:
        receiver: Who.
        context: Returns the context in force.
        interval_seconds: Returns the time between two scans.
        settings: Returns how messages name this host.
        send: Sends one message, within a bounded time.
        check: Returns what is wrong with the address, within a bounded time.
    """

    def __init__(
        self,
        receiver: Receiver,
        context: Callable[[], Context],
        interval_seconds: Callable[[], float],
        settings: Callable[[], MessageSettings] = MessageSettings,
        send: Callable[[Receiver, Outgoing], Delivery] = deliver,
        check: Callable[[Receiver], str] = check_address,
    ) -> None:
        self.receiver = receiver
        self._context, self._interval_seconds = context, interval_seconds
        self._settings, self._send, self._check = settings, send, check
        self._news = threading.Event()
        self._stopped = False
        self._retry_at = 0.0
        self._failed_in_a_row = 0
        self._refused_key, self._refused_since = "", 0.0
        self.state = MessageReceiverState(name=receiver.name)

    def check(self) -> None:
        """Say what is wrong with the address; a message that was sent meanwhile knows better."""
        with self._context().errors.contained(f"checking the address of {self.receiver.name}"):
            problem = self._check(self.receiver)
            if self.state.usable is None:
                self.state = self.state.model_copy(update={"usable": not problem, "error": problem or None})
                if problem:
                    _log.warning("messages to %s: %s", self.receiver.name, problem)

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._run, name=f"messages-{self.receiver.name}", daemon=True).start()

    def wake(self) -> None:
        """Tell that a scan has ended."""
        self._news.set()

    def stop(self) -> None:
        """Send no more; what has not arrived is sent after the next start."""
        self._stopped = True
        self._news.set()

    def _run(self) -> None:
        while not self._stopped:
            pause = LONGEST_PAUSE_SECONDS
            with self._context().errors.contained(f"telling {self.receiver.name}"):
                pause = self.tell()
            self._news.wait(pause)
            self._news.clear()

    def tell(self) -> float:
        """Send what is due; return in how many seconds to look again at the latest."""
        context, name = self._context(), self.receiver.name
        before = context.memory.memory.messages.get(name, ReceiverState())
        state = self._decide(context, before)
        if state != before:
            context.memory.keep_messages(name, state, context.now())  # the intent, before anything is sent
        if state.sending is None and self._is_digest_due(context, state):
            return self._send_digest(context, state)
        if state.sending is None:
            waiting = any(told.severity is None and not told.was_muted for told in state.told.values())
            return SHORT_PAUSE_SECONDS if waiting else LONGEST_PAUSE_SECONDS
        left = self._retry_at - context.monotonic()
        if left > 0:
            return left
        delivery = self._send_out(context, state.sending)
        self._count(context, delivery)
        if delivery.arrived:
            context.memory.keep_messages(name, note_arrival(state, context.now()), context.now())
            return 0.0
        return self._retry_at - context.monotonic()

    def _is_digest_due(self, context: Context, state: ReceiverState) -> bool:
        """Whether this week's digest is wanted, has not arrived, and is not held back; the first week has none."""
        if not self._settings().weekly_digest:
            return False
        if state.digest_at is None:
            kept = state.model_copy(update={"digest_at": context.now()})
            context.memory.keep_messages(self.receiver.name, kept, context.now())
            return False
        due_at = find_digest_time(context.to_local(context.now()))
        is_due = context.to_local(state.digest_at) < due_at and context.monotonic() >= self._retry_at
        return is_due and find_quiet_now(context).host is None

    def _send_digest(self, context: Context, state: ReceiverState) -> float:
        due_at = find_digest_time(context.to_local(context.now()))
        key = hashlib.sha256(f"digest {due_at:%Y-%m-%d}".encode()).hexdigest()[:32]
        try:
            report = write_digest(context, DigestInput())
        except StateFileError as error:
            delivery = Delivery(error.message)
        else:
            delivery = self._deliver(context, self._wording(context).write_digest(key, report))
        self._count(context, delivery)
        if not delivery.arrived:
            return max(0.0, self._retry_at - context.monotonic())
        kept = state.model_copy(update={"digest_at": context.now()})
        context.memory.keep_messages(self.receiver.name, kept, context.now())
        return 0.0

    def _decide(self, context: Context, before: ReceiverState) -> ReceiverState:
        """Return what is due; before the first scan nothing new is."""
        scan = context.scans.diagnosis
        if scan is None:
            return before
        scene = Scene(
            now=context.now(),
            scan_at=scan.finished_at,
            interval=timedelta(seconds=self._interval_seconds()),
            open=tuple(find_open(context)),
            find_ended=context.memory.find_ended_incident,
            muting=find_quiet_now(context),
            first_look=context.scans.first_look,
            pauses=find_pauses(context),
        )
        return decide_message(before, scene, self.receiver)

    def _send_out(self, context: Context, sending: Sending) -> Delivery:
        """Send a message; while an incident of it cannot be read it waits, but not for long."""
        open_ones = {incident.id: incident for incident in find_open(context)}
        told = []
        for notice in sending.notices:
            try:
                incident = open_ones.get(notice.incident_id) or context.memory.find_ended_incident(notice.incident_id)
            except StateFileError as error:
                if abs(context.now() - sending.since) < UNREADABLE_FOR:
                    return Delivery(error.message)
                continue
            if incident is not None:
                told.append((notice, incident))
        if not told:
            return Delivery()  # nobody knows any more what it was to be about
        return self._deliver(context, self._wording(context).write(sending.key, told, context.now()))

    def _deliver(self, context: Context, message: Outgoing) -> Delivery:
        """Send a message; of one that is refused for long only the title, so that the next have their turn."""
        now, is_known = context.monotonic(), message.key == self._refused_key
        is_stuck = is_known and now - self._refused_since >= REFUSED_SECONDS
        delivery = self._send(self.receiver, shorten(message) if is_stuck else message)
        if delivery.is_refused and not is_known:
            self._refused_key, self._refused_since = message.key, now
        return delivery

    def _wording(self, context: Context) -> Wording:
        settings = self._settings()
        return Wording(
            host=settings.host or context.memory.memory.engine_name or "this host",
            external_url=settings.external_url,
            to_local=context.to_local,
            hide=context.secrets.hide,
            scan=context.scans.diagnosis,
            first_look=context.scans.first_look,
        )

    def _count(self, context: Context, delivery: Delivery) -> None:
        """Count it; say once that a receiver takes nothing, and that it does again."""
        self.state = self.state.model_copy(
            update={
                "sent": self.state.sent + delivery.arrived,
                "failures": self.state.failures + (not delivery.arrived),
                "usable": delivery.arrived,
                "error": delivery.problem or None,
            }
        )
        if delivery.arrived:
            if self._failed_in_a_row:
                _log.info("messages arrive at %s again", self.receiver.name)
            self._failed_in_a_row, self._retry_at = 0, 0.0
            return
        if not self._failed_in_a_row:
            _log.warning("a message to %s has not arrived and is sent again: %s", self.receiver.name, delivery.problem)
        wait = min(FIRST_RETRY_SECONDS * 2**self._failed_in_a_row, LONGEST_RETRY_SECONDS)
        self._failed_in_a_row = min(self._failed_in_a_row + 1, 10)
        self._retry_at = context.monotonic() + wait


def find_digest_time(local: datetime) -> datetime:
    """Return when this week's digest is due, by the clock on the wall: Monday at 8, at that time or before it."""
    monday = (local - timedelta(days=local.weekday())).replace(hour=8, minute=0, second=0, microsecond=0)
    return monday if monday <= local else monday - timedelta(days=7)


class MessageSenders:
    """All receivers."""

    def __init__(self, senders: Iterable[MessageSender]) -> None:
        self._senders = tuple(senders)
        self._stopped = False

    def start(self) -> None:
        """Start a thread for each receiver, and one that checks their addresses: a check takes seconds."""
        for sender in self._senders:
            sender.start()
        if self._senders:
            threading.Thread(target=self._check, name="receivers", daemon=True).start()

    def _check(self) -> None:
        for sender in self._senders:
            if not self._stopped:
                sender.check()

    def wake(self) -> None:
        """Tell that a scan has ended."""
        for sender in self._senders:
            sender.wake()

    def stop(self) -> None:
        """Send no more."""
        self._stopped = True
        for sender in self._senders:
            sender.stop()

    def states(self) -> tuple[MessageReceiverState, ...]:
        """Return how messages to each receiver are doing."""
        return tuple(sender.state for sender in self._senders)
