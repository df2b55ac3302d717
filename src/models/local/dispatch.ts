import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ModelTool } from "../model.ts";
import { asObject, type Conversation, type DoneCall, type ListedSkill } from "./conversation.ts";
import type { Request } from "./read-request.ts";

/** What a conversation has told about tools that are not in the list: they are found with `search_tools` and called with `call_tool`. */
export interface Dispatch {
  /** Those that were found, the last first. */
  readonly tools: readonly ModelTool[];
  readonly skills: readonly ListedSkill[];
  /** The skill that must be opened before a tool can be called. */
  readonly closed: ReadonlyMap<string, string>;
  /** What was searched for since the user spoke last. */
  readonly searched: ReadonlySet<string>;
}

/** A call that is to be made. */
export interface PlannedCall {
  readonly tool: string;
  readonly input: JsonObject;
}

/** Whether tools are found by searching, and called by their names. */
export function isDispatched(tools: readonly ModelTool[]): boolean {
  return ["search_tools", "call_tool"].every((wanted) => tools.some(({ name }) => name === wanted));
}

/** The same conversation as if the tools that were called by their names had been called themselves. */
export function withoutDispatch(conversation: Conversation): Conversation {
  const exchanges = conversation.exchanges.map((exchange) => ({ ...exchange, calls: exchange.calls.map(toCalled) }));
  return { ...conversation, exchanges };
}

function toCalled(call: DoneCall): DoneCall {
  const { name, input } = call.input;
  return call.tool === "call_tool" && typeof name === "string" ? { ...call, tool: name, input: asObject(input) } : call;
}

interface FoundTool extends ModelTool {
  readonly skill?: string;
}

/** Reads what the answers of a conversation tell about tools and skills. */
export function readDispatch({ exchanges }: Conversation): Dispatch {
  const found = new Map<string, FoundTool>();
  const skills = new Map<string, ListedSkill>();
  const open = new Set<string>();
  for (const { tool, input, result } of exchanges.flatMap(({ calls }) => calls)) {
    if (result?.status !== "ok") continue;
    const skill = textOf(input["name"]);
    if (tool === "deactivate_skill") open.delete(skill);
    if (tool === "activate_skill") open.add(skill);
    if (tool !== "search_tools") continue;
    for (const entry of listOf(asObject(result.value)["tools"])) {
      if (entry["available"] === true) open.add(textOf(entry["skill"]));
      addLast(found, toFound(entry));
    }
    for (const { name, description } of listOf(asObject(result.value)["skills"]))
      skills.set(textOf(name), { name: textOf(name), description: textOf(description) });
  }
  const tools = [...found.values()].toReversed();
  const isClosed = ({ skill }: FoundTool): boolean => skill !== undefined && !open.has(skill);
  const last = exchanges.at(-1)?.calls.filter(({ tool }) => tool === "search_tools") ?? [];
  return {
    tools,
    skills: [...skills.values()],
    closed: new Map(tools.filter(isClosed).map(({ name, skill = "" }) => [name, skill])),
    searched: new Set(last.map(({ input }) => textOf(input["query"]))),
  };
}

function addLast(found: Map<string, FoundTool>, tool: FoundTool): void {
  found.delete(tool.name);
  if (tool.name !== "") found.set(tool.name, tool);
}

function toFound({ name, description, inputSchema, skill }: JsonObject): FoundTool {
  return {
    type: "function",
    name: textOf(name),
    description: textOf(description),
    inputSchema: asObject(inputSchema),
    ...(typeof skill === "string" && { skill }),
  };
}

function listOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.slice(0, 200).map(asObject) : [];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The search for a step, and for the tools of a skill that was opened for it, if it was not made yet. */
export function findSearch(
  dispatch: Dispatch,
  search: ModelTool | undefined,
  step: Request,
  skill = "",
): PlannedCall | undefined {
  const words = step.tokens.flatMap(({ kind, text, isFiller }) => {
    if (kind === "file") return text.split(".").slice(-1);
    return /^(?:id|word)$/u.test(kind) && !isFiller ? [text.replaceAll(/(\p{L})(?=\d)/gu, "$1 ")] : [];
  });
  const query = (words.length === 0 ? [skill, step.text] : [skill, ...words]).join(" ").trim().slice(0, 200);
  if (dispatch.searched.has(query)) return undefined;
  const known = search?.inputSchema["properties"] ?? {};
  const input = { query, ...("limit" in known && { limit: 12 }), ...("detail" in known && { detail: "json" }) };
  return { tool: "search_tools", input };
}

/** A call of a tool that is not in the list, as it is made: by its name, after its skill was opened. */
export function toDispatched(dispatch: Dispatch | undefined, call: PlannedCall): PlannedCall {
  if (dispatch?.tools.some(({ name }) => name === call.tool) !== true) return call;
  const skill = dispatch.closed.get(call.tool);
  if (skill !== undefined) return { tool: "activate_skill", input: { name: skill } };
  return { tool: "call_tool", input: { name: call.tool, input: call.input } };
}
