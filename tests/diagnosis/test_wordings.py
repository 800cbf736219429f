"""Promise: a failure is named by what its sentence means, in whatever words a program says it."""

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis.log_analysis import analyze
from bcon_exporter.diagnosis.log_text import lines_of
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.signatures import Category
from tests.table_rows import table

CATALOGUE = load_catalogue()
CONFIG, MISSING, PERMISSION = Category.CONFIG_ERROR, Category.MISSING_DEPENDENCY, Category.PERMISSION
PORT, DISK, OOM, NETWORK = Category.PORT_IN_USE, Category.DISK, Category.OOM, Category.NETWORK
AUTH = Category.AUTH_FAILURE

FAILURES = [
    (CONFIG, "shop: required key missing: PORT"),
    (DISK, "ERROR Checker - Space left on device data : 254738432, Used space fraction: 0.99 > threshold 0.95."),
    (MISSING, '  "payload": "/bin/sh: 1: ./run.sh: not found\\n",'),
    (CONFIG, "RuntimeError: Please set the SHOP_API_KEY environment variable"),
    (CONFIG, "Error: SHOP_USER, SHOP_GROUP or SHOP_ANY needs to be specified"),
    (CONFIG, "ValidationError: WORKERS is required in env PRODUCTION"),
    (CONFIG, "[CHECK] - [queue][depth] must not be blank."),
    (CONFIG, "Error: sessionSecret must have a value"),
    (CONFIG, "ERROR Invalid value 'abc' for 'queue.depth': expected integer"),
    (CONFIG, 'shop: invalid duration "10"'),
    (CONFIG, "listen tcp: address 99999: invalid port"),
    (CONFIG, "error: the argument '--depth <N>' requires a value but none was supplied"),
    (CONFIG, "error: the following required arguments were not provided: <CONFIG>"),
    (CONFIG, "/etc/shop/zones.db:5: unknown record 'AA'"),
    (CONFIG, "FATAL: 'index' section not found in '/etc/shop/shop.conf'"),
    (CONFIG, "unable to configure the daemon with file /etc/shop.json: json: cannot unmarshal array"),
    (MISSING, "Can't locate configuration file /etc/shop/own.conf. Ending!"),
    (MISSING, "/run.sh: exec: line 12: shop: not found"),
    (MISSING, 'error Couldn\'t find a package.json file in "/srv"'),
    (PERMISSION, "failed to lock the folder; maybe it is not writable"),
    (PERMISSION, "can't run as root without the -u switch"),
    (PORT, "AddrInUse: address 0.0.0.0:9090 is in use"),
    (PORT, "Cannot start HTTP server: port 8081 in use by another process"),
    (DISK, "E JOURNAL [init] Insufficient free space for journal files"),
    (DISK, "Disk usage is not within its limits and write operations are prohibited"),
    (DISK, "Error writing to disk: disk full"),
    (OOM, "task: non-zero exit (137): container was OOM killed"),
    (OOM, "[9143134.8]  [<ffffffff810db186>] ? oom_kill_process+0x286/0x3e0"),
    (NETWORK, "Error: Can't reach database server at `db`:`5432`"),
    (NETWORK, "OperationalError: timeout expired"),
    (NETWORK, "fetch failed: error:0A000410:SSL routines::sslv3 alert handshake failure"),
    (NETWORK, "page.goto: net::ERR_NAME_NOT_RESOLVED at http://app"),
    (NETWORK, "curl: (52) Empty reply from server"),
    (CONFIG, "ERROR: The Compose file is invalid because:"),
    (OOM, "ERROR Lost executor 3: Container killed for exceeding memory limits. 5.5 GB of 5.5 GB used."),
    (AUTH, "Error: Invalid login: 535-5.7.8 Username and Password not accepted"),
    (AUTH, "Error: JWT verification failed: invalid signature"),
    (AUTH, "register request: http 400: invalid key: unable to validate API key"),
    (CONFIG, "Error: The provided master key is too short. It must be at least 16 bytes."),
    (AUTH, "session setup failed: NT_STATUS_LOGON_FAILURE"),
    (NETWORK, "bridge:error 2026-01-01 12:00:00: Not connected to MQTT server!"),
    (NETWORK, 'WRN [cam] error="source 0 error: dial tcp 10.0.0.9:8554: connect: connection refused" stream=door'),
    (NETWORK, "ldap_bind - Error: could not send startTLS request: error -11 (Connect error) errno 0 (Success)"),
    (NETWORK, "ERROR Certificate did not match expected hostname: shop. Certificate: {}"),
    (NETWORK, "WARN [vpn] TLS Error: TLS key negotiation failed to occur within 60 seconds"),
    (MISSING, "PHP Fatal error:  require_once(): Failed opening required 'includes/Shop.php'"),
    (MISSING, "ERROR Evaluation Error: Could not find template 'shop/shop.conf'"),
    (MISSING, "ERROR: can not find SHOP CA file: /usr/share/shop.pem"),
    (MISSING, 'ERROR PDOException: SQLSTATE[42P01]: Undefined table: 7 ERROR: relation \\"jobs\\" does not exist'),
    (MISSING, "warning/Task: command for object 'shop' terminated with exit code 127, output:"),
    (MISSING, "Mod 'Till' (till) requires any version of mod shop, which is missing!"),
    (DISK, "Error: ENOSPC: System limit for number of file watchers reached, watch '/srv'"),
    (NETWORK, "com.mongodb.MongoSocketOpenException: Exception opening socket"),
    (NETWORK, "[error] [net] connection #42 timeout after 10 seconds to: es:9200"),
    (MISSING, "Could not find com.example:shop:1.0."),
    (CONFIG, "[critical] Failed to start the shop: Invalid value of option 'hosts'"),
    (NETWORK, 'Error renewing session: Put "http://consul:8500/v1/session/renew": EOF'),
    (NETWORK, "ERROR    SMTP server not responding: timed out"),
    (CONFIG, "Error while parsing options: The option Depth is not a known option."),
    (CONFIG, "config: cannot unmarshal !!str `abc` into int"),
    (CONFIG, 'level=error msg="ACME challenge not specified, please select TLS or HTTP"'),
    (CONFIG, 'level=error msg="entryPoint \\"websecure\\" doesn\'t exist" routerName=shop'),
]
HARMLESS = [
    "progress: 2.0 s, 502.0 tps, 0 failed",
    "number of failed orders: 0 (0.000%)",
    "Config OK: 0 invalid entries",
    "Log level: ERROR",
    "LOGLEVEL=error",
    "loglevel set to FATAL",
    "panic mode disabled",
    "Generating a 2,048 bit key and a self-signed certificate",
    "timeout=30s connect_timeout=10",
    "TLS is not configured, serving plain HTTP",
    "Config file not found, creating a new one",
    "Ignoring unknown configuration key: x",
    "optional dependency 'pictures' is not installed, thumbnails disabled",
    "module x not loaded (disabled in config)",
    'WARN The "DEPTH" variable is not set. Defaulting to a blank string.',
    "  ✓ throws an error when the token is invalid (3 ms)",
    "tests/test_shop.py::test_connection_refused PASSED [ 50%]",
    'access("/etc/ld.so.preload", R_OK) = -1 ENOENT (No such file or directory)',
    "[0.1s][info][class,load] java.lang.OutOfMemoryError source: shared objects file",
    "[01/01/26 12:00:00] ERROR    Worker (pid:10) was sent SIGINT!",
    "port 8080 in use by this service",
    "[d21c] method=GET path=/api/orders format=json status=404 error='NotFound: Couldn't find Order'",
    "Anonymous access is denied by default",
    "/usr/bin/printf: write error: Broken pipe",
    '2026-01-01 12:00:00 UTC [44] ERROR:  42704: unrecognized configuration parameter "config_filel"',
    "Logon       Login failed for user 'bob'. Reason: Password did not match. [CLIENT: 203.0.113.9]",
    "http error: Invalid credentials (err=Unauthorized) (code=422)",
    "INFO no plugins enabled",
    "port 5173 is in use, trying another one...",
    "1.234: [GC (Allocation Failure) [PSYoungGen: 65536K->1234K(76288K)], 0.01 secs]",
    "exception reporting: disabled",
    "WARN write tcp 172.18.0.2:80->10.0.0.9:53211: write: broken pipe",
    "=== RUN   TestConnectionRefused",
    "debconf: unable to initialize frontend: Dialog",
    "ERROR Invalid HTTP_HOST header: '203.0.113.7'. You may need to add '203.0.113.7' to ALLOWED_HOSTS.",
    "           select : pref=150,  test result FAILED",
    "2026-01-01T12:00:00Z [MONITOR] WARN: Monitor #3 'shop': Failing: connect ECONNREFUSED 10.0.0.9:80",
    "SSL - Processing of the ClientHello handshake message failed (-30976)",
    "/app/main.py:7: UserWarning: Failed to initialize NumPy: No module named 'numpy'",
    "Failed requests:        0",
    "Error-free deployment since 12 days",
    "The shop is not installed - only a limited number of commands are available",
    "[E 2026-01-01 12:00:00.000 ServerApp] 404 GET /static/x.js (10.0.0.5) 1.2ms referer=None",
    "java.lang.IllegalArgumentException: Invalid character found in method name [0x16 0x03].",
    "F, [2026-01-01T12:00:00.000000 #1] FATAL -- : [abc]   ",
    "[h264 @ 0x55d0c8a0] error while decoding MB 12 30, bytestream -5",
]


@table(("category", "text"), FAILURES)
def test_a_failure_is_named(category: Category, text: str) -> None:
    report = analyze(lines_of([text]), CATALOGUE)

    assert report.categories[:1] == (category,)
    assert SymptomType.LOG_ERROR in {symptom.type for symptom in report.symptoms}


@table("text", HARMLESS)
def test_a_harmless_line_shows_nothing(text: str) -> None:
    assert analyze(lines_of([text]), CATALOGUE).symptoms == ()
