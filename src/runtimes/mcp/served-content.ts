import { describeProblem, isKitbagError } from "../../core/errors.ts";
import { cleanJson, toVisibleText } from "../../core/hidden-characters.ts";
import { copyJson, isRecord, type JsonObject, type JsonValue, showValue } from "../../core/json.ts";
import type { McpSource } from "../../core/mcp-source.ts";
import { ask, describeServerError, listAll, type McpConnection, toMcpFailure } from "./connect-server.ts";

/** A resource or a template of a server: checked, and without characters that a reader does not see. */
export interface ServedResource {
  /** The address, or the template, as the server writes it. */
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
}

/** A prompt of a server, likewise. */
export interface ServedPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description?: string;
    readonly required?: boolean;
  }[];
}

/** What a server lists, and what of it is left out. */
export interface ServedList<Item> {
  readonly items: readonly Item[];
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

const mostItems = 1000;
const mostArguments = 50;
const longestUri = 2048;
const longest = { name: 128, title: 200, description: 1000, mimeType: 100 };
/** One entry of a list. */
const entryLimits = { maxBytes: 64 * 1024, maxDepth: 16 };
/** One answer: of a resource, or of a prompt. */
const answerLimits = { maxBytes: 8 * 1024 * 1024, maxDepth: 16 };

type Fields = JsonObject;

/** What lists something of a server. */
type Lister<Item> = (connection: McpConnection, signal: AbortSignal) => Promise<ServedList<Item>>;

/** Lists the resources of a server, its templates and its prompts. What is wrong in a list is left out by name. */
export const listServed: {
  readonly resources: Lister<ServedResource>;
  readonly resourceTemplates: Lister<ServedResource>;
  readonly prompts: Lister<ServedPrompt>;
} = {
  resources: async ({ client, secrets }, signal) =>
    readList(await listAll(client, "resources", signal), (fields) => readResource(secrets.show(fields))),
  async resourceTemplates({ client, secrets }, signal) {
    // Some servers have resources and know nothing of templates.
    const listed = await listAll(client, "resourceTemplates", signal).catch((cause: unknown) => {
      if (signal.aborted) throw cause;
      return [];
    });
    return readList(listed, (fields) => readTemplate(secrets.show(fields)));
  },
  prompts: async ({ client, secrets }, signal) =>
    readList(await listAll(client, "prompts", signal), (fields) => readPrompt(secrets.show(fields))),
};

function readList<Item extends { readonly name: string }>(
  listed: readonly unknown[],
  read: (fields: Fields) => (Item & { readonly uri?: string }) | string,
): ServedList<Item> {
  const items = new Map<string, Item>();
  const refused: { name: string; reason: string }[] = [];
  for (const one of listed.slice(0, mostItems)) {
    const copy = copyJson(one, entryLimits);
    const item = copy.ok && isRecord(copy.value) ? read(copy.value) : "it is not an object, or is too large";
    if (typeof item === "string") refused.push({ name: nameOf(one), reason: item });
    // The first of two counts: the server answers for both under one address.
    else items.set(item.uri ?? item.name, items.get(item.uri ?? item.name) ?? item);
  }
  const left = listed.length - mostItems;
  if (left > 0) refused.push({ name: "*", reason: `only ${mostItems} of a list are read; ${left} are left out` });
  return { items: [...items.values()], refused };
}

function nameOf(one: unknown): string {
  const { uri, uriTemplate, name } = (isRecord(one) ? one : {}) as Fields;
  return toShort(showValue(uri ?? uriTemplate ?? name), longest.name) ?? "";
}

function readResource({ uri, ...fields }: Fields): ServedResource | string {
  return isServedUri(uri) ? { uri, ...readTexts(fields, uri), ...readSize(fields) } : "its URI cannot be passed on";
}

function readTemplate({ uriTemplate: uri, ...fields }: Fields): ServedResource | string {
  return isServedUri(uri) ? { uri, ...readTexts(fields, uri) } : "its URI template cannot be passed on";
}

function readTexts({ name, title, description, mimeType }: Fields, uri: string): Omit<ServedResource, "uri" | "size"> {
  const texts = {
    title: toShort(title, longest.title),
    description: toShort(description, longest.description),
    mimeType: toShort(mimeType, longest.mimeType),
  };
  const known = Object.entries(texts).filter(([, text]) => text !== undefined && text !== "");
  return { name: toShort(name, longest.name) || uri.slice(0, longest.name), ...Object.fromEntries(known) };
}

function readSize({ size }: Fields): { readonly size?: number } {
  return Number.isSafeInteger(size) && (size as number) >= 0 ? { size: size as number } : {};
}

function readPrompt({ name, title, description, arguments: given = [] }: Fields): ServedPrompt | string {
  if (!isPlainName(name)) return "its name cannot be passed on";
  if (!Array.isArray(given) || given.length > mostArguments)
    return `its arguments are no list of up to ${mostArguments}`;
  const parameters = (given as readonly JsonValue[]).map((one) => (isRecord(one) ? one : {}));
  if (!parameters.every((one) => isPlainName(one["name"]))) return "an argument of it has no name";
  const about = toShort(description, longest.description);
  const shown = toShort(title, longest.title);
  return {
    name,
    ...(shown !== undefined && { title: shown }),
    ...(about !== undefined && { description: about }),
    arguments: parameters.map((one) => {
      const what = toShort(one["description"], longest.description);
      return {
        name: one["name"] as string,
        ...(what !== undefined && { description: what }),
        required: one["required"] === true,
      };
    }),
  };
}

/** A name of which a reader sees every character. */
function isPlainName(name: unknown): name is string {
  return typeof name === "string" && name !== "" && name.length <= longest.name && isPlain(name);
}

function isPlain(text: string): boolean {
  return text.isWellFormed() && toVisibleText(text) === text && !/\n/u.test(text);
}

const dotSegment = /(?:^|[/\\:])(?:\.|%2e){1,2}(?:[/\\?#]|$)/iu;

/**
 * Tells whether the URI of a server, or its template, can be behind one of Kitbag's: without spaces and characters that a reader does not
 * see, and without `..`, which some clients resolve before they ask.
 */
export function isServedUri(uri: unknown): uri is string {
  if (typeof uri !== "string" || uri.length > longestUri || !/^[a-z][a-z0-9+.-]*:/iu.test(uri)) return false;
  return isPlain(uri) && !/\s/u.test(uri) && !dotSegment.test(uri);
}

/** A text that a reader sees, on one line; nothing for what is no text. */
function toShort(text: unknown, maxLength: number): string | undefined {
  if (typeof text !== "string") return undefined;
  const clean = toVisibleText(text.slice(0, 2 * maxLength))
    .replaceAll(/\s+/gu, " ")
    .trim();
  return clean.length > maxLength ? `${clean.slice(0, maxLength - 1)}…` : clean;
}

/** A part of what was read. */
export type ReadContent = { readonly uri: string; readonly mimeType?: string } & (
  | { readonly text: string }
  | { readonly blob: string }
);

/**
 * Reads a resource of a server.
 *
 * @throws {KitbagError} `mcp-failed`, also if what it sends cannot be passed on.
 */
export async function readServed(
  source: McpSource,
  { uri, signal }: { readonly uri: string; readonly signal: AbortSignal },
  connection: McpConnection,
): Promise<readonly ReadContent[]> {
  const { contents } = await fetchAnswer(source, connection, { method: "resources/read", params: { uri } }, signal);
  const parts = Array.isArray(contents) ? (contents as readonly JsonValue[]) : [undefined];
  return parts.map((part) => toReadContent(part, uri) ?? refuse(source, `the resource ${uri} has no text and no blob`));
}

function toReadContent(part: JsonValue | undefined, asked: string): ReadContent | undefined {
  if (!isRecord(part)) return undefined;
  const { uri, mimeType, text, blob } = part;
  const kind = toShort(mimeType, longest.mimeType);
  const facts = { uri: isServedUri(uri) ? uri : asked, ...(kind !== undefined && { mimeType: kind }) };
  if (typeof text === "string") return { ...facts, text: toVisibleText(text) };
  return typeof blob === "string" && isBase64(blob) ? { ...facts, blob } : undefined;
}

function isBase64(text: string): boolean {
  return Buffer.from(text, "base64").toString("base64") === text;
}

/** What a prompt was made into. Blocks are not checked any further; no reader misses a character of their texts. */
export interface ServedMessages {
  readonly description?: string;
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: JsonObject }[];
}

/**
 * Has a server fill in a prompt.
 *
 * @throws {KitbagError} `mcp-failed`, also if what it sends cannot be passed on.
 */
export async function fillServed(
  source: McpSource,
  prompt: { readonly name: string; readonly values: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  connection: McpConnection,
): Promise<ServedMessages> {
  const { name, values, signal } = prompt;
  const params = { name, arguments: { ...values } };
  const answer = await fetchAnswer(source, connection, { method: "prompts/get", params }, signal);
  const { description, messages } = answer;
  const about = toShort(description, longest.description);
  if (!Array.isArray(messages)) refuse(source, `the prompt ${name} has no messages`);
  return {
    ...(about !== undefined && { description: about }),
    messages: (messages as readonly JsonValue[]).map((message) => {
      const { role, content } = isRecord(message) ? message : {};
      if ((role !== "user" && role !== "assistant") || !isRecord(content))
        return refuse(source, `a message of the prompt ${name} has no role or no content`);
      return { role, content: cleanJson(content, toVisibleText) };
    }),
  };
}

/** What a server answers, as far as it is JSON of a size that can be passed on, and without its secrets. */
async function fetchAnswer(
  source: McpSource,
  { client, secrets }: McpConnection,
  request: Parameters<typeof ask>[1],
  signal: AbortSignal,
): Promise<Fields> {
  const answer = await ask(client, request, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    if (isKitbagError(cause)) throw cause;
    throw toMcpFailure(source, describeServerError(cause, secrets), cause);
  });
  const copy = copyJson(answer, answerLimits);
  if (copy.ok) return isRecord(copy.value) ? secrets.show(copy.value) : {};
  const what = copy.reason === "too-large" ? `more than ${answerLimits.maxBytes} bytes` : describeProblem(copy.problem);
  return refuse(source, `its answer cannot be passed on: ${what}`);
}

function refuse(source: McpSource, reason: string): never {
  throw toMcpFailure(source, reason);
}
