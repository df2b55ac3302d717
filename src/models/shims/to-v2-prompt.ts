import type {
  LanguageModelV2Message,
  LanguageModelV2Prompt,
  LanguageModelV2ToolResultOutput,
  LanguageModelV2ToolResultPart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultOutput,
  LanguageModelV3ToolResultPart,
} from "@ai-sdk/provider";

type V3Content = Extract<LanguageModelV3ToolResultOutput, { type: "content" }>["value"][number];
type V2Content = Extract<LanguageModelV2ToolResultOutput, { type: "content" }>["value"][number];

/**
 * Converts a prompt to version 2 of the interface. That version has no approval responses, and tool results may hold files only as
 * data: for other files the model reads their location as text.
 */
export function toV2Prompt(prompt: LanguageModelV3Prompt): LanguageModelV2Prompt {
  return prompt.map(toMessage);
}

// Where the types of the two versions differ beside that is only in whether a provider's option may be `undefined`.
function toMessage(message: LanguageModelV3Message): LanguageModelV2Message {
  if (message.role === "assistant") {
    const content = message.content.map((part) => (part.type === "tool-result" ? toResult(part) : part));
    return { ...message, content } as LanguageModelV2Message;
  }
  if (message.role !== "tool") return message as LanguageModelV2Message;
  const content = message.content.filter((part) => part.type === "tool-result").map(toResult);
  return { ...message, content } as LanguageModelV2Message;
}

function toResult(part: LanguageModelV3ToolResultPart): LanguageModelV2ToolResultPart {
  return { ...part, output: toOutput(part.output) } as LanguageModelV2ToolResultPart;
}

function toOutput(output: LanguageModelV3ToolResultOutput): LanguageModelV2ToolResultOutput {
  switch (output.type) {
    case "execution-denied":
      return { type: "error-text", value: output.reason ?? "The call was denied" };
    case "content":
      return { type: "content", value: output.value.flatMap(toContent) };
    case "text":
    case "json":
    case "error-text":
    case "error-json":
      return { type: output.type, value: output.value } as LanguageModelV2ToolResultOutput;
  }
}

function toContent(item: V3Content): V2Content[] {
  switch (item.type) {
    case "text":
      return [{ type: "text", text: item.text }];
    case "file-data":
    case "image-data":
      return [{ type: "media", data: item.data, mediaType: item.mediaType }];
    case "file-url":
    case "image-url":
      return [{ type: "text", text: item.url }];
    case "file-id":
    case "image-file-id":
      return [{ type: "text", text: typeof item.fileId === "string" ? item.fileId : JSON.stringify(item.fileId) }];
    case "custom":
      return [];
  }
}
