r"""Masks tokens that their issuers made recognisable: one row for each kind, with the page that documents it.

A pattern is RE2, stays within one line and begins where the secret begins; `_FRONT` is what may stand before it. Where
the prefix alone tells, lengths are well below the documented ones, since issuers lengthen their tokens; elsewhere they
are exact. A new kind is one row here and one generator in tests/secrets/issued_secrets.py.
"""

from dataclasses import dataclass
from typing import Any

import re2

MASK = "***"
MOST_MATCHES = 60
"""Matches of one rule in a line; from the next one on the whole line is masked, which bounds the work."""
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_W = r"[A-Za-z0-9]"
_URLSAFE = r"[A-Za-z0-9_\-]"


@dataclass(frozen=True, slots=True)
class TokenRule:
    """One kind of secret.

    Attributes:
        name: Issuer and kind; the generator that makes such secrets in tests has the same name.
        pattern: RE2, without anchors.
        hints: Lower-case texts of which every such secret holds one; lines without any are not searched.
        source: Where the issuer says what it looks like.
    """

    name: str
    pattern: str
    hints: tuple[str, ...]
    source: str


TOKEN_RULES: tuple[TokenRule, ...] = (
    # Clouds
    TokenRule("aws_key_id", r"(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ABIA|ACCA)[A-Z0-9]{12,}(?:[^A-Za-z0-9+/\n]{1,8}[A-Za-z0-9+/]{40}\b)?", ("abia", "acca", "agpa", "aida", "akia", "anpa", "aroa", "asia"), "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html"),
    TokenRule("aws_session_token", r"(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=]{16,}", ("fwogzxivyxdz", "iqojb3jpz2lu"), "https://docs.aws.amazon.com/STS/latest/APIReference/API_Credentials.html"),
    TokenRule("aws_bedrock_key", r"(?:ABSK[A-Za-z0-9+/]{40,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{16,})", ("absk", "bedrock-api-key-"), "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html"),
    TokenRule("google_api_key", rf"AIza{_URLSAFE}{{30,}}", ("aiza",), "https://cloud.google.com/docs/authentication/api-keys"),
    TokenRule("google_oauth_token", rf"ya29\.{_URLSAFE}{{10,}}", ("ya29.",), "https://developers.google.com/identity/protocols/oauth2"),
    TokenRule("google_client_secret", rf"GOCSPX-{_URLSAFE}{{20,}}", ("gocspx-",), "https://developers.google.com/identity/protocols/oauth2"),
    TokenRule("google_refresh_token", rf"1//0{_URLSAFE}{{20,}}", ("1//0",), "https://developers.google.com/identity/protocols/oauth2"),
    TokenRule("google_authorization_code", rf"4/0[A-Z]{_URLSAFE}{{40,}}", ("4/0",), "https://developers.google.com/identity/protocols/oauth2/web-server"),
    TokenRule("azure_client_secret", r"[A-Za-z0-9_~.\-]{3}[78]Q~[A-Za-z0-9_~.\-]{30,}", ("7q~", "8q~"), "https://learn.microsoft.com/entra/identity-platform/quickstart-register-app"),
    TokenRule("azure_devops_token", rf"{_W}{{52}}JQQJ99{_W}{{18}}AZDO{_W}{{4}}", ("jqqj99",), "https://learn.microsoft.com/azure/devops/organizations/accounts/use-personal-access-tokens-to-authenticate"),
    TokenRule("azure_annotated_key", rf"{_W}{{52}}JQQJ9[9DH]{_W}{{26}}", ("jqqj9",), "https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates"),
    TokenRule("digitalocean", r"do[opr]_v1_[0-9a-f]{32,}", ("doo_v1_", "dop_v1_", "dor_v1_"), "https://docs.digitalocean.com/reference/api/create-personal-access-token/"),
    TokenRule("alibaba_key_id", rf"LTAI{_W}{{12,26}}", ("ltai",), "https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair"),
    TokenRule("tencent_secret_id", rf"AKID{_W}{{32}}", ("akid",), "https://www.tencentcloud.com/document/product/598/32675"),
    TokenRule("volcengine_key_id", rf"AKLT{_URLSAFE}{{30,}}", ("aklt",), "https://www.volcengine.com/docs/6291/65568"),
    TokenRule("yandex_api_key", rf"AQVN{_URLSAFE}{{30,}}", ("aqvn",), "https://yandex.cloud/en/docs/iam/concepts/authorization/api-key"),
    TokenRule("yandex_iam_token", rf"t1\.[A-Za-z0-9_\-]+={{0,2}}\.{_URLSAFE}{{40,}}={{0,2}}", ("t1.",), "https://yandex.cloud/en/docs/iam/concepts/authorization/iam-token"),
    TokenRule("yandex_static_key", rf"YC[A-Z]{_URLSAFE}{{37}}", ("yc",), "https://yandex.cloud/en/docs/iam/concepts/authorization/access-key"),
    TokenRule("yandex_oauth_token", rf"y[0-6]_{_URLSAFE}{{40,}}", ("y0_", "y1_", "y2_", "y3_", "y4_", "y5_", "y6_"), "https://yandex.cloud/en/docs/iam/concepts/authorization/oauth-token"),
    TokenRule("heroku", rf"HRKU-AA{_URLSAFE}{{40,}}", ("hrku-aa",), "https://devcenter.heroku.com/articles/authentication"),
    TokenRule("fly", r"(?:FlyV1 )?fm[12][ar]?_[A-Za-z0-9+/=_\-]{20,}(?:,fm[12][ar]?_[A-Za-z0-9+/=_\-]{20,})*|fo1_[A-Za-z0-9_\-]{20,}", ("fm1_", "fm1a_", "fm1r_", "fm2_", "fm2a_", "fm2r_", "fo1_"), "https://fly.io/docs/security/tokens/"),
    TokenRule("render", rf"rnd_{_W}{{20,}}", ("rnd_",), "https://render.com/docs/api"),
    TokenRule("vercel", rf"vc[pirack]_{_W}{{20,}}", ("vca_", "vcc_", "vci_", "vck_", "vcp_", "vcr_"), "https://vercel.com/docs/rest-api"),
    TokenRule("netlify", rf"nf[pcobu]_{_W}{{16,}}", ("nfb_", "nfc_", "nfo_", "nfp_", "nfu_"), "https://docs.netlify.com/api/get-started/"),
    TokenRule("supabase", r"(?:sbp_(?:v0_|oauth_)?[0-9a-f]{20,}|sb_secret_[A-Za-z0-9_\-]{16,})", ("sb_secret_", "sbp_"), "https://supabase.com/docs/guides/api/api-keys"),
    TokenRule("planetscale", r"pscale_(?:tkn|oauth|pw|app_secret)_[A-Za-z0-9_.\-]{16,}", ("pscale_app_secret_", "pscale_oauth_", "pscale_pw_", "pscale_tkn_"), "https://planetscale.com/docs/api/reference/service-tokens"),
    TokenRule("neon", rf"napi_{_W}{{40,}}", ("napi_",), "https://neon.tech/docs/manage/api-keys"),
    TokenRule("aiven", r"(?:AVNS_[A-Za-z0-9_\-]{16,}|aivenv1_[A-Za-z0-9+/=_\-]{20,})", ("aivenv1_", "avns_"), "https://aiven.io/docs/platform/concepts/authentication-tokens"),
    TokenRule("cloudflare_origin_ca", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}", ("v1.0-",), "https://developers.cloudflare.com/fundamentals/api/get-started/ca-keys/"),
    TokenRule("databricks", r"(?:dapi|dkea|dose|dsapi)[0-9a-f]{32}(?:-[0-9]+)?", ("dapi", "dkea", "dose", "dsapi"), "https://docs.databricks.com/en/dev-tools/auth/pat.html"),
    TokenRule("scalingo", rf"tk-us-{_URLSAFE}{{40,}}", ("tk-us-",), "https://developers.scalingo.com/"),
    # Forges, packages and pipelines
    TokenRule("github_token", r"gh[pousr]_[A-Za-z0-9_.\-]{16,}", ("gho_", "ghp_", "ghr_", "ghs_", "ghu_"), "https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github"),
    TokenRule("github_fine_grained", r"github_pat_[A-Za-z0-9_]{16,}", ("github_pat_",), "https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/managing-your-personal-access-tokens"),
    TokenRule("gitlab_token", r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[A-Za-z0-9_.\-]{16,}", ("gl",), "https://docs.gitlab.com/security/tokens/"),
    TokenRule("gitlab_runner_registration", rf"GR1348941{_URLSAFE}{{16,}}", ("gr1348941",), "https://docs.gitlab.com/security/tokens/"),
    TokenRule("bitbucket_app_password", rf"ATBB{_W}{{16,}}", ("atbb",), "https://support.atlassian.com/bitbucket-cloud/docs/app-passwords/"),
    TokenRule("atlassian_api_token", r"AT(?:ATT|CTT)3[A-Za-z0-9_=\-]{20,}", ("atatt3", "atctt3"), "https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/"),
    TokenRule("sourcegraph", r"sg[pd]_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}|slk_[0-9a-f]{64}", ("sgd_", "sgp_", "slk_"), "https://sourcegraph.com/docs/cli/how-tos/creating-an-access-token"),
    TokenRule("npm", rf"npm_{_W}{{20,}}", ("npm_",), "https://docs.npmjs.com/about-access-tokens"),
    TokenRule("pypi", rf"pypi-{_URLSAFE}{{16,}}", ("pypi-",), "https://pypi.org/help/#apitoken"),
    TokenRule("rubygems", r"rubygems_[0-9a-f]{20,}", ("rubygems_",), "https://guides.rubygems.org/api-key-scopes/"),
    TokenRule("crates_io", rf"cio{_W}{{32}}", ("cio",), "https://doc.rust-lang.org/cargo/reference/publishing.html"),
    TokenRule("nuget", r"oy2[a-z0-9]{43}", ("oy2",), "https://learn.microsoft.com/nuget/nuget-org/publish-a-package"),
    TokenRule("clojars", r"CLOJARS_[0-9a-z]{40,}", ("clojars_",), "https://github.com/clojars/clojars-web/wiki/Deploy-Tokens"),
    TokenRule("packagist", r"packagist_[ou][ru]t_[0-9a-f]{40,}", ("packagist_ort_", "packagist_out_", "packagist_urt_", "packagist_uut_"), "https://packagist.com/docs/api"),
    TokenRule("docker_hub", rf"dckr_(?:pat|oat)_{_URLSAFE}{{16,}}", ("dckr_oat_", "dckr_pat_"), "https://docs.docker.com/security/access-tokens/"),
    TokenRule("artifactory_api_key", rf"AKC[a-z0-9]{_W}{{60,}}", ("akc",), "https://jfrog.com/help/r/jfrog-platform-administration-documentation/api-key"),
    TokenRule("artifactory_reference_token", rf"cmVmdGtu{_W}{{40,}}", ("cmvmdgtu",), "https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens"),
    TokenRule("sonar", r"sq[apu]_[0-9a-f]{40}", ("sqa_", "sqp_", "squ_"), "https://docs.sonarsource.com/sonarqube-server/user-guide/managing-tokens/"),
    TokenRule("circleci", r"CCI(?:PAT|PRJ)_[1-9A-HJ-NP-Za-km-z]{10,}_[0-9a-f]{40}", ("ccipat_", "cciprj_"), "https://circleci.com/changelog/new-format-for-api-access-tokens/"),
    TokenRule("buildkite", rf"bk(?:ua|aa|aj|ct|pt|ps|at|ar)_{_URLSAFE}{{20,}}", ("bkaa_", "bkaj_", "bkar_", "bkat_", "bkct_", "bkps_", "bkpt_", "bkua_"), "https://buildkite.com/docs/platform/security/tokens"),
    TokenRule("harness", rf"(?:pat|sat)\.{_URLSAFE}{{22}}\.[0-9a-z]{{24}}\.{_W}{{20}}", ("pat.", "sat."), "https://developer.harness.io/docs/platform/automation/api/add-and-manage-api-keys/"),
    TokenRule("jenkins_api_token", r"11[0-9a-f]{32}\b", ("11",), "https://www.jenkins.io/blog/2018/07/02/new-api-token-system/"),
    TokenRule("snyk", r"snyk_[a-z]{3}\.[0-9a-f]{8}\.[A-Za-z0-9_.\-]{20,}", ("snyk_",), "https://docs.snyk.io/snyk-api/authentication-for-api"),
    TokenRule("postman", r"PMA[KT]-[0-9A-Za-z\-]{16,}", ("pmak-", "pmat-"), "https://learning.postman.com/docs/developer/postman-api/authentication/"),
    TokenRule("readme", r"rdme_[0-9a-z]{40,}", ("rdme_",), "https://docs.readme.com/main/reference/intro/authentication"),
    TokenRule("launchdarkly", rf"(?:sdk|api|mob)-{_UUID}", ("api-", "mob-", "sdk-"), "https://launchdarkly.com/docs/home/account/api"),
    TokenRule("prefect", rf"pn[ub]_{_W}{{36}}", ("pnb_", "pnu_"), "https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys"),
    TokenRule("doppler", r"dp\.(?:pt|st|ct|sa|said|scim|audit)\.[A-Za-z0-9_.\-]{16,}", ("dp.audit.", "dp.ct.", "dp.pt.", "dp.sa.", "dp.said.", "dp.scim.", "dp.st."), "https://docs.doppler.com/reference/auth-token-formats"),
    # Infrastructure
    TokenRule("vault", rf"hv[sbr]\.{_URLSAFE}{{16,}}", ("hvb.", "hvr.", "hvs."), "https://developer.hashicorp.com/vault/docs/concepts/tokens"),
    TokenRule("terraform_cloud", rf"{_W}{{14}}\.atlasv1\.{_URLSAFE}{{16,}}", (".atlasv1.",), "https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens"),
    TokenRule("pulumi", r"pul-[0-9a-f]{40}", ("pul-",), "https://www.pulumi.com/docs/pulumi-cloud/access-management/access-tokens/"),
    TokenRule("tailscale", rf"tskey-[a-z]+-{_URLSAFE}{{6,}}", ("tskey-",), "https://tailscale.com/kb/1277/key-prefixes"),
    TokenRule("onepassword_service_account", r"ops_eyJ[A-Za-z0-9+/=_\-]{20,}", ("ops_eyj",), "https://developer.1password.com/docs/service-accounts/"),
    TokenRule("onepassword_secret_key", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}", ("a3-",), "https://support.1password.com/secret-key/"),
    TokenRule("bitwarden_machine_token", rf"0\.{_UUID}\.[A-Za-z0-9]{{20,}}:[A-Za-z0-9+/=]{{16,}}", ("0.",), "https://bitwarden.com/help/access-tokens/"),
    TokenRule("infisical", r"st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}", ("st.",), "https://infisical.com/docs/documentation/platform/token"),
    TokenRule("age", r"AGE-SECRET-KEY-1[0-9A-Z]{20,}", ("age-secret-key-1",), "https://age-encryption.org/v1"),
    TokenRule("openshift", rf"sha256~{_URLSAFE}{{43}}", ("sha256~",), "https://docs.redhat.com/en/documentation/openshift_container_platform/4.17/html/authentication_and_authorization/managing-oauth-access-tokens"),
    TokenRule("docker_swarm", r"SWM(?:TKN|KEY)-1-[A-Za-z0-9+/\-]{20,}", ("swmkey-1-", "swmtkn-1-"), "https://docs.docker.com/engine/swarm/swarm-mode/"),
    TokenRule("k3s", r"K10[0-9a-f]{64}::[A-Za-z0-9.:_\-]{8,}", ("k10",), "https://docs.k3s.io/cli/token"),
    TokenRule("rancher", r"token-[a-z0-9]{5}:[a-z0-9]{40,}", ("token-",), "https://ranchermanager.docs.rancher.com/reference-guides/user-settings/api-keys"),
    TokenRule("portainer", r"ptr_[A-Za-z0-9+/]{40,}={0,2}", ("ptr_",), "https://docs.portainer.io/api/access"),
    TokenRule("defined_networking", rf"dnkey-{_URLSAFE}{{20,}}", ("dnkey-",), "https://docs.defined.net/guides/automating-host-creation/"),
    TokenRule("ngrok", r"2[0-9A-Za-z]{26}_[0-9A-Za-z]{18,}", ("2",), "https://ngrok.com/docs/agent/#authtokens"),
    # Watching
    TokenRule("sentry_user_token", r"sntry[uai]_[0-9a-f]{64}", ("sntrya_", "sntryi_", "sntryu_"), "https://docs.sentry.io/security-legal-pii/security/token-formats/"),
    TokenRule("sentry_org_token", r"sntrys_[A-Za-z0-9+/=_\-]{20,}", ("sntrys_",), "https://docs.sentry.io/security-legal-pii/security/token-formats/"),
    TokenRule("dynatrace", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}", ("dt0",), "https://docs.dynatrace.com/docs/shortlink/token"),
    TokenRule("grafana", r"gl(?:sa_[A-Za-z0-9_]{16,}|c_[A-Za-z0-9+/=]{16,})", ("glc_", "glsa_"), "https://grafana.com/docs/grafana/latest/administration/service-accounts/"),
    TokenRule("newrelic", r"NR(?:AK|JS|II|IQ|RA|SP|AA)-[A-Za-z0-9_\-]{16,}|[0-9a-f]{36}NRAL", ("nrak-", "nrjs-", "nrii-", "nriq-", "nrra-", "nrsp-", "nraa-", "nral"), "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/"),
    TokenRule("honeycomb", r"hc[abx][il][ck]_[0-9a-z]{50,}", ("ik_", "ic_", "lk_", "lc_"), "https://docs.honeycomb.io/configure/environments/manage-api-keys/"),
    TokenRule("axiom", rf"xa[ap]t-{_UUID}", ("xaat-", "xapt-"), "https://axiom.co/docs/reference/tokens"),
    TokenRule("posthog", rf"ph[xs]_{_W}{{30,}}", ("phs_", "phx_"), "https://posthog.com/docs/api"),
    TokenRule("wakatime", rf"waka_{_UUID}", ("waka_",), "https://wakatime.com/developers"),
    # Models
    TokenRule("openai_project", rf"sk-(?:proj|svcacct|admin|None)-{_URLSAFE}{{16,}}", ("sk-admin-", "sk-none-", "sk-proj-", "sk-svcacct-"), "https://platform.openai.com/docs/api-reference/authentication"),
    TokenRule("openai_legacy", rf"sk-{_W}{{20,}}", ("sk-",), "https://platform.openai.com/docs/api-reference/authentication"),
    TokenRule("anthropic", rf"sk-ant-{_URLSAFE}{{16,}}", ("sk-ant-",), "https://docs.anthropic.com/en/api/overview"),
    TokenRule("openrouter", rf"sk-or-{_URLSAFE}{{16,}}", ("sk-or-",), "https://openrouter.ai/docs/api-reference/authentication"),
    TokenRule("langfuse", rf"sk-lf-{_UUID}", ("sk-lf-",), "https://langfuse.com/docs/api"),
    TokenRule("langsmith", r"ls(?:v2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|__[0-9a-f]{32})", ("ls__", "lsv2_pt_", "lsv2_sk_"), "https://docs.smith.langchain.com/administration/how_to_guides/organization_management/create_account_api_key"),
    TokenRule("perplexity", rf"pplx-{_W}{{32,}}", ("pplx-",), "https://docs.perplexity.ai/guides/getting-started"),
    TokenRule("huggingface", r"(?:hf_|api_org_)[A-Za-z0-9]{20,}", ("api_org_", "hf_"), "https://huggingface.co/docs/hub/security-tokens"),
    TokenRule("replicate", rf"r8_{_W}{{20,}}", ("r8_",), "https://replicate.com/docs/reference/http#authentication"),
    TokenRule("groq", rf"gsk_{_W}{{20,}}", ("gsk_",), "https://console.groq.com/docs/quickstart"),
    TokenRule("xai", rf"xai-{_W}{{20,}}", ("xai-",), "https://docs.x.ai/docs/overview"),
    TokenRule("nvidia", rf"nvapi-{_URLSAFE}{{30,}}", ("nvapi-",), "https://docs.nvidia.com/ngc/gpu-cloud/ngc-user-guide/index.html"),
    TokenRule("pinecone", rf"pcsk_{_W}{{4,}}_{_W}{{40,}}", ("pcsk_",), "https://docs.pinecone.io/guides/projects/manage-api-keys"),
    TokenRule("elevenlabs", r"sk_[0-9a-f]{48}", ("sk_",), "https://elevenlabs.io/docs/api-reference/authentication"),
    TokenRule("tavily", rf"tvly-{_URLSAFE}{{20,}}", ("tvly-",), "https://docs.tavily.com/documentation/quickstart"),
    TokenRule("firecrawl", r"fc-[0-9a-f]{32}", ("fc-",), "https://docs.firecrawl.dev/api-reference/introduction"),
    TokenRule("together", rf"tgp_v1_{_URLSAFE}{{40,}}", ("tgp_v1_",), "https://docs.together.ai/docs/quickstart"),
    TokenRule("fireworks", rf"fw_{_W}{{22,24}}", ("fw_",), "https://docs.fireworks.ai/api-reference/introduction"),
    TokenRule("cerebras", rf"csk-{_W}{{40,}}", ("csk-",), "https://inference-docs.cerebras.ai/quickstart"),
    TokenRule("e2b", r"e2b_[0-9a-f]{40}", ("e2b_",), "https://e2b.dev/docs/api-key"),
    TokenRule("deepl", rf"{_UUID}:fx", (":fx",), "https://developers.deepl.com/docs/getting-started/auth"),
    # Money and shops
    TokenRule("stripe", rf"[sr]k_(?:live|test|prod)_{_W}{{8,}}", ("rk_live_", "rk_prod_", "rk_test_", "sk_live_", "sk_prod_", "sk_test_"), "https://docs.stripe.com/keys"),
    TokenRule("stripe_webhook", r"whsec_[A-Za-z0-9+/=]{16,}", ("whsec_",), "https://docs.stripe.com/webhooks"),
    TokenRule("square", r"sq0(?:atp|csp)-[0-9A-Za-z_\-]{16,}|EAAA[A-Za-z0-9_\-]{60}", ("eaaa", "sq0atp-", "sq0csp-"), "https://developer.squareup.com/docs/build-basics/access-tokens"),
    TokenRule("shopify", r"shp(?:at|ss|ca|pa|ua)_[0-9a-fA-F]{16,}", ("shpat_", "shpca_", "shppa_", "shpss_", "shpua_"), "https://shopify.dev/docs/apps/build/authentication-authorization"),
    TokenRule("shippo", r"shippo_(?:live|test)_[0-9a-f]{40}", ("shippo_live_", "shippo_test_"), "https://docs.goshippo.com/docs/guides_general/authentication/"),
    TokenRule("easypost", rf"EZ[AT]K{_W}{{54}}", ("ezak", "eztk"), "https://docs.easypost.com/docs/authentication"),
    TokenRule("duffel", r"duffel_(?:live|test)_[A-Za-z0-9_=\-]{20,}", ("duffel_live_", "duffel_test_"), "https://duffel.com/docs/api/overview/test-your-integration"),
    TokenRule("flutterwave", r"FLW(?:SECK|PUBK)(?:_TEST)?-[0-9a-zA-Z]{32}(?:-X)?", ("flwpubk-", "flwpubk_test-", "flwseck-", "flwseck_test-"), "https://developer.flutterwave.com/docs/authentication"),
    TokenRule("plaid", rf"access-(?:sandbox|development|production)-{_UUID}", ("access-development-", "access-production-", "access-sandbox-"), "https://plaid.com/docs/api/tokens/"),
    TokenRule("paddle", rf"pdl_(?:live|sdbx)_(?:apikey|ntfset)_{_W}{{20,}}_[A-Za-z0-9+/]{{20,}}(?:_{_W}{{3}})?", ("pdl_live_apikey_", "pdl_live_ntfset_", "pdl_sdbx_apikey_", "pdl_sdbx_ntfset_"), "https://developer.paddle.com/api-reference/about/api-keys"),
    TokenRule("razorpay", rf"rzp_(?:live|test)_{_W}{{14,}}", ("rzp_live_", "rzp_test_"), "https://razorpay.com/docs/api/authentication/"),
    TokenRule("mollie", rf"(?:live|test)_{_W}{{30}}\b", ("live_", "test_"), "https://docs.mollie.com/reference/authentication"),
    TokenRule("braintree", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}", ("access_token$production$", "access_token$sandbox$"), "https://developer.paypal.com/braintree/docs/guides/authorization/overview"),
    # Messages and mail
    TokenRule("slack", r"(?:xoxe\.)?xox[abceoprs]-[A-Za-z0-9\-]{8,}", ("xox",), "https://api.slack.com/concepts/token-types"),
    TokenRule("slack_app_token", r"x(?:app|wfp)-[0-9A-Za-z]?-?[A-Za-z0-9\-]{8,}", ("xapp-", "xwfp-"), "https://api.slack.com/concepts/token-types"),
    TokenRule("telegram_bot", r"(?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_\-]{30,}|bot[0-9]{6,12}:[A-Za-z0-9_\-]{30,}", (":aa", "bot"), "https://core.telegram.org/bots/api#authorizing-your-bot"),
    TokenRule("discord_bot", rf"[MNO]{_URLSAFE}{{22,}}\.{_URLSAFE}{{6}}\.{_URLSAFE}{{27,}}", (".",), "https://discord.com/developers/docs/reference#authentication"),
    TokenRule("twilio_api_key", r"SK[0-9a-f]{32}", ("sk",), "https://www.twilio.com/docs/iam/api-keys"),
    TokenRule("sendgrid", rf"SG\.{_URLSAFE}{{16,}}\.{_URLSAFE}{{16,}}", ("sg.",), "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys"),
    TokenRule("mailgun", r"key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}", ("-",), "https://documentation.mailgun.com/docs/mailgun/api-reference/mg-auth"),
    TokenRule("mailchimp", r"[0-9a-f]{32}-us[0-9]{1,2}", ("-us",), "https://mailchimp.com/developer/marketing/docs/fundamentals/"),
    TokenRule("mandrill", rf"md-{_URLSAFE}{{22}}", ("md-",), "https://mailchimp.com/developer/transactional/docs/fundamentals/"),
    TokenRule("brevo", rf"x(?:key|smtp)sib-[0-9a-f]{{32,}}-{_W}{{16}}", ("xkeysib-", "xsmtpsib-"), "https://developers.brevo.com/docs/getting-started"),
    TokenRule("resend", rf"re_{_W}{{8}}_{_W}{{20,}}", ("re_",), "https://resend.com/docs/api-reference/introduction"),
    TokenRule("facebook", rf"EAA{_W}{{40,}}", ("eaa",), "https://developers.facebook.com/docs/facebook-login/guides/access-tokens"),
    TokenRule("twitch_oauth", r"oauth:[a-z0-9]{30}", ("oauth:",), "https://dev.twitch.tv/docs/irc/authenticate-bot/"),
    TokenRule("onesignal", r"os_v2_(?:app|org)_[a-z2-7]{60,}", ("os_v2_app_", "os_v2_org_"), "https://documentation.onesignal.com/docs/keys-and-ids"),
    # Office
    TokenRule("notion", rf"ntn_{_W}{{20,}}|secret_{_W}{{32,}}", ("ntn_", "secret_"), "https://developers.notion.com/reference/authentication"),
    TokenRule("airtable", rf"pat{_W}{{14}}\.[0-9a-f]{{64}}", ("pat",), "https://airtable.com/developers/web/api/authentication"),
    TokenRule("linear", rf"lin_(?:api|oauth)_{_W}{{16,}}", ("lin_api_", "lin_oauth_"), "https://linear.app/developers/graphql"),
    TokenRule("figma", rf"fig[douw]r?_{_URLSAFE}{{16,}}", ("figd_", "figdr_", "figo_", "figor_", "figu_", "figur_", "figw_", "figwr_"), "https://www.figma.com/developers/api#authentication"),
    TokenRule("asana", r"[0-9]/[0-9]{13,16}(?:/[0-9]{13,16})?:[0-9a-f]{32}", ("/",), "https://developers.asana.com/docs/personal-access-token"),
    TokenRule("clickup", r"pk_[0-9]{6,}_[A-Z0-9]{32}", ("pk_",), "https://developer.clickup.com/docs/authentication"),
    TokenRule("trello", r"ATTA[0-9a-f]{64}[0-9A-F]{8}", ("atta",), "https://developer.atlassian.com/cloud/trello/guides/rest-api/authorization/"),
    TokenRule("hubspot", rf"pat-(?:na|eu|ap)[0-9]-{_UUID}", ("pat-ap", "pat-eu", "pat-na"), "https://developers.hubspot.com/docs/guides/apps/private-apps/overview"),
    TokenRule("contentful", rf"CFPAT-{_URLSAFE}{{40,}}", ("cfpat-",), "https://www.contentful.com/developers/docs/references/authentication/"),
    TokenRule("typeform", rf"tfp_{_URLSAFE}{{40,}}", ("tfp_",), "https://www.typeform.com/developers/get-started/personal-access-token/"),
    TokenRule("dropbox", rf"sl\.(?:u\.)?{_URLSAFE}{{60,}}", ("sl.",), "https://developers.dropbox.com/oauth-guide"),
    TokenRule("adafruit_io", rf"aio_{_W}{{28}}", ("aio_",), "https://io.adafruit.com/api/docs/#authentication"),
    TokenRule("mapbox_secret", r"sk\.eyJ[A-Za-z0-9_\-]{20,}\.[A-Za-z0-9_\-]{10,}", ("sk.eyj",), "https://docs.mapbox.com/help/getting-started/access-tokens/"),
    TokenRule("maxmind", rf"{_W}{{6}}_{_W}{{29}}_mmk", ("_mmk",), "https://support.maxmind.com/hc/en-us/articles/4407111582235-Generate-a-License-Key"),
    # Formats of no single issuer
    TokenRule("jwt_and_jwe", r"eyJ[A-Za-z0-9_\-]{6,}\.[A-Za-z0-9_\-]{4,}(?:\.[A-Za-z0-9_\-]*){0,3}|eyJ[A-Za-z0-9_\-]{6,}\.\.[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]+", ("eyj",), "https://www.rfc-editor.org/rfc/rfc7516#section-3.1"),
    TokenRule("fernet", rf"gAAAAA{_URLSAFE}{{60,}}={{0,2}}", ("gaaaaa",), "https://github.com/fernet/spec/blob/master/Spec.md"),
    TokenRule("paseto", rf"v[1-4]\.(?:local|public)\.{_URLSAFE}{{20,}}(?:\.{_URLSAFE}*)?", (".local.", ".public."), "https://github.com/paseto-standard/paseto-spec"),
    TokenRule("paserk", r"k[1-4]\.(?:local|secret|local-wrap|secret-wrap|local-pw|secret-pw|seal)\.[A-Za-z0-9_.\-]{20,}", (".local", ".secret", ".seal"), "https://github.com/paseto-standard/paserk"),
)  # fmt: skip

_FRONT = r"(?:^|[^A-Za-z0-9]|\\[abfnrtv0]|%[0-9A-Fa-f]{2}|\\u00[0-9A-Fa-f]{2}|\\x[0-9A-Fa-f]{2})"
"""What may stand before a secret; also escapes that end in a letter: a line end within JSON, `%3D` within a URL."""
_HEX = frozenset("0123456789abcdefABCDEF")
_COUNT = re2.compile(r"\{([0-9]+)(?:,[0-9]*)?\}")
_COUNTED_AT_MOST = 4


def loosen(pattern: str) -> str:
    """Lower the counts of a pattern: they cost a linear matcher most, and a mere search does not need them."""
    return str(_COUNT.sub(lambda match: f"{{{min(int(match.group(1)), _COUNTED_AT_MOST)},}}", pattern))


def _compile(pattern: str) -> Any:
    """Compile without groups: finding where a match stands is many times faster then."""
    options = re2.Options()
    options.never_capture = True
    return re2.compile(f"{_FRONT}(?:{pattern})", options)


TOKEN_TRIGGER = _FRONT + "(?:" + "|".join(loosen(rule.pattern) for rule in TOKEN_RULES) + ")"
_PATTERNS = tuple((rule.hints, _compile(rule.pattern)) for rule in TOKEN_RULES)


def mask_tokens(line: str) -> str:
    """Return the line with every issued secret masked.

    All kinds are looked for in the original line, since one token may contain another.
    """
    low = line.lower()
    spans: list[tuple[int, int]] = []
    for hints, pattern in _PATTERNS:
        if has_any(low, hints):
            spans += _find_spans(pattern, line)
    done: list[str] = []
    position = 0
    for first, last in sorted(spans):
        if first >= position:
            done += [line[position:first], MASK]
        position = max(position, last)
    return "".join(done) + line[position:] if done else line


def has_any(text: str, hints: tuple[str, ...]) -> bool:
    """Return whether one of the hints stands in the text."""
    for hint in hints:  # noqa: SIM110 - hot: no generator
        if hint in text:
            return True
    return False


def _find_spans(pattern: Any, line: str) -> list[tuple[int, int]]:
    """Return where secrets of one kind stand; after very many, the rest of the line."""
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(line):
        if len(spans) == MOST_MATCHES:
            return [*spans, (match.start(), len(line))]
        spans.append((match.start() + _front_length(match.group()), match.end()))
    return spans


def _front_length(text: str) -> int:
    """Return how long the character or the escape in front of a secret is; 0 at the beginning of a line."""
    if text[0] == "\\":
        return {"u": 6, "x": 4}.get(text[1], 2)
    if text[0] == "%" and _HEX.issuperset(text[1:3]):
        return 3
    return 0 if text[0].isascii() and text[0].isalnum() else 1
