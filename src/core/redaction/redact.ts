import { createRedactor, type RedactedStream, type Redactor } from "../redactor.ts";
import { defaultKinds, patternRedactor } from "./pattern-redactor.ts";
import type { RedactionKind } from "./rules.ts";

/** What {@link redactText} and {@link redactValue} look for. */
export interface RedactOptions {
  /** @default credentials and personal */
  readonly kinds?: readonly RedactionKind[];
}

/**
 * Takes out of a text what looks like a secret (keys of known providers, private keys, JWT, passwords in URLs and behind their
 * names) or like personal data (e-mail addresses, telephone, card and account numbers), and shows its name instead.
 *
 * **Contract**: never throws; takes time in proportion to the text. What it leaves alone may still be a secret: a text that you
 * know belongs into the workspace's `secrets`.
 *
 * @example
 * ```ts
 * import { redactText } from "kitbag";
 *
 * const text = redactText("Write to ada@example.com, the password is in postgres://ada:hunter2@db.example/main");
 * console.assert(text === "Write to [email], the password is in postgres://[url-password]@db.example/main");
 * ```
 */
export function redactText(text: string, { kinds = defaultKinds }: RedactOptions = {}): string {
  return patternRedactor(kinds).text(text);
}

/**
 * Does the same for a JSON value, in texts, in keys and in numbers. Also hides a text whose key says that it is a secret:
 * `password`, `apiKey`. Answers with the value itself if there is nothing to hide.
 *
 * @example
 * ```ts
 * import { redactValue } from "kitbag";
 *
 * const value = redactValue({ user: "ada@example.com", password: "correct horse", card: 4111111111111111 });
 * console.assert(JSON.stringify(value) === '{"user":"[email]","password":"[secret]","card":"[card]"}');
 * ```
 */
export function redactValue<Value>(value: Value, { kinds = defaultKinds }: RedactOptions = {}): Value {
  return patternRedactor(kinds).value(value);
}

/** Makes a redactor that takes out what `secrets` knows, and then what looks like something of these kinds. */
export function withPatterns(secrets: Redactor | undefined, kinds: readonly RedactionKind[]): Redactor {
  const patterns = patternRedactor(kinds);
  if (secrets === undefined)
    return { ...patterns, message: patterns.text, with: (more) => withPatterns(createRedactor(more), kinds) };
  return {
    text: (text) => patterns.text(secrets.text(text)),
    value: (value) => patterns.value(secrets.value(value)),
    with: (more) => withPatterns(secrets.with(more), kinds),
    stream: () => joinStreams(secrets.stream(), patterns.stream()),
    message: (text) => patterns.text(secrets.message(text)),
  };
}

/** What comes out of the first goes into the second. */
function joinStreams(first: RedactedStream, second: RedactedStream): RedactedStream {
  return {
    push: (piece) => second.push(first.push(piece)),
    flush: () => second.push(first.flush()) + second.flush(),
  };
}
