import type { ModelTool } from "../../model.ts";
import type { Parameter } from "../fill/parameter.ts";
import { splitName } from "../match/create-matcher.ts";
import type { Request } from "../text/read-request.ts";
import { isValueToken } from "../text/token.ts";
import { isMeta, type Scene } from "../plan/decision.ts";
import type { Resolution } from "../plan/resolve-step.ts";

const who =
  "I am the offline model: I match what you write with tools and skills and fill in their inputs. I do not know things by myself.";

const abilities = "This is what I can do:";

/** How many things are listed before it gets boring. */
const mostListed = 20;

/** Answers greetings, thanks and "what can you do"; `undefined` for anything else. */
export function smallTalk(scene: Scene): string | undefined {
  const text = scene.exchange.text
    .slice(0, 200)
    .trim()
    .toLowerCase()
    .replaceAll(/[.!?]+$/gu, "");
  if (text === "" && scene.exchange.files.length > 0)
    return "I am the offline model and cannot see images or read files that are attached. Tell me in words what to do.";
  if (text === "") return `Tell me what to do. ${listAbilities(scene)}`;
  if (
    /^(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|hiya|howdy)(?:[ ,]+(?:there|kitbag|you|all|again))?$/u.test(
      text,
    )
  ) {
    return `Hello! ${listAbilities(scene)}`;
  }
  if (
    /^(?:thanks|thank you|cheers|great|perfect|nice|cool|ok|okay|bye|goodbye)(?:[ ,]+(?:a lot|very much|so much|thanks|thank you|then|kitbag))?$/u.test(
      text,
    )
  )
    return "You are welcome.";
  const isHelp =
    /^(?:help(?: me)?|\?|what (?:can|could|do) (?:you|i) (?:do|help with|offer|ask)(?: for me| here)?|what (?:skills|tools|commands)(?: and (?:skills|tools))? (?:do you have|are there|are available|can you use|do you know)|(?:list|show)(?: me)? (?:all |your |the |available )*(?:skills|tools|abilities|commands)|how (?:do you|does this) work|what is this|(?:who|what) are you|how can you help(?: me)?|what are your (?:skills|tools|abilities))$/u.test(
      text,
    );
  return isHelp ? `${who} ${listAbilities(scene)}` : undefined;
}

function listAbilities({ skills, tools, dispatch }: Scene): string {
  // What an open skill can do is said where the skill is.
  const listed = new Set(skills.map(({ name }) => name));
  const lines = [
    ...skills.slice(0, mostListed).map(({ name, description }) => `- ${name}: ${firstSentence(description)}`),
    ...tools
      .filter(({ name }) => !isMeta(name) && !listed.has(splitName(name)[0]))
      .slice(0, mostListed)
      .map(({ name, description }) => `- \`${name}\`: ${firstSentence(description ?? "")}`),
  ];
  const rest = Math.max(0, skills.length - mostListed) + Math.max(0, tools.length - mostListed);
  if (lines.length === 0 && dispatch !== undefined)
    return "The tools here are found by searching: say what you want done.";
  if (lines.length === 0 && tools.some(({ name }) => isMeta(name))) {
    return "The tools here must be searched for before they are seen, which I cannot do. With `--exposure direct` (`exposure` of an agent) I am shown them.";
  }
  if (lines.length === 0) return "There are no tools and no skills here, so there is nothing I can do yet.";
  return `${abilities}\n${lines.join("\n")}${rest > 0 ? `\n… and ${rest} more` : ""}`;
}

function firstSentence(text: string): string {
  const end = text.search(/[.!?](?:\s|$)/u);
  const sentence = end === -1 ? text : text.slice(0, end);
  return sentence.length > 160 ? `${sentence.slice(0, 159)}…` : sentence;
}

/** Says that nothing fits, and what there is. */
export function sayNothingFits(scene: Scene, request: string): string {
  if (/^\s*(?:thanks|thank you|cheers|great|perfect|nice|cool|well done)\b/iu.test(request)) return "You are welcome.";
  if (/^\s*(?:hi|hello|hey|good (?:morning|afternoon|evening|day))\b/iu.test(request))
    return `Hello! ${listAbilities(scene)}`;
  const image = scene.exchange.files.length > 0 ? " I cannot see what is attached." : "";
  const isKnown = scene.conversation.exchanges.slice(0, -1).some(({ answer }) => answer.includes(abilities));
  const rest = isKnown ? 'Say it in other words, or "help" to see what I can do.' : `${who} ${listAbilities(scene)}`;
  return `I found no tool and no skill for "${cut(request)}".${image} ${rest}`;
}

/** Says which values of the request went nowhere. */
export function sayLost(values: readonly string[]): string {
  return `I had no use for ${values.map((value) => `"${cut(value)}"`).join(", ")}.`;
}

/** Says that a step could not be done with what the steps before it gave. */
export function sayUndone(request: string): string {
  return `That is not all of "${cut(request)}": I do not know what to do the rest with. Say it again, with the file or the text.`;
}

/** Says that a tool would do something else than it was asked to. */
export function sayTooMuch({ name }: ModelTool, said: string): string {
  return `I did nothing: \`${name}\` changes things, and I do not know how to heed "${cut(said)}". Say it with one of its parameters, or leave it out.`;
}

/** Says that the tool of the last call has no place for what was added. */
export function sayPlaceless({ name }: ModelTool, { tokens }: Request): string {
  const values = tokens.filter(isValueToken).map(({ text }) => `"${cut(text)}"`);
  return `\`${name}\` has no parameter that takes ${values.join(", ")}.`;
}

/** Says that nothing was done, because that was asked for. */
export function sayDeclined(request: string): string {
  return `All right, I leave it: "${cut(request)}".`;
}

function cut(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** Asks for what is missing. The form of the first line is how the answer is understood later. */
export function askFor(tool: ModelTool, missing: readonly Parameter[]): string {
  const lines = missing.map((parameter) => `- \`${parameter.name}\`${describe(parameter)}`);
  return `To use \`${tool.name}\` I need:\n${lines.join("\n")}\nWhat should it be?`;
}

function describe({ description, choices, samples, type }: Parameter): string {
  const kind =
    type === "string" || type === "any"
      ? ""
      : ` (${type === "array" ? "a list" : type === "object" ? "an object" : `a ${type}`.replace("a integer", "a whole number")})`;
  const about = description === "" ? "" : `: ${firstSentence(description)}`;
  if (choices.length > 0) return `${kind}${about}; one of ${choices.slice(0, 12).map(String).join(", ")}`;
  return samples[0] === undefined ? `${kind}${about}` : `${kind}${about}; for example \`${samples[0]}\``;
}

/** Offers the nearest things instead of guessing. */
export function offer({ fits }: Extract<Resolution, { type: "offer" }>): string {
  const [best, ...others] = fits;
  const named = (tool: ModelTool): string =>
    `\`${tool.name}\` (${firstSentence(tool.description ?? "no description")})`;
  const nearest = best === undefined ? [] : [`The nearest is ${named(best.tool)}. Say "yes" to use it.`];
  const rest = others.map(({ tool }) => named(tool));
  const also = rest.length === 0 ? [] : [`There is also ${rest.join("; ")}.`];
  return ["I am not sure what to use for this.", ...nearest, ...also].join(" ");
}
