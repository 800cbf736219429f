"""Messages without Alertmanager: what they say, and how they are sent."""

from bcon_exporter.outputs.messages.delivery import (
    Delivery,
    Outgoing,
    check_address,
    deliver,
    require_apprise,
)
from bcon_exporter.outputs.messages.heartbeat import Heartbeat
from bcon_exporter.outputs.messages.sender import MessageSender, MessageSenders, MessageSettings
from bcon_exporter.outputs.messages.wording import Wording, write_test

__all__ = [
    "Delivery",
    "Heartbeat",
    "MessageSender",
    "MessageSenders",
    "MessageSettings",
    "Outgoing",
    "Wording",
    "check_address",
    "deliver",
    "require_apprise",
    "write_test",
]
