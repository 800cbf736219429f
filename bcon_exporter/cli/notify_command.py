"""`notify`: who gets messages, and whether they arrive. Addresses are secrets and are not shown."""

import secrets
from typing import Any

from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.parsing import Invocation
from bcon_exporter.cli.screen import print_result, write_out
from bcon_exporter.errors import SettingsError
from bcon_exporter.outputs.messages import deliver, require_apprise, write_test
from bcon_exporter.settings import list_receivers


def notify(call: Invocation) -> int:
    """List the receivers, or send each a test message; exit with 1 when one does not arrive.

    Raises:
        SettingsError: There are none, or the library that sends is not installed.
    """
    receivers = list_receivers(call.settings)
    if not receivers:
        msg = "nobody gets messages: set notify.url or notify.url-file (docs/notify.md)"
        raise SettingsError(msg, {"setting": "notify.url"})
    require_apprise()
    results: list[dict[str, Any]] = []
    for receiver in receivers:
        result: dict[str, Any] = {
            "receiver": receiver.name, "severity": receiver.least.value, "projects": list(receiver.projects),
        }  # fmt: skip
        if call.arguments.test:
            problem = deliver(receiver, write_test(call.settings.notify.host or "bcon-exporter", secrets.token_hex(16)))
            result |= {"arrived": problem.arrived, "problem": problem.problem}
        results.append(result)
    if call.arguments.format == "json":
        print_result(call, results)
    else:
        write_out("".join(map(_line, results)))
    return Exit.FINE if all(result.get("arrived", True) for result in results) else Exit.FINDINGS


def _line(result: dict[str, Any]) -> str:
    if "arrived" not in result:
        of_projects = f" of {' '.join(map(str, projects))}" if (projects := result["projects"]) else ""
        return f"{result['receiver']}: {result['severity']} and worse{of_projects}\n"
    return f"{result['receiver']}: {'arrived' if result['arrived'] else result['problem']}\n"
