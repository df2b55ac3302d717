import type { JsonObject, JsonValue } from "../../../core/json.ts";
import type { JsonSchema } from "../../../core/schema/json-schema.ts";
import type { ModelTool } from "../../model.ts";
import type { ListedSkill } from "./parse-catalog.ts";
import { parseDeclaration } from "./parse-declaration.ts";
import type { Conversation, DoneCall } from "./read-conversation.ts";

/** What a conversation has told about tools that are not in the list and are called with `call_tool`. */
export interface Dispatch {
  /** Those that were found, the last first. */
  readonly tools: readonly ModelTool[];
  readonly skills: readonly ListedSkill[];
  /** The skill that is to be opened before a tool can be called. */
  readonly closed: ReadonlyMap<string, string>;
  /** Tools of which only the name and what they do is known. */
  readonly undescribed: ReadonlySet<string>;
  /** What was searched for since the user spoke last. */
  readonly searched: ReadonlySet<string>;
}

interface FoundTool {
  readonly description: string;
  readonly schema?: JsonSchema;
  readonly skill?: string;
}

/** Tells whether tools are found by searching, and called by their names. */
export function isDispatched(tools: readonly ModelTool[]): boolean {
  return ["search_tools", "call_tool"].every((wanted) => tools.some(({ name }) => name === wanted));
}

/** The same conversation as if the tools that were called by their names had been called themselves. */
export function withoutDispatch(conversation: Conversation): Conversation {
  const exchanges = conversation.exchanges.map((exchange) => ({
    ...exchange,
    rounds: exchange.rounds.map((round) => round.map(toCalled)),
  }));
  return { ...conversation, exchanges };
}

function toCalled(call: DoneCall): DoneCall {
  const { name, input } = call.input;
  if (call.tool !== "call_tool" || typeof name !== "string") return call;
  return { ...call, tool: name, input: asObject(input) };
}

/** Reads what the answers of a conversation tell about tools and skills. */
export function readDispatch({ exchanges }: Conversation): Dispatch {
  const found = new Map<string, FoundTool>();
  const skills = new Map<string, ListedSkill>();
  const open = new Set<string>();
  const calls = exchanges.flatMap(({ rounds }) => rounds.flat());
  for (const { tool, input, result } of calls) {
    if (result?.status !== "ok") continue;
    if (tool === "search_tools" || tool === "describe_tool") addFound(found, skills, open, result.value);
    if (tool === "deactivate_skill") open.delete(textOf(input["name"]));
    if (tool !== "activate_skill") continue;
    open.add(textOf(input["name"]));
    for (const entry of declaredIn(result.value)) addTool(found, entry, textOf(input["name"]));
  }
  const described = new Set(calls.filter(({ tool }) => tool === "describe_tool").map(({ input }) => input["name"]));
  const entries = [...found].toReversed();
  const isClosed = (skill: string | undefined): skill is string => skill !== undefined && !open.has(skill);
  return {
    tools: entries.map(([name, tool]) => toTool(name, tool)),
    skills: [...skills.values()],
    closed: new Map(entries.flatMap(([name, { skill }]) => (isClosed(skill) ? [[name, skill] as const] : []))),
    undescribed: new Set(
      entries.flatMap(([name, { schema }]) => (schema === undefined && !described.has(name) ? [name] : [])),
    ),
    searched: new Set(queriesOf(exchanges.at(-1)?.rounds.flat() ?? [])),
  };
}

function queriesOf(calls: readonly DoneCall[]): string[] {
  return calls.filter(({ tool }) => tool === "search_tools").map(({ input }) => textOf(input["query"]));
}

function addFound(
  found: Map<string, FoundTool>,
  skills: Map<string, ListedSkill>,
  open: Set<string>,
  value: JsonValue,
): void {
  const answer = asObject(value);
  for (const entry of listOf(answer["tools"] ?? [value])) {
    const skill = typeof entry["skill"] === "string" ? entry["skill"] : undefined;
    if (skill !== undefined && entry["available"] === true) open.add(skill);
    addTool(found, entry, skill);
  }
  for (const { name, description } of listOf(answer["skills"] ?? [])) {
    if (typeof name === "string") skills.set(name, { name, description: textOf(description) });
  }
}

/** What was told last stands at the end. What is told without a schema says less than what was told before. */
function addTool(found: Map<string, FoundTool>, entry: JsonObject, skill: string | undefined): void {
  const { name } = entry;
  if (typeof name !== "string") return;
  const before = found.get(name);
  const schema = before?.schema ?? schemaOf(entry);
  found.delete(name);
  found.set(name, {
    description: textOf(entry["description"]) || (before?.description ?? ""),
    ...(schema !== undefined && { schema }),
    ...(skill !== undefined && { skill }),
  });
}

/** As text, or as a schema: servers differ in it. */
function schemaOf({ input, inputSchema }: JsonObject): JsonSchema | undefined {
  if (typeof input === "string") return parseDeclaration(input)?.schema;
  return isObject(inputSchema ?? input) ? asObject(inputSchema ?? input) : undefined;
}

function toTool(name: string, { schema = { type: "object" }, description }: FoundTool): ModelTool {
  return { type: "function", name, description, inputSchema: schema };
}

const toolsLine = "Tools, to be called with call_tool:\n";

/** The tools that the opening of a skill tells of: in a list, or behind its instructions as text. */
function declaredIn(value: JsonValue): JsonObject[] {
  if (typeof value !== "string") return listOf(asObject(value)["tools"] ?? []);
  const start = value.lastIndexOf(toolsLine);
  if (start === -1) return [];
  const tools: JsonObject[] = [];
  for (let at = start + toolsLine.length; tools.length < 200;) {
    const brace = value.indexOf("\n{", at);
    const declaration = brace === -1 ? undefined : parseDeclaration(value, brace);
    if (declaration === undefined) break;
    const [, name = "", description = ""] = /^([\w-]{1,64}): ([^]*)$/u.exec(value.slice(at, brace).trim()) ?? [];
    if (name !== "") tools.push({ name, description, inputSchema: declaration.schema as JsonObject });
    const output = value.startsWith(" => ", declaration.end) ? parseDeclaration(value, declaration.end + 4) : undefined;
    at = output?.end ?? nextLine(value, declaration.end);
  }
  return tools;
}

function nextLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}

function listOf(value: JsonValue): JsonObject[] {
  return Array.isArray(value)
    ? value.slice(0, 200).map((item) => (typeof item === "string" ? { name: item } : asObject(item)))
    : [];
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asObject(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
