import { KitbagError, type Problem } from "./errors.ts";
import { copyJson, maxJsonDepth, showValue } from "./json.ts";
import { isName, nameRule } from "./names.ts";
import { checkPermissions } from "./permissions.ts";
import type { JsonSchema } from "./schema/json-schema.ts";
import { toSchema, type ConvertedSchema, type Refine, type SchemaSource } from "./schema/to-schema.ts";
import { fitsOnce } from "./schema/engine.ts";
import { checkLeniently, checkStrictly } from "./schema/validator.ts";
import type {
  CallerInputOf,
  FunctionCode,
  Injected,
  OutputOf,
  Tool,
  ToolAnnotations,
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
  Result,
  Input extends SchemaSource = NoInput,
  Output extends SchemaSource = JsonSchema,
  Inject extends Readonly<Record<string, Injected<unknown>>> = Readonly<Record<never, never>>,
>(
  definition: ToolDefinition<Input, Output, Inject, Result>,
): TypedTool<CallerInputOf<Input>, OutputOf<Output, Result>> {
  const code: FunctionCode = { kind: "function", run: definition.run as FunctionCode["run"] };
  return createTool({ ...definition, code });
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
  readonly examples?: readonly ToolExample[];
  readonly inject?: Readonly<Record<string, Injected<unknown>>>;
  readonly needsApproval?: boolean;
  readonly limits?: ToolLimits;
  readonly code: ToolCode;
}

/**
 * Makes a tool out of its parts, for code of any kind. {@link defineTool} is this for functions.
 *
 * @throws {KitbagError} `tool-invalid` if a part is wrong.
 */
export function createTool(parts: ToolParts): Tool {
  const problems = checkWords(parts);
  const input = convert("input", parts.input ?? { type: "object", properties: {} }, problems);
  const output = parts.output === undefined ? undefined : convert("output", parts.output, problems);
  const inject = Object.keys(parts.inject ?? {});
  if (input.json["type"] !== "object" && problems.length === 0) {
    problems.push({ path: "input", expected: 'a schema of type "object"', found: showValue(input.json["type"]) });
  }
  checkInject(inject, input.json, problems);
  if (problems.length === 0) checkExamples(parts.examples ?? [], input.json, output?.json, problems);
  if (problems.length > 0) throw new KitbagError("tool-invalid", { tool: String(parts.name), problems });
  return Object.freeze({
    name: parts.name,
    ...(parts.title !== undefined && { title: parts.title }),
    description: parts.description,
    ...(parts.version !== undefined && { version: parts.version }),
    inputSchema: input.json,
    ...(output !== undefined && { outputSchema: output.json }),
    annotations: Object.freeze({ ...parts.annotations }),
    permissions: Object.freeze({ ...parts.permissions }),
    examples: parts.examples ?? [],
    inject,
    needsApproval: parts.needsApproval ?? false,
    limits: Object.freeze({ ...parts.limits }),
    ...(input.refine !== undefined && { refine: input.refine }),
    code: parts.code,
  });
}

const longestDescription = 20_000;

function checkWords(parts: ToolParts): Problem[] {
  const problems: Problem[] = [];
  const expect = (right: boolean, path: string, expected: string, found: unknown): void => {
    if (!right) problems.push({ path, expected, found: showValue(found) });
  };
  const { name, description, title, version, code } = parts;
  expect(isName(name), "name", nameRule, name);
  expect(
    typeof description === "string" && description.trim() !== "",
    "description",
    "a text that says what the tool does",
    description,
  );
  expect(
    String(description).length <= longestDescription,
    "description",
    `at most ${longestDescription} characters`,
    "more",
  );
  expect(title === undefined || typeof title === "string", "title", "a text", title);
  expect(version === undefined || isVersion(version), "version", "a version like 1.2.0", version);
  expect(typeof code?.kind === "string", "code", "code with a kind", code);
  if (code?.kind === "function")
    expect(typeof (code as FunctionCode).run === "function", "run", "a function", (code as FunctionCode).run);
  problems.push(...checkPermissions(parts.permissions ?? {}), ...checkAnnotations(parts.annotations ?? {}));
  problems.push(...checkLimits(parts.limits ?? {}));
  return problems;
}

function isVersion(version: unknown): boolean {
  return typeof version === "string" && /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/u.test(version);
}

const annotationNames = ["readOnly", "destructive", "idempotent", "openWorld"];

function checkAnnotations(annotations: ToolAnnotations): Problem[] {
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(annotations)) {
    const path = `annotations.${name}`;
    if (!annotationNames.includes(name))
      problems.push({ path, expected: `one of ${annotationNames.join(", ")}`, found: "an unknown annotation" });
    else if (value !== undefined && typeof value !== "boolean")
      problems.push({ path, expected: "true or false", found: showValue(value) });
  }
  if (annotations.readOnly === true && annotations.destructive === true) {
    problems.push({ path: "annotations", expected: "readOnly or destructive, not both", found: "both" });
  }
  return problems;
}

const limitNames = ["limitMs", "maxConcurrent"];

function checkLimits(limits: ToolLimits): Problem[] {
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(limits)) {
    const path = `limits.${name}`;
    if (!limitNames.includes(name))
      problems.push({ path, expected: `one of ${limitNames.join(", ")}`, found: "an unknown limit" });
    else if (value !== undefined && !(typeof value === "number" && value > 0))
      problems.push({ path, expected: "a number above 0", found: showValue(value) });
  }
  return problems;
}

function convert(
  side: "input" | "output",
  source: SchemaSource,
  problems: Problem[],
): { json: JsonSchema; refine?: Refine } {
  const converted: ConvertedSchema = toSchema(source, side);
  if (converted.ok) return converted;
  for (const problem of converted.problems) {
    problems.push({ ...problem, path: problem.path === "" ? side : `${side}.${problem.path}` });
  }
  return { json: { type: "object" } };
}

function checkInject(inject: readonly string[], schema: JsonSchema, problems: Problem[]): void {
  const properties = schema["properties"];
  for (const name of inject) {
    if (typeof properties === "object" && properties !== null && Object.hasOwn(properties, name)) {
      problems.push({
        path: `inject.${name}`,
        expected: "a name that is not a parameter",
        found: "a parameter the model could set",
      });
    }
  }
}

function checkExamples(
  examples: readonly ToolExample[],
  inputSchema: JsonSchema,
  outputSchema: JsonSchema | undefined,
  problems: Problem[],
): void {
  for (const [index, example] of examples.entries()) {
    const path = `examples[${index}]`;
    const input = copyJson(example?.input, { maxBytes: 1_000_000, maxDepth: maxJsonDepth });
    if (!input.ok) {
      problems.push({ path: `${path}.input`, expected: "a JSON object", found: showValue(example?.input) });
    } else if (!fitsOnce(inputSchema, input.value)) {
      const checked = checkLeniently(inputSchema, input.value);
      if (!checked.ok) problems.push(...checked.problems.map((problem) => below(`${path}.input`, problem)));
    }
    if (outputSchema === undefined || example?.output === undefined) continue;
    problems.push(...checkStrictly(outputSchema, example.output).map((problem) => below(`${path}.output`, problem)));
  }
}

function below(path: string, problem: Problem): Problem {
  return { ...problem, path: problem.path === "" ? path : `${path}.${problem.path}` };
}
