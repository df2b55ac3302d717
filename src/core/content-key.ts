/** What a text says, word by word: two texts with the same key have the same content words, numbers and negations, in the same order. */
export type ContentKey = string;

/**
 * The words of a text that carry its meaning, in their order. It leaves out only what never changes what is asked: articles, "please",
 * "tell me …", the case of letters, contractions, and how a number is written. Word order stays, because "A before B" is not "B before A";
 * so do all other words, because each may be what is different: `not`, `from`, `was`, a plural, a comma, `>`.
 *
 * So many ways to say the same have different keys, and few texts that mean different things have the same one.
 */
export function toContentKey(text: string): ContentKey {
  const words = toTokens(text);
  const isQuestion = words.at(-1) === "?";
  const said = stripFrames(isQuestion ? words.slice(0, -1) : words);
  const moved = moveTime(said);
  const asked = isQuestion && !isAsking(moved[0]) ? [...moved, "?"] : moved;
  return asked.filter((word, index) => !articles.has(word) || index === asked.length - 1).join(" ");
}

const articles = new Set(["a", "an", "the"]);
const askingWords = new Set(
  "what which who whom whose where when why how is are was were am do does did has have had can could will would shall should may might must".split(
    " ",
  ),
);

function isAsking(word: string | undefined): boolean {
  return word !== undefined && askingWords.has(word);
}

/** Words for small numbers. `one` and `second` are often no numbers, and are the same in both texts anyway. */
const numberWords = new Map(
  "zero one two three four five six seven eight nine ten eleven twelve"
    .split(" ")
    .map((word, number) => [word, String(number)]),
);

/** What is written together, and means several words. Tried from the end of a word. */
const contractions: readonly (readonly [ending: RegExp, words: string])[] = [
  [/^can['’]?t$/u, "can not"],
  [/^cannot$/u, "can not"],
  [/^won['’]t$/u, "will not"],
  [/^shan['’]t$/u, "shall not"],
  [/^i['’]m$/u, "i am"],
  [/^let['’]s$/u, "let us"],
  [/^(what|where|who|when|how|that|there|it|he|she)['’]s$/u, "$1 is"],
  [/^(\w+)n['’]t$/u, "$1 not"],
  [/^(\w+)['’]re$/u, "$1 are"],
  [/^(\w+)['’]ve$/u, "$1 have"],
  [/^(\w+)['’]ll$/u, "$1 will"],
];

/** A number, a word with its inner signs, or one sign. */
const token = /\d+(?:[.,:]\d+)*|[\p{L}\p{M}]+(?:['’_][\p{L}\p{M}]+)*|[^\s\p{L}\p{M}\d]/gu;

function toTokens(text: string): readonly string[] {
  const found = text.normalize("NFKC").match(token) ?? [];
  return trim(found.flatMap((word) => toWordsOf(word)));
}

function toWordsOf(word: string): readonly string[] {
  if (/^\d/u.test(word)) return [toNumber(word)];
  const lower = word.toLowerCase();
  // "US" and "us", "IT" and "it" are different words, and "plan A" is a name.
  if (word === word.toUpperCase() && word !== lower && word !== "I") return [`^${lower}`];
  const number = numberWords.get(lower);
  if (number !== undefined) return [number];
  const [ending, words] = contractions.find(([pattern]) => pattern.test(lower)) ?? [];
  return ending === undefined || words === undefined ? [lower] : lower.replace(ending, words).split(" ");
}

/** `1,000` is 1000, and `1.50` is not 1.5: it may be a version. */
function toNumber(text: string): string {
  return /^\d{1,3}(?:,\d{3})+$/u.test(text) ? text.replaceAll(",", "") : text;
}

/** Signs at the end of a sentence say nothing, apart from the question mark. */
function trim(words: readonly string[]): readonly string[] {
  const last = words.findLastIndex((word) => ![".", "!", ",", ";", ":"].includes(word));
  const kept = words.slice(0, last + 1);
  return kept.filter((word, index) => word !== "?" || index === kept.length - 1);
}

/** Ways to begin and to end a request that do not change it. */
const openings: readonly (readonly string[])[] = [
  ["please"],
  ["hi"],
  ["hello"],
  ["hey"],
  ["thanks"],
  ["could", "you", "please"],
  ["can", "you", "please"],
  ["would", "you", "please"],
];
const endings: readonly (readonly string[])[] = [["please"], ["thanks"], ["thank", "you"]];
/** Behind these comes a question in the order of a statement: "tell me what the capital of France is". */
const embeddings: readonly (readonly string[])[] = [
  ["tell", "me"],
  ["do", "you", "know"],
  ["i", "want", "to", "know"],
  ["i", "would", "like", "to", "know"],
  ["i", "wonder"],
  ["let", "me", "know"],
];

function stripFrames(words: readonly string[]): readonly string[] {
  const opening = openings.find((frame) => startsWith(words, frame) && words.length > frame.length);
  if (opening !== undefined) return stripFrames(dropComma(words.slice(opening.length)));
  const ending = endings.find((frame) => startsWith(words.slice(-frame.length), frame) && words.length > frame.length);
  if (ending !== undefined) return stripFrames(trim(words.slice(0, -ending.length)));
  const embedding = embeddings.find((frame) => startsWith(words, frame) && isAsking(words[frame.length]));
  return embedding === undefined ? words : toDirect(words.slice(embedding.length));
}

function startsWith(words: readonly string[], frame: readonly string[]): boolean {
  return frame.every((word, index) => words[index] === word);
}

function dropComma(words: readonly string[]): readonly string[] {
  return words[0] === "," || words[0] === "!" || words[0] === "." ? words.slice(1) : words;
}

const verbs = new Set<string | undefined>(["is", "are", "was", "were"]);

/** "what the capital is" is asked as "what is the capital". */
function toDirect(words: readonly string[]): readonly string[] {
  const [first, second, ...rest] = words;
  if (rest.length === 0 || verbs.has(second) || !verbs.has(rest.at(-1))) return words;
  return [first, rest.at(-1), second, ...rest.slice(0, -1)].filter((word) => word !== undefined);
}

const times = new Set(["today", "tomorrow", "yesterday", "tonight", "now"]);

/** When something is asked for may come first or last: "Tomorrow, …" and "… tomorrow". */
function moveTime(words: readonly string[]): readonly string[] {
  const [first = "", comma] = words;
  if (words.filter((word) => times.has(word)).length !== 1 || !times.has(first) || comma !== ",") return words;
  return [...words.slice(2), first];
}
