/** How far back is looked for what announces a call. */
const farthest = 240;

const verbs = "use|call|run|invoke|write|send|do|make|execute";
const verbsGoingOn = "using|calling|running|invoking|writing|sending|doing|making|executing";
/** A model that says what is impossible, and then what it does instead, does make that call. */
const unlessInstead = String.raw`(?![^]*\b(?:let me|I(?:['’]ll|['’]m| will| can| must| need| have to| call| use))\b)`;

const cue = new RegExp(
  [
    String.raw`\bfor (?:example|instance)\b`,
    String.raw`\be\.g\.`,
    String.raw`\b(?:an?|another|one|this|following|simple|as an|some) examples?\b`,
    String.raw`\bexamples? (?:calls?|usages?|of|inputs?|requests?)\b`,
    String.raw`\bexamples?\s*:?\**\s*$`,
    String.raw`\b(?:you|one|users?|people|they|someone) (?:can|could|would|might|may|should|must) (?:also |then |just )?(?:call|use|invoke|write|run|say|type|try|send|do)\b`,
    String.raw`\b(?:would|could|might) (?:look|be|have been|write|call|read)\b`,
    String.raw`\b(?:look|looks|looked) like this\b`,
    String.raw`\b(?:the (?:syntax|usage|signature|template|schema)|format) (?:is|of|for)\b`,
    String.raw`(?:\b(?:not|never|cannot|no need to|refuse to)|n['’]t) (?:\w+ ){0,2}?(?:${verbs}|${verbsGoingOn})\b${unlessInstead}`,
    String.raw`\b(?:instead of|rather than|without|avoid) (?:${verbs}|${verbsGoingOn})\b${unlessInstead}`,
    String.raw`\b(?:already|previously|earlier) (?:used|called|ran|run|invoked|wrote|sent|did|made|executed|tried)\b`,
    String.raw`\b(?:here (?:is|are)|here's|this is|below is|these are) (?:the |its |all )?(?:whole |full |entire )?(?:contents?|text|output|body|lines?|entry|entries)\b`,
    String.raw`\b(?:file|log|document|page|entry|line|row|record|message|note|mail|output|\S+\.[a-z]\w{0,4})\b[^.!?\n]{0,60}\b(?:contains|says|reads|shows|is)\s*:?\s*$`,
    String.raw`\b(?:documentation says|docs say|the (?:system )?prompt says|it said|he said|she said|user said|user wrote|you wrote|you said)\b`,
    String.raw`\b(?:docs?|documentation|readme|manual|reference|guide|spec|specification|tutorial|api|website)\b[^.!?\n]{0,40}\b(?:describes?|shows?|gives?|lists?|says?|documents?|defines?|explains?|suggests?|recommends?|tells?)\b${unlessInstead}`,
    String.raw`\b(?:quot(?:ed?|ing)|copied|taken|pasted|excerpt|snippet|sample) (?:it )?(?:straight |directly )?from\b`,
    String.raw`\b(?:here is|here['’]s|this is|that is|that['’]s) (?:how|what|the way) (?:the|its?|their|you|one|they|an?)\b${unlessInstead}`,
    // How others than the English say "for example".
    String.raw`\b(?:zum beispiel|z\.\s?b\.|beispielsweise|par exemple|por ejemplo|por exemplo|per esempio|ad esempio|bijvoorbeeld|na przykład)`,
    String.raw`\b(?:beispiel|exemple|ejemplo|exemplo|esempio|voorbeeld)\s*:?\**\s*$`,
    "örneğin|например|例如|比如|示例|例えば|たとえば|예를 들어|مثلا|على سبيل المثال|उदाहरण",
  ].join("|"),
  "iu",
);

/**
 * Tells whether the call at `at` is only an example: the sentence before it, back to `from`, says so. The guide documents the rule:
 * change both together.
 */
export function isExample(text: string, at: number, from: number): boolean {
  const before = text.slice(Math.max(from, at - farthest), at).trimEnd();
  // The sentence that leads to it: behind the last full stop that ends one, or an empty line.
  const sentence = before.slice(lastSentence(before));
  return cue.test(sentence);
}

const doing = String.raw`(?:run|call|execute|make|invoke|send|try|do|use)`;
const object = String.raw`(?:it|this|that|them|these|those|one|the (?:call|calls|request|tool|function|command))\b`;
const cueBehind = new RegExp(
  [
    String.raw`\b(?:let me know|tell me|say so|just say|ask me)\b[^.!?\n]{0,60}\b${doing} ${object}`,
    String.raw`\b(?:if|when|once|whether) you(?: would|['’]d)? (?:want|like|wish|prefer|say|agree|confirm)\b[^.!?\n]{0,40}\b${doing} ${object}`,
    String.raw`\b(?:shall|should|may|can) I\b[^.!?\n]{0,20}\b${doing} ${object}[^.!\n]{0,60}\?`,
    String.raw`\b(?:do you want|would you like) me to ${doing} ${object}`,
    String.raw`\bI (?:have not|haven['’]t|did not|didn['’]t|will not|won['’]t|am not going to)\b[^.!?\n]{0,20}\b(?:${doing}|ran|called|executed|made|invoked|sent|tried|used|done) ${object}`,
    String.raw`^\W{0,8}(?:this|that|it|the above|above)\b[^.!?\n]{0,20}\b(?:is|was) (?:only |just |merely )?(?:an? |the )?(?:example|illustration|sample|documentation)\b`,
  ].join("|"),
  "iu",
);

/** How far behind a call is looked for what says that it is only shown. */
export const farthestBehind = 240;

/** Tells whether the text behind a call, which ends at `end`, says that it was not made: the model asks whether to make it, say. */
export function isOnlyOffered(text: string, end: number): boolean {
  return cueBehind.test(text.slice(end, end + farthestBehind));
}

const intention = new RegExp(
  String.raw`\b(?:let me|I(?:['’]ll|['’]m going to| will| am going to| must| need to| have to))\s+(?:\w+\s+){0,2}?(?:use|call|run|invoke|do|make|execute|try|send)\b`,
  "iu",
);

/** Tells whether the sentence that leads to a call at `at`, back to `from`, says that the model makes it. */
export function announcesCall(text: string, at: number, from: number): boolean {
  const before = text.slice(Math.max(from, at - farthest), at).trimEnd();
  return intention.test(before.slice(lastSentence(before)));
}

/** Where a sentence ends. The full stop of `e.g.` and of `z. B.` ends none. */
const sentenceEnd = /(?:[.!?](?<!\b(?:e\.g|z|z\.\s?b)\.)\s+(?=\S)|[。！？]\s*(?=\S)|\n\s*\n)/giu;

function lastSentence(text: string): number {
  let start = 0;
  for (const match of text.matchAll(sentenceEnd)) start = match.index + match[0].length;
  return start;
}

const quotes: Readonly<Record<string, string>> = { '"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "`": "`" };

/** Tells whether what is between the two places stands in quotes. */
export function isQuoted(text: string, start: number, end: number): boolean {
  const opening = text.charAt(start - 1);
  return start > 0 && Object.hasOwn(quotes, opening) && text.charAt(end) === quotes[opening];
}
