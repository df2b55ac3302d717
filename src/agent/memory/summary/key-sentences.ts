/** Words that are everywhere. */
const common: ReadonlySet<string> = new Set(
  "about after again also because been before being between both could does doing done down each from have having here into itself just like made make more most much need only other over said same should some such than that their them then there these they this those through under until very want were what when where which while will with would your yours".split(
    " ",
  ),
);
const shortest = 20;
const longest = 300;

/** The sentences of a text, without line breaks. Linear in its length. */
export function toSentences(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    .map((sentence) => sentence.replace(/\s+/gu, " ").trim())
    .filter((sentence) => sentence !== "");
}

/** The sentences of texts that say the most, with the words that are said most often; the best first. */
export function findKeySentences(texts: readonly string[], most: number): readonly string[] {
  const sentences = [...new Set(texts.flatMap(toSentences))].filter(
    ({ length }) => length >= shortest && length <= longest,
  );
  const words = sentences.map(toWords);
  const counts = new Map<string, number>();
  for (const list of words) for (const word of new Set(list)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const scored = sentences.map((sentence, index) => ({ sentence, index, score: scoreOf(words[index] ?? [], counts) }));
  scored.sort((left, right) => right.score - left.score || left.index - right.index);
  return scored.slice(0, most).map(({ sentence }) => sentence);
}

function toWords(sentence: string): readonly string[] {
  return (sentence.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []).filter((word) => !common.has(word));
}

/** Long sentences are not better for being long. */
function scoreOf(words: readonly string[], counts: ReadonlyMap<string, number>): number {
  if (words.length === 0) return 0;
  const sum = words.reduce((total, word) => total + (counts.get(word) ?? 0), 0);
  return sum / Math.sqrt(words.length + 4);
}
