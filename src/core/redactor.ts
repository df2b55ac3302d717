/** Takes secrets out of whatever is shown. */
export interface Redactor {
  text(text: string): string;
  /** A copy of a JSON value without the secrets; the value itself if there are none in it. */
  value<Value>(value: Value): Value;
  /** A redactor that knows these secrets too. */
  with(secrets: Readonly<Record<string, string>>): Redactor;
  /** Starts a text that comes in pieces: a secret may be cut between two of them. */
  stream(): RedactedStream;
}

/** A text that comes in pieces, without the secrets. */
export interface RedactedStream {
  /** Takes the next piece and answers with what can be shown: the end is held back while it may begin a secret. */
  push(piece: string): string;
  /** What was held back. */
  flush(): string;
}

/** A shorter secret would be found everywhere. */
const shortestSecret = 4;

/**
 * Makes a redactor for secrets by name; `undefined` if there is nothing to take out. Each secret is also found as base64, in a
 * URL, in hexadecimal and inside JSON text, and is replaced by its name: `[GITHUB_TOKEN]`.
 */
export function createRedactor(secrets: Readonly<Record<string, string>>): Redactor | undefined {
  const replacements = Object.entries(secrets)
    .filter(([, secret]) => secret.length >= shortestSecret)
    .flatMap(([name, secret]) => forms(secret).map((form) => [form, `[${name}]`] as const))
    // A secret that contains another must go first.
    .toSorted(([left], [right]) => right.length - left.length);
  if (replacements.length === 0) return undefined;

  const text = (value: string): string => {
    let clean = value;
    for (const [form, name] of replacements) if (clean.includes(form)) clean = clean.replaceAll(form, name);
    return clean;
  };
  return {
    text,
    value: (value) => redactValue(value, text) as typeof value,
    with: (more) => createRedactor({ ...secrets, ...more }) as Redactor,
    stream: () =>
      createStream(
        replacements.map(([form]) => form),
        text,
      ),
  };
}

function createStream(secretForms: readonly string[], text: (value: string) => string): RedactedStream {
  let held = "";
  return {
    push(piece) {
      const clean = text(held + piece);
      const shown = clean.length - beginningOfSecret(clean, secretForms);
      held = clean.slice(shown);
      return clean.slice(0, shown);
    },
    flush() {
      const rest = held;
      held = "";
      return rest;
    },
  };
}

/** How many characters at the end of `text` are the beginning of a secret. */
function beginningOfSecret(text: string, secretForms: readonly string[]): number {
  let most = 0;
  for (const form of secretForms) {
    for (let length = Math.min(form.length - 1, text.length); length > most; length--) {
      if (text.endsWith(form.slice(0, length))) most = length;
    }
  }
  return most;
}

function forms(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const bytes = Buffer.from(secret, "utf8");
  const base64 = bytes.toString("base64").replace(/=+$/u, "");
  return [
    ...new Set([secret, inJson, encodeForUrl(secret), base64, bytes.toString("base64url"), bytes.toString("hex")]),
  ].filter((form) => form.length >= shortestSecret);
}

function encodeForUrl(secret: string): string {
  try {
    return encodeURIComponent(secret);
  } catch {
    // An unpaired surrogate cannot be in a URL.
    return secret;
  }
}

function redactValue(value: unknown, text: (value: string) => string): unknown {
  if (typeof value === "string") return text(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => redactValue(item, text));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let changed = false;
  const entries = Object.entries(value).map(([key, item]) => {
    const cleanKey = text(key);
    const cleanItem = redactValue(item, text);
    changed ||= cleanKey !== key || cleanItem !== item;
    return [cleanKey, cleanItem];
  });
  return changed ? Object.fromEntries(entries) : value;
}
