"""What programs say plainly is heard at any level; what they log of their clients and of users' jobs is no error."""

from bcon_exporter.diagnosis import analyze
from bcon_exporter.model.findings import Severity
from tests.diagnosis.judging import shipped
from tests.factories import logs

SAID_PLAINLY = {
    "[10:00:01] [main/INFO]: You need to agree to the EULA in order to run the server. ": "terms_not_accepted",
    "The SQL Server End-User License Agreement (EULA) must be accepted before SQL": "terms_not_accepted",
    "INFO Set environment variable LICENSE=accept to indicate acceptance of license terms": "terms_not_accepted",
    '{"event": "Secret key missing, check https://docs.example.org/", "level": "info"}': "secret_not_given",
    "The application key is missing, halting init!": "secret_not_given",
    "Refusing to start due to insecure SECRET_KEY": "secret_not_given",
    "DO NOT USE PASSWORD ENVIRONMENT VARIABLE. USE PASSWORD_HASH INSTEAD.": "secret_not_given",
    "httpx.ConnectError: [Errno -2] Name or service not known: host.docker.internal:11434": "host_gateway_missing",
    "Error: getaddrinfo ENOTFOUND host.docker.internal": "host_gateway_missing",
    '{"level":"warn","msg":"Container is not in same network as caddy","container":"shop"}': "proxy_network_label",
    "ls: cannot access '/srv/remote': Transport endpoint is not connected": "fuse_mount_gone",
    "OSError: [Errno 116] Stale file handle: '/srv/share/a'": "share_stale",
    "INFO You need to define the SHOP_DEFAULT_EMAIL environment variable.": "variable_missing",
    "OpenVPN provider not set. Exiting.": "needs_what_it_names",
    "Environment configuration is invalid, please check the following:": "needs_what_it_names",
    "Docker socket is not available. Cannot continue.": "docker_socket_not_mounted",
    "fatal: detected dubious ownership in repository at '/srv/shop'": "git_owner_differs",
    "botocore.exceptions.NoCredentialsError: Unable to locate credentials": "cloud_credentials_missing",
    "Error: Can't open display: :0": "display_missing",
    "Error: Could not locate a Flask application. Use the 'flask --app' option": "entry_point_missing",
    "Exiting: No modules or inputs enabled and configuration reloading disabled.": "nothing_configured",
    "[WARNING] You need at least one mail account to start Dovecot (120s left)": "first_setting_missing",
    'WARNING: Error on folder "photos" (p1): folder marker missing': "folder_not_mounted",
    "error: Host validation failed for: shop.example.org:3000.": "host_not_allowed",
}
SAID_MILDLY = {
    "1772445600: Starting in local only mode. Connections will only be possible from clients": "listens_on_loopback",
    "2026-03-02T10:00:01.123Z [INFO]  core: security barrier not initialized": "needs_unsealing",
    "To authenticate, visit:": "waits_for_login",
    "* INFO: Node will now attempt to join a running cluster, or wait for `cockroach init`.": "cluster_not_initialised",
}
NOISE = (
    '2026-03-02 10:00:01.123 UTC [61] FATAL:  role "root" does not exist',
    '2026-03-02 10:00:01.123 UTC [61] ERROR:  duplicate key value violates unique constraint "tags_name_key"',
    "2026-03-02 10:00:01.123 UTC [61] ERROR:  canceling statement due to statement timeout",
    '2026-03-02 10:00:01.123 UTC [61] ERROR:  invalid input syntax for type uuid: "x"',
    "2026-03-02 10:00:01.123 UTC [61] FATAL:  connection to client lost",
    "2026-03-02 10:00:01Z: Job build completed with result: Failed",
    "WARNING: Job failed: exit code 1   duration_s=12.1 job=71 project=3 runner=x8",
    "##[error]Process completed with exit code 1.",
    'level=error msg="error notifying scheduler about finished query" err=EOF addr=127.0.0.1:9095',
    'level=error msg="error processing request" try=0 err="context canceled"',
    'level=error msg="error processing requests" err="rpc error: code = Canceled desc = context canceled"',
    'level=warning msg="Error while fetching rDNS: lookup 8.113.0.203.in-addr.arpa: no such host"',
    '{"level":"error","msg":"aborting with incomplete response","error":"broken pipe"}',
    "http: panic serving 172.18.0.4:41000: net/http: abort Handler",
    "BadRequestError: request aborted",
    "System.OperationCanceledException: The operation was canceled.",
    "[ALERT]    (1) : Current worker (9) exited with code 143 (Terminated)",
    "7:M 02 Mar 2026 10:00:01.100 # Possible SECURITY ATTACK detected. It looks like somebody is sending POST commands",
    '{"log.level":"CRITICAL", "event.dataset":"deprecation.elasticsearch", "message":"The setting x is deprecated"}',
    "(node:7) [DEP0040] DeprecationWarning: The `punycode` module is deprecated.",
    'level=warn msg="Error on ingesting out-of-order samples" num_dropped=12',
    "1772445600: Socket error on client sensor7, disconnecting.",
    "INFO subscribed to topic orders.failed",
    "error_page 500 502 503 504 /50x.html",
    "Received SIGTERM, exiting",
    "INFO no new files, exiting",
    "INFO SMTP_HOST is not set, mail is disabled",
    "INFO api key is not set: metrics are disabled",
    "EULA accepted",
)


def test_what_is_said_plainly_is_an_error_with_its_cause() -> None:
    reports = {text: analyze(logs(text).lines, shipped()) for text in SAID_PLAINLY}

    assert {text: report.causes[0].id if report.causes else None for text, report in reports.items()} == SAID_PLAINLY
    assert [text for text, report in reports.items() if report.symptoms[0].severity is not Severity.ERROR] == []
    assert [text for text, report in reports.items() if not report.suggestions] == []


def test_what_is_no_failure_yet_is_a_warning() -> None:
    reports = {text: analyze(logs(text).lines, shipped()) for text in SAID_MILDLY}

    assert {text: report.causes[0].id if report.causes else None for text, report in reports.items()} == SAID_MILDLY
    assert [text for text, report in reports.items() if report.symptoms[0].severity is not Severity.WARNING] == []


def test_noise_is_no_symptom() -> None:
    assert {text: analyze(logs(text).lines, shipped()).symptoms for text in NOISE} == dict.fromkeys(NOISE, ())
