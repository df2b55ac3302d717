import type { ApprovalAsked } from "../../agent/events.ts";
import { checkJournal } from "../../agent/log/check-journal.ts";
import { decideApproval } from "../../agent/log/decide-approval.ts";
import { foldLines } from "../../agent/log/fold-journal.ts";
import { isKitbagError } from "../../core/errors.ts";
import { findOwnRuns } from "../../gate/own-runs.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { operation, type OperationContext } from "../operation.ts";
import { listOf } from "../shapes.ts";
import { needRun, needRunRights, needStore } from "../start-runs.ts";

const text = { type: "string" } as const;

/** Calls of agents that wait for approval. */
export const approvalOperations = {
  "approvals.list": operation("approvals.list", {
    summary: "Lists the calls of your runs that wait for approval.",
    scope: "runs",
    answer: listOf("Approvals", {
      type: "object",
      properties: { approval: text, run: text, tool: text, input: {}, reason: text },
      required: ["approval", "run", "tool", "input"],
    }),
    async handle(context) {
      const store = needStore(context);
      const own = await findOwnRuns({ ...context.parts, ...context, store }, 10_000);
      const idle = own.filter(({ status }) => status === "idle");
      const waiting: ApprovalAsked[] = [];
      // One after the other: a journal may be long, and its whole is read.
      for (const { id } of idle) waiting.push(...(await findWaiting(context, id)));
      return {
        items: waiting.map(({ approval, run, tool, input, reason }) => ({
          approval,
          run,
          tool,
          input,
          ...(reason !== undefined && { reason }),
        })),
      };
    },
  }),
  "approvals.decide": operation("approvals.decide", {
    summary: "Approves or denies a call; the run goes on when it is resumed.",
    scope: "runs",
    input: {
      type: "object",
      properties: {
        decision: { enum: ["approve", "deny"] },
        reason: { ...text, description: "Why it is denied, for the model" },
        input: { description: "What to call the tool with instead" },
      },
      required: ["decision"],
      additionalProperties: false,
    },
    answer: { type: "object", properties: { approval: text, run: text }, required: ["approval", "run"] },
    async handle(context, { approval, decision, reason, input }) {
      const run = approval.slice(0, Math.max(0, approval.lastIndexOf(":")));
      await needRun(context, run);
      if (decision === "approve") needRunRights(context);
      const { audit } = context.parts;
      await decideApproval({ runs: createRuns({ store: needStore(context) }), sealer: audit }, approval, {
        decision,
        user: context.caller.id,
        ...(reason !== undefined && { reason }),
        ...(input !== undefined && { input }),
      });
      return { approval, run };
    },
  }),
} as const;

async function findWaiting(context: OperationContext, id: string): Promise<readonly ApprovalAsked[]> {
  try {
    const entries = await createRuns({ store: needStore(context) }).read(id, { limit: 1_000_000 });
    checkJournal(id, entries);
    const { decided } = foldLines(id, entries, context.parts.audit);
    return entries.flatMap(({ value }) =>
      value.type === "approval-asked" && !decided.has((value as unknown as ApprovalAsked).approval)
        ? [value as unknown as ApprovalAsked]
        : [],
    );
  } catch (cause) {
    // A run that is damaged does not hide the others.
    if (isKitbagError(cause, "run-damaged") || isKitbagError(cause, "run-not-found")) return [];
    throw cause;
  }
}
