import { renderSchema } from "../../core/schema/render-schema.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { ModelCall, ModelTool } from "../model.ts";

/** The tools of a call, made ready for a model that has none. */
export interface RenderedTools {
  readonly tools: readonly ModelTool[];
  readonly text: string;
  /** The tools that only their provider can offer. */
  readonly unsupported: readonly string[];
}

const rendered = new WeakMap<object, RenderedTools>();

const none: RenderedTools = { tools: [], text: "", unsupported: [] };

/** Writes tools for the system text, once for each list of tools. */
export function renderTools(list: ModelCall["tools"]): RenderedTools {
  if (list === undefined || list.length === 0) return none;
  let found = rendered.get(list);
  if (found === undefined) {
    const tools = list.filter((tool) => tool.type === "function");
    const unsupported = list.filter((tool) => tool.type === "provider").map((tool) => tool.id);
    found = { tools, text: tools.length === 0 ? "" : renderAll(tools), unsupported };
    rendered.set(list, found);
  }
  return found;
}

/** One format, and the one that the most open models were trained on. Fewer words are followed better by small ones. */
const howTo = `To call a tool, write:
<tool_call>
{"name": "the tool's name", "arguments": {"key": "value"}}
</tool_call>
Arguments are one JSON object that fits the tool. Write one <tool_call> for each call, then stop: the results come in <tool_response>. Call a tool only if you need it; otherwise just answer.`;

function renderAll(tools: readonly ModelTool[]): string {
  return `You have these tools:\n\n${tools.map(renderTool).join("\n\n")}\n\n${howTo}`;
}

function renderTool({ name, description, inputSchema, inputExamples }: ModelTool): string {
  const lines = [`${name}${description === undefined || description === "" ? "" : `: ${description}`}`];
  lines.push(`arguments: ${renderSchema(inputSchema as JsonSchema)}`);
  const [example] = inputExamples ?? [];
  if (example !== undefined) lines.push(`such as: ${JSON.stringify(example.input)}`);
  return lines.join("\n");
}

/** What is added when a model must call a tool, or must not. */
export function renderChoice(choice: ModelCall["toolChoice"]): string {
  if (choice?.type === "required") return "\nNow you must call a tool.";
  return choice?.type === "tool" ? `\nNow you must call the tool ${choice.toolName}.` : "";
}
