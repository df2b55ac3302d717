import { KitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import { readCallStats } from "../../records/stats/read-call-stats.ts";
import { operation } from "../operation.ts";
import { needStore } from "../start-runs.ts";

/** Kept outputs, and figures of calls. */
export const recordOperations = {
  "outputs.keep": operation("outputs.keep", {
    summary: "Keeps a file of yours: calls name it by its handle, in place of a path.",
    input: {
      type: "object",
      properties: {
        text: { type: "string", description: "The file, if it is text" },
        base64: { type: "string", description: "The file, if it is not" },
      },
      additionalProperties: false,
    },
    answer: {
      type: "object",
      properties: { handle: { type: "string" }, bytes: { type: "integer" } },
      required: ["handle", "bytes"],
    },
    async handle({ session, caller }, given) {
      const { handle, bytes } = await session.keepFile(toBytes(given), { user: caller.id });
      return { handle, bytes };
    },
  }),
  "outputs.read": operation("outputs.read", {
    summary: "Reads a large output, or a file that a tool wrote, by its handle.",
    answer: { description: "The bytes" },
    async handle({ session, caller }, { handle }) {
      const bytes = await session.readOutputBytes(handle, { user: caller.id });
      return { bytes, type: "application/octet-stream" };
    },
  }),
  "stats.get": operation("stats.get", {
    summary: "Counts your calls with their times and errors; of all users with the scope service.",
    input: {
      type: "object",
      properties: {
        since: { type: "integer", minimum: 0, description: "Milliseconds since 1970" },
        tool: { type: "string", description: "Only of this tool, or of the tools of this skill" },
        all: { type: "boolean", default: false, description: "Of all users" },
      },
      additionalProperties: false,
    },
    answer: { type: "object" },
    async handle(context, { since, tool, all }) {
      const stats = await readCallStats(needStore(context), {
        ...(since !== undefined && { since }),
        ...(tool !== undefined && { tool }),
        ...(!(all && context.mayServe()) && { user: context.caller.id }),
      });
      return stats as unknown as JsonObject as JsonValue as JsonObject;
    },
  }),
} as const;

function toBytes({ text, base64 }: { readonly text?: string; readonly base64?: string }): Uint8Array {
  if (text !== undefined && base64 === undefined) return new TextEncoder().encode(text);
  const bytes = text === undefined && base64 !== undefined ? Buffer.from(base64, "base64") : undefined;
  // What is not of the alphabet is left out when it is read.
  if (bytes !== undefined && bytes.toString("base64").replaceAll("=", "") === base64?.replaceAll(/[\s=]/gu, ""))
    return bytes;
  const reason = "expected either text or base64, found neither, both, or what is not base64";
  throw new KitbagError("request-refused", { status: 422, reason });
}
