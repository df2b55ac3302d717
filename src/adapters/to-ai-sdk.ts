import type { JsonValue } from "../core/json.ts";
import { KitbagError } from "../core/errors.ts";
import { defineTool } from "../core/define-tool.ts";
import type { JsonSchema } from "../core/schema/json-schema.ts";
import type { Tool } from "../core/tool.ts";
import { bridgeTools, type AdapterOptions, type ToolSource } from "./bridged-tools.ts";

/** What of the package `ai` is used: `import { asSchema, dynamicTool, jsonSchema } from "ai"`. */
export interface AiSdkParts<Made> {
  dynamicTool(definition: AiSdkToolDefinition): Made;
  jsonSchema(schema: never): unknown;
}

/** A tool as `dynamicTool` of the AI SDK takes it. */
export interface AiSdkToolDefinition {
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: never;
  readonly needsApproval: boolean;
  execute(input: unknown, options: AiSdkCall): Promise<JsonValue>;
}

/** What the AI SDK says with a call. */
export interface AiSdkCall {
  readonly abortSignal?: AbortSignal | undefined;
  readonly toolCallId: string;
}

/**
 * Hands tools to the AI SDK: `streamText({ tools })`. A call that fails throws with the message that the model is to read. A tool that needs
 * an approval asks through the AI SDK's own approvals.
 *
 * @example
 * ```ts
 * import { dynamicTool, jsonSchema } from "ai";
 * import { createWorkspace, defineTool } from "kitbag";
 * import { toAiSdkTools } from "kitbag/ai-sdk";
 *
 * const add = defineTool({
 *   name: "add",
 *   description: "Adds two numbers",
 *   input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
 *   run: ({ a, b }) => Number(a) + Number(b),
 * });
 * const tools = toAiSdkTools({ dynamicTool, jsonSchema }, createWorkspace({ tools: [add] }));
 *
 * console.assert("add" in tools); // streamText({ model, prompt, tools })
 * ```
 */
export function toAiSdkTools<Made>(
  { dynamicTool, jsonSchema }: AiSdkParts<Made>,
  source: ToolSource,
  options: AdapterOptions = {},
): Record<string, Made> {
  return Object.fromEntries(
    bridgeTools(source, options).map((tool) => [
      tool.name,
      dynamicTool({
        ...(tool.title !== undefined && { title: tool.title }),
        description: tool.description,
        inputSchema: jsonSchema(tool.inputSchema as never) as never,
        needsApproval: tool.needsApproval,
        async execute(input, { abortSignal }) {
          const outcome = await tool.call(input, { signal: abortSignal, isApproved: tool.needsApproval });
          if (outcome.status === "ok") return outcome.output;
          throw new KitbagError(outcome.error.code, outcome.error.details);
        },
      }),
    ]),
  );
}

/** A tool of the AI SDK, as far as it is used. */
export interface AiSdkTool {
  readonly description?: unknown;
  readonly inputSchema: unknown;
  readonly execute?: ((input: never, options: never) => unknown) | undefined;
}

/**
 * Makes Kitbag tools of the AI SDK's: their calls go through all checks of a workspace. Pass `asSchema` of the package `ai`. A tool without
 * `execute` runs elsewhere, and is refused.
 *
 * @throws {KitbagError} `tool-invalid`
 *
 * @example
 * ```ts
 * import { asSchema, tool } from "ai";
 * import { createWorkspace } from "kitbag";
 * import { fromAiSdkTools } from "kitbag/ai-sdk";
 * import { z } from "zod";
 *
 * const shout = tool({ description: "Says it loudly", inputSchema: z.object({ text: z.string() }), execute: ({ text }) => text.toUpperCase() });
 * const workspace = createWorkspace({ tools: await fromAiSdkTools({ asSchema }, { shout }) });
 *
 * const outcome = await workspace.call("shout", { text: "hi" });
 * console.assert(outcome.status === "ok" && outcome.output === "HI");
 * ```
 */
export async function fromAiSdkTools(
  { asSchema }: { asSchema(schema: never): { readonly jsonSchema: unknown } },
  tools: Readonly<Record<string, AiSdkTool>>,
): Promise<readonly Tool[]> {
  return Promise.all(Object.entries(tools).map(([name, tool]) => fromAiSdkTool(asSchema, name, tool)));
}

async function fromAiSdkTool(
  asSchema: (schema: never) => { readonly jsonSchema: unknown },
  name: string,
  { description, inputSchema, execute }: AiSdkTool,
): Promise<Tool> {
  if (execute === undefined) {
    const problem = { path: "execute", expected: "a function", found: "nothing: the tool runs elsewhere" };
    throw new KitbagError("tool-invalid", { tool: name, problems: [problem] });
  }
  const input = (await asSchema(inputSchema as never).jsonSchema) as JsonSchema;
  return defineTool({
    name,
    description: typeof description === "string" ? description : name,
    input,
    async run(given, { signal, call }) {
      const made: unknown = await execute(
        given as never,
        {
          toolCallId: call,
          messages: [],
          abortSignal: signal,
          context: undefined,
        } as never,
      );
      return isIterable(made) ? lastOf(made) : (made as JsonValue);
    },
  });
}

function isIterable(value: unknown): value is AsyncIterable<JsonValue> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** A tool that streams says its output last. */
async function lastOf(values: AsyncIterable<JsonValue>): Promise<JsonValue> {
  let last: JsonValue = null;
  for await (const value of values) last = value;
  return last;
}
