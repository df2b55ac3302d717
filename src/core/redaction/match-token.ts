import {
  digits,
  kindOf,
  alphanumerics,
  dashes,
  dots,
  equals,
  lowers,
  pluses,
  slashes,
  underscores,
  uppers,
  urlBase64,
  words,
  undecided,
  type Hit,
  type Scan,
} from "./scan.ts";

/** Nothing longer is taken for a key: a text that comes in pieces would be held back for ever. */
export const longestToken = 4096;

/** Finds a key that begins with `prefix` at `index` and looks as `row` says. */
export function matchToken(scan: Scan, index: number, prefix: string, row: TokenRow): Hit | undefined {
  const begins = scan.startsWith(prefix, index);
  if (begins === undefined) return undecided(index);
  if (!begins) return undefined;
  const start = index + prefix.length;
  const end = scan.runEnd(row.set, start);
  const length = end - start;
  if (length > (row.max ?? longestToken)) return undefined;
  if (scan.isOpen(end)) return undecided(index);
  if (length < row.min) return undefined;
  return hasDigits(scan.text.slice(start, Math.min(end, start + 64)), row.digits ?? 0)
    ? { start: index, end }
    : undefined;
}

/** A key is not made of words: it has digits near its beginning. */
function hasDigits(text: string, count: number): boolean {
  let found = 0;
  for (let index = 0; found < count && index < text.length; index++) {
    if ((kindOf(text.charCodeAt(index)) & digits) !== 0) found += 1;
  }
  return found >= count;
}

/** How the keys of one provider look: how they begin, and what follows. */
interface TokenRow {
  readonly name: string;
  readonly prefixes: readonly string[];
  /** The characters that follow. */
  readonly set: number;
  /** At least so many of them. */
  readonly min: number;
  /** At most so many: with more it is something else. @default any number */
  readonly max?: number;
  /** At least so many digits among them, where words of a language may begin alike. @default 0 */
  readonly digits?: number;
}

const hexadecimal = digits + lowers;
const dotted = urlBase64 + dots;

/** The keys of known providers. */
export const tokenRows: readonly TokenRow[] = [
  { name: "adafruit-key", prefixes: ["aio_"], set: alphanumerics, min: 28, max: 28 },
  { name: "age-key", prefixes: ["AGE-SECRET-KEY-1"], set: uppers + digits, min: 58 },
  { name: "anthropic-key", prefixes: ["sk-ant-"], set: urlBase64, min: 20 },
  { name: "atlassian-token", prefixes: ["ATATT3", "ATCTT3", "ATBB"], set: urlBase64 + equals, min: 28, digits: 2 },
  { name: "aws-access-key", prefixes: ["AKIA", "ASIA", "ABIA", "ACCA"], set: uppers + digits, min: 16, max: 16 },
  { name: "brevo-key", prefixes: ["xkeysib-", "xsmtpsib-"], set: urlBase64, min: 40 },
  { name: "buildkite-token", prefixes: ["bkua_", "bkct_"], set: alphanumerics, min: 30 },
  { name: "circleci-token", prefixes: ["CCIPAT_", "CCIPRJ_"], set: words, min: 30 },
  { name: "databricks-token", prefixes: ["dapi"], set: hexadecimal + dashes, min: 32, max: 36, digits: 4 },
  { name: "digitalocean-token", prefixes: ["dop_v1_", "doo_v1_", "dor_v1_"], set: hexadecimal, min: 64 },
  { name: "docker-token", prefixes: ["dckr_pat_", "dckr_oat_"], set: urlBase64, min: 20 },
  { name: "doppler-token", prefixes: ["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."], set: dotted, min: 40 },
  { name: "dynatrace-token", prefixes: ["dt0c01.", "dt0s01."], set: uppers + digits + dots, min: 40 },
  { name: "figma-token", prefixes: ["figd_", "figo_"], set: urlBase64, min: 35 },
  {
    name: "fly-token",
    prefixes: ["fo1_", "fm1r_", "fm2_", "fm1a_"],
    set: urlBase64 + pluses + slashes + equals,
    min: 40,
  },
  { name: "github-token", prefixes: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], set: alphanumerics, min: 36 },
  { name: "github-token", prefixes: ["github_pat_"], set: words, min: 22 },
  {
    name: "gitlab-token",
    prefixes: ["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "gloas-", "glsoat-", "glimt-", "glft-", "glagent-"],
    set: dotted,
    min: 20,
  },
  { name: "google-api-key", prefixes: ["AIza"], set: urlBase64, min: 35, max: 35 },
  { name: "google-oauth", prefixes: ["ya29.", "GOCSPX-", "1//0"], set: urlBase64, min: 24 },
  { name: "grafana-token", prefixes: ["glsa_", "glc_"], set: words + pluses + slashes + equals, min: 32 },
  { name: "groq-key", prefixes: ["gsk_"], set: alphanumerics, min: 40 },
  { name: "heroku-key", prefixes: ["HRKU-"], set: urlBase64, min: 36 },
  { name: "huggingface-token", prefixes: ["hf_", "api_org_"], set: alphanumerics, min: 30 },
  { name: "langsmith-key", prefixes: ["lsv2_pt_", "lsv2_sk_"], set: words, min: 32 },
  { name: "linear-key", prefixes: ["lin_api_", "lin_oauth_"], set: alphanumerics, min: 32 },
  { name: "mailgun-key", prefixes: ["key-"], set: hexadecimal, min: 32, max: 32, digits: 4 },
  { name: "mapbox-token", prefixes: ["sk.eyJ"], set: dotted, min: 40 },
  { name: "netlify-token", prefixes: ["nfp_", "nfc_"], set: alphanumerics, min: 36 },
  { name: "newrelic-key", prefixes: ["NRAK-", "NRII-", "NRAL-"], set: alphanumerics + dashes, min: 27 },
  { name: "notion-token", prefixes: ["ntn_", "secret_"], set: alphanumerics, min: 40, digits: 3 },
  { name: "npm-token", prefixes: ["npm_"], set: alphanumerics, min: 36 },
  { name: "nvidia-key", prefixes: ["nvapi-"], set: urlBase64, min: 60 },
  { name: "openai-key", prefixes: ["sk-"], set: urlBase64, min: 20, digits: 3 },
  { name: "perplexity-key", prefixes: ["pplx-"], set: alphanumerics, min: 40 },
  { name: "pinecone-key", prefixes: ["pcsk_"], set: words, min: 40 },
  { name: "planetscale-token", prefixes: ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], set: dotted, min: 32 },
  { name: "postman-key", prefixes: ["PMAK-"], set: alphanumerics + dashes, min: 59 },
  { name: "pypi-token", prefixes: ["pypi-"], set: urlBase64, min: 50 },
  { name: "replicate-token", prefixes: ["r8_"], set: alphanumerics, min: 37 },
  { name: "resend-key", prefixes: ["re_"], set: words, min: 24, digits: 3 },
  { name: "rubygems-key", prefixes: ["rubygems_"], set: hexadecimal, min: 48 },
  { name: "sendgrid-key", prefixes: ["SG."], set: dotted, min: 40, digits: 2 },
  { name: "sentry-token", prefixes: ["sntrys_", "sntryu_"], set: urlBase64 + pluses + slashes + equals, min: 40 },
  { name: "shopify-token", prefixes: ["shpat_", "shpca_", "shppa_", "shpss_"], set: alphanumerics, min: 32 },
  {
    name: "slack-token",
    prefixes: ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xapp-"],
    set: urlBase64,
    min: 16,
    digits: 3,
  },
  { name: "slack-webhook", prefixes: ["hooks.slack.com/services/"], set: alphanumerics + pluses + slashes, min: 20 },
  { name: "square-token", prefixes: ["sq0atp-", "sq0csp-", "sq0idp-", "EAAAE"], set: urlBase64, min: 22, digits: 2 },
  { name: "stripe-key", prefixes: ["sk_live_", "sk_test_", "rk_live_", "rk_test_"], set: alphanumerics, min: 16 },
  { name: "stripe-webhook-secret", prefixes: ["whsec_"], set: alphanumerics + pluses + slashes + equals, min: 24 },
  { name: "supabase-key", prefixes: ["sbp_", "sb_secret_"], set: words, min: 30 },
  { name: "tailscale-key", prefixes: ["tskey-"], set: alphanumerics + dashes, min: 20, digits: 2 },
  { name: "twilio-key", prefixes: ["SK"], set: hexadecimal, min: 32, max: 32, digits: 4 },
  { name: "xai-key", prefixes: ["xai-"], set: alphanumerics + underscores, min: 60 },
];
