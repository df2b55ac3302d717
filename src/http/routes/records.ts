import type { JsonObject, JsonValue } from "../../core/json.ts";
import { readCallStats } from "../../records/stats/read-call-stats.ts";
import { operation } from "../operation.ts";
import { needStore } from "../start-runs.ts";

/** Kept outputs, and figures of calls. */
export const recordOperations = {
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
