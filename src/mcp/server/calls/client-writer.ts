import { inputRequired } from "@modelcontextprotocol/server";

import type { WriteText } from "../../../forge/generate/ask-model.ts";
import type { ModelPrompt } from "../../../models/model.ts";
import type { McpClientAccess } from "./ask-client.ts";

/** Enough tokens for a program with its examples. */
const maxTokens = 8000;

/** Makes a function that writes texts with the model of an MCP client (sampling); `undefined` if the client offers no model. */
export function toClientWriter(client: unknown): WriteText | undefined {
  const access = client as Partial<McpClientAccess> | undefined;
  if (access?.can?.("sampling") !== true || access.ask === undefined) return undefined;
  const { ask } = access;
  return async (prompt) => {
    const system = prompt.flatMap((message) => (message.role === "system" ? [message.content] : [])).join("\n\n");
    const question = inputRequired.createMessage({ systemPrompt: system, messages: toMessages(prompt), maxTokens });
    const { answer } = await ask({ answer: question });
    return toText(answer?.["content"]);
  };
}

type Messages = Parameters<typeof inputRequired.createMessage>[0]["messages"];

function toMessages(prompt: ModelPrompt): Messages {
  return prompt.flatMap((message): Messages => {
    if (message.role !== "user" && message.role !== "assistant") return [];
    const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    return [{ role: message.role, content: { type: "text", text } }];
  });
}

/** The text of an answer: a client answers with one content block, or with several. */
function toText(content: unknown): string {
  const blocks = (Array.isArray(content) ? content : [content]) as readonly ({ readonly text?: unknown } | undefined)[];
  return blocks.flatMap((block) => (typeof block?.text === "string" ? [block.text] : [])).join("");
}

/** Stands for a caller that is not an MCP client. */
export const noClient: Pick<McpClientAccess, "can"> = { can: () => false };
