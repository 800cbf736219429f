"""The level of a line is read where its logger puts it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.diagnosis.levels import level_of
from bcon_exporter.model.signatures import Level

D, I, U, W, E, C = Level  # noqa: E741 - one letter a level keeps the table readable


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ('ts=2026-01-01T00:00:00Z level=info msg="an error page"', I),
        ('level=ERROR msg="x"', E),
        ('{"level":"error","msg":"x"}', E),
        ('{"msg":"error","severity":"INFO"}', I),
        ('{"level":30,"msg":"error"}', I),
        ('{"level":50,"msg":"x"}', E),
        ('{"t":{"$date":"2026-01-01"},"s":"E","c":"NETWORK"}', E),
        ('{"t":{"$date":"2026-01-01"},"s":"I","c":"NETWORK"}', I),
        ("E0101 12:00:00.000000       1 main.go:7] x", E),
        ("I0101 12:00:00.000000       1 main.go:7] error", I),
        ("2026-01-01 12:00:00,000 - ERROR - x", E),
        ("12:00:00.000 [main] INFO  o.s.Boot - no error", I),
        ("2026-01-01 12:00:00.000  WARN 1 --- [main] o.s.Boot : x", W),
        ("ERROR:root:x", E),
        ("2026-01-01 12:00:00.000 UTC [7] LOG:  connection received", I),
        ("2026-01-01 12:00:00.000 UTC [7] FATAL:  x", C),
        ("2026-01-01 12:00:00.000 UTC [7] STATEMENT:  select error", I),
        ("2026/01/01 12:00:00 [error] 31#31: *1 x", E),
        ("2026/01/01 12:00:00 [emerg] 31#31: x", C),
        ("[Thu Jan 01 12:00:00 2026] [core:error] [pid 7] x", E),
        ("2026-01-01T12:00:00Z 0 [Warning] [MY-1] [Server] x", W),
        ("1:M 01 Jan 2026 12:00:00.000 # x", W),
        ("1:M 01 Jan 2026 12:00:00.000 * Ready", I),
        ("2026-01-01T12:00:00.000+0000 E STORAGE  [initandlisten] x", E),
        ("<3>kernel: x", E),
        ("<30>app: error", I),
        ('10.0.0.1 - - [01/Jan/2026:12:00:00 +0000] "GET /error HTTP/1.1" 200 1', I),
        ('10.0.0.1 - - [01/Jan/2026:12:00:00 +0000] "GET / HTTP/1.1" 502 1', W),
        ("fail: Microsoft.AspNetCore.Hosting[6]", E),
        ("2016-01-01 12:00:00, Info                  CBS    Warning: x", I),
        ("db_1   | ERROR:  x", E),
        ('{"level":400,"level_name":"ERROR"}', E),
        ('{"level":300,"level_name":"WARNING"}', W),
        ('{"level":550,"level_name":"ALERT"}', C),
        ('{"level":2,"reqId":"x"}', W),
        ('{"version":"1.1","short_message":"x","level":3}', E),
        ("[12:00:00] [Server thread/ERROR]: x", E),
        ("[12:00:00 ERR] x", E),
        ("12:00PM WRN x", W),
        ("ERRO[0003] x", E),
        ("FATA[0003] x", C),
        ("2026-01-01T12:00:00Z E! [outputs] x", E),
        ("[E 2026-01-01 12:00:00.000 ServerApp] x", E),
        ("2026-01-01 12:00:00.000000 E | etcdserver: x", E),
        ("2026-01-01 12:00:00.000000 N | embed: an error", I),
        ("bridge:debug 2026-01-01 12:00:00: can't load the state", D),
        ("  bridge:error 1/1/2026, 12:00:00 PM x", E),
        ("[1767268800] unbound[1:0] info: an error", I),
        ("Jan  1 12:00:00 host app[7]: error: x", E),
        ("Jan  1 12:00:00 host daemon.err app: x", E),
        ("Jan  1 12:00:00 host user.info app: no error", I),
        ("[1/1/26 12:00:00:000 UTC] 00000001 SystemErr     E   x", E),
        ("2026-01-01 12:00:00.000+0000: 7: error : x", E),
        ("[2026-01-01 12:00:00 +0000] critical/cli: x", C),
        ("2026-01-01 12:00:00.000 Info App: error", I),
        ("2026-01-01 12:00:00.000 Error App: x", U),
        ("[12:00:00][E][mqtt:7]: x", E),
        ("(EE) x", E),
        ("(II) LoadModule: error", I),
        ("E20260101 12:00:00.000 7 main.cc:7] x", E),
        ("INFO | error", I),
        ("[i] Starting dns-FTL (no-daemon)", U),
        ("[config] x", U),
        ("[2026-01-01 12:00:00.000] wrn x.cc:7 x", W),
        ("W core/runtime/loader.cc:64] x", W),
        ("2026/01/01 12:00:00 auth.go:201:Sign() [W] x", W),
        ("[2026-01-01 12:00:00,000: ERROR/MainProcess] x", E),
        ("2026.01.01 12:00:00.000000 [ 77 ] {} <Error> Application: x", E),
        ("1767841964: Error: x", E),
        ("Jan  1 12:00:00 mail postfix/smtpd[12]: warning: x", W),
        ("=CRASH REPORT==== 1-Jan-2026", E),
        ("npm ERR! code", E),
        ("npm warn deprecated", W),
        ("PHP Warning:  x", W),
        ("PHP Fatal error:  x", C),
        ("(node:1) [DEP0040] DeprecationWarning: x", W),
        ("(node:1) UnhandledPromiseRejectionWarning: Error: x", E),
        ("/usr/lib/x.py:14: DeprecationWarning: x", W),
        ("%3|1767841964|FAIL|rdkafka", E),
        ("2026.01.01 12:00:00 LOG3[ui]: x", E),
        ("2026-01-01 12:00:00.1234|ERROR|Shop", E),
        ("2026-01-01T12:00:00.000Z\terror\tcaller", E),
        ("[2026/01/01 12:00:00] [ warn] [engine] x", W),
        ("01-01 12:00:00.000  2227  2794 E Keyguard: x", W),
        ("[GIN] 2026/01/01 - 12:00:00 | 500 | 1ms |", W),
        ("an error happened", U),
        ("", U),
        ("ErrorHandler registered", U),
    ],
)
def test_reads_the_level_of_each_kind_of_logger(text: str, level: Level) -> None:
    assert level_of(text) is level


@given(st.text(max_size=600))
def test_never_raises_on_any_text(text: str) -> None:
    assert level_of(text) in Level
