import { findClearFacts } from "../../core/clear-facts.ts";
import type { JsonObject } from "../../core/json.ts";
import { toWords } from "../../core/text-search.ts";
import type { ModelTool } from "../model.ts";
import type { Scene } from "./scene.ts";

/** The skill with which facts are remembered, and its tool for that. */
export const memorySkill = "memory";
const rememberTool = "memory__remember";

/** A fact of the memory, as the conversation has it. */
interface RememberedFact {
  readonly key: string;
  readonly value: string;
  readonly source: string;
  /** Whether the user said it. */
  readonly isSaid: boolean;
}

/** A line that an agent adds to the conversation for each fact; see `docs/guide/memory.md`. */
const factLine = /^- (?<key>[^"\n]+): (?<value>"(?:[^"\\\n]|\\.)*") \((?<source>f\d+, [^\n]*)\)$/gmu;

/**
 * Answers a question of the user about themselves with what is remembered, and where that is from; `undefined` if nothing is, or it is
 * no such question.
 */
export function answerFromMemory({ conversation, exchange }: Scene, text: string): string | undefined {
  const facts = readFacts(conversation.remembered);
  if (facts.length === 0) return undefined;
  const said = text.trim();
  if (/^(?:and |but )?(?:where|how|who)\b.*\b(?:have|know|get|got|hear|heard|told|remember)\b/iu.test(said)) {
    const before = conversation.exchanges.slice(0, -1).map(({ answer }) => answer);
    const meant = facts.filter(({ source }) => before.some((answer) => answer.includes(`(${source})`)));
    if (meant.length > 0 && !exchange.hasFiles) return meant.map(tellSource).join("\n");
  }
  const isQuestion = /^(?:what|which|who|where|when|how|do|does|is|are|am|tell me)\b/iu.test(said);
  if (!isQuestion || !/\b(?:my|mine|i|me)\b/iu.test(said)) return undefined;
  const words = new Set(toWords(said));
  const known = facts.filter(({ key }) => toWords(key).every((word) => words.has(word)));
  return known.length === 0 ? undefined : known.map(tell).join("\n");
}

function readFacts(remembered: string): readonly RememberedFact[] {
  const foreign = remembered.split(/<untrusted-\w+ from="memory">/u).slice(1);
  const quoted = foreign.map((part) => part.split("</untrusted-")[0] ?? "").join("\n");
  return [...remembered.matchAll(factLine)].flatMap(({ groups = {} }) => {
    const { key = "", value = '""', source = "" } = groups;
    return [{ key, value: JSON.parse(value) as string, source, isSaid: !quoted.includes(`(${source})`) }];
  });
}

function tell(fact: RememberedFact): string {
  const { key, value, isSaid } = fact;
  return `${isSaid ? `Your ${key}: ${value}.` : `It is not confirmed, but ${key}: ${value}.`} ${tellSource(fact)}`;
}

function tellSource({ source, isSaid }: RememberedFact): string {
  return isSaid ? `You told me (${source}).` : `You did not say that to me (${source}).`;
}

/** The input for the tool that remembers, if the user asks in so many words to remember a fact, and the tool is there. */
export function planRemember(
  { tools }: Scene,
  text: string,
): { readonly tool?: ModelTool; readonly input: JsonObject } | undefined {
  const isAsked = /^(?:please[ ,]+|and[ ,]+|also[ ,]+)*(?:remember|note|keep in mind)\b/iu.test(text.trim());
  const [fact] = isAsked ? findClearFacts(text) : [];
  if (fact === undefined) return undefined;
  const tool = tools.find(({ name }) => name === rememberTool);
  return { input: { ...fact }, ...(tool !== undefined && { tool }) };
}
