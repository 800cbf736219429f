"""Texts that hold a secret, and texts that only look as if they did. Made at run time, so that no scanner trips.

POSITIVES: (text, secret): the secret must not be in the masked text. NEGATIVES: texts that must come back unchanged.
"""

import base64
import errno
import os
import random
import string

_RANDOM = random.Random(20260131)
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
B64 = ALNUM + "+/"
URLSAFE = ALNUM + "_-"


def make(alphabet: str, length: int) -> str:
    """Return random text that has at least a digit, a lower- and an upper-case letter where the alphabet has them."""
    while True:
        text = "".join(_RANDOM.choice(alphabet) for _ in range(length))
        kinds = (str.isdigit, str.islower, str.isupper)
        if all(any(kind(c) for c in text) for kind in kinds if any(kind(c) for c in alphabet)):
            return text


def _password() -> str:
    return _RANDOM.choice(
        (
            "hunter2",
            "S3cr3t!pw",
            "correct-horse",
            "p@ss,w0rd",
            "Tr0ub4dor&3",
            "qwerty",
            "letmein",
            "Passw0rd",
            "x9!kQ#2m",
        )
    ) + make(ALNUM, 3)


_KEY_TEXT = """\
PASSWORD password Password DB_PASSWORD POSTGRES_PASSWORD MYSQL_ROOT_PASSWORD dbPassword PGPASSWORD passwd
user_passwd PASS SMTP_PASS db.pass pwd DB_PWD userPwd passphrase SSH_PASSPHRASE secret SECRET_KEY client_secret
clientSecret APP_SECRET jwt.secret JWT_SECRET token API_TOKEN accessToken refresh_token id_token GITHUB_PAT
AZURE_PAT SENTRY_DSN DATABASE_DSN api_key API-KEY apiKey apikey X-Api-Key STRIPE_API_KEY private_key privateKey
access_key AWS_SECRET_ACCESS_KEY credential DB_CREDENTIALS signing_key ENCRYPTION_KEY master_key MASTERKEY
session_key APP_KEY auth_token AUTH_PASS keystorePassword KEYPASS dbpass ROOTPASS PASSWORD2 webhook_secret
SECRET_KEY_BASE password_hash CSRF_SECRET consumer_secret account_key AccountKey SharedAccessKey license_key
otp passcode
"""
_KEYS = _KEY_TEXT.split()
_FORMS = (
    "{k}={v}",
    "{k}: {v}",
    '"{k}":"{v}"',
    '{{"user": "bob", "{k}": "{v}", "n": 1}}',
    "{{'{k}': '{v}'}}",
    "starting with {k}={v} and more words",
    "config: {k} = {v}",
    'level=info msg="loaded" {k}="{v}"',
    "GET /login?user=bob&{k}={v}&page=2 HTTP/1.1",
    'escaped {{\\"{k}\\":\\"{v}\\"}}',
    "--{k}={v}",
    "app --{k} {v} --port 80",
    "Server=db;User=sa;{k}={v};Encrypt=true",
    "{k} => {v}",
    "<{k}>{v}</{k}>",
    '{{"name": "{k}", "value": "{v}"}}',
    "export {k}='{v}'",
)


def _by_key() -> list[tuple[str, str]]:
    found = []
    for i, key in enumerate(_KEYS):
        for j in range(4):
            form = _FORMS[(i * 4 + j) % len(_FORMS)]
            value = make(ALNUM, 14) if ("&" in form or ";" in form or "--" in form) else _password()
            found.append((form.format(k=key, v=value), value))
    return found


_COMMON = """
admin administrator password passw0rd pass secret letmein welcome changeme default guest login master root user users
test public private key token access read write session account sensitive monkey dragon qwerty 123456 iloveyou mount
permission operation parameter variable environment signature binary file open stat dial lookup
"""
COMMON_PASSWORDS = _COMMON.split()
ENDINGS = (
    "", " ", ".", ", retrying", " for user bob", " (user bob)", " is invalid", " was rejected", ": permission denied",
    " expired", "; host=db", " user=bob", " logged in", " and more words", "\t", " -> ok", " # from the vault",
)  # fmt: skip
"""What may stand behind a value without making it less of one."""


def _common() -> list[tuple[str, str]]:
    """Passwords that are words of messages too, where they stand alone."""
    heads = (
        "password: {}",
        "PASSWORD={}",
        "  db_password: {}",
        "{{'token': '{}'}}",
        "user: bob, password: {}, host: x",
    )
    return [(head.format(word), head.format(word)) for word in COMMON_PASSWORDS for head in heads]


def _issued() -> list[tuple[str, str]]:
    tokens = [
        "AK" + "IA" + make(string.ascii_uppercase + string.digits, 16),
        "AS" + "IA" + make(string.ascii_uppercase + string.digits, 16),
        "AI" + "za" + make(URLSAFE, 35),
        "ya" + "29." + make(URLSAFE, 60),
        "GOC" + "SPX-" + make(URLSAFE, 28),
        *("gh" + kind + "_" + make(ALNUM, 36) for kind in "pousr"),
        "github" + "_pat_" + make(ALNUM, 22) + "_" + make(ALNUM, 59),
        *("gl" + kind + "-" + make(URLSAFE, 20) for kind in ("pat", "dt", "rt", "cbt", "ptt")),
        *("xo" + "x" + kind + "-" + make(string.digits, 12) + "-" + make(ALNUM, 24) for kind in "bapr"),
        "xa" + "pp-1-" + make(ALNUM, 40),
        *(kind + "_" + mode + "_" + make(ALNUM, 24) for kind in ("sk", "rk") for mode in ("live", "test")),
        "wh" + "sec_" + make(B64, 32),
        "sk" + "-" + make(ALNUM, 48),
        "sk" + "-proj-" + make(URLSAFE, 60),
        "sk" + "-ant-api03-" + make(URLSAFE, 60),
        "np" + "m_" + make(ALNUM, 36),
        "py" + "pi-AgEIcHlwaS5vcmc" + make(URLSAFE, 60),
        "dckr" + "_pat_" + make(URLSAFE, 27),
        "hv" + "s." + make(URLSAFE, 24),
        "hv" + "b." + make(URLSAFE, 60),
        "S" + "G." + make(URLSAFE, 22) + "." + make(URLSAFE, 43),
        "key" + "-" + make(HEX, 32),
        "SK" + make(HEX, 32),
        "shp" + "at_" + make(HEX, 32),
        "dop" + "_v1_" + make(HEX, 64),
        "lin" + "_api_" + make(ALNUM, 40),
        "h" + "f_" + make(ALNUM, 34),
        "gs" + "k_" + make(ALNUM, 52),
        "AGE-SECRET" + "-KEY-1" + make(string.ascii_uppercase + string.digits, 58),
        "sq0" + "atp-" + make(URLSAFE, 22),
        "NR" + "AK-" + make(string.ascii_uppercase + string.digits, 27),
        "gl" + "sa_" + make(ALNUM, 32) + "_" + make(HEX, 8),
        "da" + "pi" + make(HEX, 32),
        make(ALNUM, 14) + ".atlas" + "v1." + make(URLSAFE, 64),
        "dp" + ".pt." + make(ALNUM, 43),
        "ATA" + "TT3" + make(ALNUM, 60),
        "1234567890" + ":AA" + make(URLSAFE, 33),
        make(URLSAFE, 3) + "8" + "Q~" + make(ALNUM, 34),
        make(B64, 86) + "==",
        *(_jwt() for _ in range(4)),
    ]
    frames = (
        "token was {t}",
        "{t}",
        'header "{t}" sent',
        "using {t}, retrying",
        "url https://x.test/a?x={t}&y=1",
        "[{t}]",
    )
    return [(frames[(i + j) % len(frames)].format(t=token), token) for i, token in enumerate(tokens) for j in range(2)]


def _jwt() -> str:
    def part(raw: str) -> str:
        return base64.urlsafe_b64encode(raw.encode()).decode().rstrip("=")

    return (
        f"{part(chr(123) + chr(34) + 'alg' + chr(34) + ':1}')}.{part('{' + make(ALNUM, 20) + '}')}.{make(URLSAFE, 43)}"
    )


def _urls() -> list[tuple[str, str]]:
    found = []
    schemes = ("postgres", "mysql", "redis", "amqp", "mongodb+srv", "http", "https", "ftp", "smtp", "ldaps", "rediss")
    for scheme in schemes:
        secrets = (make(ALNUM, 12), "p@" + make(ALNUM, 8), make(ALNUM, 4) + "/" + make(ALNUM, 5))
        found += [(f"connecting to {scheme}://user:{s}@db.internal:5432/app?x=1", s) for s in secrets]
    secret = make(ALNUM, 10)
    found += [
        (f"redis://:{secret}@cache:6379/0", secret),
        (f"see https://{secret + secret}@o1.ingest.sentry.test/2", secret + secret),
        (f"root:{secret}@tcp(127.0.0.1:3306)/app?parseTime=true", secret),
        (f"jdbc:oracle:thin:scott/{secret}@//db:1521/x", secret),
        (f"mongodb://a:{secret}@h1:27017,h2:27017/db", secret),
        (f"pull admin:{secret}@registry.test:5000 failed", secret),
        ("post https://hooks.slack" + f".com/services/T0000/B0000/{secret}", secret),
        ("post https://discord" + f".com/api/webhooks/123456/{secret}", secret),
        (f"https://acct.blob.test/c?sv=2020&sig={secret * 4}%3D&se=1", secret * 4),
    ]
    return found


def _headers() -> list[tuple[str, str]]:
    basic = base64.b64encode(f"user:{make(ALNUM, 9)}".encode()).decode()
    found = []
    for name in ("Authorization", "authorization", "Proxy-Authorization", '"Authorization"'):
        pairs = (("Bearer", make(URLSAFE, 30)), ("Basic", basic), ("Token", make(HEX, 40)), ("Bearer", "abc"))
        found += [(f"> {name}: {scheme} {secret}", secret) for scheme, secret in pairs]
    token = make(ALNUM, 24)
    return [
        *found,
        (f"curl -H 'Authorization: Bearer {token}' http://x", token),
        (f"got bearer {token} from client", token),
        (f"basic {basic} rejected", basic),
        (f"Cookie: sid={token}; theme=dark", token),
        (f"Set-Cookie: session={token}; Path=/; HttpOnly", token),
        (f"PRIVATE-TOKEN: {token}", token),
        (f"X-Auth-Token: {token}", token),
        (f"authorization=Bearer%20 token={token}", token),
    ]


def _key_blocks() -> list[tuple[str, str]]:
    found = []
    for kind in ("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"):
        body = [make(B64, 64) for _ in range(3)] + [make(B64, 30) + "=="]
        begin, end = "-----BEGIN " + kind + "-----", "-----END " + kind + "-----"
        for secret in (body[0], body[-1]):
            found += [
                ("\n".join([begin, *body, end]), secret),
                ("key: " + "\\n".join([begin, *body, end]), secret),
                ("\n".join(["before", begin, *body]), secret),
                ("\n".join([*body, end, "after"]), secret),
                ('{"k": "' + "\\n".join([begin, *body, end]) + '\\n"}', secret),
            ]
    return found


def _hashes() -> list[tuple[str, str]]:
    salt, body = make(ALNUM, 16), make(ALNUM, 43)
    hashes = [f"$2{kind}$12${make(ALNUM, 53)}" for kind in "aby"] + [
        f"$argon2id$v=19$m=65536,t=3,p=4${salt}${body}",
        f"$6${salt}${make(ALNUM, 86)}",
        f"$5${salt}${make(ALNUM, 43)}",
        f"$6$rounds=5000${salt}${make(ALNUM, 86)}",
        f"$1${salt[:8]}${make(ALNUM, 22)}",
        f"$apr1${salt[:8]}${make(ALNUM, 22)}",
        f"$y$j9T${salt}${body}",
        "{SSHA}" + make(B64, 32),
        f"pbkdf2_sha256$260000${salt}${body}=",
        f"pbkdf2:sha256:150000${salt}${make(HEX, 64)}",
        f"$$2y$$10$${make(ALNUM, 53)}",
    ]
    return [(frame.format(h=h), h) for h in hashes for frame in ("admin:{h}", "stored hash {h} for bob")]


def _phrases() -> list[tuple[str, str]]:
    secret = make(ALNUM, 10)
    return [
        (f"GENERATED ROOT PASSWORD: {secret}", secret),
        (f"A temporary password is generated for root@localhost: {secret}", secret),
        (f"the password is {secret}", secret),
        (f"Your token is: {secret}", secret),
        (f"ALTER USER app WITH PASSWORD '{secret}'", secret),
        (f"CREATE USER a IDENTIFIED BY '{secret}'", secret),
        (f"mysql -uroot -p{secret} db", secret),
        (f"sshpass -p {secret} ssh host", secret),
        (f"mongodump --host x -u a -p {secret}", secret),
        (f"docker login -u bob -p {secret} r.test", secret),
        (f"redis-cli -h x -a {secret} ping", secret),
        (f"ldapsearch -D cn=a -w {secret}", secret),
        (f"curl -u bob:{secret} https://x.test/", secret),
        (f"requirepass {secret}", secret),
        (f"machine x.test login bob password {secret}", secret),
        (f"password {secret}", secret),
        (f"api key: {secret}", secret),
        (f"invalid password={secret} for user bob", secret),
        (f"login failed for bob with password: {secret}", secret),
    ]


_TOGETHER = (
    # lists, maps and values on the next lines
    '{{"passwords":["{s}","b"]}}', "passwords: [{s}, b]", "passwords:\n - {s}", "passwords:\n- {s}\nuser: bob", '"tokens": [\n  "a1",\n  "{s}"\n]',
    '"credentials":{{"value":"{s}"}}', '"credentials": {{"user": "bob", "data": {{"raw": "{s}"}}}}', "credentials:\n  username: bob\n  value: {s}\n",
    "stringData:\n  config: {s}", "password:\n  {s}", "password:\n{s}", "password: |\n  {s}\nuser: bob", '"password":\n  "{s}"',
    "- name: DB_PASSWORD\n  value: {s}", "- value: {s}\n  name: DB_PASSWORD", '{{"name":"DB_PASSWORD",\n "value":"{s}"}}',
    '"value":"{s}","name":"API_TOKEN"', '{{"name":"API_TOKEN","type":"env","value":"{s}"}}', "args:\n - --password\n - {s}", '["--password",\n "{s}"]',
    "Please use the following password to proceed:\n\n{s}\n", "app-1 | password:\napp-1 | {s}", "Password (again):\n{s}",
    "2026-01-01T00:00:00Z INFO password:\n2026-01-01T00:00:01Z INFO {s}", "<name>db.password</name><value>{s}</value>", "| db_password | {s} |",
    # commands
    "curl -su u:{s} http://x", 'curl -s -u "u:{s}" x', "curl -uu:{s} x", "curl -sSfLu u:{s} x", "curl --user u:{s} x", "curl --proxy-user=u:{s} x",
    "curl -u bob:hunter2 -U p:{s} x", "wget --password {s} x", "wget --password={s} x", "wget --http-password={s} x", "mysql -p{s}", "mysql -u root -p{s} db",
    'sshpass -p"{s}" ssh h', "sshpass -p{s} ssh h", "redis-cli -h x -a {s}", "PGPASSWORD={s} psql", "docker login -u bob -p {s} reg", "docker login --password {s}",
    "podman login -u=bob -p={s} reg", "openssl enc -aes -k {s}", "openssl rsa -passin pass:{s}", "smbclient -U bob%{s} //x", "lftp -u bob,{s} h",
    "snmpget -v3 -A {s} h", "zip -P {s} a.zip b", "http -a bob:{s} x.test", "skopeo copy --src-creds bob:{s} a b", "kubectl create secret generic a --from-literal=b={s}",
    "echo {s} | docker login --password-stdin", "echo 'root:{s}' | chpasswd", "rabbitmqctl add_user bob {s}", "htpasswd -nbB bob {s}", "ENV DB_PASSWORD {s}",
    "AUTH {s}", '"AUTH" "{s}"', "a1 LOGIN bob {s}", "SET PASSWORD FOR x = PASSWORD('{s}')",
    # what surrounds a value
    'password=Some("{s}")', "password: b'{s}'", "('password', '{s}')", 'setItem("token", "{s}")', "to=password%3D{s}%26a", "password->{s}", 'token: "abc \\"{s}\\" d"',
    '"Password" : "a b {s}"', "{{User:bob Password:{s} Retries:3}}", "User(name=bob, password={s})", "psk={s}", "PresharedKey = {s}{s}{s}=", "Passwort: {s}",
    'Authorization: Digest username="bob", realm="x", nonce="n", response="{s}"', "-H 'Authorization: Digest username=\"bob\", response=\"{s}\"'",
    "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature={s}", "('Authorization', 'Bearer {s}')",
    'https://api.telegram.org/bot123456789:AAH{s}{s}{s}/sendMessage', '{{"kty":"oct","k":"{s}{s}"}}', '{{"kty":"EC","crv":"P-256","d":"{s}{s}","x":"a"}}',
    "password for user bob is {s}", "password for bob: {s}", "credentials bob:{s} accepted", "password changed from 'a' to '{s}'",
    # what somebody who had not seen the rules thought of
    "APP_SECRET_KEY=some words and {s}", "secret_key = two {s} ; rotate yearly", "GET /write?db=a&u=b&p={s} 204", "SSWS {s}{s}", "userPassword:: {s}",
    "Private Key:\n{s}", "AUTH default {s}\n+OK",
    "keytool -srcstorepass {s} -v", "app_session={s}; theme=dark", 'encrypt = "{s}{s}"', "machine h\n  login ci\n  password {s}", "DB_PASSWORD     {s}",
    "password\t{s}\nuser\ta", 'secret: !!str "{s}"', 'token: Some(\n  "{s}",\n)', 'Rails secrets: secret_key_base: {s}', '["password"]=>\n  string(12) "{s}"',
    "login with password {s} failed", "New API token created: {s}{s}", "your one-time passcode is {s}", "recovery codes: 1, {s}", 'vpn : PSK "{s}"',
    'form-data; name="password"\n\n{s}\n', "mot de passe : {s}", "contraseña: {s}", "hasło: {s}", "пароль: {s}", "パスワード: {s}", "密码：{s}",
    "mosquitto_pub -h a -P {s} -t b", "rabbitmqctl add_user a '{s}'", 'a1 LOGIN bob "b {s}"', "331 ok\nPASS {s}\n230 ok", ".dockerconfigjson: {s}{s}",
    "mnemonic: legal winner thank year wave sausage worth useful legal {s}", "recovery codes: {s}",
)  # fmt: skip
"""Where a secret stands that a name or a phrase announces, however far from it."""


def _together() -> list[tuple[str, str]]:
    found = []
    for form in _TOGETHER:
        secret = "winter" if "mnemonic" in form else make(ALNUM, 12)
        found.append((form.format(s=secret), secret))
    return found


_PREFIXES = (
    "", "app-1 | ", "app-1  | ", "2026-01-31T12:00:00Z ", "2026-01-31 12:00:00,123 INFO ", "[ERROR] ", "INFO: ",
    "web_1 | 2026-01-31T12:00:00.123456Z stdout F ", "    ", "| ", "Jan 31 12:00:00 ",
)  # fmt: skip


def _key_bodies() -> list[tuple[str, str]]:
    """Keys without their beginning, their end or both, at several widths, behind what a log puts before its lines."""
    found = []
    for width in (48, 64, 70, 72, 76, 80):
        for prefix in _PREFIXES:
            body = [make(B64, width), make(B64, width), make(B64, 22) + "=="]
            begin, end = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"
            for lines in ([*body, "ready now"], [*body, end, "ready"], [begin, *body, "ready now"]):
                text = "\n".join(prefix + line for line in lines)
                found += [(text, body[0]), (text, body[-1])]
    return found


def _hashes_of_databases() -> list[tuple[str, str]]:
    salt, body = make(B64, 22), make(B64, 43)
    hashes = [
        "md5" + make(HEX, 32),
        "*" + make("0123456789ABCDEF", 40),
        f"SCRAM-SHA-256$4096:{salt}==${body}=:{body}=",
        "0x0200" + make("0123456789ABCDEF", 136),
        "{bcrypt}$2a$10$" + make(ALNUM, 53),
        f"$argon2i$v=19$m=102400,t=2,p=8${salt}${body}",
        f"argon2$argon2id$v=19$m=102400,t=2,p=8${salt}${body}",
        f"$7$C6..../....{make(ALNUM, 22)}${make(ALNUM, 43)}",
        f"scrypt:32768:8:1${make(ALNUM, 16)}${make(HEX, 128)}",
    ]
    return [(frame.format(h), h[-16:]) for h in hashes for frame in ("role bob has {}", "bob,{},2026", '{{"h":"{}"}}')]


POSITIVES: list[tuple[str, str]] = [
    (text, secret)
    for text, secret in (
        *_by_key(),
        *_common(),
        *_issued(),
        *_urls(),
        *_headers(),
        *_key_blocks(),
        *_hashes(),
        *_phrases(),
        *_together(),
        *_key_bodies(),
        *_hashes_of_databases(),
    )
]

_PLAIN_LINES = """\
2026-01-31T12:00:00Z INFO request handled path=/api/users status=200 duration=12ms
Access denied for user 'root'@'172.17.0.1' (using password: YES)
Access denied for user 'app'@'localhost' (using password: NO)
FATAL: password authentication failed for user "app"
error: invalid token: unexpected end of input
SyntaxError: Unexpected token: < in JSON at position 0
SyntaxError: Unexpected token } in JSON at position 17
token expired at 2026-01-31T12:00:00Z
Error: secret not found
secret "db-password" mounted at /run/secrets/db-password
password required
Enter password: required
bearer token missing
Bearer authentication required
basic authentication enabled
WWW-Authenticate: Basic realm="registry"
authorization failed for user bob
Authorization: required
author=alice committed a change
authors: alice, bob
keyboard=us layout=qwerty
secretary=Jane department=hr
passenger count: 12
compass heading=270
tokenizer=bpe vocabulary=50257
max_tokens=4096 temperature=0.7
input_tokens: 512, output_tokens: 77, total_tokens: 589
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
JAVA_HOME=/usr/lib/jvm/java-17 PATTERN=*.log
PASSWORD_FILE=/run/secrets/db_password
POSTGRES_PASSWORD_FILE=/run/secrets/pg
token_url=https://auth.example.test/oauth/token
tokenEndpoint: https://auth.example.test/token
token_type=bearer expires_in=3600
password_policy=strict min_length=12
secret_name=db-credentials-v2
primary_key=id foreign_key=user_id
key=user:1234 value=42
cache key: session:42 hit
sort_key=created_at partition_key=tenant
Duplicate entry '17' for key 'PRIMARY'
monkey=1 donkey=2 turkey=3
hotkey: ctrl+c
public_key=ssh-ed25519
bypass=true compassion=high
passed: 12, failed: 0, skipped: 3
tests pass: 12 fail: 0
pass=true
auth=enabled
auth: ok
auth_method=oidc
session started for bob
connection string is missing
connecting to postgres://db.internal:5432/app
connecting to redis://cache:6379/0
http://localhost:3000/@vite/client
https://example.test/users/@bob?tab=posts
git@github.test:org/repo.git cloned
ssh://git@github.test/org/repo.git
mailto:bob@example.test
from bob@example.test to alice@example.test: 250 ok
see https://example.test/a?b=c@d.test
image registry.test/app:1.2@sha256:0f343b0931126a20f133d67c2b018a3b5e3f9a4c0e5a3b1d5b1c4d2e6f7a8b9c
commit 3f786850e387550fdab836ed7e6dc881de23001b merged
uuid 123e4567-e89b-12d3-a456-426614174000
trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7
etag "33a64df551425fcc55e4d42a148795d9f25f89d4"
GET /static/js/main.8f3e2c1a.chunk.js HTTP/1.1 304
Last_errno: 0 Last_error:
errors=0 warnings=2
java.lang.NullPointerException: Cannot invoke "String.length()" because "token" is null
at com.example.auth.TokenFilter.doFilter(TokenFilter.java:42)
at org.springframework.security.web.authentication.UsernamePasswordAuthenticationFilter.attemptAuthentication
File "/app/secrets/loader.py", line 12, in load_token
KeyError: 'password'
ValueError: invalid literal for int() with base 10: 'abc'
panic: runtime error: invalid memory address or nil pointer dereference
level=error msg="failed to refresh token" error="context deadline exceeded"
{"level":"info","msg":"token refreshed","user":"bob"}
{"level":"warn","token_count":12,"pass":true}
{"password":null,"user":"bob"}
{"passwordRequired":true}
password=${DB_PASSWORD}
password: {{ vault_password }}
--password-file /run/secrets/x
--max-tokens 512
--keyspace users --key-format uuid
-p 8080:80 --name web
docker run -p 127.0.0.1:8080:80 -v /data:/data nginx
mysql -uroot -p
curl -sS -o /dev/null https://example.test/
cookie consent accepted
set cookie policy to strict
csrf check passed
signature verification failed
nonce reused
salt-master started
pin=17 gpio=high
sid=1 pid=4242
dsn parse error
no credentials found in environment
credentials: missing
AWS region eu-west-1 selected
key-value store ready
skipping task-runner-service-deployment-check
risk-assessment-model-v2-final-report
disk-usage-monitor started
$2.50 charged to account
price $100 - $200
awk '{print $1 $2}'
echo $HOME ${USER} $(date)
{SHA} not supported
base64 decode error
eyJ is not a token
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
ssh-rsa key accepted for git from 10.0.0.1 port 22
Accepted publickey for bob from 10.0.0.1 port 51234 ssh2: RSA SHA256:Q2x
Failed password for invalid user admin from 10.0.0.1 port 22 ssh2
pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=10.0.0.1
2026/01/31 12:00:00 [error] 29#29: *1 connect() failed (111: Connection refused) while connecting to upstream
172.17.0.1 - - [31/Jan/2026:12:00:00 +0000] "GET /token HTTP/1.1" 200 612 "-" "curl/8.0"
172.17.0.1 - bob [31/Jan/2026:12:00:00 +0000] "POST /password/reset HTTP/1.1" 302 0
1:M 31 Jan 2026 12:00:00.000 * Ready to accept connections
2026-01-31 12:00:00.000 UTC [1] LOG:  database system is ready to accept connections
{"t":{"$date":"2026-01-31T12:00:00.000+00:00"},"s":"I","c":"ACCESS","msg":"Connection accepted"}
I0131 12:00:00.000000 1 server.go:42] "Serving securely" address="[::]:6443"
level=info ts=2026-01-31T12:00:00Z caller=main.go:12 msg="Server is ready to receive web requests."
npm ERR! code ELIFECYCLE
npm_config_cache=/tmp/npm
hf_hub_cache=/models
sk-learn pipeline loaded
stripe mode: test
user logged in: bob
user_id=42 tenant=acme
hello world
the quick brown fox jumps over the lazy dog""".splitlines()


def _made_negatives() -> list[str]:
    found = []
    for i in range(24):
        found += [
            f"GET /api/v1/items/{i * 37} HTTP/1.1 200 {i * 113}",
            f"image app@sha256:{make(HEX, 64)}",
            f"container {make(HEX, 64)} started",
            f"commit {make(HEX, 40)} by bob",
            f"request_id={make(HEX, 8)}-{make(HEX, 4)}-{make(HEX, 4)}-{make(HEX, 4)}-{make(HEX, 12)} took {i}ms",
            f"/var/lib/docker/overlay2/{make(HEX, 64)}/merged",
            f"tcp 10.0.{i}.7:5432 -> 10.0.0.{i}:{40000 + i} established",
            f"worker-{i} processed {i * 100} messages in {i}.{i}s",
        ]
    return found


MESSAGES = (
    "java.io.IOException: Cannot run program", "Aws::Errors::MissingCredentialsError: unable to sign",
    "com.auth0.jwt.exceptions.TokenExpiredException: The Token has expired", "ValueError: not enough segments",
    "unbound variable", "parameter not set", "parameter null or not set", "is not set", "variable is not set",
    "is required", "missing", "must be set", "invalid value", "environment variable required", "not found", "required",
    "illegal base64 data at input byte 4", "signature is invalid", "token contains an invalid number of segments",
    "yaml: line 3: mapping values are not allowed in this context", "did not find expected key",
    "context deadline exceeded", "already exists", "binary file matches", "input/output error",
    'Post "https://auth.test/t": dial tcp: lookup auth.test: no such host', "open /run/secrets/x: permission denied",
    "dial tcp 10.0.0.7:443: connect: connection refused", "stat /srv/x: no such file or directory",
    "mount /etc:/srv/x (via /proc/self/fd/6), flags: 0x5000: not a directory", 'secret "db" not found',
    *(os.strerror(number) for number in sorted(errno.errorcode)),
)  # fmt: skip
"""What programs say behind the name of a secret, its variable or its file."""
NAMED = (
    "entrypoint.sh: line 3: DB_PASSWORD: ", "sh: 1: API_KEY: ", "error: secret: ", "Password: ", "get token: ",
    "open /run/secrets/db_password: ", "cat: /run/secrets/token: ", "failed to decode token: ", "APP_SECRET: ",
    "/app/secrets.yaml: ", "chown: /var/lib/secrets: ", "stat /srv/creds/apikey: ",
)  # fmt: skip


def _harmless() -> list[str]:
    """What looks like a secret, stands under the name of one or beside it, and is none."""
    body = [make(B64, 64) for _ in range(3)]
    certificate = "\n".join(["-----BEGIN CERTIFICATE-----", *body, make(B64, 22) + "==", "-----END CERTIFICATE-----"])
    return [
        f"integrity sha512-{make(B64, 86)}==", f'"integrity": "sha512-{make(B64, 86)}=="', f"sha512: {make(B64, 86)}==",
        f"integrity sha384-{make(B64, 64)}", f"integrity sha1-{make(B64, 27)}=", certificate, f"app-1 | {make(HEX, 64)}",
        "password_encryption = scram-sha-256", "pad_token: <|endoftext|>", "- SECRET_KEY=$SECRET_KEY", "password=(not set) token=undefined secret=None",
        "+ private_key_pem = (known after apply)", "UPDATE users SET password = ? WHERE id = ?", "PWD=/app OLDPWD=/ HOME=/root", "routing_key=orders.created",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbC123", "string password = 2;", "def verify(password: str) -> bool:", "existingSecret: shop-db",
        "token=<none>", "token=<nil>", "password=<redacted>", "password: [FILTERED]", "password=(hidden)", "secret=***", "api_key: null",
        "max_tokens=4096", "tokens_used: 12", "tokens_used=12,tokens_left=3", "password_reset_enabled=true", "passwordResetEnabled: false",
        "secret not found", "secret_rotation_days=30", "token_expires_at=2026-01-31T12:00:00Z", "password_changed_at: 2026-01-31", "token_status=active",
        "tokens_per_second=41.5", "token_per_minute=900", "--- PASS: TestPassword (0.00s)", "PASS src/app.test.js", "private_key: /etc/ssl/private/key.pem",
        "ssl_key=/etc/nginx/ssl/server.key", "credentials: /root/.aws/credentials", "secret: /run/secrets/db", '"password":["The password must be at least 8 characters."]',
        "data:image/png;base64," + make(B64, 200), "docker run -u 1000:1000 nginx", "docker run -u app:app x", "chown -R app:app /srv",
        "services:\n  web:\n    secrets:\n      - db_password\n", "secrets:\n  db_password:\n    file: ./x.txt\n", "Enter password:\nLogin failed for bob",
        "token:\n  expired", "email:bob_smith1@example.com", "http://[::1]:8080/a@b", f"sha256:{make(HEX, 64)}", f"commit 11{make(HEX, 38)}",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{make(B64, 43)} bob@host", f"SHA256:{make(B64, 43)}", "key: value", "cache key=session:42", "git@github.com:foo/bar.git",
        "passwd: all authentication tokens updated successfully", "--network host", "java -Djavax.net.ssl.keyStore=/opt/x.jks", "test_password_reset_mail_is_sent PASSED",
        f"arn:aws:iam::123456789012:role/{make(ALNUM, 12)}", f"vol-0{make(HEX, 16)} attached", f"i-0{make(HEX, 16)} running", f"W/\"{make(HEX, 32)}\"",
        f"traceparent=00-{make(HEX, 32)}-{make(HEX, 16)}-01", f"x-amzn-trace-id: Root=1-{make(HEX, 8)}-{make(HEX, 24)}", f"request-id: {make(HEX, 32)}",
        "kubernetes.io/service-account-token mounted", "reading token from file", "token refresh took 12ms", "0 secrets found", "key rotation done", "keys=12 misses=3",
        "public key: ssh-rsa", "keyboard interrupt", "password123.txt deleted", "opened passwords.db", "pinned to cpu 3", "signature ok", "session 12 opened",
        "curl -s -u bob https://x.test", "mysql -h db -u root shop", "redis-cli -h cache ping", "docker login registry.test", "zip -r a.zip b", "ldapsearch -x -H ldap://h",
        "v1.29.3+k3s1", "go1.22.1 linux/amd64", "sha256-abc", "alpine:3.19@sha256:" + make(HEX, 64), "2001:db8::1:443", "00:1B:44:11:3A:B7", "en_US.UTF-8",
        "/nix/store/" + make(string.ascii_lowercase + string.digits, 32) + "-glibc-2.38", "/var/lib/containerd/" + make(HEX, 64) + "/rootfs", "build-" + make(HEX, 7),
    ]  # fmt: skip


def _messages() -> list[str]:
    return [
        *(f"{name}{message}" for name in NAMED for message in MESSAGES),
        'rootfs_linux.go:76: mounting "/etc" to rootfs at "/etc/passwd": mount /etc:/etc/passwd, flags: 0x5000',
        '"/etc/passwd": mount: /etc/passwd: must be a directory',
        "grep: /etc/passwd: binary file matches",
        "auth: passwd-file(bob,192.0.2.9): unknown user",
        "auth-worker(77): passwd-file(bob,192.0.2.9): no passwd file: /etc/dovecot/users",
    ]


NEGATIVES: list[str] = [*_PLAIN_LINES, *_made_negatives(), *_harmless(), *_messages()]
