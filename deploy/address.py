"""Sets the address of the repository: `make address URL=https://github.com/OWNER/NAME`.

Its home is REPOSITORY_URL in bcon_exporter/__init__.py. Files that others read as they are hold copies (alert rules,
dashboards, metadata, examples), and so do the places of what is published from there: ghcr.io/OWNER/NAME,
io.github.OWNER/NAME, and the action OWNER/NAME@VERSION. This replaces them in every text file that git tracks.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOME = Path("bcon_exporter/__init__.py")
HOST = "https://github.com/"
ADDRESS = re.compile(r"https://github\.com/[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?/[A-Za-z0-9._-]+")


def find_address(root: Path) -> str:
    """Return the address that the repository below `root` says it has."""
    [line] = [line for line in (root / HOME).read_text().splitlines() if line.startswith("REPOSITORY_URL = ")]
    return line.split('"')[1]


def replace_address(text: str, old: str, new: str) -> str:
    """Return `text` with each form of the one address in the form of the other; longer names are left alone."""
    was, becomes = old.removeprefix(HOST), new.removeprefix(HOST)
    for before, name in ((HOST, becomes), ("ghcr.io/", becomes.lower()), ("io.github.", becomes), ("uses: ", becomes)):
        written = was.lower() if before == "ghcr.io/" else was
        text = re.sub(rf"{re.escape(before + written)}(?![\w-]|\.\w)", before + name, text)
    return text


def set_address(root: Path, new: str) -> list[str]:
    """Write `new` into every tracked text file that holds the address of now; return their names."""
    old, changed = find_address(root), []
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        path = root / name
        if path.is_symlink() or not path.is_file():
            continue
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        replaced = replace_address(text, old, new)
        if replaced != text:
            path.write_bytes(replaced.encode())
            changed.append(name)
    return changed


def main(words: list[str]) -> int:
    """Set the address; return the exit code."""
    if len(words) != 1 or not ADDRESS.fullmatch(words[0]) or words[0].endswith(".git"):
        print("address: wanted is make address URL=https://github.com/OWNER/NAME", file=sys.stderr)
        return 2
    changed = set_address(ROOT, words[0])
    print(f"address: written into {len(changed)} files; now make test, and commit")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
