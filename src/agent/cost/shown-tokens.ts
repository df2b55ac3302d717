import type { JsonObject } from "../../core/json.ts";
import type { ModelMessage } from "../../models/model.ts";
import { type ContentCount, countPart, countTool } from "../../models/tokens/count-content.ts";
import { type CountingModel, estimateMessageTokens, toTokens } from "../../models/tokens/estimate-tokens.ts";
import { familyOf, type TokenFamily } from "../../models/providers.ts";
import { readNativeChange, readSpokenChange } from "../../models/tool-changes.ts";
import { readActivation } from "../exposure/tell-activation.ts";
import { markOf } from "../memory/kitbag-mark.ts";
import { parseInput } from "../run/parse-input.ts";
import type { CostKind } from "./usage-counter.ts";

/** About how many of the tokens that a model is shown are attributed to one cost target. */
export interface ShownTokens {
  readonly target: CostTarget;
  input: number;
  /** Parts of the input: definitions of tools, and results of calls. */
  schemas: number;
  results: number;
}

/** Attributes the tokens of a growing conversation to cost targets. */
export class ShownCounter {
  #messages: readonly ModelMessage[] = [];
  #family: TokenFamily = "usual";
  #count = 0;
  #byTarget = new Map<string, ShownTokens>();
  readonly #calls = new Map<string, CostTarget>();

  /** The tokens of the first `count` messages. The result is valid until the next call. */
  of(messages: readonly ModelMessage[], count: number, model: CountingModel): Iterable<ShownTokens> {
    const family = familyOf(model);
    if (messages !== this.#messages || family !== this.#family || count < this.#count) {
      this.#messages = messages;
      this.#family = family;
      this.#count = 0;
      this.#byTarget = new Map();
    }
    for (const message of messages.slice(this.#count, count)) this.#addMessage(message, model);
    this.#count = count;
    return this.#byTarget.values();
  }

  #addMessage(message: ModelMessage, model: CountingModel): void {
    if (typeof message.content !== "string" && message.role !== "user") {
      for (const part of message.content) this.#addPart(part);
      return;
    }
    const { definitions, rest } = definitionsIn(message);
    const tokens = estimateMessageTokens(message, model);
    this.#find(rest).input += Math.max(0, tokens - this.#addDefinitions(definitions));
  }

  /** Attributes the tokens of tool definitions and skill texts to their tools and skills, and answers with the sum. */
  #addDefinitions(definitions: readonly Definition[]): number {
    let sum = 0;
    for (const { target, kind, count } of definitions) {
      const tokens = toTokens(count, this.#family);
      const shown = this.#find(target);
      shown.input += tokens;
      shown[kind] += tokens;
      sum += tokens;
    }
    return sum;
  }

  #addPart(part: Exclude<ModelMessage["content"], string>[number]): void {
    const tokens = toTokens(countPart(part), this.#family);
    if (part.type === "tool-call") {
      const target = targetOfCall(part.toolName, part.input);
      this.#calls.set(part.toolCallId, target);
      this.#find(target).input += tokens;
    } else if (part.type === "tool-result") {
      const shown = this.#find(this.#calls.get(part.toolCallId) ?? targetOfCall(part.toolName, undefined));
      const results = Math.max(0, tokens - this.#addDefinitions(definitionsOf(part)));
      shown.input += results;
      shown.results += results;
    } else {
      this.#find(conversation).input += tokens;
    }
  }

  #find(target: CostTarget): ShownTokens {
    const key = keyOf(target);
    let shown = this.#byTarget.get(key);
    if (shown === undefined) this.#byTarget.set(key, (shown = { target, input: 0, schemas: 0, results: 0 }));
    return shown;
  }
}

/** A key for maps by target. */
export function keyOf({ kind, name }: CostTarget): string {
  return `${kind} ${name}`;
}

/** The tool, skill or other part of a run to which the cost of tokens is attributed. */
export interface CostTarget {
  readonly kind: CostKind;
  readonly name: string;
  readonly skill?: string;
}

/** For everything else: messages of users and text of the model. */
export const conversation: CostTarget = { kind: "conversation", name: "conversation" };

/** For the system text, and the tools that Kitbag adds. */
export const instructions: CostTarget = { kind: "instructions", name: "instructions" };

/** Tools of Kitbag that open, close or read a skill, each with the input field that names the skill. */
const aboutSkills: ReadonlyMap<string, string> = new Map([
  ["activate_skill", "name"],
  ["deactivate_skill", "name"],
  ["read_skill", "name"],
  ["read_skill_file", "skill"],
]);

/** The cost target of a call: the tool, also if it was called through `call_tool`, or the skill that it opens, closes or reads. */
export function targetOfCall(toolName: string, input: unknown): CostTarget {
  const facts = ((typeof input === "string" ? parseInput(input).input : input) ?? {}) as JsonObject;
  const key = aboutSkills.get(toolName);
  if (key !== undefined) {
    const name = facts[key];
    return typeof name === "string" ? { kind: "skill", name } : { kind: "tool", name: toolName };
  }
  const { name } = facts;
  return toTool(toolName === "call_tool" && typeof name === "string" ? name : toolName);
}

/** Other tools of Kitbag's own. */
const ownTools: ReadonlySet<string> = new Set(["call_tool", "describe_tool", "list_skills", "search_tools"]);

/** The cost target of a tool's definition: Kitbag's own tools count as part of the agent. */
export function targetOfTool(toolName: string): CostTarget {
  return aboutSkills.has(toolName) || ownTools.has(toolName) ? instructions : toTool(toolName);
}

/** A tool by its address: on the wire it is `owner__name`. */
function toTool(toolName: string): CostTarget {
  const [, owner, name] = /^([^/_](?:[^/_]|_(?!_))*)(?:__|\/)(.+)$/su.exec(toolName) ?? [];
  if (owner === undefined || name === undefined) return { kind: "tool", name: toolName };
  return { kind: "tool", name: `${owner}/${name}`, skill: owner };
}

/** A text in the conversation that defines a tool, or is the instructions of a skill, with its size. */
interface Definition {
  readonly target: CostTarget;
  /** `schemas` for the definition of a tool, `results` for the instructions of a skill. */
  readonly kind: "schemas" | "results";
  readonly count: ContentCount;
}

/** The definitions in a user or system message, and the cost target of the rest of the message. */
function definitionsIn(message: ModelMessage): {
  readonly definitions: readonly Definition[];
  readonly rest: CostTarget;
} {
  const change = readNativeChange(message);
  if (change !== undefined) {
    const definitions = change.added.map((tool) => toDefinition(tool.name, countTool(tool)));
    return { definitions, rest: instructions };
  }
  const { tools = false, summary = false } = markOf(message);
  if (tools) return { definitions: textsOf(message).flatMap(readSpokenChange).map(toDeclared), rest: instructions };
  // A summary message also contains the instructions of the skills that are open.
  return { definitions: summary ? textsOf(message).flatMap(skillTextsIn) : [], rest: conversation };
}

type ResultPart = Extract<Extract<ModelMessage, { role: "tool" }>["content"][number], { type: "tool-result" }>;

/** The tool definitions in the result of a call. */
function definitionsOf({ toolName, output }: ResultPart): readonly Definition[] {
  if (toolName === "activate_skill" && output.type === "text") return readActivation(output.value).map(toDeclared);
  if (output.type !== "json") return [];
  if (toolName === "describe_tool") return toDeclaredJson(output.value);
  const { tools } = (output.value ?? {}) as { readonly tools?: unknown };
  return toolName === "search_tools" && Array.isArray(tools) ? tools.flatMap(toDeclaredJson) : [];
}

/** The definition in a JSON value with the name and the input schema of a tool. */
function toDeclaredJson(value: unknown): readonly Definition[] {
  const { name, input } = (value ?? {}) as { readonly name?: unknown; readonly input?: unknown };
  return typeof name === "string" && input !== undefined ? [toDeclared({ name, text: JSON.stringify(value) })] : [];
}

/** The instructions of open skills, in a text that Kitbag wrote. */
export function skillTextsIn(text: string): readonly Definition[] {
  return [...text.matchAll(/<skill_content name="([^"\n]+)">\n.*?\n<\/skill_content>/gsu)].map(
    ([whole, name = ""]) => ({
      target: { kind: "skill", name },
      kind: "results",
      count: countPart({ text: whole }),
    }),
  );
}

function toDeclared({ name, text }: { readonly name: string; readonly text: string }): Definition {
  return toDefinition(name, countPart({ text }));
}

function toDefinition(name: string, count: ContentCount): Definition {
  return { target: targetOfTool(name), kind: "schemas", count };
}

function textsOf({ content }: ModelMessage): readonly string[] {
  if (typeof content === "string") return [content];
  return content.flatMap((part) => (part.type === "text" ? [part.text] : []));
}
