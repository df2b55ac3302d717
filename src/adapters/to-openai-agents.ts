import { defineTool } from "../core/define-tool.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import type { JsonSchema } from "../core/schema/json-schema.ts";
import type { Tool } from "../core/tool.ts";
import { bridgeTools, textOfOutcome, type AdapterOptions, type ToolSource } from "./bridged-tools.ts";

/** A tool as `tool` of `@openai/agents` takes it. */
export interface OpenAiAgentsFields {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  /** The schema is not one of OpenAI's strict mode; Kitbag checks the input. */
  readonly strict: false;
  readonly needsApproval: boolean;
  execute(input: unknown, context?: unknown, details?: { readonly signal?: AbortSignal }): Promise<string>;
}

/**
 * Hands tools to OpenAI Agents: `new Agent({ tools })`. The framework does not check inputs against a JSON Schema; Kitbag does. A call that
 * fails answers with what was wrong, so that the model can do better. A tool that needs an approval asks through the framework's own
 * approvals.
 */
export function toOpenAiAgentsTools<Made>(
  tool: (fields: never) => Made,
  source: ToolSource,
  options: AdapterOptions = {},
): Made[] {
  return bridgeTools(source, options).map((bridged) => {
    const fields: OpenAiAgentsFields = {
      name: bridged.name,
      description: bridged.description,
      parameters: { additionalProperties: true, ...bridged.inputSchema },
      strict: false,
      needsApproval: bridged.needsApproval,
      execute: async (input, _context, details) =>
        textOfOutcome(await bridged.call(input, { signal: details?.signal, isApproved: bridged.needsApproval })),
    };
    return tool(fields as never);
  });
}

/** A function tool of OpenAI Agents, as far as it is used. */
export interface OpenAiAgentsTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
  invoke(context: never, input: string, details?: never): Promise<unknown>;
}

/**
 * Makes Kitbag tools of function tools of OpenAI Agents: their calls go through all checks of a workspace, with inputs that fit their
 * schemas. `context` is the framework's `RunContext` that the tools expect.
 *
 * @throws {KitbagError} `tool-invalid`
 */
export function fromOpenAiAgentsTools(tools: readonly OpenAiAgentsTool[], context?: unknown): readonly Tool[] {
  return tools.map((tool) =>
    defineTool({
      name: tool.name,
      description: tool.description,
      input: tool.parameters as JsonSchema,
      async run(input, { signal }) {
        return (await tool.invoke(context as never, JSON.stringify(input), { signal } as never)) as JsonValue;
      },
    }),
  );
}
