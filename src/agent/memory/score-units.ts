import { partsOf, textOfMessage, textOfResult, toJsonText, type AnyPart } from "./message-text.ts";
import type { Unit } from "./to-units.ts";

/** Units with this score or more are important. */
export const important = 2;

/** Words with which people say what they want to be so from now on, or what is settled. */
const userWords =
  /\b(?:always|never|must|prefer\w*|remember|important|from now on|don['’]t|do not|decided?|decision|agreed?|let['’]s (?:use|go with)|require[sd]?|constraint|deadline|budget|rule|my name is|call me|immer|nie|niemals|muss|wichtig|merke?|siempre|nunca|debe|prefiero|recuerda|toujours|jamais|doit|importante?)\b/iu;
const assistantWords =
  /\b(?:decided|decision|(?:I|we)(?:['’]ll| will) (?:use|go with)|agreed|the plan is|chose|conclusion|root cause|it turns out)\b/iu;

/** So much of a text is looked at: its beginning and its end. */
const headLength = 8000;
const tailLength = 2000;
/** So many marks of one unit are remembered. */
const mostMarks = 400;

/** Tells whether somebody says what is to be so from now on, or what is settled. */
export function saysWhatStays(text: string, role: Unit["role"]): boolean {
  return (role === "user" ? userWords : assistantWords).test(look(text));
}

/**
 * Says how important each unit is, from 0: what people decide and want, and results that are referred to later. A result is referred
 * to where something distinctive that was said in it for the first time, such as an id, a path or a number, is said again.
 */
export function scoreUnits(units: readonly Unit[]): readonly number[] {
  const scores = units.map(scoreText);
  const known = new Set<string>();
  const saidIn = new Map<string, number>();
  for (const [index, unit] of units.entries()) {
    for (const mark of marksIn(spokenIn(unit))) {
      const source = saidIn.get(mark);
      if (source !== undefined && source !== index) scores[source] = (scores[source] ?? 0) + weightOf(mark);
      // Once is enough: what is on everybody's lips is not worth more for it.
      saidIn.delete(mark);
      known.add(mark);
    }
    for (const mark of marksIn(resultsIn(unit))) {
      if (known.has(mark)) continue;
      known.add(mark);
      saidIn.set(mark, index);
    }
  }
  return scores;
}

function scoreText({ role, messages: [message] }: Unit): number {
  const text = message === undefined ? "" : textOfMessage(message);
  if (text === "") return 0;
  const base = role === "user" ? 1 : 0;
  return saysWhatStays(text, role) ? base + important : base;
}

function look(text: string): string {
  return text.length <= headLength + tailLength ? text : `${text.slice(0, headLength)} ${text.slice(-tailLength)}`;
}

function spokenIn({ messages: [message] }: Unit): string {
  if (message === undefined) return "";
  const inputs = partsOf(message).flatMap((part) => (part.type === "tool-call" ? [toJsonText(part.input)] : []));
  return [textOfMessage(message), ...inputs].map(look).join("\n");
}

function resultsIn({ messages: [, results] }: Unit): string {
  const isResult = ({ type }: AnyPart): boolean => type === "tool-result";
  return results === undefined ? "" : partsOf(results).filter(isResult).map(textOfResult).map(look).join("\n");
}

/** Ids, paths, names and numbers, and long words. */
function marksIn(text: string): ReadonlySet<string> {
  const marks = new Set<string>();
  for (const [word] of text.matchAll(/[\p{L}\p{N}_][\p{L}\p{N}_./:@-]{2,80}/gu)) {
    const mark = word.replace(/[./:@-]+$/u, "");
    if (weightOf(mark) > 0) marks.add(mark);
    if (marks.size === mostMarks) break;
  }
  return marks;
}

/** One id, path or number makes a result important; of words it takes several. */
function weightOf(mark: string): number {
  if (mark.length < 4) return 0;
  if (/[\d_/@]|\p{L}\.\p{L}/u.test(mark)) return important;
  return mark.length > 7 || /^\p{Lu}\p{Ll}/u.test(mark) ? 0.5 : 0;
}
