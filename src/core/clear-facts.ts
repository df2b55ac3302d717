/** A fact that a person said in so many words. */
export interface ClearFact {
  /** Which property of the person: `favourite colour`. */
  readonly key: string;
  readonly value: string;
}

/** A longer message is most likely something else than what a person says of themselves. */
const longestMessage = 600;
/** A longer sentence says more than one thing. */
const longestSentence = 300;
const longestKeyWords = 6;

/** How sentences say a fact; `key` and `value` are groups. Tried in this order. */
const forms: readonly (readonly [pattern: RegExp, key: string | undefined])[] = [
  [/^(?:my name is|call me) (?<value>\S.{0,80})$/iu, "name"],
  [/^my (?<key>(?:[\p{L}\p{N}'’-]+ ){0,4}[\p{L}\p{N}'’-]+) (?:is|are) (?<value>\S.*)$/iu, undefined],
  [/^i (?:live in|have moved to|moved to) (?<value>\S.*)$/iu, "lives in"],
  [/^i work (?:at|for) (?<value>\S.*)$/iu, "works at"],
  [/^i work as (?:an? )?(?<value>\S.*)$/iu, "works as"],
  [/^i(?: would|['’]d)? prefer (?<value>\S.*)$/iu, "prefers"],
];

/**
 * Finds what a person clearly says about themselves: "remember that …", "my … is …", "call me …", "I prefer …". Questions, and what is
 * said in other words, give nothing: it is better to miss a fact than to make one up. Long texts and quotations give nothing either:
 * they are pages and files that a person passes on. English.
 */
export function findClearFacts(text: string): readonly ClearFact[] {
  if (text.length > longestMessage || /^\s*(?:>|```|~~~)|<\/?[a-z]/imu.test(text)) return [];
  return text.split(/(?<=[.!?;])\s+|\n+/u).flatMap((sentence) => toClearFact(sentence) ?? []);
}

const request =
  /^(?:please[ ,]+|and[ ,]+|also[ ,]+)*(?:remember|note|keep in mind)(?:[ ,]+please)?(?: that|:|,)?\s+(?<said>\S.*)$/iu;

function toClearFact(sentence: string): ClearFact | undefined {
  const whole = sentence.trim();
  if (whole.length > longestSentence || whole.endsWith("?")) return undefined;
  const said = request.exec(whole)?.groups?.["said"];
  const statement = (said ?? whole).replace(/[\s.!;]+$/u, "");
  const fact = readForm(statement);
  if (said === undefined) return fact === undefined || isUnsure(fact) ? undefined : fact;
  // "Remember to …" is a task, and not a fact.
  const isTask = /^(?:to|what|when|where|who|how|why|if|me|this|it)\b/iu.test(statement);
  return fact ?? (isTask ? undefined : { key: toKey(statement), value: statement });
}

function readForm(statement: string): ClearFact | undefined {
  for (const [pattern, name] of forms) {
    const { key = name, value } = pattern.exec(statement)?.groups ?? {};
    if (value === undefined || key === undefined) continue;
    return { key: key === "prefers" ? toPreference(value) : key, value };
  }
  return undefined;
}

/** What is not said of the person for good: "my question is …", "my laptop is not starting". */
function isUnsure({ key, value }: ClearFact): boolean {
  const passing =
    /\b(?:question|problem|issue|guess|point|plan|idea|task|goal|code|file|error|program|script|computer|laptop)s?$/iu;
  return passing.test(key) || /^(?:not|no|to|that|how|what|why|being|\p{L}+ing)\b/iu.test(value);
}

/** "short answers" is a preference about answers: a later one about answers takes its place. */
function toPreference(value: string): string {
  const [first = value] = value.split(/ (?:to|over|than|rather|instead|when|if|because)\b/u);
  return `preferred ${first.slice(first.lastIndexOf(" ") + 1).toLowerCase()}`;
}

function toKey(statement: string): string {
  return statement.split(/\s+/u).slice(0, longestKeyWords).join(" ").slice(0, 80);
}
