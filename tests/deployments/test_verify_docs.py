"""Promise: docs/deployments.md tells every code, in the order in which they count, with the rule's own sentence."""

from pathlib import Path

import yaml

from bcon_exporter.cli.commands import COMMANDS
from bcon_exporter.cli.parsing import parse
from bcon_exporter.deployments.verify import VERIFY_RULES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/deployments.md"


def test_the_page_tells_every_code() -> None:
    rows = "\n".join(f"| `{rule.code}` | {rule.description} |" for rule in VERIFY_RULES)
    assert rows in PAGE.read_text()


def test_the_action_runs_the_command_with_words_that_it_has() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    step = action["runs"]["steps"][-1]
    words = step["run"].replace("$WORDS", "verify --for 2m").replace('"', "").split()
    command = next(one for one in COMMANDS if one.name == words[1])
    given = parse(command, words[2:], {}).arguments
    assert (given.format, given.out) == ("github", ["markdown=$GITHUB_STEP_SUMMARY", "junit=bcon-exporter.xml"])
    assert step["env"] == {"WORDS": "${{ inputs.run }}"}  # not pasted into the shell's text
