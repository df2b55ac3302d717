import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { expect, test } from "vitest";

import { createAgent } from "../agent/create-agent.ts";
import { defineTool } from "../core/define-tool.ts";
import { localCaller } from "../gate/access/token-check.ts";
import { memoryStore } from "../store/memory-store.ts";
import { mockModel } from "../testing/models/mock-model.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import { createHandler } from "./create-handler.ts";

test("chat.send speaks the AI SDK's UI message stream: text, two tools, an approval and the rest of the answer", async () => {
  const chat = openChat();

  const first = await chat.send([user("Look it up, then send it")]);
  const asked = first.parts.find((part) => part.type === "dynamic-tool" && part.state === "approval-requested");
  const rest = await chat.send([user("Look it up, then send it"), approve(first)]);

  expect(asked).toMatchObject({ toolName: "send", input: { to: "ann" }, approval: { id: expect.any(String) } });
  expect(first.parts.find((part) => part.type === "dynamic-tool" && part.toolName === "look")).toMatchObject({
    state: "output-available",
    output: "found",
  });
  expect(chat.sent).toEqual(["ann"]);
  expect(textOf(rest)).toBe("It is sent");
});

test("chat.send tells an error of the run as an error of the stream", async () => {
  const chat = openChat([]);

  await expect(chat.send([user("Hello")])).rejects.toThrow(/Cannot get an answer/u);
});

test.for<[string, unknown, string]>([
  [
    "a file that is elsewhere",
    { role: "user", parts: [{ type: "file", url: "http://169.254.169.254/", mediaType: "image/png" }] },
    "data URL",
  ],
  ["parts that are no list", { role: "user", parts: "x" }, "messages[0].parts"],
  ["an unknown role", { role: "root", parts: [] }, "messages[0].role"],
])("chat.send refuses %s", async ([, message, part]) => {
  const { handle } = openChat();

  const response = await handle(toRequest({ messages: [message] }));

  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining(part) });
});

interface OpenChat {
  readonly handle: (request: Request) => Promise<Response>;
  readonly sent: string[];
  send(messages: UIMessage[]): Promise<UIMessage>;
}

function openChat(script?: []): OpenChat {
  const sent: string[] = [];
  const look = defineTool({ name: "look", description: "Looks", annotations: { readOnly: true }, run: () => "found" });
  const send = defineTool({
    name: "send",
    description: "Sends",
    input: { type: "object", properties: { to: { type: "string" } } },
    needsApproval: true,
    run({ to }) {
      sent.push(String(to));
      return "sent";
    },
  });
  const store = memoryStore();
  const workspace = createWorkspace({ tools: [look, send], store });
  const model = mockModel(
    script ?? [{ calls: [{ tool: "look" }] }, { calls: [{ tool: "send", input: { to: "ann" } }] }, "It is sent"],
  );
  const agents = { helper: createAgent({ model, workspace, store }) };
  const handle = createHandler({ workspace, store, agents }, { caller: () => localCaller });
  const transport = new DefaultChatTransport({
    api: "http://localhost/api/chat",
    fetch: async (url, init) => handle(new Request(String(url), init)),
  });
  return {
    handle,
    sent,
    async send(messages) {
      const stream = await transport.sendMessages({
        trigger: "submit-message",
        chatId: "one",
        messageId: undefined,
        messages,
        abortSignal: undefined,
      });
      const last = messages.at(-1);
      const message = last?.role === "assistant" ? { message: last } : {};
      let read: UIMessage | undefined;
      for await (const now of readUIMessageStream({ stream, terminateOnError: true, ...message })) read = now;
      if (read === undefined) throw new Error("The stream has no message");
      return read;
    },
  };
}

/** What a page does when a person agrees. */
function approve(message: UIMessage): UIMessage {
  return {
    ...message,
    parts: message.parts.map((part) =>
      part.type === "dynamic-tool" && part.state === "approval-requested"
        ? { ...part, state: "approval-responded", approval: { id: part.approval.id, approved: true } }
        : part,
    ),
  };
}

function user(text: string): UIMessage {
  return { id: "u1", role: "user", parts: [{ type: "text", text }] };
}

function textOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function toRequest(body: unknown): Request {
  return new Request("http://localhost/api/chat", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
