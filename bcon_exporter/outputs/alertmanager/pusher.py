"""One thread an Alertmanager: always the newest round, never a queue; a slow one keeps nobody else waiting."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime

from bcon_exporter.model.alerts import AlertmanagerState
from bcon_exporter.outputs.alertmanager.delivery import Alertmanager, PushDelivery, deliver
from bcon_exporter.outputs.alertmanager.payload import Payload

_log = logging.getLogger(__name__)


class Pusher:
    """Pushes to one Alertmanager.

    Args:
        now: The wall clock.
    """

    def __init__(self, alertmanager: Alertmanager, now: Callable[[], datetime]) -> None:
        self._alertmanager = alertmanager
        self._now = now
        self._news = threading.Condition()
        self._round: tuple[Payload, ...] | None = None
        self._stopped = False
        self._complained: str | None = None
        self.rounds = 0
        self.failures = 0
        self.state = AlertmanagerState(url=alertmanager.url)

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._run, name="push", daemon=True).start()

    def offer(self, alerts: tuple[Payload, ...]) -> None:
        """Give the newest round; one that was not sent yet is replaced, since each holds everything."""
        with self._news:
            self._round = alerts
            self._news.notify()

    def stop(self) -> None:
        """Send no more."""
        with self._news:
            self._stopped = True
            self._news.notify()

    def _run(self) -> None:
        while (alerts := self._take()) is not None:
            try:
                self._push(alerts)
            except Exception:  # noqa: BLE001 -- the job boundary: the next round is sent whatever happened to this
                _log.exception("pushing alerts failed because of a defect")
                self.failures += 1

    def _take(self) -> tuple[Payload, ...] | None:
        with self._news:
            while self._round is None and not self._stopped:
                self._news.wait()
            alerts, self._round = self._round, None
            return None if self._stopped else alerts

    def _push(self, alerts: tuple[Payload, ...]) -> None:
        self.rounds += 1
        delivery = deliver(self._alertmanager.post, alerts)
        self.failures += int(delivery.failed)
        success = self.state.last_success_at if delivery.failed else self._now()
        self.state = AlertmanagerState(url=self._alertmanager.url, last_success_at=success, error=delivery.error)
        self._complain(delivery)

    def _complain(self, delivery: PushDelivery) -> None:
        """Say what is wrong once, and that it is over; not at every round."""
        if delivery.error == self._complained:
            return
        if delivery.error is None:
            _log.info("%s takes alerts again", self._alertmanager.url)
        elif delivery.refused:
            names = ", ".join(sorted(set(delivery.refused)))
            _log.warning("%s refuses %s: %s", self._alertmanager.url, names, delivery.error)
        else:
            _log.warning("%s takes no alerts: %s", self._alertmanager.url, delivery.error)
        self._complained = delivery.error
