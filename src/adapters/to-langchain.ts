import { defineTool } from "../core/define-tool.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import type { JsonSchema } from "../core/schema/json-schema.ts";
import type { Tool } from "../core/tool.ts";
import { bridgeTools, textOfOutcome, type AdapterOptions, type ToolSource } from "./bridged-tools.ts";

/** A tool as `tool` of `@langchain/core/tools` takes it. */
export interface LangChainFields {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  readonly responseFormat: "content_and_artifact";
}

/** What LangChain says with a call. */
export interface LangChainCall {
  readonly signal?: AbortSignal | undefined;
}

/** The function `tool` of `@langchain/core/tools`. */
export type LangChainToolMaker<Made> = (
  run: (input: never, config: LangChainCall) => Promise<readonly [content: string, artifact: unknown]>,
  fields: never,
) => Made;

/**
 * Hands tools to LangChain: `createAgent({ tools })`. A message has what the model is to read; its artifact is the whole outcome. A call
 * that fails is a message that says why, so that the model can do better. LangChain asks no person about a call: a tool that needs an approval
 * is denied unless `call.approve` decides.
 */
export function toLangChainTools<Made>(
  tool: LangChainToolMaker<Made>,
  source: ToolSource,
  options: AdapterOptions = {},
): Made[] {
  return bridgeTools(source, options).map((bridged) => {
    const fields: LangChainFields = {
      name: bridged.name,
      description: bridged.description,
      schema: bridged.inputSchema,
      responseFormat: "content_and_artifact",
    };
    return tool(async (input, config) => {
      const outcome = await bridged.call(input, { signal: config.signal });
      return [textOfOutcome(outcome), outcome];
    }, fields as never);
  });
}

/** A tool of LangChain, as far as it is used. */
export interface LangChainTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  invoke(input: never, config?: never): Promise<unknown>;
}

/**
 * Makes Kitbag tools of LangChain's: their calls go through all checks of a workspace. Pass `toJsonSchema` of
 * `@langchain/core/utils/json_schema`.
 *
 * @throws {KitbagError} `tool-invalid`
 */
export function fromLangChainTools(
  toJsonSchema: (schema: never) => unknown,
  tools: readonly LangChainTool[],
): readonly Tool[] {
  return tools.map((tool) =>
    defineTool({
      name: tool.name,
      description: tool.description,
      input: toJsonSchema(tool.schema as never) as JsonSchema,
      async run(args, { signal, call }) {
        const message = await tool.invoke(
          { type: "tool_call", id: call, name: tool.name, args } as never,
          { signal } as never,
        );
        const { content, status } = (message ?? {}) as { readonly content?: JsonValue; readonly status?: string };
        if (status === "error") throw new Error(typeof content === "string" ? content : JSON.stringify(content));
        return content ?? (message as JsonValue);
      },
    }),
  );
}
