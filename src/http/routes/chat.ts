import { decideApproval } from "../../agent/log/decide-approval.ts";
import { KitbagError } from "../../core/errors.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { operation, type OperationContext } from "../operation.ts";
import { findDecisions, fromUiMessages, type PageDecision } from "../protocols/ui-messages.ts";
import { toUiMessageStream, uiStreamHeaders } from "../protocols/ui-message-stream.ts";
import type { ServerEvent } from "../server-events.ts";
import { needRun, needRunRights, needStore, resumeRun, startRun, streamRun } from "../start-runs.ts";

/** Chats of web pages, in the protocol of `useChat`. */
export const chatOperations = {
  "chat.send": operation("chat.send", {
    summary: "Answers a chat of the AI SDK (useChat) as its UI message stream, with tools, approvals and skills.",
    scope: "runs",
    input: {
      type: "object",
      properties: {
        messages: {
          type: "array",
          items: { type: "object" },
          minItems: 1,
          description: "The messages, as useChat has them",
        },
        agent: { type: "string", description: "The agent; the first one if it is left out" },
        id: { type: "string", description: "The chat" },
      },
      required: ["messages"],
    },
    answer: { description: "Always a stream" },
    isStream: () => true,
    handle: () => null,
    async stream(context, { messages, agent }) {
      for (const [name, value] of Object.entries(uiStreamHeaders)) context.setHeader(name, value);
      const last = messages.at(-1);
      const messageId =
        last?.["role"] === "assistant" && typeof last["id"] === "string" ? last["id"] : crypto.randomUUID();
      const decisions = findDecisions(messages);
      const events =
        decisions.length > 0 ? await goOn(context, decisions, agent) : await begin(context, messages, agent);
      return toUiMessageStream(events, messageId);
    },
  }),
} as const;

async function begin(
  context: OperationContext,
  messages: Parameters<typeof fromUiMessages>[0],
  agent: string | undefined,
): Promise<AsyncIterable<ServerEvent>> {
  const [first = ""] = Object.keys(context.parts.agents ?? {});
  const task = await fromUiMessages(messages);
  return streamRun(context, startRun(context, { agent: agent ?? first, task }));
}

/** Writes the decisions down, and goes on with the run that waited for them. */
async function goOn(
  context: OperationContext,
  decisions: readonly PageDecision[],
  agent: string | undefined,
): Promise<AsyncIterable<ServerEvent>> {
  const store = needStore(context);
  const ids = new Set(decisions.map(({ approval }) => approval.slice(0, Math.max(0, approval.lastIndexOf(":")))));
  const [id = "", another] = ids;
  if (another !== undefined)
    throw new KitbagError("request-refused", { status: 422, reason: "the approvals of a message must be of one run" });
  await needRun(context, id);
  needRunRights(context);
  const place = { runs: createRuns({ store }), sealer: context.parts.audit };
  for (const { approval, ...decision } of decisions)
    await decideApproval(place, approval, { ...decision, user: context.caller.id });
  const { entries } = await needRun(context, id);
  const [first] = Object.keys(context.parts.agents ?? {});
  return streamRun(context, resumeRun(context, id, agent ?? first), entries);
}
