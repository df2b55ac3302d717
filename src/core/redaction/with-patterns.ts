import { createRedactor, type RedactedStream, type Redactor } from "../redactor.ts";
import { patternRedactor } from "./pattern-redactor.ts";
import type { RedactionKind } from "./rules.ts";

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
