import type { LanguageModelV4FilePart, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";

import type { ModelCall, ModelMessage } from "../model.ts";
import { providerRow } from "../providers.ts";
import { listToolChanges } from "../tool-changes.ts";
import { namespaceOf } from "../shims/to-v3-prompt.ts";

/** The model that is asked, to tell its own parts of a prompt from those of other models. */
export interface Reader {
  /** Identifies the model; the parts of its answers carry it. */
  readonly id: string;
  /** The names under which a prompt holds its provider's options and ids. */
  readonly namespaces: ReadonlySet<string>;
}

type Part = Exclude<ModelMessage["content"][number], string>;

/** The names under which the options of a provider stand. */
export function namespacesOf(provider: string): ReadonlySet<string> {
  const name = namespaceOf(provider);
  const camel = name.replaceAll(/[-_]([a-z])/gu, (_, letter: string) => letter.toUpperCase());
  const other = providerRow(name).sharesOptionsOf;
  return new Set([name, camel, ...(other === undefined ? [] : [other])]);
}

/**
 * A call without what only another provider understands: its reasoning with the signatures, its own kinds of parts, its tools and
 * what they did, changes of the list of tools, the ids that it gave to parts and files. The call itself if there is nothing of that kind.
 */
export function toOwnCall(given: ModelCall, reader: Reader): ModelCall {
  const rows = [...reader.namespaces].map((name) => ({ name, ...providerRow(name) }));
  const thinker = rows.find(({ thinksFirst }) => thinksFirst === true)?.name;
  const settled = thinker === undefined ? given : withoutLateThinking(given, reader, thinker);
  const readsChanges = rows.some(({ readsToolChanges }) => readsToolChanges === true);
  const call = readsChanges ? settled : listToolChanges(settled);
  const prompt = mapChanged(call.prompt, (message) => toOwnMessage(message, reader));
  const tools = call.tools && mapChanged(call.tools, (tool) => (isForeignTool(tool, reader) ? undefined : tool));
  if (prompt === call.prompt && tools === call.tools) return call;
  return { ...call, prompt, ...(tools !== undefined && { tools }) };
}

/**
 * A provider with reasoning continues an answer only if the answer began with its own reasoning. Where another model began to call
 * tools, reasoning is turned off until the next user message. `name` is the key of its options.
 */
function withoutLateThinking(call: ModelCall, reader: Reader, name: string): ModelCall {
  const { reasoning, ...rest } = call;
  const thinking = call.providerOptions?.[name]?.["thinking"];
  const isAsked = (reasoning !== undefined && reasoning !== "none") || thinking !== undefined;
  if (!isAsked || !isBegunByOther(call.prompt, reader)) return call;
  const { thinking: _, ...others } = call.providerOptions?.[name] ?? {};
  return { ...rest, ...(thinking !== undefined && { providerOptions: { ...call.providerOptions, [name]: others } }) };
}

/** Tells whether results come last, and another model began what they are of. */
function isBegunByOther(prompt: readonly ModelMessage[], reader: Reader): boolean {
  if (prompt.at(-1)?.role !== "tool") return false;
  const said = prompt.findLastIndex(({ role }) => role === "user");
  const first = prompt.slice(said + 1).find(({ role }) => role === "assistant");
  return first?.role === "assistant" && first.content.some((part) => isMarkedForeign(part, reader));
}

function isForeignTool(tool: NonNullable<ModelCall["tools"]>[number], { namespaces }: Reader): boolean {
  return tool.type === "provider" && !namespaces.has(namespaceOf(tool.id));
}

function toOwnMessage(message: ModelMessage, reader: Reader): ModelMessage | undefined {
  if (message.role === "system") return message;
  // Most messages have nothing of the kind. They are checked with every model request, so no copy is made of them.
  if (!mayChange(message.content)) return message;
  // The call of a tool and what it gave go together.
  const dropped = new Set<string>();
  const content = mapChanged(message.content as Part[], (part) => toOwnPart(part, reader, dropped));
  if (content === message.content) return message;
  return content.length === 0 ? undefined : ({ ...message, content } as ModelMessage);
}

/** Parts that say nothing of a provider, and are of no kind that one may not know, stay as they are. */
function mayChange(parts: readonly Part[]): boolean {
  for (const part of parts) {
    if (part.providerOptions !== undefined || part.type === "file" || part.type === "custom") return true;
    if (part.type === "tool-result" && part.output.type === "content") return true;
  }
  return false;
}

function toOwnPart(part: Part, reader: Reader, dropped: Set<string>): Part | undefined {
  const own = withoutForeign(part, reader, dropped);
  return own === undefined ? undefined : withoutMark(own, reader);
}

function withoutForeign(part: Part, reader: Reader, dropped: Set<string>): Part | undefined {
  switch (part.type) {
    case "reasoning":
    case "reasoning-file":
      return isForeign(part, reader) ? undefined : part;
    case "custom":
      return isOwnKind(part, reader) ? part : undefined;
    case "file":
      return toOwnFile(part, reader);
    case "tool-call":
      if (part.providerExecuted !== true || !isMarkedForeign(part, reader)) return withoutForeignIds(part, reader);
      dropped.add(part.toolCallId);
      return undefined;
    case "tool-result":
      return dropped.has(part.toolCallId) ? toText(part) : toOwnResult(part, reader);
    case "text":
    case "tool-approval-response":
      return withoutForeignIds(part, reader);
    default:
      return part;
  }
}

function isOwnKind(part: Extract<Part, { type: "custom" }>, reader: Reader): boolean {
  return reader.namespaces.has(namespaceOf(part.kind)) && !isMarkedForeign(part, reader);
}

function toOwnFile(part: LanguageModelV4FilePart, reader: Reader): Part {
  return isForeignFile(part, reader) ? describeFile(part) : withoutForeignIds(part, reader);
}

type FileLike = Pick<LanguageModelV4FilePart, "data" | "filename" | "mediaType">;

function isForeignFile({ data }: FileLike, { namespaces }: Reader): boolean {
  return data.type === "reference" && !Object.keys(data.reference).some((name) => namespaces.has(name));
}

function describeFile({ filename, mediaType }: FileLike): { type: "text"; text: string } {
  const name = filename === undefined ? "" : ` ${JSON.stringify(filename)}`;
  return { type: "text", text: `[The file${name} (${mediaType}) is kept with another provider and cannot be shown]` };
}

function toOwnResult(part: LanguageModelV4ToolResultPart, reader: Reader): Part {
  const own = withoutForeignIds(part, reader);
  if (own.output.type !== "content") return own;
  const value = mapChanged(own.output.value, (item) =>
    item.type === "file" && isForeignFile(item, reader) ? describeFile(item) : item,
  );
  return value === own.output.value ? own : { ...own, output: { ...own.output, value } };
}

function toText({ toolName, output }: LanguageModelV4ToolResultPart): Part {
  const text = "value" in output ? JSON.stringify(output.value) : "denied";
  return { type: "text", text: `[The tool ${toolName} gave: ${text}]` };
}

/** What stands between the names of a maker where one wrapper is inside another: the one outside comes first. */
const inside = " > ";

/** The model that made a part, if the part names it. */
function makerOf({ providerOptions }: Part): string | undefined {
  const maker = providerOptions?.["kitbag"]?.["by"];
  return typeof maker === "string" ? maker : undefined;
}

/** How the parts say who made them; `inner` is what they said before. */
export function toMaker({ id }: Reader, inner: unknown): string {
  return typeof inner === "string" ? `${id}${inside}${inner}` : id;
}

function isMarkedForeign(part: Part, { id }: Reader): boolean {
  const maker = makerOf(part);
  return maker !== undefined && maker !== id && !maker.startsWith(`${id}${inside}`);
}

/** The part as it was before this reader's name was put on it: a wrapper inside finds its own, a provider finds none. */
function withoutMark(part: Part, { id }: Reader): Part {
  const maker = makerOf(part);
  if (maker === undefined) return part;
  const { kitbag, ...others } = part.providerOptions ?? {};
  if (maker !== id)
    return {
      ...part,
      providerOptions: { ...others, kitbag: { ...kitbag, by: maker.slice(id.length + inside.length) } },
    };
  const { providerOptions: _, ...bare } = part;
  return Object.keys(others).length === 0 ? bare : { ...part, providerOptions: others };
}

/** Whether another provider made the part; an unmarked part is foreign if it has options only for other providers. */
function isForeign(part: Part, reader: Reader): boolean {
  if (makerOf(part) !== undefined) return isMarkedForeign(part, reader);
  const names = Object.keys(part.providerOptions ?? {});
  return names.length > 0 && !names.some((name) => reader.namespaces.has(name));
}

function withoutForeignIds<Own extends Part>(part: Own, reader: Reader): Own {
  if (!isMarkedForeign(part, reader)) return part;
  const { providerOptions: _, ...rest } = part;
  return rest as Own;
}

/** The items that `change` returns; the same array if nothing changed. Items for which it returns `undefined` are left out. */
function mapChanged<Item>(items: Item[], change: (item: Item) => Item | undefined): Item[] {
  let changed: Item[] | undefined;
  let index = 0;
  for (const item of items) {
    const made = change(item);
    if (made !== item) changed ??= items.slice(0, index);
    if (made !== undefined) changed?.push(made);
    index += 1;
  }
  return changed ?? items;
}
