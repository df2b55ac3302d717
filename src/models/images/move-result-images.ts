import type { Model, ModelMessage, ModelPrompt } from "../model.ts";

type UserPart = Extract<ModelMessage, { role: "user" }>["content"][number];
type ToolMessage = Extract<ModelMessage, { role: "tool" }>;
type ToolPart = ToolMessage["content"][number];

/** Providers whose results of tools hold pictures; the others write them out as text, in base64. */
const withImages = new Set(["openai.responses", "anthropic.messages", "google.generative-ai"]);

/** Tells whether a prompt has pictures in results of tools that the model's provider takes no pictures in. */
export function hasResultImages(prompt: ModelPrompt, { provider }: Pick<Model, "provider">): boolean {
  if (withImages.has(provider)) return false;
  return prompt.some(({ role, content }) => role === "tool" && content.some((part) => toFiles(part).length > 0));
}

/** Moves the pictures of results into a message of the user right after all results; in their place stands where they are. */
export function moveResultImages(prompt: ModelPrompt): ModelPrompt {
  const moved: ModelPrompt = [];
  let waiting: UserPart[] = [];
  for (const message of prompt) {
    // Results stand together: nothing may come between them.
    if (message.role !== "tool" && waiting.length > 0) {
      moved.push({ role: "user", content: waiting });
      waiting = [];
    }
    if (message.role !== "tool") moved.push(message);
    else moved.push({ ...message, content: message.content.map((part) => takeOut(part, waiting)) });
  }
  if (waiting.length > 0) moved.push({ role: "user", content: waiting });
  return moved;
}

function takeOut(part: ToolPart, waiting: UserPart[]): ToolPart {
  if (part.type !== "tool-result" || part.output.type !== "content" || toFiles(part).length === 0) return part;
  const label = `Image from the result of ${part.toolName} (${part.toolCallId}):`;
  const texts = part.output.value.map((item) => {
    if (!isImageFile(item)) return item.type === "text" ? item.text : JSON.stringify(item);
    waiting.push({ type: "text", text: label }, item);
    return "(The image is in the next message.)";
  });
  return { ...part, output: { type: "text", value: texts.join("\n") } };
}

type Item = Extract<Extract<ToolPart, { type: "tool-result" }>["output"], { type: "content" }>["value"][number];
type FileItem = Extract<Item, { type: "file" }>;

function toFiles(part: { readonly type: string }): readonly FileItem[] {
  const { output } = part as { output?: { type: string; value: readonly Item[] } };
  return output?.type === "content" ? output.value.filter(isImageFile) : [];
}

function isImageFile(item: Item): item is FileItem {
  return item.type === "file" && item.mediaType.startsWith("image");
}
