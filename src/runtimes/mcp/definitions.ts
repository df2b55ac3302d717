import { toCanonicalJson, copyJson, isRecord, showValue, type JsonObject, type JsonValue } from "../../core/json.ts";
import { describeProblem } from "../../core/errors.ts";
import type { McpDefinition } from "../../core/mcp-source.ts";
import { toDigest } from "../../platform/digest.ts";

/** A tool that a server offers and that cannot be used, and why. */
export interface RefusedDefinition {
  /** As the server calls it, shortened. */
  readonly name: string;
  readonly reason: string;
}

/** What a server offers. */
export interface Definitions {
  readonly tools: ReadonlyMap<string, McpDefinition>;
  readonly refused: readonly RefusedDefinition[];
}

/** One definition: schemas are checked again, and more strictly, when a tool is made of them. */
const limits = { maxBytes: 600 * 1024, maxDepth: 64 };

/** The most tools of one server; a person cannot look through more, and each is a hash in the lock. */
const mostTools = 1000;

/** Longer names are refused. */
const longestName = 256;

/** Reads what `tools/list` answered. What is wrong is refused by name; it never throws. */
export function readDefinitions(listed: readonly unknown[], wanted?: readonly string[]): Definitions {
  const tools = new Map<string, McpDefinition>();
  const refused: RefusedDefinition[] = [];
  const repeated = new Set<string>();
  let left = 0;
  for (const one of listed) {
    const read = readDefinition(one);
    const name = "reason" in read ? read.name : read.definition.name;
    if (wanted !== undefined && !wanted.includes(name)) continue;
    if ("reason" in read) refused.push(read);
    else if (tools.has(name)) repeated.add(name);
    else if (tools.size >= mostTools) left += 1;
    else tools.set(name, read.definition);
  }
  // It is not known which of the two was meant, so neither is used.
  for (const name of repeated) {
    tools.delete(name);
    refused.push({ name, reason: "the server has two tools of this name" });
  }
  if (left > 0) {
    const reason = `the server has ${left} tools more than the ${mostTools} that are read; name those you need in "tools"`;
    refused.push({ name: "*", reason });
  }
  return { tools, refused: refused.slice(0, mostTools) };
}

type Read = { readonly definition: McpDefinition } | RefusedDefinition;

function readDefinition(one: unknown): Read {
  const name = toName(one);
  const copy = copyJson(one, limits);
  if (!copy.ok) {
    const reason =
      copy.reason === "too-large" ? `it is larger than ${limits.maxBytes} bytes` : describeProblem(copy.problem);
    return { name, reason };
  }
  const fields = copy.value as Readonly<Record<string, JsonValue>>;
  const problem = isRecord(copy.value) ? findProblem(fields) : "it is not an object";
  if (problem !== undefined) return { name, reason: problem };
  // What else a server says about a tool (icons, `_meta`) is not passed on, so it may change.
  const { title, description, inputSchema, outputSchema, annotations } = fields;
  const definition = { name: fields["name"], title, description, inputSchema, outputSchema, annotations };
  const known = Object.entries(definition).filter(([, value]) => value !== undefined);
  return { definition: Object.fromEntries(known) as unknown as McpDefinition };
}

function toName(one: unknown): string {
  const name: unknown = typeof one === "object" && one !== null && "name" in one ? one.name : undefined;
  return typeof name === "string" ? name.slice(0, longestName) : showValue(name);
}

function findProblem({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: JsonObject): string | undefined {
  if (typeof name !== "string" || name === "") return "it has no name";
  if (name.length > longestName) return `its name is longer than ${longestName} characters`;
  if (title !== undefined && typeof title !== "string") return "its title is not a text";
  if (description !== undefined && typeof description !== "string") return "its description is not a text";
  if (!isRecord(inputSchema)) return "its input schema is not an object";
  if (outputSchema !== undefined && !isRecord(outputSchema)) return "its output schema is not an object";
  if (annotations !== undefined && !isRecord(annotations)) return "its annotations are not an object";
  return findHeaderProblem(inputSchema);
}

const headerKey = "x-mcp-header";
const headerName = /^[\w!#$%&'*+.^`|~-]+$/u;
const headerTypes: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/**
 * What is wrong with the parameters that a client repeats in headers. Servers and proxies go by these headers, so the protocol forbids
 * to use a tool that declares one in any other place than a simple parameter, or two alike.
 */
function findHeaderProblem(inputSchema: JsonObject): string | undefined {
  const names = new Set<string>();
  const visit = (node: JsonValue | undefined, path: string | undefined): string | undefined => {
    if (Array.isArray(node)) return findFirst(node, (inner) => visit(inner, undefined));
    if (!isRecord(node)) return undefined;
    const { [headerKey]: name, properties, type, ...others } = node;
    if (name !== undefined) {
      if (path === undefined || path === "") return `it has ${headerKey} at a place other than a parameter`;
      if (typeof name !== "string" || !headerName.test(name))
        return `the ${headerKey} of ${path} is no name of a header`;
      if (!headerTypes.has(type)) return `the ${headerKey} of ${path} is not on a string, an integer or a boolean`;
      if (names.size === names.add(name.toLowerCase()).size)
        return `two parameters have the ${headerKey} ${showValue(name)}`;
    }
    const inProperties = isRecord(properties) ? Object.entries(properties) : [];
    const place = (key: string): string | undefined =>
      path === undefined ? undefined : path === "" ? key : `${path}.${key}`;
    return (
      findFirst(inProperties, ([key, inner]) => visit(inner, place(key))) ??
      findFirst(Object.entries(others), ([key, inner]) => (dataKeywords.has(key) ? undefined : visit(inner, undefined)))
    );
  };
  return visit(inputSchema, "");
}

/** Keywords whose values are data, and no schemas. */
const dataKeywords: ReadonlySet<string> = new Set(["const", "default", "enum", "examples", "required"]);

function findFirst<One>(list: readonly One[], find: (one: One) => string | undefined): string | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The digest of a definition: changes when anything changes that a model or a caller goes by. */
export function toDefinitionDigest(definition: McpDefinition): string {
  return toDigest(Buffer.from(toCanonicalJson(definition as unknown as JsonValue)));
}

const parts = ["title", "description", "inputSchema", "outputSchema", "annotations"] as const;

/** Which parts of a definition are not what they were; empty if all are. */
export function findChangedParts(before: McpDefinition, after: McpDefinition): string[] {
  return parts.filter((part) => toCanonicalJson(before[part] ?? null) !== toCanonicalJson(after[part] ?? null));
}
