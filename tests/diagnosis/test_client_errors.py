"""Promise: a client's doing is told from the program's own: by the client's address, and by who asks whom."""

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis.client_errors import names_client
from bcon_exporter.diagnosis.log_events import find_events
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.signatures import Category
from tests.factories import logs
from tests.table_rows import table

CATALOGUE = load_catalogue()

OF_CLIENTS = [
    "login failed for bob from 203.0.113.9",
    "auth: user=<bob>, rip=203.0.113.9",
    "sm-mta[7]: AUTH failure, relay=mail.example.org [203.0.113.9]",
    "badlogin: mail.example.org [203.0.113.9] plaintext bob",
    "[error] [client 2001:db8::9] user bob not found",
    "pam(bob,203.0.113.9): pam_authenticate() failed",
    "ftpd: (bob@203.0.113.9) [WARNING] Authentication failed",
    'SecurityEvent="InvalidPassword",RemoteAddress="IPV4/UDP/203.0.113.9/5070"',
    "Authentication failed for user bob ; connecting host 203.0.113.9",
    "203.0.113.9 - - authentication required",
    "authentication failed: no such user: bob - 203.0.113.9",
    "PAM: authentication error for bob from mail.example.org",
    "cannot locate HMAC in incoming packet from [AF_INET]203.0.113.9:1194",
]
OF_THE_PROGRAM = [
    "ERROR authentication failed",
    "cannot connect to 203.0.113.9: authentication failed",
    "connection to server at 203.0.113.9 failed: wrong password",
    "dial tcp 203.0.113.9:5432: connect: connection refused",
    "login to 203.0.113.9 failed: wrong password",
    "mqtt://203.0.113.9 refused: not authorised",
    "at 10:00:00 the password was refused",
    "version 1.2.3 rejected the password",
]


@table("text", OF_CLIENTS)
def test_a_line_names_the_client_that_asked(text: str) -> None:
    assert names_client(text)


@table("text", OF_THE_PROGRAM)
def test_a_line_tells_of_what_the_program_asked(text: str) -> None:
    assert not names_client(text)


@pytest.mark.parametrize(
    "text",
    [
        "imapd[7]: badlogin: mail.example.org [203.0.113.9] plaintext bob SASL(-13): authentication failure",
        "2026-03-01 10:00:00 login authenticator failed for (PC-1) [203.0.113.9]: 535 Incorrect authentication data",
        "sm-mta[7]: AUTH failure (LOGIN): user not found (-20), user=bob, relay=[203.0.113.9]",
        "SMTP Server: Authentication failed for user bob ; connecting host 203.0.113.9",
        "[error] [client 203.0.113.9] user bob not found: /private",
        "sshd[7]: Failed hostbased for bob from 203.0.113.9 port 45785 ssh2: RSA",
    ],
)
def test_a_clients_refused_login_is_an_auth_failure_and_no_symptom(text: str) -> None:
    (event,) = find_events(logs(text).lines, CATALOGUE)

    assert {hit.signature.category for hit in event.hits} == {Category.AUTH_FAILURE}
    assert not any(event.shows(kind) for kind in SymptomType)


@table(
    "text",
    [
        "error: client 203.0.113.9#52115: zone transfer 'example.org/AXFR/IN' denied",
        "H=mx.example.org [203.0.113.9] F=<a@example.org> rejected RCPT <b@example.org>: Sender verify failed",
        "SMTP protocol synchronization error: rejected connection from H=[203.0.113.9]:25936",
        "203.0.113.9:50186 [01/Mar/2026:10:00:00.317] https_in/1: SSL handshake failure",
        "[ssl:error] [client 203.0.113.9:58028] AH02033: No hostname was provided via SNI for a virtual host",
        "[error] [client 203.0.113.9] request failed: URI too long (longer than 8190)",
        "fatal: Timeout before authentication for 203.0.113.9 port 55555",
        '{"level":"error","msg":"write: broken pipe","request":{"remote_ip":"203.0.113.9"}}',
    ],
)
def test_a_client_that_was_turned_away_is_nothing(text: str) -> None:
    assert find_events(logs(text).lines, CATALOGUE) == ()


@pytest.mark.parametrize(
    "text",
    [
        "ERROR connection to 203.0.113.9 was rejected: authentication failed",
        "ERROR could not connect to 203.0.113.9: TLS handshake failure",
        "ERROR write tcp 172.18.0.2:5000->172.18.0.3:5432: write: broken pipe",
        "FATAL:  sorry, too many connections from 203.0.113.9: rejected",
    ],
)
def test_what_the_program_itself_asked_stays_its_failure(text: str) -> None:
    (event,) = find_events(logs(text).lines, CATALOGUE)

    assert event.shows(SymptomType.LOG_ERROR)
