"""How far a name may be built upon: the stage that a row of a table has, and what is said of one that will go.

docs/stability.md tells users what each stage promises.
"""

from typing import Literal, NamedTuple


class Stage(NamedTuple):
    """The stage of a metric, setting, address, tool or command.

    Attributes:
        word: Its name.
        since: Of a deprecated one, the version that said so first.
        on: When that version was released: 2027-01-31.
        gone: The first version that may be without it.
        instead: What to use in its place, as people write it.
    """

    word: Literal["stable", "experimental", "deprecated"]
    since: str = ""
    on: str = ""
    gone: str = ""
    instead: str = ""

    @property
    def notice(self) -> str:
        """What whoever uses it must know; "" unless it is deprecated."""
        if self.word != "deprecated":
            return ""
        return f"deprecated since {self.since}, may be gone from {self.gone} on; use {self.instead}"

    def warn_in(self, text: str) -> str:
        """Return a text with the notice behind it; as it is where there is none."""
        return f"{text} ({self.notice})" if self.notice else text

    def add_to(self, summary: str) -> str:
        """Return a summary with the stage behind it, for people who choose; as it is where that is stable."""
        return summary if self.word == "stable" else f"{summary} ({self.notice or self.word})"


STABLE = Stage("stable")
"""What every table takes for a row that names no stage."""
EXPERIMENTAL = Stage("experimental")


def deprecated(since: str, on: str, gone: str, instead: str) -> Stage:
    """Return the stage of what still works and will go."""
    return Stage("deprecated", since, on, gone, instead)
