"""Scores masking against texts whose author had seen neither the rules nor the tests.

`python -m tests.secrets.blind_set` prints the score and every miss. The fixture is never edited: what it shows is mended
as a class of shapes, with tests of our own.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bcon_exporter.secrets.masking import mask_lines, mask_text

FIXTURE = Path(__file__).parent / "fixtures" / "masking_blind.jsonl"


@dataclass(frozen=True)
class Score:
    """How many texts with secrets come out without them, how many without any come out readable, and what was missed.

    Attributes:
        readable_around: Of the texts with secrets, how many keep what is said around these.
    """

    recall: float
    harmless_kept: float
    readable_around: float
    misses: tuple[str, ...]


def read_cases() -> list[dict[str, Any]]:
    """Every case: `secrets` must not stand in the masked text, `keep` must."""
    return [json.loads(line) for line in FIXTURE.read_text("utf-8").splitlines()]


def score_masking() -> Score:
    """Mask every text whole and as lines of a log; a case counts only when both come out right."""
    hidden = kept = around = with_secrets = with_keep = harmless = 0
    misses = []
    for case in read_cases():
        outputs = (mask_text(case["text"]), "\n".join(mask_lines(case["text"].split("\n"))))
        leaked = [secret for secret in case["secrets"] if any(secret in output for output in outputs)]
        lost = [text for text in case["keep"] if any(text not in output for output in outputs)]
        if case["secrets"]:
            with_secrets += 1
            hidden += not leaked
            with_keep += bool(case["keep"])
            around += bool(case["keep"]) and not lost
        else:
            harmless += 1
            kept += not lost
        if leaked or lost:
            fault = "LEAKED" if leaked else "LOST"
            misses.append(
                f"{fault} {case['id']} {case['class']}: {leaked or lost} in {case['text']!r} -> {outputs[0]!r}"
            )
    return Score(hidden / with_secrets, kept / harmless, around / with_keep, tuple(misses))


def main() -> None:
    """Print the score and the misses."""
    score = score_masking()
    print(f"recall {score.recall:.4f}, harmless kept {score.harmless_kept:.4f}, around {score.readable_around:.4f}")
    print("\n".join(score.misses))


if __name__ == "__main__":
    main()
