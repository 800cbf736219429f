"""Whether a program of one architecture runs on an engine of another."""

from bcon_exporter.model.container_facts import EngineFacts

_GO_NAMES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "armv8l": "arm64",
    "armv7l": "arm",
    "armv6l": "arm",
    "i386": "386",
    "i686": "386",
    "loongarch64": "loong64",
}
"""The kernel's names of architectures, and emulators' names → those of images."""
_RUNS_TOO = {"amd64": ("386",), "arm64": ("arm",)}


def architecture_of(engine: EngineFacts | None) -> str | None:
    """Return the engine's architecture as images name it; None where it does not tell."""
    if engine is None or engine.architecture is None:
        return None
    return _GO_NAMES.get(engine.architecture, engine.architecture)


def runs_here(architecture: str, engine_architecture: str, emulated: tuple[str, ...]) -> bool:
    """Return whether programs of an architecture run, the emulated ones included."""
    known = {_GO_NAMES.get(name, name) for name in emulated}
    return architecture in (engine_architecture, *_RUNS_TOO.get(engine_architecture, ()), *known)


def architecture_asked_for(platform: str) -> str | None:
    """Return the architecture of "linux/arm64/v8" or "arm64"; None where it names none."""
    parts = platform.split("/")
    name = parts[1] if len(parts) > 1 else "" if parts[0] in ("linux", "windows") else parts[0]
    return _GO_NAMES.get(name, name) or None
