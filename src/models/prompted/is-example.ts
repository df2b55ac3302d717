/** How far back is looked for what announces a call. */
const farthest = 240;

const cue = new RegExp(
  [
    String.raw`\bfor (?:example|instance)\b`,
    String.raw`\be\.g\.`,
    String.raw`\b(?:an?|another|one|this|following|simple|as an|some) examples?\b`,
    String.raw`\bexamples? (?:calls?|usages?|of|inputs?|requests?)\b`,
    String.raw`\bexamples?\s*:?\**\s*$`,
    String.raw`\b(?:you|one|users?|people|they|someone) (?:can|could|would|might|may|should|must) (?:also |then |just )?(?:call|use|invoke|write|run|say|type|try|send|do)\b`,
    String.raw`\b(?:would|could|might) (?:look|be|have been|write|call|read)\b`,
    String.raw`\b(?:do not|don't|don’t|never|won't|cannot|can't|must not|should not|shouldn't|not going to|instead of|rather than|without) (?:use|call|run|invoke|write|calling|using|running|writing|send|sending|do|doing)\b`,
    String.raw`\b(?:here (?:is|are)|here's|this is|below is|these are) (?:the |its |all )?(?:whole |full |entire )?(?:contents?|text|output|body|lines?|entry|entries)\b`,
    String.raw`\b(?:file|log|document|page|entry|line|row|record|message|note|mail|output|\S+\.[a-z]\w{0,4})\b[^.!?\n]{0,60}\b(?:contains|says|reads|shows|is)\s*:?\s*$`,
    String.raw`\b(?:documentation says|docs say|the (?:system )?prompt says|it said|he said|she said|user said|user wrote|you wrote|you said)\b`,
  ].join("|"),
  "iu",
);

/**
 * Tells whether what begins at `at` is only shown: the sentence that leads to it, back to `from`, says so. The rule is in the
 * guide; whoever changes it changes the guide.
 */
export function isExample(text: string, at: number, from: number): boolean {
  const before = text.slice(Math.max(from, at - farthest), at).trimEnd();
  // The sentence that leads to it: behind the last full stop that ends one, or an empty line.
  const sentence = before.slice(lastSentence(before));
  return cue.test(sentence);
}

function lastSentence(text: string): number {
  let start = 0;
  for (const match of text.matchAll(/(?:[.!?](?<!\be\.g\.)\s+(?=\S)|\n\s*\n)/gu)) start = match.index + match[0].length;
  return start;
}

const quotes: Readonly<Record<string, string>> = { '"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "`": "`" };

/** Tells whether what is between the two places stands in quotes. */
export function isQuoted(text: string, start: number, end: number): boolean {
  const opening = text.charAt(start - 1);
  return start > 0 && Object.hasOwn(quotes, opening) && text.charAt(end) === quotes[opening];
}
