"""bind_missing: what a bind mount names is not on the host."""

from collections.abc import Iterator
from posixpath import basename

from bcon_exporter.deployments.check.rule import FAILS, RISK, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode, NotChecked
from bcon_exporter.model.deployment import BindSource


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    unseen: dict[str, None] = {}
    for service, key, bind in planned.binds:
        match planned.is_there(bind.source):
            case None:
                unseen[bind.source] = None
            case False:
                yield _found(service.name, key, bind)
            case True:
                continue
    for path in unseen:
        yield NotChecked(what=f"the path {path}", reason=_reason(planned))


def _found(service: str, key: str, bind: BindSource) -> Found:
    if bind.creates:
        looks_like_file = "." in basename(bind.target)
        meant = ", where a file was probably meant" if looks_like_file else ""
        message = f"{bind.source} is not there: the engine makes an empty directory of it{meant}."
        severity = RISK
    else:
        message = f"{bind.source} is not there, and the file says not to make it. Create it, or correct the path."
        severity = FAILS
    return Found(severity, message, service, key=key, item=basename(bind.source.rstrip("/")))


def _reason(planned: PlannedDeployment) -> str:
    if planned.host.paths is not None:
        return "this user may not look there"
    return next(reversed(planned.host.unseen.values()), "the host's files are not seen from here")


BIND_MISSING = CheckRule(
    CheckCode.BIND_MISSING,
    "What a bind mount names is not on the host.",
    "compose-spec: bind.create_host_path",
    _find,
)
