import { renderSchema } from "../../../core/schema/render-schema.ts";
import type { ServedClient } from "../client.ts";
import { findShownTools } from "../resources/shown-tools.ts";
import type { PromptWords } from "./workflow-prompt.ts";

/** Makes the words with which prompts speak to a client of tools. */
export function createPromptWords(client: ServedClient): PromptWords {
  const { session } = client;
  const shown = findShownTools(client);
  const reaches = shown.has("call_tool");

  function has(tool: string): boolean {
    return shown.has(tool) || (reaches && session.isToolAvailable(tool));
  }

  return {
    has,
    name: (tool) => (shown.has(tool) ? `\`${tool}\`` : `\`call_tool\` with the name ${tool}`),
    takes(tool) {
      // Who is shown a tool has its schema already.
      const entry = shown.has(tool) ? undefined : session.getTool(tool);
      if (entry === undefined) return "";
      // It stands in a numbered step, and backticks are for names of tools.
      const schema = renderSchema(entry.tool.inputSchema).replaceAll("`", "'").replaceAll("\n", "\n   ");
      return `It takes ${schema}`;
    },
  };
}
