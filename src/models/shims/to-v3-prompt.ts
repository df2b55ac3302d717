import type {
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolApprovalResponsePart,
  LanguageModelV3ToolResultOutput,
  LanguageModelV3ToolResultPart,
  LanguageModelV4FilePart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";

import { KitbagError } from "../../core/errors.ts";
import type { ModelMessage, ModelPrompt } from "../model.ts";

type AssistantParts = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];
type UserParts = Extract<LanguageModelV3Message, { role: "user" }>["content"];
type ContentOutput = Extract<LanguageModelV4ToolResultOutput, { type: "content" }>;
type OldContent = Extract<LanguageModelV3ToolResultOutput, { type: "content" }>["value"][number];
type FileContent = Extract<ContentOutput["value"][number], { type: "file" }>;

/** The model that a prompt is written for: `provider` says which references to files are its own. */
export interface PromptReader {
  readonly provider: string;
  readonly modelId: string;
}

/**
 * Writes a prompt as version 3 of the interface has it. What that version has no word for is left out of what the assistant
 * said (files of its reasoning, parts that only one provider knows).
 *
 * @throws {KitbagError} `model-refused` if a file is kept with another provider.
 */
export function toV3Prompt(prompt: ModelPrompt, reader: PromptReader): LanguageModelV3Prompt {
  return prompt.map((message) => toMessage(message, reader));
}

function toMessage(message: ModelMessage, reader: PromptReader): LanguageModelV3Message {
  switch (message.role) {
    case "system":
      return message;
    case "user": {
      const content: UserParts = message.content.map((part) => (part.type === "file" ? toFile(part, reader) : part));
      return { ...message, content };
    }
    case "assistant":
      return { ...message, content: toAssistantParts(message.content, reader) };
    case "tool": {
      const content = message.content.map(
        (part): LanguageModelV3ToolResultPart | LanguageModelV3ToolApprovalResponsePart =>
          part.type === "tool-result" ? toResult(part) : part,
      );
      return { ...message, content };
    }
  }
}

function toAssistantParts(
  parts: Extract<ModelMessage, { role: "assistant" }>["content"],
  reader: PromptReader,
): AssistantParts {
  const content: AssistantParts = [];
  for (const part of parts) {
    if (part.type === "custom" || part.type === "reasoning-file") continue;
    if (part.type === "file") content.push(toFile(part, reader));
    else if (part.type === "tool-result") content.push(toResult(part));
    else content.push(part);
  }
  return content;
}

function toFile(part: LanguageModelV4FilePart, reader: PromptReader): UserParts[number] {
  const mediaType = toWholeMediaType(part.mediaType);
  const { data } = part;
  switch (data.type) {
    case "data":
      return { ...part, mediaType, data: data.data };
    case "url":
      return { ...part, mediaType, data: data.url };
    case "text":
      return { ...part, mediaType, data: new TextEncoder().encode(data.text) };
    case "reference": {
      // Version 3 writes the id of a file where its data would be.
      const id = data.reference[namespaceOf(reader.provider)];
      if (id === undefined) throw foreignFile(reader);
      return { ...part, mediaType, data: id };
    }
  }
}

function foreignFile({ provider, modelId }: PromptReader): KitbagError {
  return new KitbagError("model-refused", {
    model: `${namespaceOf(provider)}/${modelId}`,
    reason: "a file of the prompt is kept with another provider",
    cure: "give the file itself, or its URL",
  });
}

function toResult(part: LanguageModelV4ToolResultPart): LanguageModelV3ToolResultPart {
  return { ...part, output: toOutput(part.output) };
}

function toOutput(output: LanguageModelV4ToolResultOutput): LanguageModelV3ToolResultOutput {
  if (output.type !== "content") return output;
  return { ...output, value: output.value.map((item) => (item.type === "file" ? toFileContent(item) : item)) };
}

function toFileContent({ data, mediaType: type, filename, providerOptions }: FileContent): OldContent {
  const mediaType = toWholeMediaType(type);
  const isImage = mediaType.startsWith("image/");
  const options = providerOptions === undefined ? {} : { providerOptions };
  switch (data.type) {
    case "text":
      return { type: "text", text: data.text, ...options };
    case "url":
      return { type: isImage ? "image-url" : "file-url", url: data.url.href, ...options };
    case "reference":
      return { type: isImage ? "image-file-id" : "file-id", fileId: { ...data.reference }, ...options };
    case "data": {
      const text = typeof data.data === "string" ? data.data : Buffer.from(data.data).toString("base64");
      if (isImage) return { type: "image-data", data: text, mediaType, ...options };
      return { type: "file-data", data: text, mediaType, ...(filename === undefined ? {} : { filename }), ...options };
    }
  }
}

/** Version 4 may say `image` where older ones say `image/*`. */
function toWholeMediaType(mediaType: string): string {
  return mediaType.includes("/") ? mediaType : `${mediaType}/*`;
}

/** The name under which a provider's own options and ids stand: `openai` of `openai.responses`. */
export function namespaceOf(provider: string): string {
  const dot = provider.indexOf(".");
  return dot === -1 ? provider : provider.slice(0, dot);
}
