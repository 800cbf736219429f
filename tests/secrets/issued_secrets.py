"""Secrets as their issuers document them: one generator for each row of `TOKEN_RULES`, and the places they stand in.

Written from the issuers' pages (the row's `source`), never from the expressions: documented length, alphabet, prefix and
checksum; where a page gives none of these, as long as the examples on it. Made at run time and with prefixes in two
pieces, so that no scanner of secrets trips over this file.
"""

import base64
import json
import random
import string
import uuid
import zlib
from collections.abc import Callable

Generator = Callable[[random.Random], str]

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = string.ascii_letters + DIGITS
HEX = "0123456789abcdef"
BASE32 = UPPER + "234567"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
B64 = ALNUM + "+/"
URLSAFE = ALNUM + "_-"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"


def draw(chance: random.Random, alphabet: str, length: int) -> str:
    """Random text with a digit and letters of each case that the alphabet has, as any long secret has."""
    kinds = [kind for kind in (str.isdigit, str.islower, str.isupper) if any(map(kind, alphabet))]
    while True:
        text = "".join(chance.choice(alphabet) for _ in range(length))
        if length < 8 or all(any(map(kind, text)) for kind in kinds):
            return text


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def _made(prefix: str, alphabet: str, length: int, suffix: str = "") -> Generator:
    return lambda chance: prefix + draw(chance, alphabet, length) + suffix


def _uuid_after(prefix: str, suffix: str = "") -> Generator:
    return lambda chance: prefix + _uuid(chance) + suffix


def _one_of(*generators: Generator) -> Generator:
    return lambda chance: chance.choice(generators)(chance)


def _joined(*parts: str | Generator) -> Generator:
    return lambda chance: "".join(part if isinstance(part, str) else part(chance) for part in parts)


def _base62(number: int, width: int) -> str:
    digits = ""
    alphabet = DIGITS + UPPER + LOWER
    while number:
        number, rest = divmod(number, 62)
        digits = alphabet[rest] + digits
    return digits.rjust(width, "0")


def _with_crc32(prefix: str, length: int) -> Generator:
    """GitHub and npm: the last six digits are the CRC32 of what stands before, in base 62."""

    def generate(chance: random.Random) -> str:
        body = draw(chance, ALNUM, length)
        return prefix + body + _base62(zlib.crc32(body.encode()), 6)

    return generate


def _jose(*parts: object) -> str:
    return ".".join(
        part if isinstance(part, str) else base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in parts
    )


def _jwt_or_jwe(chance: random.Random) -> str:
    kind = chance.randrange(3)
    if kind == 0:
        return _jose({"alg": "HS256", "typ": "JWT"}, {"sub": draw(chance, ALNUM, 10)}, draw(chance, URLSAFE, 43))
    header = {"alg": "dir", "enc": "A256GCM"} if kind == 1 else {"alg": "RSA-OAEP", "enc": "A256GCM"}
    key = "" if kind == 1 else draw(chance, URLSAFE, 342)
    return _jose(header, key, draw(chance, URLSAFE, 16), draw(chance, URLSAFE, 60), draw(chance, URLSAFE, 22))


def _fernet(chance: random.Random) -> str:
    raw = b"\x80" + (1_770_000_000 + chance.randrange(10**6)).to_bytes(8, "big") + chance.randbytes(16 + 32 + 32)
    return base64.urlsafe_b64encode(raw).decode()


def _artifactory_reference(chance: random.Random) -> str:
    raw = f"reftkn:01:{chance.randrange(10**9, 2 * 10**9)}:{draw(chance, ALNUM, 28)}"
    return base64.b64encode(raw.encode()).decode().rstrip("=")


def _onepassword_service(chance: random.Random) -> str:
    body = {"signInAddress": "my.example.test", "userAuth": {"method": "SRPg-4096"}, "secret": draw(chance, ALNUM, 200)}
    return "ops" + "_" + base64.b64encode(json.dumps(body, separators=(",", ":")).encode()).decode().rstrip("=")


def _sentry_org(chance: random.Random) -> str:
    body = {"iat": 1_770_000_000 + chance.random(), "url": "https://sentry.example.test", "org": "acme"}
    coded = base64.b64encode(json.dumps(body).encode()).decode()
    return "sntr" + f"ys_{coded}_" + draw(chance, B64, 43)


def _pypi(chance: random.Random) -> str:
    raw = b"\x02\x01\x08pypi.org\x02\x24" + _uuid(chance).encode() + b"\x00\x00\x06\x20" + chance.randbytes(48)
    return "py" + "pi-" + base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _discord(chance: random.Random) -> str:
    snowflake = str(chance.randrange(10**17, 10**18))
    user = base64.urlsafe_b64encode(snowflake.encode()).decode().rstrip("=")
    return f"{user}.{draw(chance, URLSAFE, 6)}.{draw(chance, URLSAFE, 38)}"


def _age(chance: random.Random) -> str:
    return "AGE-SECRET" + "-KEY-1" + "".join(chance.choice(BECH32) for _ in range(58))


def _yandex_iam(chance: random.Random) -> str:
    return f"t1.{draw(chance, URLSAFE, 120)}.{draw(chance, URLSAFE, 86)}"


def _flutterwave(chance: random.Random) -> str:
    return chance.choice(("FLW" + "SECK_TEST-", "FLW" + "SECK-")) + draw(chance, HEX, 32) + "-X"


GENERATORS: dict[str, Generator] = {
    "aws_key_id": _one_of(_made("AK" + "IA", BASE32, 16), _made("AS" + "IA", BASE32, 16)),
    "aws_session_token": _one_of(_made("FwoGZXIv" + "YXdz", B64, 200, "=="), _made("IQoJb3Jp" + "Z2lu", B64, 300)),
    "aws_bedrock_key": _one_of(_made("AB" + "SK", B64, 110, "=="), _made("bedrock" + "-api-key-", B64, 120)),
    "google_api_key": _made("AI" + "za", URLSAFE, 35),
    "google_oauth_token": _made("ya" + "29.", URLSAFE, 150),
    "google_client_secret": _made("GOC" + "SPX-", URLSAFE, 28),
    "google_refresh_token": _made("1/" + "/0", URLSAFE, 60),
    "google_authorization_code": _made("4/" + "0A", URLSAFE, 70),
    "azure_client_secret": _joined(_made("", ALNUM, 3), _one_of(_made("8" + "Q~", ALNUM + "._-~", 34))),
    "azure_devops_token": _joined(_made("", ALNUM, 52), _made("JQQ" + "J99", ALNUM, 18), _made("AZ" + "DO", ALNUM, 4)),
    "azure_annotated_key": _joined(_made("", ALNUM, 52), _made("JQQ" + "J9D", ALNUM, 26)),
    "digitalocean": _one_of(*(_made(f"do{kind}" + "_v1_", HEX, 64) for kind in "opr")),
    "alibaba_key_id": _made("LT" + "AI", ALNUM, 20),
    "tencent_secret_id": _made("AK" + "ID", ALNUM, 32),
    "volcengine_key_id": _made("AK" + "LT", URLSAFE, 44),
    "yandex_api_key": _made("AQ" + "VN", URLSAFE, 36),
    "yandex_iam_token": _yandex_iam,
    "yandex_static_key": _made("Y" + "CM", URLSAFE, 37),
    "yandex_oauth_token": _made("y0" + "_", URLSAFE, 58),
    "heroku": _made("HRKU" + "-AA", URLSAFE, 58),
    "fly": _one_of(
        _joined("Fly" + "V1 ", _made("fm" + "2_", B64, 300, ","), _made("fm" + "2_", B64, 200)),
        _made("fm" + "1a_", B64, 200),
        _made("fo" + "1_", URLSAFE, 43),
    ),
    "render": _made("rn" + "d_", ALNUM, 32),
    "vercel": _made("vc" + "p_", ALNUM, 56),
    "netlify": _made("nf" + "p_", ALNUM, 36),
    "supabase": _one_of(_made("sb" + "p_", HEX, 40), _made("sb" + "_secret_", URLSAFE, 31)),
    "planetscale": _one_of(_made("pscale" + "_tkn_", URLSAFE, 43), _made("pscale" + "_pw_", URLSAFE, 43)),
    "neon": _made("na" + "pi_", LOWER + DIGITS, 64),
    "aiven": _one_of(_made("AV" + "NS_", URLSAFE, 19), _made("aiven" + "v1_", B64, 180)),
    "cloudflare_origin_ca": _joined("v1" + ".0-", _made("", HEX, 24), "-", _made("", HEX, 146)),
    "databricks": _made("da" + "pi", HEX, 32, "-2"),
    "scalingo": _made("tk" + "-us-", URLSAFE, 48),
    "github_token": _one_of(*(_with_crc32(f"gh{kind}" + "_", 30) for kind in "pousr")),
    "github_fine_grained": _joined("github" + "_pat_", _made("", ALNUM, 22), "_", _made("", ALNUM, 59)),
    "gitlab_token": _one_of(
        *(_made(f"gl{kind}" + "-", URLSAFE, 20) for kind in ("pat", "dt", "rt", "ptt", "ft", "imt", "soat", "ffct")),
        _joined("glc" + "bt-", _made("", HEX, 2), "_", _made("", URLSAFE, 20)),
        _made("gla" + "gent-", URLSAFE, 50),
        _made("glo" + "as-", HEX, 64),
    ),
    "gitlab_runner_registration": _made("GR13" + "48941", URLSAFE, 20),
    "bitbucket_app_password": _made("AT" + "BB", ALNUM, 32),
    "atlassian_api_token": _one_of(_made("ATA" + "TT3xFfGF0", URLSAFE, 173, "=1A2B3C4D"), _made("ATC" + "TT3xFfGN0", URLSAFE, 172)),
    "sourcegraph": _one_of(_joined("sg" + "p_", _made("", HEX, 16), "_", _made("", HEX, 40)), _made("sg" + "p_", HEX, 40)),
    "npm": _with_crc32("np" + "m_", 30),
    "pypi": _pypi,
    "rubygems": _made("ruby" + "gems_", HEX, 48),
    "crates_io": _made("ci" + "o", ALNUM, 32),
    "nuget": _made("oy" + "2", LOWER + DIGITS, 43),
    "clojars": _made("CLO" + "JARS_", HEX, 60),
    "packagist": _made("packagist" + "_uut_", HEX, 68),
    "docker_hub": _one_of(_made("dckr" + "_pat_", URLSAFE, 27), _made("dckr" + "_oat_", URLSAFE, 32)),
    "artifactory_api_key": _made("AK" + "Cp8", ALNUM, 68),
    "artifactory_reference_token": _artifactory_reference,
    "sonar": _one_of(*(_made(f"sq{kind}" + "_", HEX, 40) for kind in "apu")),
    "circleci": _joined(_one_of(_made("CCI" + "PAT_", BASE58, 22), _made("CCI" + "PRJ_", BASE58, 22)), "_", _made("", HEX, 40)),
    "buildkite": _one_of(_made("bk" + "ua_", HEX, 40), _made("bk" + "aj_", URLSAFE, 60), _made("bk" + "ct_", URLSAFE, 40)),
    "harness": _joined("pa" + "t.", _made("", URLSAFE, 22), ".", _made("", HEX, 24), ".", _made("", ALNUM, 20)),
    "jenkins_api_token": _made("1" + "1", HEX, 32),
    "snyk": _joined("sn" + "yk_uat.", _made("", HEX, 8), ".", _made("", URLSAFE, 80)),
    "postman": _joined("PM" + "AK-", _made("", HEX, 24), "-", _made("", HEX, 34)),
    "readme": _made("rd" + "me_", LOWER + DIGITS, 70),
    "launchdarkly": _one_of(_uuid_after("sd" + "k-"), _uuid_after("ap" + "i-")),
    "prefect": _one_of(_made("pn" + "u_", ALNUM, 36), _made("pn" + "b_", ALNUM, 36)),
    "doppler": _one_of(_made("dp" + ".pt.", ALNUM, 43), _made("dp" + ".st.dev.", ALNUM, 43)),
    "vault": _one_of(_made("hv" + "s.", URLSAFE, 24), _made("hv" + "s.CAESI", URLSAFE, 90), _made("hv" + "b.AAAAAQ", URLSAFE, 140)),
    "terraform_cloud": _joined(_made("", ALNUM, 14), ".atlas" + "v1.", _made("", ALNUM, 67)),
    "pulumi": _made("pu" + "l-", HEX, 40),
    "tailscale": _one_of(
        *(
            _joined("tskey" + f"-{kind}-", _made("", ALNUM, 11), "CNTRL-", _made("", ALNUM, 32))
            for kind in ("auth", "api", "client", "scim", "webhook")
        )
    ),
    "onepassword_service_account": _onepassword_service,
    "onepassword_secret_key": _joined(
        "A" + "3-", _made("", UPPER + DIGITS, 6), "-", _made("", UPPER + DIGITS, 6),
        *(part for _ in range(4) for part in ("-", _made("", UPPER + DIGITS, 5))),
    ),
    "bitwarden_machine_token": _joined("0.", _uuid, ".", _made("", ALNUM, 30), ":", _made("", B64, 22), "=="),
    "infisical": _joined("st" + ".", _made("", HEX, 24), ".", _made("", HEX, 32), ".", _made("", HEX, 32)),
    "age": _age,
    "openshift": _made("sha" + "256~", URLSAFE, 43),
    "docker_swarm": _one_of(
        _joined("SWM" + "TKN-1-", _made("", LOWER + DIGITS, 50), "-", _made("", LOWER + DIGITS, 25)),
        _made("SWM" + "KEY-1-", B64, 43),
    ),
    "k3s": _joined("K" + "10", _made("", HEX, 64), "::server:", _made("", HEX, 32)),
    "rancher": _joined("token" + "-", _made("", LOWER + DIGITS, 5), ":", _made("", LOWER + DIGITS, 54)),
    "portainer": _made("pt" + "r_", B64, 43, "="),
    "defined_networking": _joined("dn" + "key-", _made("", ALNUM, 26), "-", _made("", ALNUM, 52)),
    "ngrok": _joined("2", _made("", ALNUM, 26), "_", _made("", ALNUM, 21)),
    "sentry_user_token": _one_of(_made("sntr" + "yu_", HEX, 64), _made("sntr" + "ya_", HEX, 64)),
    "sentry_org_token": _sentry_org,
    "dynatrace": _joined("dt0" + "c01.", _made("", BASE32, 24), ".", _made("", BASE32, 64)),
    "grafana": _one_of(
        _joined("gl" + "sa_", _made("", ALNUM, 32), "_", _made("", HEX, 8)), _made("gl" + "c_eyJ", B64, 90)
    ),
    "newrelic": _one_of(_made("NR" + "AK-", UPPER + DIGITS, 27), _made("", HEX, 36, "NR" + "AL")),
    "honeycomb": _joined("hc" + "aik_", _made("", LOWER + DIGITS, 58)),
    "axiom": _one_of(_uuid_after("xa" + "at-"), _uuid_after("xa" + "pt-")),
    "posthog": _made("ph" + "x_", ALNUM, 43),
    "wakatime": _uuid_after("wa" + "ka_"),
    "openai_project": _one_of(_made("sk" + "-proj-", URLSAFE, 156), _made("sk" + "-svcacct-", URLSAFE, 120)),
    "openai_legacy": _made("sk" + "-", ALNUM, 48),
    "anthropic": _one_of(_made("sk" + "-ant-api03-", URLSAFE, 95), _made("sk" + "-ant-admin01-", URLSAFE, 95)),
    "openrouter": _made("sk" + "-or-v1-", HEX, 64),
    "langfuse": _uuid_after("sk" + "-lf-"),
    "langsmith": _joined("ls" + "v2_pt_", _made("", HEX, 32), "_", _made("", HEX, 10)),
    "perplexity": _made("pp" + "lx-", ALNUM, 48),
    "huggingface": _made("h" + "f_", ALNUM, 34),
    "replicate": _made("r" + "8_", ALNUM, 37),
    "groq": _made("gs" + "k_", ALNUM, 52),
    "xai": _made("xa" + "i-", ALNUM, 80),
    "nvidia": _made("nv" + "api-", URLSAFE, 64),
    "pinecone": _joined("pc" + "sk_", _made("", ALNUM, 5), "_", _made("", ALNUM, 63)),
    "elevenlabs": _made("s" + "k_", HEX, 48),
    "tavily": _made("tv" + "ly-", ALNUM, 32),
    "firecrawl": _made("f" + "c-", HEX, 32),
    "together": _made("tgp" + "_v1_", URLSAFE, 43),
    "fireworks": _made("f" + "w_", ALNUM, 24),
    "cerebras": _made("cs" + "k-", LOWER + DIGITS, 48),
    "e2b": _made("e2" + "b_", HEX, 40),
    "deepl": _uuid_after("", ":fx"),
    "stripe": _one_of(*(_made(f"{kind}k_{mode}_", ALNUM, 24) for kind in "sr" for mode in ("live", "test"))),
    "stripe_webhook": _made("wh" + "sec_", ALNUM, 32),
    "square": _one_of(_made("sq0" + "atp-", URLSAFE, 22), _made("sq0" + "csp-", URLSAFE, 43), _made("EA" + "AA", URLSAFE, 60)),
    "shopify": _one_of(*(_made(f"shp{kind}" + "_", HEX, 32) for kind in ("at", "ss", "ca", "pa"))),
    "shippo": _one_of(_made("shippo" + "_live_", HEX, 40), _made("shippo" + "_test_", HEX, 40)),
    "easypost": _one_of(_made("EZ" + "AK", ALNUM, 54), _made("EZ" + "TK", ALNUM, 54)),
    "duffel": _one_of(_made("duffel" + "_test_", URLSAFE, 43), _made("duffel" + "_live_", URLSAFE, 43)),
    "flutterwave": _flutterwave,
    "plaid": _one_of(_uuid_after("access" + "-sandbox-"), _uuid_after("access" + "-production-")),
    "paddle": _joined("pdl" + "_live_apikey_", _made("", LOWER + DIGITS, 26), "_", _made("", ALNUM, 22), "_", _made("", ALNUM, 3)),
    "razorpay": _made("rzp" + "_live_", ALNUM, 14),
    "mollie": _one_of(_made("live" + "_", ALNUM, 30), _made("test" + "_", ALNUM, 30)),
    "braintree": _joined("access" + "_token$production$", _made("", LOWER + DIGITS, 16), "$", _made("", HEX, 32)),
    "slack": _one_of(
        *(_joined(f"xox{kind}" + "-", _made("", DIGITS, 12), "-", _made("", DIGITS, 13), "-", _made("", ALNUM, 24)) for kind in "bpr"),
        _joined("xoxe" + ".xoxp-1-", _made("", ALNUM, 160)),
    ),
    "slack_app_token": _joined("xa" + "pp-1-A", _made("", UPPER + DIGITS, 10), "-", _made("", DIGITS, 13), "-", _made("", HEX, 64)),
    "telegram_bot": _one_of(
        _joined(_made("", DIGITS, 10), ":AA", _made("", URLSAFE, 33)),
        _joined("bot", _made("", DIGITS, 6), ":", _made("", URLSAFE, 35)),
    ),
    "discord_bot": _discord,
    "twilio_api_key": _made("S" + "K", HEX, 32),
    "sendgrid": _joined("S" + "G.", _made("", URLSAFE, 22), ".", _made("", URLSAFE, 43)),
    "mailgun": _one_of(
        _made("key" + "-", HEX, 32), _joined(_made("", HEX, 32), "-", _made("", HEX, 8), "-", _made("", HEX, 8))
    ),
    "mailchimp": _made("", HEX, 32, "-us19"),
    "mandrill": _made("m" + "d-", URLSAFE, 22),
    "brevo": _one_of(
        _joined("xkey" + "sib-", _made("", HEX, 64), "-", _made("", ALNUM, 16)),
        _joined("xsmtp" + "sib-", _made("", HEX, 64), "-", _made("", ALNUM, 16)),
    ),
    "resend": _joined("r" + "e_", _made("", ALNUM, 8), "_", _made("", ALNUM, 24)),
    "facebook": _made("E" + "AA", ALNUM, 180),
    "twitch_oauth": _made("oau" + "th:", LOWER + DIGITS, 30),
    "onesignal": _made("os_v2" + "_app_", LOWER + "234567", 103),
    "notion": _one_of(_joined("nt" + "n_", _made("", DIGITS, 11), _made("", ALNUM, 35)), _made("secret" + "_", ALNUM, 43)),
    "airtable": _joined("pa" + "t", _made("", ALNUM, 14), ".", _made("", HEX, 64)),
    "linear": _made("lin" + "_api_", ALNUM, 40),
    "figma": _made("fi" + "gd_", URLSAFE, 40),
    "asana": _joined("1/", _made("", DIGITS, 16), ":", _made("", HEX, 32)),
    "clickup": _joined("pk" + "_", _made("", DIGITS, 8), "_", _made("", UPPER + DIGITS, 32)),
    "trello": _joined("AT" + "TA", _made("", HEX, 64), _made("", "0123456789ABCDEF", 8)),
    "hubspot": _one_of(_uuid_after("pat" + "-na1-"), _uuid_after("pat" + "-eu1-")),
    "contentful": _made("CF" + "PAT-", URLSAFE, 43),
    "typeform": _joined("tf" + "p_", _made("", URLSAFE, 44), "_", _made("", ALNUM, 14)),
    "dropbox": _one_of(_made("sl" + ".", URLSAFE, 135), _made("sl" + ".u.", URLSAFE, 135)),
    "adafruit_io": _made("ai" + "o_", ALNUM, 28),
    "mapbox_secret": _joined("s" + "k.", lambda chance: _jose({"u": "acme", "a": draw(chance, LOWER + DIGITS, 25)}), ".", _made("", URLSAFE, 22)),
    "maxmind": _joined(_made("", ALNUM, 6), "_", _made("", ALNUM, 29), "_mmk"),
    "jwt_and_jwe": _jwt_or_jwe,
    "fernet": _fernet,
    "paseto": _one_of(_made("v4" + ".local.", URLSAFE, 120), _made("v2" + ".public.", URLSAFE, 140)),
    "paserk": _one_of(_made("k4" + ".local.", URLSAFE, 43), _made("k4" + ".secret.", URLSAFE, 86)),
}  # fmt: skip

PLACES: dict[str, str] = {
    "bare in a log line": "using {} for the upstream, retrying in 5s",
    "alone": "{}",
    "key=value": "level=info msg=starting upstream={} took=12ms",
    "JSON value": '{{"level":"info","upstream":"{}","took":12}}',
    "JSON list": '["{}", "b"]',
    "JSON within JSON": '{{"log":"{{\\"upstream\\":\\"{}\\"}}\\n"}}',
    "behind an escaped line end": '{{"log":"started\\n{}\\n"}}',
    "YAML": "upstream:\n  - name: first\n    address: {}\n",
    "URL parameter": "GET /v1/items?page=2&upstream={}&sort=asc HTTP/1.1 200",
    "encoded URL parameter": "GET /go?to=https%3A%2F%2Fx.test%2F%3Fid%3D{}%26b%3D1 HTTP/1.1 302",
    "URL path": "POST https://api.example.test/v1/{}/items 200",
    "URL user": "git clone https://{}@git.example.test/shop.git",
    "header": "> X-Upstream: {}",
    "bearer header": '-H "Authorization: Bearer {}" https://api.example.test',
    "quoted command-line flag": "starting: app --upstream '{}' --port 80",
    "list of arguments": '["app", "--upstream", "{}", "--port", "80"]',
    "behind a prefix": "app-1  | 2026-01-31T12:00:00.123456Z stdout F upstream is {}",
    "exception message": "File \"/app/main.py\", line 12, in call\nValueError: cannot use '{}' here\n",
    "environment": "HOME=/root\nUPSTREAM={}\nLANG=C.UTF-8",
    "container's label": 'traefik.http.middlewares.a.headers.customrequestheaders.X-Up="{}"',
    "Markdown": "| upstream | `{}` |",
    "XML": "<upstream>{}</upstream>",
    "parentheses": "connect(upstream={}, retries=3)",
    "struct of Go": "config: {{Upstream:{} Retries:3}}",
}


def make_issued(seed: int = 20260131, each: int = 10) -> list[tuple[str, str, str, str]]:
    """Return (kind, place, text, secret): every kind in `each` of the places, the same for the same seed."""
    chance = random.Random(seed)
    places = list(PLACES.items())
    found = []
    for number, (kind, generate) in enumerate(sorted(GENERATORS.items())):
        for step in range(each):
            place, form = places[(number * each + step * 7) % len(places)]
            secret = generate(chance)
            found.append((kind, place, form.format(secret), secret))
    return found
