"""Runs recipes and keeps what the software said: `python -m tests.corpus.capture [--install] [NAME…]` (as root).

Each recipe (`recipes/NAME.sh`) runs on a stage of its own (`lib.sh`: private network, mounts, processes and host name),
injects faults into real software, and says what it did and which labels follow from that. The result is
`excerpts/NAME.jsonl`. Nothing here looks at what the product says about a line.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TOOLS = Path(os.environ.get("CORPUS_TOOLS", "/opt/bcon-corpus"))
MAX_LINE_CHARS = 2_000
SECONDS = 900
MOST_ALIKE = 2
"""Excerpts of a recipe that are kept for the same fault (the same labels); healthy ones are all kept."""
HELD_OUT_SHARE = 3
SALT = "f"
"""Chosen, before anything was measured, so that a third is held out and both splits hold every label."""
NEUTRAL = (
    (re.compile(re.escape(str(TOOLS)) + r"/venv"), "/opt/venv"),
    (re.compile(r"/root/\.pyenv/versions/[0-9.]+"), "/usr/local"),
    (re.compile(r"/root/\.[a-z]+"), "/usr/local"),
    (re.compile(r"(Linux |Linux/|kernel[ =:]+|release[ =:]+)\d+\.\d+\.\d+-[\w.-]+"), r"\g<1>6.1.0"),
    (re.compile(r"Not tainted \S+ #\d+"), "Not tainted 6.1.0 #1"),
    (re.compile(r"tracker\.debian\.org|lists\.alioth\.debian\.org"), "debian.example"),
    (re.compile(r"server_uid \S+"), "server_uid x"),
    (re.compile(r"\x1b\[[0-9;?]*[A-Za-z]"), ""),
)


def main() -> None:
    """Run the named recipes, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true", help="first install what the recipes need")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    recipes = [HERE / "recipes" / f"{name}.sh" for name in asked.names] or sorted((HERE / "recipes").glob("*.sh"))
    if asked.install:
        install(recipes)
    for recipe in recipes:
        excerpts = capture(recipe)
        text = "".join(json.dumps(excerpt, ensure_ascii=False) + "\n" for excerpt in excerpts)
        (HERE / "excerpts" / f"{recipe.stem}.jsonl").write_text(text, encoding="utf-8")
        sys.stdout.write(f"{recipe.stem}: {len(excerpts)} excerpts\n")


def install(recipes: list[Path]) -> None:
    """Install the packages that the heads of the recipes name (`# apt:`, `# pip:`, `# npm:`)."""
    needs = {kind: sorted({name for path in recipes for name in needed(path, kind)}) for kind in ("apt", "pip", "npm")}
    packages = ["iproute2", "openssl", "dnsmasq-base", "curl", *needs["apt"]]
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages], check=True)
    if needs["pip"]:
        subprocess.run([sys.executable, "-m", "venv", TOOLS / "venv"], check=True)
        subprocess.run([TOOLS / "venv/bin/pip", "install", "-q", *needs["pip"]], check=True)
    if needs["npm"]:
        (TOOLS / "node").mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", TOOLS / "node", "--no-audit", *needs["npm"]], check=True)


def needed(recipe: Path, kind: str) -> list[str]:
    """Package names from the recipe's head."""
    lines = recipe.read_text(encoding="utf-8").splitlines()
    return [name for line in lines if line.startswith(f"# {kind}:") for name in line.split(":", 1)[1].split()]


def capture(recipe: Path) -> list[dict[str, Any]]:
    """Run one recipe on its stage and return its excerpts."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        stage = ["unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc"]
        command = [*stage, "bash", str(HERE / "lib.sh"), str(recipe), folder]
        subprocess.run(command, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL)
        metas = sorted(Path(folder).glob("*.meta"), key=os.path.getmtime)
        return not_too_alike([keep(recipe, meta) for meta in metas])


def not_too_alike(excerpts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what left no trace in the log, and all but the first few faults of a recipe with the same labels."""
    seen: Counter[tuple[str, ...]] = Counter()
    kept = []
    for excerpt in excerpts:
        alike = tuple(sorted(excerpt["labels"]))
        seen[alike] += 1
        if excerpt["lines"] and (excerpt["labels"] == ["healthy"] or seen[alike] <= MOST_ALIKE):
            kept.append(excerpt)
    return kept


def keep(recipe: Path, meta: Path) -> dict[str, Any]:
    """Make one excerpt of a whole log."""
    labels, done, part, count = meta.read_text(encoding="utf-8").splitlines()
    text = neutral(meta.with_suffix(".log").read_bytes().decode("utf-8", "replace"))
    lines = [line[:MAX_LINE_CHARS].rstrip() for line in re.split(r"\r?\n", text.strip("\r\n"))]
    software = software_of(recipe, meta.stem)
    return {
        "id": f"{recipe.stem}/{meta.stem}",
        "software": software,
        "labels": shlex.split(labels),
        "done": done,
        "split": split_of(software),
        "lines": chosen(lines, part, int(count)) if text.strip() else [],
    }


def chosen(lines: list[str], part: str, count: int) -> list[str]:
    """The part of the log that is kept: its head, its tail, or from the first line on that fits."""
    if part == "head":
        return lines[:count]
    if part.startswith("from:"):
        first = next((number for number, line in enumerate(lines) if re.search(part[5:], line)), 0)
        return lines[first : first + count]
    return lines[-count:]


def neutral(text: str) -> str:
    """The text without what tells this machine from another."""
    for pattern, instead in NEUTRAL:
        text = pattern.sub(instead, text)
    return text


def software_of(recipe: Path, name: str) -> str:
    """The program that speaks: the recipe's name, or in recipes of several programs the first word of `name`."""
    several = "# software: the first word" in recipe.read_text(encoding="utf-8")
    return name.split("_", maxsplit=1)[0] if several else recipe.stem


def split_of(software: str) -> str:
    """A program is held out with all that it says, so that no line's twin is tuned on."""
    return "held-out" if zlib.crc32(f"{SALT}{software}".encode()) % HELD_OUT_SHARE == 0 else "dev"


if __name__ == "__main__":
    main()
