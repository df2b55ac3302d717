import type { LineRule, Match } from "./finding.ts";

/** The shape of one provider's keys. */
interface SecretShape {
  readonly name: string;
  /** Every key of this shape contains one of these. */
  readonly marks: readonly string[];
  readonly pattern: RegExp;
}

const shapes: readonly SecretShape[] = [
  { name: "an AWS access key", marks: ["AKIA"], pattern: /\bAKIA[0-9A-Z]{16}\b/gu },
  { name: "an AWS session key", marks: ["ASIA"], pattern: /\bASIA[0-9A-Z]{16}\b/gu },
  {
    name: "a GitHub token",
    marks: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
    pattern: /\bgh[pousr]_[A-Za-z0-9]{36,255}\b/gu,
  },
  { name: "a GitHub token", marks: ["github_pat_"], pattern: /\bgithub_pat_[A-Za-z0-9_]{60,255}\b/gu },
  { name: "a GitLab token", marks: ["glpat-"], pattern: /\bglpat-[\w-]{20,64}/gu },
  {
    name: "a Slack token",
    marks: ["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
    pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{20,200}/gu,
  },
  {
    name: "a Slack webhook",
    marks: ["hooks.slack.com"],
    pattern: /hooks\.slack\.com\/services\/T[A-Z0-9]{6,12}\/B[A-Z0-9]{6,12}\/[A-Za-z0-9]{20,30}/gu,
  },
  {
    name: "a Discord webhook",
    marks: ["/api/webhooks/"],
    pattern: /discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,80}/gu,
  },
  { name: "a Google key", marks: ["AIza"], pattern: /\bAIza[\w-]{35}(?![\w-])/gu },
  { name: "an Anthropic key", marks: ["sk-ant-"], pattern: /\bsk-ant-(?:api|admin|oat)\d{2}-[\w-]{60,200}/gu },
  {
    name: "an OpenAI key",
    marks: ["sk-proj-", "sk-svcacct-", "sk-admin-", "T3BlbkFJ"],
    pattern: /\bsk-(?:proj|svcacct|admin)-[\w-]{40,200}|\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b/gu,
  },
  { name: "a Stripe key", marks: ["k_live_"], pattern: /\b[rs]k_live_[A-Za-z0-9]{24,200}\b/gu },
  { name: "a SendGrid key", marks: ["SG."], pattern: /\bSG\.[\w-]{22}\.[\w-]{43}(?![\w-])/gu },
  { name: "an npm token", marks: ["npm_"], pattern: /\bnpm_[A-Za-z0-9]{36}\b/gu },
  { name: "a PyPI token", marks: ["pypi-AgE"], pattern: /\bpypi-AgE[\w-]{50,250}/gu },
  { name: "a Hugging Face token", marks: ["hf_"], pattern: /\bhf_[A-Za-z]{34}\b/gu },
  { name: "a DigitalOcean token", marks: ["_v1_"], pattern: /\bdo[opr]_v1_[a-f0-9]{64}\b/gu },
  {
    name: "a Shopify token",
    marks: ["shpat_", "shpca_", "shppa_", "shpss_"],
    pattern: /\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b/gu,
  },
  { name: "a Telegram token", marks: [":AA"], pattern: /\b\d{8,10}:AA[\w-]{33}(?![\w-])/gu },
  { name: "an Azure storage key", marks: ["AccountKey="], pattern: /\bAccountKey=[A-Za-z0-9+/]{86}==/gu },
  { name: "a Databricks token", marks: ["dapi"], pattern: /\bdapi[a-f0-9]{32}\b/gu },
  { name: "a signed token (JWT)", marks: ["eyJ"], pattern: /\beyJ[\w-]{15,1000}\.eyJ[\w-]{15,2000}\.[\w-]{20,1000}/gu },
  {
    name: "a password in an address",
    marks: ["postgres", "mysql://", "mongodb", "redis://", "amqp://"],
    pattern:
      /\b(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis|amqp):\/\/[\w.%-]{1,64}:[^\s:@/"'`<>{}$]{6,128}@[\w.-]{4,253}/gu,
  },
];

/** A private key: its first line, and enough of a second one to be a real key. */
const privateKey = /-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----/u;

const cure = "Revoke it, and read it from the environment or from a secret store";

/** Keys of known providers. Placeholders and the keys of documentation are left out. */
export const secretRule: LineRule = {
  trigger: new RegExp(
    shapes.flatMap(({ marks }) => marks.map((mark) => mark.replaceAll(/[./]/gu, String.raw`\$&`))).join("|"),
    "u",
  ),
  find: findSecrets,
};

function findSecrets(line: string): Match[] {
  const matches: Match[] = [];
  for (const { name, marks, pattern } of shapes) {
    if (!marks.some((mark) => line.includes(mark))) continue;
    for (const { index, 0: secret } of line.matchAll(pattern)) {
      if (isPlaceholder(secret)) continue;
      const message = `Contains ${name}`;
      matches.push({ code: "secret-exposed", risk: "high", message, cure, start: index, end: index + secret.length });
    }
  }
  return matches;
}

/** Finds a private key that begins on `line`; `next` is the line below. */
export function findPrivateKey(line: string, next: string): Match | undefined {
  const found = privateKey.exec(line);
  if (found === null) return undefined;
  const rest = line.slice(found.index + found[0].length) + next;
  const [body] = /[A-Za-z0-9+/]{40,}/u.exec(rest.replaceAll(/\\n|\s/gu, "")) ?? [];
  if (body === undefined || isPlaceholder(body)) return undefined;
  const place = { start: found.index, end: found.index + found[0].length };
  return { code: "secret-exposed", risk: "high", message: "Contains a private key", cure, ...place };
}

const exampleWords =
  /example|sample|your|placeholder|redacted|dummy|fake|test[_-]?key|changeme|password@|:password|:secret|user:pass|localhost|xxxx|0000000|1234567|abcdefg/iu;

/** Keys of real providers are random: few letters over and over, or words that say so, are examples. */
function isPlaceholder(secret: string): boolean {
  return exampleWords.test(secret) || new Set(secret).size < Math.min(12, secret.length / 3);
}

/** The mark of a key and its length: enough to find it, nothing to use it with. */
function mask(secret: string): string {
  return `${secret.slice(0, 4)}…(${secret.length} characters)`;
}

/** Replaces every key in `text`, placeholders too, so that no evidence gives one away. */
export function maskSecrets(text: string): string {
  let masked = text;
  for (const { marks, pattern } of shapes) {
    if (marks.some((mark) => masked.includes(mark))) masked = masked.replaceAll(pattern, mask);
  }
  return masked;
}
