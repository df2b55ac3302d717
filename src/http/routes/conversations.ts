import {
  deleteConversation,
  listConversations,
  readConversation,
} from "../../agent/memory/conversations/read-conversation.ts";
import { KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { prefixOf, toConversationId, toConversationName } from "../conversation-id.ts";
import type { ValueOf } from "../../core/schema/schema-types.ts";
import { operation, type OperationContext } from "../operation.ts";
import { needStore } from "../start-runs.ts";
import { listOf } from "../shapes.ts";

const text = { type: "string" } as const;

const conversationShape = {
  type: "object",
  properties: {
    name: text,
    title: { ...text, description: "The beginning of what was asked first" },
    startedAt: { type: "number" },
    time: { type: "number" },
    runs: { type: "integer" },
    messages: { type: "integer" },
  },
  required: ["name", "title", "startedAt", "time", "runs", "messages"],
} as const;

const pageSize = 500;

/** A conversation in the list. */
type Listed = ValueOf<typeof conversationShape>;

/** Conversations that agents keep for the caller. */
export const conversationOperations = {
  "conversations.list": operation("conversations.list", {
    summary: "Lists your conversations.",
    scope: "runs",
    input: {
      type: "object",
      properties: { after: text, limit: { type: "integer", minimum: 1, maximum: 1000, default: 100 } },
      additionalProperties: false,
    },
    answer: listOf("Conversations by name", conversationShape),
    async handle(context, { after, limit }) {
      const owner = ownerOf(context);
      const items: Listed[] = [];
      for (
        let from = after === undefined ? (owner === undefined ? "" : prefixOf(owner)) : toConversationId(owner, after);
        ;
      ) {
        const page = await listConversations(needStore(context), {
          limit: pageSize,
          ...(from !== "" && { after: from }),
        });
        for (const { id, ...facts } of page) {
          const name = toConversationName(owner, id);
          if (name !== undefined) items.push({ name, ...facts });
        }
        const last = page.at(-1)?.id;
        const isOver =
          page.length < pageSize ||
          (owner !== undefined && last !== undefined && toConversationName(owner, last) === undefined);
        if (isOver || last === undefined || items.length >= limit) return { items: items.slice(0, limit) };
        from = last;
      }
    },
  }),
  "conversations.get": operation("conversations.get", {
    summary: "Reads a conversation with its messages.",
    scope: "runs",
    answer: {
      type: "object",
      properties: {
        name: text,
        title: text,
        messages: { type: "array", items: {} },
        skills: { type: "array", items: text },
      },
      required: ["name", "title", "messages", "skills"],
    },
    async handle(context, { name }) {
      const found = await readConversation(needStore(context), toConversationId(ownerOf(context), name));
      if (found === undefined) throw missing(name);
      const { title, messages, skills } = found;
      return { name, title, messages: JSON.parse(JSON.stringify(messages)) as JsonValue[], skills };
    },
  }),
  "conversations.delete": operation("conversations.delete", {
    summary: "Deletes a conversation; the logs of its runs stay.",
    scope: "runs",
    answer: { type: "object", properties: { deleted: { type: "boolean" } }, required: ["deleted"] },
    async handle(context, { name }) {
      return { deleted: await deleteConversation(needStore(context), toConversationId(ownerOf(context), name)) };
    },
  }),
} as const;

function ownerOf({ parts, caller }: OperationContext): string | undefined {
  return parts.workspace.ownerOf(caller.id);
}

function missing(name: string): KitbagError<"request-refused"> {
  const reason = `there is no conversation ${JSON.stringify(name.slice(0, 60))}; conversations.list has the names`;
  return new KitbagError("request-refused", { status: 404, reason });
}
