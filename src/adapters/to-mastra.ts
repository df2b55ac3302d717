import { KitbagError } from "../core/errors.ts";
import { defineTool } from "../core/define-tool.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import type { JsonSchema } from "../core/schema/json-schema.ts";
import type { Tool } from "../core/tool.ts";
import { bridgeTools, type AdapterOptions, type ToolSource } from "./bridged-tools.ts";

/** A tool as `createTool` of `@mastra/core/tools` takes it. */
export interface MastraFields {
  readonly id: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly requireApproval: boolean;
  execute(input: unknown, context?: { readonly abortSignal?: AbortSignal }): Promise<JsonValue>;
}

/** Hands tools to Mastra: `new Agent({ tools })`. A call that fails throws with the message that the model is to read. */
export function toMastraTools<Made>(
  createTool: (fields: never) => Made,
  source: ToolSource,
  options: AdapterOptions = {},
): Record<string, Made> {
  return Object.fromEntries(
    bridgeTools(source, options).map((bridged) => {
      const fields: MastraFields = {
        id: bridged.name,
        description: bridged.description,
        inputSchema: bridged.inputSchema,
        requireApproval: bridged.needsApproval,
        async execute(input, context) {
          const outcome = await bridged.call(input, {
            signal: context?.abortSignal,
            isApproved: bridged.needsApproval,
          });
          if (outcome.status === "ok") return outcome.output;
          throw new KitbagError(outcome.error.code, outcome.error.details);
        },
      };
      return [bridged.name, createTool(fields as never)];
    }),
  );
}

/** A tool of Mastra, as far as it is used. */
export interface MastraTool {
  readonly id: string;
  readonly description: string;
  readonly inputSchema?: unknown;
  readonly execute?: ((input: never, context: never) => Promise<unknown>) | undefined;
}

/**
 * Makes Kitbag tools of Mastra's: their calls go through all checks of a workspace. A tool whose schema is one of zod or another library
 * keeps its checks; pass `toJsonSchema` if the library cannot say its schema as JSON Schema by itself.
 *
 * @throws {KitbagError} `tool-invalid`; a call fails if Mastra answers that the input is wrong, which it does without throwing.
 */
export function fromMastraTools(
  tools: readonly MastraTool[],
  toJsonSchema: (schema: never) => unknown = (schema) => schema,
): readonly Tool[] {
  return tools.map((tool) =>
    defineTool({
      name: tool.id,
      description: tool.description,
      input: toJsonSchema((tool.inputSchema ?? { type: "object" }) as never) as JsonSchema,
      async run(input, { signal }) {
        const made: unknown = await tool.execute?.(input as never, { abortSignal: signal } as never);
        const { error, message } = (made ?? {}) as { readonly error?: unknown; readonly message?: unknown };
        if (error === true) throw new Error(String(message));
        return (made ?? null) as JsonValue;
      },
    }),
  );
}
