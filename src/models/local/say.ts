import { shortenText } from "../../core/cut-text.ts";
import type { ModelTool } from "../model.ts";
import { skillOf, type Fit } from "./fit.ts";
import type { Parameter } from "./parameters.ts";
import { isMeta, type Scene } from "./scene.ts";

const who =
  "This is the offline model: I match your words with the names and descriptions of tools and skills. I know nothing by myself, and ask rather than guess.";
const abilities = "This is what I can do:";

/** How many characters of a request are quoted. */
const longestQuote = 80;
/** The maximum number of skills, and of tools, in a list. */
const mostListed = 20;

const greeting = /^(?:hi|hello|hey|good (?:morning|afternoon|evening|day))(?:[ ,]+(?:there|kitbag|you|all|again))?$/u;
const thanks =
  /^(?:thanks|thank you|cheers|great|perfect|ok|okay|bye|goodbye)(?:[ ,]+(?:a lot|very much|so much|thanks))?$/u;
const refusal = /^(?:never ?mind|forget it|leave it|cancel|no|no thanks|no,? thank you)$/u;
const question =
  /^(?:help(?: me)?|what (?:can|could|do) you (?:do|offer)(?: here| for me)?|what (?:skills|tools)(?: and (?:skills|tools))? (?:do you have|are there|are available)|(?:list|show)(?: me)? (?:all |your |the |available )*(?:skills|tools|abilities)|how does this work|(?:who|what) are you)$/u;

/** Answers greetings, thanks and "what can you do"; `undefined` for anything else. */
export function smallTalk(scene: Scene): string | undefined {
  const { text, hasFiles } = scene.exchange;
  const said = text
    .slice(0, 200)
    .trim()
    .toLowerCase()
    .replaceAll(/[.!?]+$/gu, "");
  if (said === "" && hasFiles)
    return "I am the offline model and cannot see images or read files that are attached. Tell me in words what to do.";
  if (said === "") return `Tell me what to do. ${listAbilities(scene)}`;
  if (greeting.test(said)) return `Hello! ${listAbilities(scene)}`;
  if (thanks.test(said)) return "You are welcome.";
  if (refusal.test(said)) return "All right, I leave it.";
  return question.test(said) ? `${who} ${listAbilities(scene)}` : undefined;
}

function listAbilities({ skills, tools, dispatch }: Scene): string {
  const listed = new Set(skills.map(({ name }) => name));
  const own = tools.filter((tool) => !isMeta(tool) && !listed.has(skillOf(tool.name) ?? ""));
  const lines = [
    ...skills.slice(0, mostListed).map(({ name, description }) => `- ${name}: ${firstSentence(description)}`),
    ...own.slice(0, mostListed).map(({ name, description }) => `- \`${name}\`: ${firstSentence(description ?? "")}`),
  ];
  const rest = Math.max(0, skills.length - mostListed) + Math.max(0, own.length - mostListed);
  if (lines.length > 0) return `${abilities}\n${lines.join("\n")}${rest > 0 ? `\n… and ${rest} more` : ""}`;
  if (dispatch !== undefined) return "The tools here are found by searching: say what you want done.";
  return tools.some(isMeta)
    ? "The tools here must be searched for before they are seen, which I cannot do. With `--exposure direct` (`exposure` of an agent) I am shown them."
    : "There are no tools and no skills here, so there is nothing I can do yet.";
}

function firstSentence(text: string): string {
  const end = text.search(/[.!?](?:\s|$)/u);
  return shortenText(end === -1 ? text : text.slice(0, end), 160);
}

/** Says that nothing fits, and what there is. */
export function sayNothingFits(scene: Scene, request: string): string {
  const image = scene.exchange.hasFiles ? " I cannot see what is attached." : "";
  const isKnown = scene.conversation.exchanges.slice(0, -1).some(({ answer }) => answer.includes(abilities));
  const rest = isKnown ? 'Say it in other words, or "help" to see what I can do.' : `${who} ${listAbilities(scene)}`;
  return `I found no tool and no skill for "${shortenText(request, longestQuote)}".${image} ${rest}`;
}

/** Says that a skill was opened, and that none of its tools fits. */
export function sayOpened(skill: string, request: string): string {
  return `I opened the skill "${skill}", but do not know how to do "${shortenText(request, longestQuote)}" with it. Name one of its tools and what it takes, or use a model that follows instructions.`;
}

/** Asks for what is missing. The first line is how the answer is understood later, see {@link readQuestion}. */
export function askFor({ name }: ModelTool, missing: readonly Parameter[]): string {
  const lines = missing.map((parameter) => `- \`${parameter.name}\`${describe(parameter)}`);
  return `To use \`${name}\` I need:\n${lines.join("\n")}\nWhat should it be?`;
}

const kinds: Readonly<Record<string, string>> = {
  array: " (a list)",
  object: " (an object)",
  integer: " (a whole number)",
  number: " (a number)",
  boolean: " (yes or no)",
};

function describe({ description, choices, type }: Parameter): string {
  const about = description === "" ? "" : `: ${firstSentence(description)}`;
  const listed = choices.length > 0 ? `; one of ${choices.slice(0, 12).map(String).join(", ")}` : "";
  return `${choices.length > 0 ? "" : (kinds[type] ?? "")}${about}${listed}`;
}

/** Names the nearest tools, and what was not understood. The tool that a "yes" is for comes first, see {@link readOffer}. */
export function offer([best, ...others]: readonly Fit[]): string {
  const named = ({ tool }: Fit): string => `\`${tool.name}\` (${firstSentence(tool.description ?? "no description")})`;
  if (best === undefined) return "I am not sure what to use for this.";
  const words = best.unknown.slice(0, 5).map(({ text }) => `"${shortenText(text, longestQuote)}"`);
  const lost = words.length === 0 ? "I am not sure what to use for this." : `I do not understand ${words.join(", ")}.`;
  const also = others.length === 0 ? "" : ` There is also ${others.map(named).join("; ")}.`;
  return `${lost} The nearest is ${named(best)}. Say "yes" to use it.${also}`;
}

/** The tool that the last answer asked something for. */
export function readQuestion(answer: string): string | undefined {
  return /To use `([^`]+)` I need:\n/u.exec(answer)?.[1];
}

/** The tool that the last answer offered. */
export function readOffer(answer: string): string | undefined {
  return /The nearest is `([^`]+)`/u.exec(answer)?.[1];
}
