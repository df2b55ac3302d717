import type { ModelAnswer, ModelMessage, ModelPrompt } from "../model.ts";

/** A message as Ollama takes it. */
export interface OllamaMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly thinking?: string;
  /** In base64. */
  readonly images?: readonly string[];
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: unknown };
  }[];
  readonly tool_name?: string;
  readonly tool_call_id?: string;
}

type Warnings = ModelAnswer["warnings"];
type FilePart = Extract<Extract<ModelMessage, { role: "user" }>["content"][number], { type: "file" }>;
type ResultPart = Extract<Extract<ModelMessage, { role: "tool" }>["content"][number], { type: "tool-result" }>;

/** Writes a prompt as Ollama takes it. What it has no place for is left out, and added to `warnings`. */
export function toOllamaMessages(prompt: ModelPrompt, warnings: Warnings): readonly OllamaMessage[] {
  return prompt.flatMap((message) => toMessages(message, warnings));
}

function toMessages(message: ModelMessage, warnings: Warnings): readonly OllamaMessage[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user":
      return [toUserMessage(message.content, warnings)];
    case "assistant":
      return [toAssistantMessage(message.content)];
    case "tool":
      return message.content.flatMap((part) => (part.type === "tool-result" ? [toResult(part, warnings)] : []));
  }
}

function toUserMessage(
  content: readonly (FilePart | { readonly type: "text"; readonly text: string })[],
  warnings: Warnings,
): OllamaMessage {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : (toFileText(part) ?? [])));
  const images = content.flatMap((part) => (part.type === "file" ? (toImage(part, warnings) ?? []) : []));
  return { role: "user", content: texts.join("\n"), ...(images.length > 0 && { images }) };
}

function toFileText({ data }: FilePart): string | undefined {
  return data.type === "text" ? data.text : undefined;
}

function toImage({ data, mediaType }: Pick<FilePart, "data" | "mediaType">, warnings: Warnings): string | undefined {
  if (data.type === "text") return undefined;
  if (data.type === "data" && mediaType.startsWith("image")) {
    return typeof data.data === "string" ? data.data : Buffer.from(data.data).toString("base64");
  }
  const details = `Ollama takes the bytes of images, and this is ${data.type === "data" ? mediaType : data.type}`;
  warnings.push({ type: "unsupported", feature: "a file", details });
  return undefined;
}

function toAssistantMessage(content: Extract<ModelMessage, { role: "assistant" }>["content"]): OllamaMessage {
  const textOf = (type: "reasoning" | "text"): string =>
    content.flatMap((part) => (part.type === type ? [part.text] : [])).join("");
  const calls = content.flatMap((part) =>
    part.type === "tool-call"
      ? [{ id: part.toolCallId, function: { name: part.toolName, arguments: part.input } }]
      : [],
  );
  const thinking = textOf("reasoning");
  return {
    role: "assistant",
    content: textOf("text"),
    ...(thinking !== "" && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function toResult({ toolName, toolCallId, output }: ResultPart, warnings: Warnings): OllamaMessage {
  const message = { role: "tool", tool_name: toolName, tool_call_id: toolCallId } as const;
  if (output.type !== "content") return { ...message, content: toResultText(output) };
  const texts = output.value.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const images = output.value.flatMap((part) => (part.type === "file" ? (toImage(part, warnings) ?? []) : []));
  return { ...message, content: texts.join("\n"), ...(images.length > 0 && { images }) };
}

function toResultText(output: Exclude<ResultPart["output"], { type: "content" }>): string {
  if (output.type === "execution-denied") return output.reason ?? "The call was denied";
  return typeof output.value === "string" ? output.value : JSON.stringify(output.value);
}
