import type { ModelMessage, ModelPrompt } from "../model.ts";

type Assistant = Extract<ModelMessage, { role: "assistant" }>;
type User = Extract<ModelMessage, { role: "user" }>;
type ToolMessage = Extract<ModelMessage, { role: "tool" }>;
type ToolResult = Extract<ToolMessage["content"][number], { type: "tool-result" }>;

/** Writes a prompt for a model without tools: earlier calls and their results as text, `instructions` in the system text. */
export function renderPrompt(prompt: ModelPrompt, instructions: string): ModelPrompt {
  const messages: ModelMessage[] = [];
  for (const message of prompt) {
    const written = renderMessage(message);
    const last = messages.at(-1);
    // Models without tools also want user and assistant to take turns.
    if (written.role === "user" && last?.role === "user" && isPlain(written) && isPlain(last)) {
      messages[messages.length - 1] = { role: "user", content: [...last.content, ...written.content] };
    } else messages.push(written);
  }
  return instructions === "" ? messages : addInstructions(messages, instructions);
}

function isPlain(message: ModelMessage): boolean {
  return message.providerOptions === undefined;
}

function addInstructions(messages: readonly ModelMessage[], instructions: string): ModelPrompt {
  const [first, ...others] = messages;
  if (first?.role !== "system") return [{ role: "system", content: instructions }, ...messages];
  return [{ ...first, content: `${first.content}\n\n${instructions}` }, ...others];
}

function renderMessage(message: ModelMessage): ModelMessage {
  if (message.role === "assistant") return { ...message, content: renderAssistant(message.content) };
  return message.role === "tool" ? renderResults(message) : message;
}

function renderAssistant(content: Assistant["content"]): Assistant["content"] {
  const parts: Assistant["content"] = [];
  for (const part of content) {
    const text = toText(part);
    const last = parts.at(-1);
    if (text === undefined) {
      // Thoughts that were written as text are not shown again; those that a provider signed are its own.
      if (part.type !== "reasoning" || part.providerOptions !== undefined) parts.push(part);
    } else if (last?.type === "text") parts[parts.length - 1] = { type: "text", text: `${last.text}\n${text}` };
    else parts.push({ type: "text", text });
  }
  return parts;
}

function toText(part: Assistant["content"][number]): string | undefined {
  if (part.type === "text") return part.text;
  if (part.type === "tool-result") return renderResult(part);
  if (part.type !== "tool-call") return undefined;
  return `<tool_call>\n${toJson({ name: part.toolName, arguments: part.input ?? {} })}\n</tool_call>`;
}

function renderResults(message: ToolMessage): User {
  const content: User["content"] = [];
  const results = message.content.filter((part) => part.type === "tool-result");
  content.push({ type: "text", text: results.map(renderResult).join("\n") });
  for (const { output } of results) {
    if (output.type !== "content") continue;
    for (const item of output.value) if (item.type === "file") content.push(item);
  }
  return { role: "user", content };
}

function renderResult({ toolName, output }: ToolResult): string {
  return `<tool_response>\n${toJson({ name: toolName, ...renderOutput(output) })}\n</tool_response>`;
}

function renderOutput(output: ToolResult["output"]): { content: unknown } | { error: unknown } {
  switch (output.type) {
    case "error-text":
    case "error-json":
      return { error: output.value };
    case "execution-denied":
      return { error: `denied${output.reason === undefined ? "" : `: ${output.reason}`}` };
    case "content":
      return { content: output.value.map((item) => (item.type === "text" ? item.text : `[${item.type}]`)).join("\n") };
    case "text":
    case "json":
      return { content: output.value };
  }
}

/** JSON in which no tag can be closed: what a tool answers cannot end its own block. */
function toJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("</", String.raw`<\/`);
}
