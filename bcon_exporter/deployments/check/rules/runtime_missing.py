"""runtime_missing: the engine does not know a runtime, or no driver for a GPU."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode, NotChecked
from bcon_exporter.model.container_facts import EngineFacts

_NVIDIA = "nvidia"
_SHIM = ("io.containerd.", "/")
"""How the names of runtimes begin that the engine takes without knowing them (from 23.0 on)."""


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    engine = planned.snapshot.engine
    for service in planned.services:
        key = f"services.{service.name}"
        if service.runtime and engine is not None and not _knows(engine, service.runtime):
            message = f"The engine does not know the runtime {service.runtime}. Install it, and name it in daemon.json."
            known = (f"it knows {', '.join(engine.runtimes)}",)
            yield Found(FAILS, message, service.name, evidence=known, key=f"{key}.runtime")
        for driver in service.gpu_drivers:
            match _knows_gpu(planned, driver):
                case None:
                    reason = "the engine does not tell which drivers of devices it has"
                    yield NotChecked(what=f"the GPU of {service.name}", reason=reason)
                case False:
                    message = "The engine has no driver for GPUs. Install the NVIDIA Container Toolkit on its host."
                    yield Found(FAILS, message, service.name, key=f"{key}.gpus")
                case True:
                    continue


def _knows(engine: EngineFacts, runtime: str) -> bool:
    return not engine.runtimes or runtime in engine.runtimes or runtime.startswith(_SHIM)


def _knows_gpu(planned: PlannedDeployment, driver: str) -> bool | None:
    """Return whether the engine can give a GPU: by the runtime that the toolkit names, or by its hook."""
    engine = planned.snapshot.engine
    if driver not in ("", _NVIDIA) or engine is None or not engine.runtimes:
        return None
    if any(_NVIDIA in runtime for runtime in engine.runtimes):
        return True
    return planned.host.has_gpu_hook


RUNTIME_MISSING = CheckRule(
    CheckCode.RUNTIME_MISSING,
    "The engine does not know a runtime, or has no driver for a GPU.",
    "moby: GET /info, Runtimes; nvidia-container-runtime-hook on the engine's PATH",
    _find,
)
