"""Promise: a command that asks no engine does not wait for the libraries that would."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration

PROGRAM = (
    "import sys; from bcon_exporter.cli import main;\n"
    "try: main(sys.argv[1:])\n"
    "except SystemExit: pass\n"
    "print('loaded:', *sorted({'docker', 'requests', 'urllib3'} & sys.modules.keys()))"
)


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["check-config"], ["diagnose", "--help"]])
def test_docker_py_is_loaded_only_to_ask_an_engine(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == ["loaded:"]
