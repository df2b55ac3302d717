import { createTool } from "../../core/define-tool.ts";
import { describeProblem, isKitbagError, type Problem } from "../../core/errors.ts";
import { toVisibleText } from "../../core/hidden-characters.ts";
import { isMcpProgram, type McpCode, type McpDefinition, type McpSource } from "../../core/mcp-source.ts";
import { isName } from "../../core/names.ts";
import type { Permissions } from "../../core/permissions.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { toSchema } from "../../core/schema/to-schema.ts";
import type { Tool, ToolAnnotations } from "../../core/tool.ts";

/** A tool of another server that cannot be one here, and why. */
export interface RefusedTool {
  /** As the server calls it. */
  readonly name: string;
  readonly reason: string;
}

/** What was made of the tools of a server. */
interface MadeTools {
  readonly tools: readonly Tool[];
  readonly refused: readonly RefusedTool[];
}

const longestDescription = 10_000;
const longestTitle = 200;
const longestName = 64;

/** Makes tools of what a server describes. What cannot be one is refused by name; it never throws. */
export function toTools(source: McpSource, definitions: Iterable<McpDefinition>): MadeTools {
  const all = [...definitions];
  const names = nameTools(all.map(({ name }) => name));
  const tools: Tool[] = [];
  const refused: RefusedTool[] = [];
  for (const definition of all) {
    const name = names.get(definition.name);
    const made =
      name === undefined
        ? "another tool of the server has the name that it would get here"
        : toTool(source, definition, name);
    if (typeof made === "string") refused.push({ name: definition.name, reason: made });
    else tools.push(made);
  }
  return { tools, refused };
}

/** The names that tools get here, by the names that they have. Where several would get the same, only one that has it already does. */
function nameTools(originals: readonly string[]): ReadonlyMap<string, string> {
  const wishes = Map.groupBy(originals, toName);
  const names = new Map<string, string>();
  for (const [name, who] of wishes) {
    const owner = who.length === 1 ? who[0] : who.find((original) => original === name);
    if (owner !== undefined) names.set(owner, name);
  }
  return names;
}

/** Makes a name fit the one grammar. */
function toName(original: string): string {
  const isFit: boolean = isName(original);
  if (isFit) return original;
  const fit = original
    .replaceAll(/[^A-Za-z0-9_.-]+/gu, "_")
    .replace(/^[^A-Za-z0-9]+/u, "")
    .slice(0, longestName);
  return fit === "" ? "tool" : fit;
}

function toTool(source: McpSource, definition: McpDefinition, name: string): Tool | string {
  const input = readSchema("input", definition.inputSchema);
  const output = definition.outputSchema === undefined ? undefined : readSchema("output", definition.outputSchema);
  if (typeof input === "string") return input;
  if (typeof output === "string") return output;
  const { title } = definition;
  const description = cleanText(definition.description ?? "", longestDescription);
  const code: McpCode = { kind: "mcp", source, definition };
  try {
    const tool = createTool({
      name,
      ...(title !== undefined && { title: cleanText(title, longestTitle) }),
      description: description === "" ? `The tool ${name} of the MCP server ${source.name}` : description,
      annotations: toAnnotations(definition.annotations ?? {}),
      permissions: toPermissions(source),
      ...(source.needsApproval !== undefined && { needsApproval: source.needsApproval }),
      ...(source.limitMs !== undefined && { limits: { limitMs: source.limitMs } }),
      code,
    });
    // The server's own schemas, word for word: it decides what it takes.
    return Object.freeze({ ...tool, inputSchema: input, ...(output !== undefined && { outputSchema: output }) });
  } catch (cause) {
    if (isKitbagError(cause)) return cause.message;
    throw cause;
  }
}

/** Checks a schema and copies it as it is; a text says what is wrong with it. */
function readSchema(side: "input" | "output", schema: JsonSchema): JsonSchema | string {
  const read = toSchema(schema, "output");
  if (!read.ok) return `its ${side} schema cannot be used: ${describeAll(read.problems)}`;
  if (side === "input" && read.json["type"] !== "object") return 'its input schema is not of type "object"';
  return freeze(read.json);
}

const mostProblems = 3;

function describeAll(problems: readonly Problem[]): string {
  return problems.slice(0, mostProblems).map(describeProblem).join("; ");
}

function freeze<Value extends object>(value: Value): Value {
  for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) freeze(inner as object);
  return Object.freeze(value);
}

/** What a server does not say is not trusted to be harmless: without hints a tool may change and destroy, as the protocol has it. */
function toAnnotations(hints: Readonly<Record<string, unknown>>): ToolAnnotations {
  const readOnly = hints["readOnlyHint"] === true && hints["destructiveHint"] !== true;
  return {
    readOnly,
    destructive: !readOnly && hints["destructiveHint"] !== false,
    idempotent: hints["idempotentHint"] === true,
    openWorld: hints["openWorldHint"] !== false,
  };
}

function toPermissions(source: McpSource): Permissions {
  return isMcpProgram(source) ? source.permissions : { network: [new URL(source.url).host] };
}

/** A text of another server without the characters that a reader does not see, and not longer than `maxLength`. */
export function cleanText(text: string, maxLength: number): string {
  // What is beyond twice the length is cut anyway, and need not be read.
  const clean = toVisibleText(text.slice(0, 2 * maxLength)).trim();
  return clean.length > maxLength ? `${clean.slice(0, maxLength - 1)}…` : clean;
}
