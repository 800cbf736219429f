"""What a message says, fit for a phone: what, where, since when, why, numbers, first step, one masked line, link."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bcon_exporter.incidents import ENDED_BY, NOT_MENDED, find_telling_change, list_left_down
from bcon_exporter.latest_scans import DiagnoseScan
from bcon_exporter.model.digest import DigestReport
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import FirstLook, Incident
from bcon_exporter.model.messages import Notice, NoticeKind
from bcon_exporter.model.quantities import show_count, show_duration
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.outputs.messages.delivery import Outgoing
from bcon_exporter.secrets.masking import safe_text

TITLE_CHARS = 160
LINE_CHARS = 300
TOLD_IN_FULL = 4
"""Of more incidents in one message each gets a line, those of one cause one together."""
BODY_CHARS = 3000
"""ntfy takes 4,096 bytes and Telegram as many characters; what is longer comes as a file, or in pieces."""
SHORTEST_LINE, SHORTEST_CAUSE = 60, 28
_WORDS = {
    NoticeKind.OPENED: "",
    NoticeKind.WORSE: "WORSE: ",
    NoticeKind.CHANGED: "NOW KNOWN: ",
    NoticeKind.ENDED: "OVER: ",
}


@dataclass(frozen=True)
class Wording:
    """Writes messages.

    Attributes:
        host: How the host is called.
        external_url: Where people reach this exporter; None where they do not.
        to_local: Returns a time by the host's clock on the wall.
        hide: Takes out the secrets that containers are known to have.
        scan: The last diagnosis, for the numbers; None before the first.
        first_look: See `FirstLook`; None where an earlier process has watched.
    """

    host: str
    external_url: str | None
    to_local: Callable[[datetime], datetime]
    hide: Callable[[str], str]
    scan: DiagnoseScan | None = None
    first_look: FirstLook | None = None

    def write(self, key: str, told: Sequence[tuple[Notice, Incident]], now: datetime) -> Outgoing:
        """Return the message that tells of incidents; several are told in one."""
        if len(told) == 1:
            ((notice, incident),) = told
            title = f"{_word(notice, incident)}{incident.title}"
            body = "\n".join(self._paragraph(notice, incident, now))
        elif len(told) > TOLD_IN_FULL:
            title, body = self._title(told, now), "\n".join(self._list(told, now))
        else:
            title = self._title(told, now)
            parts = (self._part(notice, incident, now) for notice, incident in told)
            body = "\n\n".join(parts)
        return Outgoing(self._clean(f"{title} [{self.host}]", TITLE_CHARS), body, key, _kind(told))

    def _title(self, told: Sequence[tuple[Notice, Incident]], now: datetime) -> str:
        incidents = [incident for _, incident in told]
        if self._began_before_first_look(told, now):
            ill = {member.container for one in incidents for member in one.members if member.container is not None}
            total = self.scan.report.total_containers if self.scan is not None else 0
            known = f"{len(ill)} of {total}" if 0 < len(ill) <= total else show_count(len(incidents), "failure")
            return f"{known} {'has' if len(ill) == 1 else 'have'} been ill since before the first look"
        words = {_word(notice, incident) for notice, incident in told if notice.kind is NoticeKind.ENDED}
        have_ended = all(notice.kind is NoticeKind.ENDED for notice, _ in told)
        return f"{min(words) if have_ended and len(words) == 1 else ''}{len(told)} incidents"

    def _began_before_first_look(self, told: Sequence[tuple[Notice, Incident]], now: datetime) -> bool:
        look, is_opening = self.first_look, all(notice.kind is NoticeKind.OPENED for notice, _ in told)
        return look is not None and is_opening and all(look.includes(incident, now) for _, incident in told)

    def _list(self, told: Sequence[tuple[Notice, Incident]], now: datetime) -> Iterator[str]:
        """Yield a line for each kind of step and cause, the worst first, with all that it is about; then where to look.

        A message holds what a phone takes: of what is too much the number is told.
        """
        lines: dict[tuple[str, str], list[str]] = {}
        for notice, incident in sorted(told, key=lambda pair: -pair[1].severity.rank):
            why = _tell_why(incident) if notice.kind is not NoticeKind.ENDED else ""
            own, _, suffering = incident.title.partition("; ")
            name = incident.root.name
            said = own.removeprefix(f"{name} ") if own.startswith(f"{name} ") else own
            about = (f"{name} ({suffering})" if suffering else name) if said != own else ""
            lines.setdefault((f"{_word(notice, incident)}{said}", why), []).append(about)
        yield from self._fit(lines, BODY_CHARS)
        if self._began_before_first_look(told, now):
            yield "Nothing is remembered from before this start: these may have been told already."
        yield f"{self.external_url}/incidents" if self.external_url is not None else "bcon-exporter incidents --open"

    def _fit(self, lines: Mapping[tuple[str, str], Sequence[str]], left: int) -> Iterator[str]:
        """Yield lines as long as they fit; before any is left out, causes are shortened to a share of what is left."""
        share = max(left // max(len(lines), 1), SHORTEST_LINE)
        for place, ((said, why), names) in enumerate(lines.items()):
            who = ", ".join(name for name in names if name)
            head = self._clean(f"{said[0].upper()}{said[1:]}: {who}" if who else said, max(share, LINE_CHARS))
            room = max(share - len(head) - len(". "), 0)
            line = f"{head}. {self._clean(why, room)}" if why and room >= SHORTEST_CAUSE else head
            if len(line) + 1 > left:
                yield f"And {show_count(len(lines) - place, 'line')} more."
                return
            left -= len(line) + 1
            yield line

    def write_digest(self, key: str, report: DigestReport) -> Outgoing:
        """Return the message that tells of a week."""
        # loads rich, which a daemon without receivers does not need
        from bcon_exporter.outputs.text import render_plain
        from bcon_exporter.outputs.text.digest import summarize

        lines = (self._clean(line, LINE_CHARS) for line in render_plain(report).splitlines())
        body = "\n".join(line for line in lines if line)
        return Outgoing(self._clean(f"The week of {self.host}: {summarize(report)}", TITLE_CHARS), body, key)

    def _part(self, notice: Notice, incident: Incident, now: datetime) -> str:
        title = self._clean(f"{_word(notice, incident)}{incident.title}", TITLE_CHARS)
        return "\n".join((title, *self._paragraph(notice, incident, now)))

    def _paragraph(self, notice: Notice, incident: Incident, now: datetime) -> Iterator[str]:
        for label, text in self._facts(notice, incident, now):
            if text:
                yield f"{label}: {self._clean(text, LINE_CHARS)}"
        link = self._link(incident).strip()
        yield link or f"bcon-exporter incidents {incident.id}"

    def _facts(self, notice: Notice, incident: Incident, now: datetime) -> Iterator[tuple[str, str]]:
        yield "Severity", incident.severity.value
        yield "Project", incident.root.project or ""
        left = list_left_down(incident.members) if notice.kind is not NoticeKind.ENDED else []
        yield from (("Not started again", ", ".join(names)) for names in _in_lines(left))
        yield "Since", self._since(incident, now)
        if incident.merged_into is None and incident.ended_at is not None:
            yield "Until", self._until(incident)
        yield "Why", incident.causes[0].description if incident.causes else ""
        report = self._report_of(incident)
        worst = max(report.symptoms, key=lambda one: one.severity.rank, default=None) if report is not None else None
        yield "Seen", worst.description if worst is not None else ""
        if notice.kind is not NoticeKind.ENDED:
            yield "Changed before", _tell_change(incident)
            yield "Do", incident.suggestions[0].action if incident.suggestions else ""
            yield "Log", incident.log_line

    def _since(self, incident: Incident, now: datetime) -> str:
        began = self.to_local(incident.started_at)
        if self.first_look is not None and self.first_look.includes(incident, now) and incident.ended_at is None:
            return f"before {began:%Y-%m-%d %H:%M:%S}, the first look"
        lasted = show_duration(((incident.ended_at or now) - incident.started_at).total_seconds())
        return f"{began:%Y-%m-%d %H:%M:%S} ({lasted})" if incident.ended_at is None else f"{began:%Y-%m-%d %H:%M:%S}"

    def _until(self, incident: Incident) -> str:
        ended = self.to_local(incident.ended_at or incident.started_at)
        lasted = show_duration(((incident.ended_at or incident.started_at) - incident.started_at).total_seconds())
        how = f", {ENDED_BY[incident.ended_by]}" if incident.ended_by is not None else ""
        if incident.ended_by is None:
            return f"{ended:%H:%M:%S} (after {lasted}; {NOT_MENDED})"
        return f"{ended:%H:%M:%S} (after {lasted}{how})"

    def _report_of(self, incident: Incident) -> DiagnosisReport | None:
        """Return what the last diagnosis says of the root, with its numbers."""
        if self.scan is None or incident.root.container is None or incident.ended_at is not None:
            return None
        reports = self.scan.report.reports
        return next((one for one in reports if one.container_name == incident.root.container), None)

    def _link(self, incident: Incident) -> str:
        return f"\n{self.external_url}/i/{incident.id}" if self.external_url is not None else ""

    def _clean(self, text: str, chars: int) -> str:
        """Return one line, masked once more: it leaves the host."""
        return " ".join(safe_text(self.hide(text), max_chars=chars).split())


def _tell_why(incident: Incident) -> str:
    """Return the likely cause in a few words, else the line of a log that shows most; "" where neither is known."""
    if incident.causes:
        return f"Likely: {incident.causes[0].description}"
    return f"Log: {incident.log_line}" if incident.log_line else ""


def _word(notice: Notice, incident: Incident) -> str:
    return "TOLD NO MORE: " if _is_left(notice, incident) else _WORDS[notice.kind]


def _is_left(notice: Notice, incident: Incident) -> bool:
    """Whether it has ended without being mended."""
    return notice.kind is NoticeKind.ENDED and incident.ended_by is None and incident.merged_into is None


def _in_lines(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield all names, as many a line as one takes."""
    line: list[str] = []
    for name in names:
        if line and sum(len(one) + 2 for one in line) + len(name) > LINE_CHARS:
            yield line
            line = []
        line.append(name)
    if line:
        yield line


def _tell_change(incident: Incident) -> str:
    change = find_telling_change(incident)
    if change is None:
        return ""
    who = change.container or change.service or change.project or "the host"
    return f"{who}: {change.text} ({show_duration(change.seconds_before)} before)"


def _kind(told: Sequence[tuple[Notice, Incident]]) -> str:
    going_on = [notice for notice, _ in told if notice.kind is not NoticeKind.ENDED]
    if not going_on:
        return "info" if any(_is_left(notice, incident) for notice, incident in told) else "success"
    return "failure" if any(notice.severity is Severity.CRITICAL for notice in going_on) else "warning"


def shorten(message: Outgoing) -> Outgoing:
    """Return what is left of a message that its receiver refuses: the title."""
    return message._replace(body="The receiver refuses the rest of this message: ask bcon-exporter incidents.")


def write_test(host: str, key: str) -> Outgoing:
    """Return the message of `notify --test`."""
    body = "If you read this, messages of bcon-exporter arrive here. Nothing is wrong."
    return Outgoing(f"Test message [{host}]", body, key)
