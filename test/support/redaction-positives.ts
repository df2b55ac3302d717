/** A text with something in it that must not be seen. */
export interface Positive {
  /** The name of the pattern. */
  readonly kind: string;
  readonly text: string;
  /** What must not be left in it. */
  readonly secret: string;
}

/**
 * Keys of providers as their documentation shows them: kind, how they begin, how many characters follow, and of which kind. They are
 * put together when they are used, so that nobody takes them for real ones.
 */
const tokens: readonly (readonly [kind: string, prefix: string, length: number, alphabet?: string])[] = [
  ["age-key", "AGE-SECRET|-KEY-1", 58, "upper"],
  ["anthropic-key", "sk-|ant-api03-", 95],
  ["atlassian-token", "ATATT|3xFfGF0", 180],
  ["aws-access-key", "AK|IA", 16, "upper"],
  ["aws-access-key", "AS|IA", 16, "upper"],
  ["brevo-key", "xkeys|ib-", 81],
  ["buildkite-token", "bkua|_", 40, "hex"],
  ["circleci-token", "CCIPAT|_", 43],
  ["databricks-token", "da|pi", 32, "hex"],
  ["digitalocean-token", "dop|_v1_", 64, "hex"],
  ["docker-token", "dckr|_pat_", 27],
  ["doppler-token", "dp.|pt.", 43],
  ["dynatrace-token", "dt0|c01.", 89, "upper"],
  ["figma-token", "fig|d_", 40],
  ["fly-token", "fo|1_", 43],
  ["github-token", "gh|p_", 36],
  ["github-token", "gh|o_", 36],
  ["github-token", "gh|s_", 36],
  ["github-token", "github|_pat_", 82],
  ["gitlab-token", "gl|pat-", 20],
  ["gitlab-token", "gl|rt-", 20],
  ["google-api-key", "AI|za", 35],
  ["google-oauth", "ya|29.", 60],
  ["google-oauth", "GOC|SPX-", 28],
  ["grafana-token", "gl|sa_", 41],
  ["groq-key", "gs|k_", 52],
  ["heroku-key", "HR|KU-", 36],
  ["huggingface-token", "h|f_", 34],
  ["langsmith-key", "lsv2|_pt_", 43],
  ["linear-key", "lin_|api_", 40],
  ["mailgun-key", "ke|y-", 32, "hex"],
  ["netlify-token", "nf|p_", 40],
  ["newrelic-key", "NR|AK-", 27, "upper"],
  ["notion-token", "nt|n_", 46],
  ["npm-token", "np|m_", 36],
  ["nvidia-key", "nv|api-", 64],
  ["openai-key", "s|k-", 48],
  ["openai-key", "sk-|proj-", 120],
  ["perplexity-key", "pp|lx-", 48],
  ["pinecone-key", "pc|sk_", 70],
  ["planetscale-token", "pscale|_tkn_", 43],
  ["postman-key", "PM|AK-", 59],
  ["pypi-token", "py|pi-", 180],
  ["replicate-token", "r|8_", 37],
  ["resend-key", "r|e_", 33],
  ["rubygems-key", "ruby|gems_", 48, "hex"],
  ["sendgrid-key", "S|G.", 66],
  ["sentry-token", "sntry|s_", 80],
  ["shopify-token", "shp|at_", 32, "hex"],
  ["slack-token", "xo|xb-", 50],
  ["slack-token", "xo|xp-", 60],
  ["slack-token", "xa|pp-", 70],
  ["square-token", "sq0|atp-", 22],
  ["stripe-key", "sk_|live_", 24],
  ["stripe-key", "rk_|test_", 99],
  ["stripe-webhook-secret", "wh|sec_", 32],
  ["supabase-key", "sb|p_", 40, "hex"],
  ["tailscale-key", "ts|key-auth-", 30],
  ["twilio-key", "S|K", 32, "hex"],
  ["xai-key", "xa|i-", 80],
];

const alphabets: Readonly<Record<string, string>> = {
  mixed: "aB3dE5gH1jK7mN9pQ2rS4tU6vW8xY0z",
  upper: "A2B3C4D5E6F7GHJKLMNPQRSTUVWXYZ",
  hex: "0a1b2c3d4e5f6789",
};

/** Ways in which a secret is met. */
const frames: readonly ((secret: string) => string)[] = [
  (secret) => `It did not work with ${secret}, so I asked again.`,
  (secret) => JSON.stringify({ level: "error", message: `401 for "${secret}"` }),
  (secret) => `curl -H 'X-Key: ${secret}' https://api.example/v1?next=%3D${secret}`,
];

function bodyOf(length: number, alphabet: string, seed: number): string {
  const characters = alphabets[alphabet] as string;
  return Array.from(
    { length },
    (_, index) => characters[(index * 7 + seed * 5 + (index >> 3)) % characters.length],
  ).join("");
}

const tokenPositives = tokens.flatMap(([kind, prefix, length, alphabet = "mixed"], row): Positive[] =>
  [0, 1].map((part) => {
    const secret = prefix.replace("|", "") + bodyOf(length, alphabet, row + part);
    const frame = frames[(row + part) % frames.length] as (typeof frames)[number];
    return { kind, text: frame(secret), secret };
  }),
);

const base64 = (text: string): string => Buffer.from(text).toString("base64url");
const jwt = (payload: object, signature: string): string =>
  [base64(JSON.stringify({ alg: "HS256", typ: "JWT" })), base64(JSON.stringify(payload)), signature].join(".");
const pem = (kind: string, lines: number): string =>
  [
    `-----BEGIN ${kind}-----`,
    ...Array.from({ length: lines }, (_, row) => bodyOf(64, "mixed", row)),
    `-----END ${kind}-----`,
  ].join("\n");

/** Those that are not of one provider. The secret is the part in `⟦…⟧`. */
const marked: readonly (readonly [kind: string, text: string])[] = [
  ["jwt", `Cookie: session=⟦${jwt({ sub: "1", name: "x" }, bodyOf(43, "mixed", 1))}⟧; Path=/`],
  ["jwt", `token ⟦${jwt({ iat: 1 }, bodyOf(86, "mixed", 2))}⟧.`],
  ["jwt", `none: ⟦${jwt({ admin: true }, "")}⟧ is not signed`],
  ["jwt", `"id_token":"⟦${jwt({ a: "b".repeat(900) }, bodyOf(342, "mixed", 3))}⟧"`],
  ["private-key", `⟦${pem("RSA PRIVATE KEY", 25)}⟧`],
  ["private-key", `key: |\n⟦${pem("PRIVATE KEY", 3)}⟧\nnext: line`],
  ["private-key", `⟦${pem("EC PRIVATE KEY", 3)}⟧ and more`],
  ["private-key", `⟦${pem("OPENSSH PRIVATE KEY", 6)}⟧`],
  ["private-key", `⟦${pem("ENCRYPTED PRIVATE KEY", 9)}⟧`],
  ["private-key", `⟦${pem("PGP PRIVATE KEY BLOCK", 12)}⟧`],
  ["private-key", `"⟦${pem("PRIVATE KEY", 4).replaceAll("\n", "\\n")}⟧"`],
  ["private-key", `cut: ⟦${pem("RSA PRIVATE KEY", 5).split("\n").slice(0, 4).join("\n")}⟧`],
  ["url-password", "postgres://⟦app:hunter2⟧@db.example:5432/main"],
  ["url-password", "redis://⟦:s3cr3t-word⟧@cache.example/0"],
  ["url-password", "git clone https://⟦oauth2:abc123⟧@git.example/a/b.git"],
  ["url-password", "amqps://⟦user:p%40ss⟧@queue.example"],
  ["url-password", "mongodb+srv://⟦root:pa+ss=word⟧@cluster0.example/test"],
  ["bearer-token", "Authorization: Bearer ⟦7f3c9a1e5b2d4860af17⟧"],
  ["bearer-token", "authorization: bearer ⟦aGVsbG8gd29ybGQxMjM0NTY3ODk=⟧"],
  ["basic-auth", `Authorization: Basic ⟦${Buffer.from("ada:correct horse").toString("base64")}⟧`],
  ["basic-auth", `"Basic ⟦${Buffer.from("root:toor123").toString("base64")}⟧"`],
  ["secret", "password=⟦hunter2hunter2⟧"],
  ["secret", "DB_PASSWORD = '⟦Tr0ub4dor&3⟧'"],
  ["secret", '{"client_secret": "⟦a8f5f167f44f4964e6c998dee827110c⟧"}'],
  ["secret", '{\\"apiKey\\":\\"⟦k3y-f0r-tests-only⟧\\"}'],
  ["secret", `AWS_SECRET_ACCESS_KEY=⟦${bodyOf(40, "mixed", 5)}⟧`],
  ["secret", `AccountName=x;AccountKey=⟦${bodyOf(86, "mixed", 6)}==⟧;`],
  ["secret", "passphrase: ⟦0pen-sesame-now⟧"],
  ["secret", "access_token=⟦2YotnFZFEjr1zCsicMWpAA⟧&token_type=example"],
  ["secret", "--api-key=⟦abc123def456ghi⟧ --verbose"],
  [
    "slack-webhook",
    `https://⟦hooks.slack.com/services/T${bodyOf(8, "upper", 1)}/B${bodyOf(8, "upper", 2)}/${bodyOf(24, "mixed", 3)}⟧`,
  ],
  [
    "telegram-token",
    `https://api.example/bot/⟦${bodyOf(10, "hex", 1).replaceAll(/[a-f]/gu, "7")}:AA${bodyOf(33, "mixed", 2)}⟧/getMe`,
  ],
  ["discord-token", `⟦M${bodyOf(25, "mixed", 1)}.${bodyOf(6, "mixed", 2)}.${bodyOf(38, "mixed", 3)}⟧`],
  ["email", "Write to ⟦ada@example.com⟧."],
  ["email", "⟦first.last+tag@mail.example.co.uk⟧, thanks"],
  ["email", "From: Ada <⟦ada_l@example.org⟧>"],
  ["email", "mailto:⟦a-b-c@sub.example.net⟧?subject=Hi"],
  ["email", "⟦jörg@bücher.example⟧"],
  ["email", '{"to":"⟦x1@example.io⟧"}'],
  ["email", "⟦o%27neil@example.ie⟧"],
  ["email", "⟦user@xn--bcher-kva.example⟧"],
  ["email", "a,b,⟦c@example.com⟧;⟦d@example.com⟧"],
  ["email", "ada wrote (⟦ada@example.museum⟧) twice"],
  ["phone", "Call ⟦+49 30 901820⟧ today"],
  ["phone", "⟦+14155550132⟧"],
  ["phone", "⟦+44 (0)20 7946 0958⟧"],
  ["phone", "tel:⟦+33-1-70-18-99-00⟧"],
  ["phone", "⟦+81.3.1234.5678⟧ is a number"],
  ["phone", "⟦(415) 555-0132⟧"],
  ["phone", "my number: ⟦415-555-0132⟧."],
  ["phone", "⟦1-800-555-0199⟧ toll free"],
  ["phone", "fax ⟦212.555.0147⟧"],
  ["phone", "⟦+91 98765 43210⟧"],
  ["phone", "⟦+1 202 555 0143⟧ 2026-11-16"],
  ["card", "⟦4111111111111111⟧"],
  ["card", "card ⟦4111 1111 1111 1111⟧ 12/27"],
  ["card", "⟦5555-5555-5555-4444⟧"],
  ["card", "⟦378282246310005⟧"],
  ["card", "amex ⟦3782 822463 10005⟧"],
  ["card", "⟦6011111111111117⟧"],
  ["card", "⟦30569309025904⟧"],
  ["card", "⟦3530111333300000⟧"],
  ["card", "⟦2223003122003222⟧"],
  ["card", "⟦6200000000000005⟧"],
  ["card", '{"number":"⟦4000056655665556⟧"}'],
  ["card", "⟦4222222222222⟧"],
  ["iban", "⟦DE89370400440532013000⟧"],
  ["iban", "IBAN: ⟦DE89 3704 0044 0532 0130 00⟧"],
  ["iban", "⟦GB29 NWBK 6016 1331 9268 19⟧"],
  ["iban", "⟦FR1420041010050500013M02606⟧"],
  ["iban", "⟦nl91abna0417164300⟧"],
  ["iban", "⟦CH93 0076 2011 6238 5295 7⟧"],
  ["iban", "⟦ES9121000418450200051332⟧, please"],
  ["iban", "⟦NO9386011117947⟧"],
  ["iban", "⟦MT84MALT011000012345MTLCAST001S⟧"],
  ["iban", "⟦PL61109010140000071219812874⟧"],
];

/** Hard ones: a person sees what they are, a pattern that does not see too much cannot. */
const hard: readonly (readonly [kind: string, text: string])[] = [
  ["phone", "Ruf an: ⟦030 901820⟧"],
  ["phone", "mobil ⟦0170 1234567⟧"],
  ["phone", "⟦01 70 18 99 00⟧ à Paris"],
  ["phone", "⟦0049 30 901820⟧"],
  ["phone", "⟦4155550132⟧ is my number"],
  ["email", "⟦ada at example dot com⟧"],
  ["email", '⟦"ada lovelace"@example.com⟧'],
  ["card", "⟦4111  1111  1111  1111⟧"],
  ["iban", "⟦DE89-3704-0044-0532-0130-00⟧"],
  ["secret", "the password is ⟦swordfish⟧"],
  ["secret", "password=⟦tiger⟧"],
  ["aws-access-key", `⟦${bodyOf(40, "mixed", 5)}⟧ belongs to the key above`],
  ["github-token", `⟦${base64(`ghp_${bodyOf(36, "mixed", 4)}`)}⟧`],
];

const markedPositives = [...marked, ...hard].flatMap(([kind, text]): Positive[] =>
  Array.from(text.matchAll(/⟦([^⟧]+)⟧/gu), ([, secret = ""]) => ({
    kind,
    text: text.replaceAll(/[⟦⟧]/gu, ""),
    secret,
  })),
);

/** Texts in which something must be found. */
export const positives: readonly Positive[] = [...tokenPositives, ...markedPositives];
