import type { Tool } from "../../core/tool.ts";
import { createCodeTool, howTo } from "../../runtimes/code/create-code-tool.ts";

/** Makes the tool that runs programs, as clients get it. */
export function createServedCodeTool(): Tool {
  // Which tools there are changes with every skill that is opened, and a description that changes costs clients their caches.
  const description = `${howTo} search_tools with detail "typescript" declares the tools that you find.`;
  return createCodeTool({ description, languages: ["javascript", "typescript", "python"] });
}
