import type { FileParameters } from "./call-files.ts";
import { checkExamples, checkInject, checkPartNames, checkParts } from "./check-tool.ts";
import { KitbagError, type Problem } from "./errors.ts";
import { cloneJson, isRecord, showValue } from "./json.ts";
import type { JsonSchema } from "./schema/json-schema.ts";
import { toSchema, type Refine, type SchemaSource } from "./schema/to-schema.ts";
import type {
  CallerInputOf,
  FunctionCode,
  Injected,
  OutputOf,
  ResultOf,
  Tool,
  ToolAnnotations,
  ToolAuthor,
  ToolCache,
  ToolCode,
  ToolDefinition,
  ToolExample,
  ToolLimits,
  TypedTool,
} from "./tool.ts";

/** A JSON Schema for an object without properties. */
export type NoInput = { readonly type: "object" };

/**
 * Makes a tool: checks everything about it now, so that nothing about it can be wrong later.
 *
 * @throws {KitbagError} `tool-invalid` if the definition is wrong; its message names every place and what to change.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool } from "kitbag";
 * import { z } from "zod";
 *
 * const add = defineTool({
 *   name: "add",
 *   description: "Adds two numbers",
 *   input: z.object({ a: z.number(), b: z.number().default(1) }),
 *   run: ({ a, b }) => a + b,
 * });
 * const outcome = await createWorkspace({ tools: [add] }).call(add, { a: 2 });
 * console.assert(outcome.status === "ok" && outcome.output === 3);
 * ```
 */
export function defineTool<
  Result extends ResultOf<Output>,
  Input extends SchemaSource = NoInput,
  Output extends SchemaSource = JsonSchema,
  Inject extends Readonly<Record<string, Injected<unknown>>> = Readonly<Record<never, never>>,
>(
  definition: ToolDefinition<Input, Output, Inject, Result>,
): TypedTool<CallerInputOf<Input>, OutputOf<Output, Result>> {
  checkDefinition(definition);
  const code: FunctionCode = { kind: "function", run: definition.run as FunctionCode["run"] };
  const { examples, ...parts } = definition;
  // The types of examples are those of the schemas; from here on they are JSON.
  return createTool({
    ...parts,
    ...(examples !== undefined && { examples: examples as readonly ToolExample[] }),
    code,
  });
}

const definitionParts = [
  "name",
  "title",
  "description",
  "version",
  "input",
  "output",
  "annotations",
  "permissions",
  "examples",
  "inject",
  "needsApproval",
  "limits",
  "cache",
  "run",
];

function checkDefinition(definition: unknown): void {
  if (!isRecord(definition)) {
    const problems = [{ path: "", expected: "an object with name, description and run", found: showValue(definition) }];
    throw new KitbagError("tool-invalid", { tool: "", problems });
  }
  const problems = checkPartNames(definition, definitionParts);
  if (problems.length > 0) throw new KitbagError("tool-invalid", { tool: showName(definition["name"]), problems });
}

function showName(name: unknown): string {
  return typeof name === "string" ? name : showValue(name);
}

/** A definition with its types sealed, for code of any kind. */
export interface ToolParts {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly version?: string;
  readonly input?: SchemaSource;
  readonly output?: SchemaSource;
  readonly annotations?: ToolAnnotations;
  readonly permissions?: Tool["permissions"];
  readonly files?: FileParameters;
  readonly examples?: readonly ToolExample[];
  readonly inject?: Readonly<Record<string, Injected<unknown>>>;
  readonly needsApproval?: boolean;
  readonly limits?: ToolLimits;
  readonly cache?: ToolCache;
  readonly code: ToolCode;
  readonly uses?: readonly string[];
  readonly meta?: boolean;
  readonly author?: ToolAuthor;
}

/**
 * Makes a tool out of its parts, for code of any kind. {@link defineTool} is this for functions.
 *
 * @throws {KitbagError} `tool-invalid` if a part is wrong.
 */
export function createTool(parts: ToolParts): Tool {
  const problems = checkParts({ ...parts });
  const { input: given = { type: "object", properties: {} } } = parts;
  const input = convert("input", given, problems);
  const output = parts.output === undefined ? undefined : convert("output", parts.output, problems);
  const inject = isRecord(parts.inject) ? Object.keys(parts.inject) : [];
  if (input !== undefined) {
    if (input.json["type"] !== "object") {
      problems.push({ path: "input", expected: 'a schema of type "object"', found: showValue(input.json["type"]) });
    }
    problems.push(...checkInject(inject, input.json));
    problems.push(...checkExamples(parts.examples ?? [], input.json, output?.json));
  }
  if (input === undefined || problems.length > 0) {
    throw new KitbagError("tool-invalid", { tool: showName(parts.name), problems });
  }
  return Object.freeze({
    ...describeTool(parts),
    inputSchema: freeze(input.json),
    ...(output !== undefined && { outputSchema: freeze(output.json) }),
    inject: Object.freeze(inject),
    ...(input.refine !== undefined && { refine: input.refine }),
    code: parts.code,
  });
}

/** The same tool, marked as one that works on the tools themselves: code in a sandbox cannot call it. */
export function toMetaTool(tool: Tool): Tool {
  return Object.freeze({ ...tool, meta: true });
}

type Description = Omit<Tool, "inputSchema" | "outputSchema" | "inject" | "refine" | "code">;

/** Copies what describes a tool, so that it cannot change afterwards. */
function describeTool(parts: ToolParts): Description {
  const { name, title, description, version, annotations, permissions, examples = [], limits, cache } = parts;
  const { uses = [], meta = false, author, files } = parts;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    ...(version !== undefined && { version }),
    annotations: freeze({ ...annotations }),
    permissions: freeze(cloneJson({ ...permissions })),
    ...(files !== undefined && { files: freeze({ ...files }) }),
    examples: freeze(examples.map((example) => cloneJson({ ...example }))),
    needsApproval: parts.needsApproval ?? false,
    limits: freeze({ ...limits }),
    ...(cache !== undefined && { cache: freeze({ ...cache, ...(cache.tags && { tags: [...cache.tags] }) }) }),
    ...(uses.length > 0 && { uses: freeze([...uses]) }),
    ...(meta && { meta }),
    ...(author !== undefined && { author: freeze(cloneJson({ ...author })) }),
  };
}

function convert(
  side: "input" | "output",
  source: SchemaSource,
  problems: Problem[],
): { json: JsonSchema; refine?: Refine } | undefined {
  const converted = toSchema(source, side);
  if (converted.ok) return converted;
  for (const problem of converted.problems) {
    problems.push({ ...problem, path: problem.path === "" ? side : `${side}.${problem.path}` });
  }
  return undefined;
}

/** What is checked once must stay as it is. */
function freeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) freeze(inner);
    Object.freeze(value);
  }
  return value;
}
