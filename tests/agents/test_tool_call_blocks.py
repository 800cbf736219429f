"""Promise: calls are read out of what a model wrote as Markdown has it; what is wrong is told with its line."""

import pytest

from bcon_exporter.agents.tool_call_blocks import ToolCall, fence, read_transcript
from bcon_exporter.errors import BconError
from tests.table_rows import table

CALL = '{"tool": "diagnose_all", "arguments": {"include_healthy": true}}'
WANTED = ToolCall("diagnose_all", {"include_healthy": True})


def problem_of(text: str) -> str:
    """Return what is wrong with the only call in a text."""
    (block,) = read_transcript(text).blocks
    assert isinstance(block.call, BconError)
    assert block.call.details == {"line": block.line}
    return block.call.message


@table(
    "text",
    [
        f"```tool_call\n{CALL}\n```",
        f"Let me look.\n\n```tool_call\n{CALL}\n```\nThen we will see.",
        f"  ```tool_call\r\n  {CALL}\r\n  ```\r\n",
        f"~~~tool_call\n{CALL}\n~~~",
        f"`````tool_call\n{CALL}\n`````",
        f"``` tool_call of mine\n{CALL}\n````",
        '```tool_call\n{\n "tool": "diagnose_all",\n "arguments": {"include_healthy": true}\n}\n```',
        f"```python\nprint(1)\n```\n```tool_call\n{CALL}\n```",
    ],
)
def test_a_block_is_a_call(text: str) -> None:
    assert [block.call for block in read_transcript(text).blocks] == [WANTED]


def test_arguments_may_be_left_out() -> None:
    (block,) = read_transcript('```tool_call\n{"tool": "health_check"}\n```').blocks
    assert block.call == ToolCall("health_check", {})


@pytest.mark.parametrize(
    "text",
    ["", "no block", f"```json\n{CALL}\n```", f"    ```tool_call\n{CALL}\n```", "`tool_call`", f"``tool_call\n{CALL}"],
)
def test_other_text_is_no_call(text: str) -> None:
    assert read_transcript(text).blocks == ()


def test_a_call_within_another_block_is_quoted() -> None:
    text = f"````markdown\nWrite it so:\n```tool_call\n{CALL}\n```\n````\n```tool_call\n{CALL}\n```"
    transcript = read_transcript(text)
    assert transcript.quoted == (3,)
    assert [(block.line, block.call) for block in transcript.blocks] == [(7, WANTED)]


@table(
    ("text", "said"),
    [
        ("\n```tool_call\n{'tool': 1}\n```", "line 2: the block is not JSON: key must be a string at line 1 column 2"),
        ("```tool_call\n```", "line 1: the block is not JSON"),
        ('```tool_call\n{"tool": "x", "arguments": {"a": NaN}}\n```', "is not JSON"),
        (f"```tool_call\n{'[' * 5000}\n```", "is not JSON: recursion limit"),
        ("```tool_call\n[]\n```", "must hold an object"),
        ('```tool_call\n{"name": "x"}\n```', "unknown field 'name'; a call has tool and arguments"),
        ("```tool_call\n{}\n```", "tool must be the name of one"),
        ('```tool_call\n{"tool": "x", "arguments": []}\n```', "arguments must be an object"),
        (f"```tool_call\n{CALL}\n", "line 1: the block is not ended"),
        (f"~~~tool_call\n{CALL}\n```", "line 1: the block is not ended"),
        (f"```tool_call\n{CALL}\n```tool_call\n{CALL}\n```", "line 3 begins another block within this one"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, said: str) -> None:
    assert said in problem_of(text)


def test_the_first_twenty_calls_are_run_and_each_further_one_is_told() -> None:
    blocks = read_transcript(f"```tool_call\n{CALL}\n```\n" * 22).blocks
    assert [block.call for block in blocks[:20]] == [WANTED] * 20
    told = [block.call.message for block in blocks[20:] if isinstance(block.call, BconError)]
    assert [message.partition(";")[0] for message in told] == [
        "line 61: this is call 21, and only the first 20 are run",
        "line 64: this is call 22, and only the first 20 are run",
    ]


@pytest.mark.parametrize(
    ("body", "marks"), [("{}", "```"), ("a `b` c", "```"), ("a ``` b", "````"), ("`````", "``````")]
)
def test_a_result_cannot_end_its_own_block(body: str, marks: str) -> None:
    assert fence(body) == f"{marks}tool_result\n{body}\n{marks}\n"
