"""The rows: what happens, and what then holds. Their order is that of the document."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """One row.

    Attributes:
        id: Faults are F1…, the rules of security S1….
        case: What happens, or which part of the security it is about.
        holds: What then holds, with its bound.
    """

    id: str
    case: str
    holds: str


FAULTS = (
    Promise("F1", "The engine hangs (dockerd stopped with SIGSTOP)", "Scrapes are answered, 99 of 100 within 50 ms; `bcon_up` is 0 within 6 s; no more than one scan hangs; series of containers are kept for three intervals and withheld after that"),
    Promise("F2", "The engine goes on, or is killed with SIGKILL and started again", "The next scan is whole within an interval and 2 s; no restart loop is told that was none; no traceback"),
    Promise("F3", "Only a part of the engine hangs (containerd stopped: stats hang)", "The list and what inspect tells stay fresh, usage is marked as old, the endpoint's gauge is 0, at most one probe an interval; a scan ends by its deadline"),
    Promise("F4", "The socket is absent, refuses connections, or is forbidden to the exporter's user", "The daemon starts and goes on trying; `/-/ready` is 503, `/-/healthy` 200, and each case has a hint of its own"),
    Promise("F5", "Containers are removed between the list and what is asked of them, five a second", "They are skipped and their series are gone within an interval; no scan fails"),
    Promise("F6", "1,000 containers", "A scan takes less than an interval, the daemon less than 200 MB"),
    Promise("F7", "A log of 1 GB, a line of 50 MB, a log driver that keeps nothing, terminals, bytes that are no text, control characters", "The log is read in less than 50 ms, the line in less than 200 ms, with 4 MB held at most; a log that cannot be read is a stated fact; all that is shown is clean, and promtool accepts it"),
    Promise("F8", "A log line of 64 KiB that almost matches every pattern", "All shipped patterns together take less than 150 ms and leave the interpreter to others; patterns of users are proven when they are loaded"),
    Promise("F9", "A scan takes longer than its interval, a job raises, the scheduler's thread dies, the clock steps by an hour or five years", "Turns that were missed are counted and made up by one scan; the next one comes within two intervals; `/-/healthy` is 503 once three intervals have passed without one"),
    Promise("F10", "The state file's disk is full, the file is damaged, or another process has locked it", "The history goes on in memory, counted; a damaged file is set aside; the daemon starts within 3 s"),
    Promise("F11", "10,000 scrapes while scans end", "No answer mixes two scans"),
    Promise("F12", "SIGTERM while a call hangs, SIGHUP with a broken file, a wrong setting at the start, a port in use", "Exit code 0 within 5 s; the old settings stay and the gauge says so; exit code 2 with one line"),
    Promise("F13", "Alertmanager is down, slow, or answers 5xx", "The full set of alerts is sent each interval, so it is there an interval after Alertmanager is back; no scan waits"),
    Promise("F14", "Clients that send their headers by and by, 300 connections half open, one that does not read", "Good clients are answered within 100 ms; all others are closed within 30 s; threads and descriptors are bounded"),
    Promise("F15", "500 containers and the logs of F7 in 256 MB of memory, the Compose binary beside", "The kernel kills nothing"),
    Promise("F16", "10,000 scans or two hours, with churn and faults", "At most five descriptors more, no thread more; memory grows by less than 2 % an hour in the last half"),
    Promise("F17", "An engine that answers nonsense: cut off, HTML, nothing, null, NaN, deep nesting, bytes that are no text, a byte at a time", "It costs the container that it is about, never the process; 10,000 cases by chance"),
    Promise("F18", "50,000 malformed requests: made from the API's own description, raw bytes, TLS", "4xx in the usual envelope, no 5xx, no traceback, none hangs; memory comes back to within 10 MB"),
    Promise("F19", "Podman's API, engines from API 1.41 on, another version while the daemon runs, a proxy that forbids one endpoint", "All tools answer; the version is agreed on anew within an interval; what is forbidden is not asked for over and over"),
    Promise("F20", "A scan that hangs; a thread that never lets go of the interpreter", "`/-/healthy` is 503 after three intervals, at least 30 s; a process whose scheduler makes no turn for two minutes or four intervals ends itself; a pause of ten minutes makes no loop of restarts"),
    Promise("F21", "A container whose health flips all the time, restarts in a loop, or is a new one each second", "Repetitions are counted: of each kind ten rows an hour, then one that says how often; 5,000 ordinary rows of one container, and as many of its incidents and changes; of a quiet one beside it all rows, events and incidents stay, for 90 days"),
    Promise("F22", "An agent or a script that fills what can be filled: notes, quiets, watches, kept answers, sessions, the ledger", "Each store has a cap and gives room at the cost of whoever fills it; what people wrote stays, and they can write on"),
    Promise("F23", "A receiver of messages or an Alertmanager answers without an end, slowly, or not at all", "At most 64 KiB of an answer are read, for 5 s at most, and its status counts; the process that sends has 256 MB of address space and 30 s; an Alertmanager has its time-out in all; the start waits for no check of a receiver"),
    Promise("F24", "90 days of a busy host in the state file, every endpoint, page and tool asked for the most that it gives", "At most 1 MiB an answer"),
    Promise("F26", "Agents that do not read what they asked for, or send a line of 100 MB", "At most 8 MiB of a line are held, the client is told and the connection goes on; who does not read is closed within 30 s, and others are answered meanwhile"),
    Promise("SER-1", "The engine hangs, a scan fails or hangs, or the exporter dies, and a heartbeat's address is set", "Pings fail or stop within two intervals; good ones come once a minute; no scan waits for them"),
    Promise("SER-3", "The engine does not sum up its disk, a file cannot be seen, the kernel has no pressure", "What was not read has no sample, and is never 0; sizes of an old look are withheld; what was read equals `docker system df -v`, `stat` and the kernel's files within 1 %"),
    Promise("SER-4", "Another exporter has the same series, and collectors are off", "Their families are absent and all others are there; what only they need is not read"),
)  # fmt: skip

SECURITY = (
    Promise("S1", "What is served where", "Loopback by default. On any other address without users only metrics, probes and a bare page, since reports hold log lines; everything there only by explicit choice, which a gauge tells"),
    Promise("S2", "Who may ask", "One place decides before any routing, and refuses by default: every route of every listener; unknown users cost as much as known ones; a password of more than 72 bytes is wrong"),
    Promise("S3", "What browsers may be made to do", "Host, Origin and Sec-Fetch are checked on every listener, bodies must be JSON, no other site is allowed in, answers may not be framed, stored or guessed at, pages escape"),
    Promise("S4", "How much may be asked", "Bodies up to 64 KiB, headers up to 16 KiB within 5 s, bounded connections, 429 beyond; 1,000 who ask for the same at once cost no more than two runs"),
    Promise("S5", "What may be asked with", "Ids and names by their pattern, bounded numbers, unknown fields refused, patterns of users in linear time"),
    Promise("S6", "Which files are read", "Of Compose only regular files of up to 1 MiB whose real path, and that of all they involve, lies below `compose.roots`; over HTTP one and the same error for all others; no content of a file in any error; the Compose binary without our environment, with bounded time and memory, fetching nothing"),
    Promise("S7", "What is sent to the engine", "Nothing but GET and HEAD on a list of exact paths, checked in the client and in the shipped proxy; no redirect and no proxy is followed"),
    Promise("S8", "What text from containers can do", "Control characters, escapes and direction marks are removed or shown before anything else sees them; labels of series are at most 128 characters; the number of series is bounded"),
    Promise("S9", "Where secrets go", "Nowhere: values of environment variables never leave, whatever their names, also not as the text of a Compose or env file, and what is held under a secret's name is masked in every string on every face, log and traceback"),
    Promise("S10", "Whose words are shown", "What a container prints or carries stands in a field of its own, never in our sentences; suggestions come from the catalogue"),
    Promise("S11", "What text can become", "Errors of validation quote no input; no shell, no pickle; SQL with parameters; no untrusted text becomes a path, an address or a template"),
    Promise("S12", "How it is shipped", "As nobody, on a read-only root, without capabilities, with limits; locked by hash, with a bill of materials; one regression test for each class of faults that peers were found to have"),
    Promise("S13", "What names may be", "Any text that a label or an engine brings: each page, address and tool answers with what is there or with 4xx, never 500; what raises in one row of a page costs that row, which says so"),
    Promise("S14", "How a known secret may be written", "As it is, in hex, in base64 at any alignment, percent-encoded, in JSON within JSON, as HTML or as Unicode escapes, and over two lines: hidden, in time linear in the text"),
    Promise("SER-2", "Where the heartbeat's address goes", "To the switch alone: no log, metric, report or error names its host or path; no redirect and no proxy is followed"),
)  # fmt: skip

PROMISES = (*FAULTS, *SECURITY)
