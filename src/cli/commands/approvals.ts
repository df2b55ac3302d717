import type { ApprovalAsked } from "../../agent/events.ts";
import { decideApproval } from "../../agent/log/decide-approval.ts";
import { KitbagError, quote } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import type { JsonValue } from "../../core/json.ts";
import { findStoppedAbove } from "../../agent/sub-agents/run-tree.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { findRoot, findRuns, readRun, type ReadRun, unlessDamaged } from "../agent/runs/read-run.ts";
import { originOf, renderResume, type RunOrigin } from "../agent/runs/run-origin.ts";
import { showInput } from "../agent/view/lines.ts";
import { type Answer, type CliCommand, type Invocation, usageError, runAction, type Action } from "../cli-command.ts";
import { decideDraft, findWaitingDraft, listWaitingDrafts, renderDrafts } from "../forge/waiting-drafts.ts";
import { readInput } from "../input/read-input.ts";
import { addOption, addSkillsOption, getText, addStoreOption } from "../options.ts";
import { toPrintable, toPrintableLine } from "../printable.ts";
import { renderFacts, renderTable } from "../render.ts";
import { findSealer, needSealer, withKept, type Kept } from "../store/open-kept.ts";

/** `kitbag approvals`: calls of agents, and drafts of tools, that wait for approval. */
export const approvalsCommand: CliCommand = {
  examples: [
    ["kitbag approvals", "which calls wait, and which tools that want more permissions than the policy grants"],
    ["kitbag approvals show 3f2a91bc", "all of one: the input of a call, the code of a tool or what changes in it"],
    ["kitbag approvals approve 3f2a91bc", "allow one; then: kitbag runs resume 3f2a91bc"],
    [`kitbag approvals approve 3f2a91bc --input '{"to": "another address"}'`, "allow it with another input"],
    [`kitbag approvals deny 3f2a91bc --reason "not today"`, "forbid it; the model is told why"],
  ],
  define(command) {
    command.argument("[action]", "list, show, approve or deny; list unless given");
    command.argument("[id]", "the approval, as the list has it; its beginning is enough");
    addOption(
      command,
      "--input <json>",
      "approve: in place of its input, as JSON; - reads standard input, @file a file",
    );
    addOption(command, "--reason <text>", "deny: why, for the model");
    addSkillsOption(command);
    addStoreOption(command);
  },
  run: (invocation) => runAction("approvals", actions, invocation, "list"),
};

const actions: Readonly<Record<string, Action>> = {
  list: { words: [0, 0], run: listApprovals },
  show: { words: [1, 1], takes: "an id, as the list has it", run: showApproval },
  approve: { words: [1, 1], run: (invocation) => decide(invocation, "approve") },
  deny: { words: [1, 1], run: (invocation) => decide(invocation, "deny") },
};

/** A call that waits, and where the tools of its run came from. */
interface Waiting {
  readonly asked: ApprovalAsked;
  readonly origin: RunOrigin;
  /** Whose run it is; none for one of the local user. */
  readonly user: string | undefined;
  /** The run that goes on: the outermost one, if a sub-agent asks. */
  readonly root: string;
}

async function findWaiting(kept: Kept, invocation: Invocation): Promise<readonly Waiting[]> {
  const idle = (await findRuns(kept.store)).filter(({ status }) => status === "idle");
  const sealer = await findSealer(kept, invocation);
  const read = await Promise.all(idle.map((summary) => readRun(kept.store, summary, { sealer }).catch(unlessDamaged)));
  const found = await Promise.all(read.map(async (run) => (run === undefined ? [] : toWaiting(kept.store, run))));
  return found.flat();
}

/** What a run waits for; nothing if the run above it was stopped. */
async function toWaiting(store: Store, run: ReadRun): Promise<readonly Waiting[]> {
  if (run.waiting.length === 0) return [];
  const { start } = run.folded;
  if ((await findStoppedAbove(createRuns({ store }), start)) !== undefined) return [];
  const root = await findRoot(store, run);
  const facts = { origin: originOf(root.folded.start), user: start.user, root: root.id };
  return run.waiting.map((asked) => ({ asked, ...facts }));
}

async function listApprovals(invocation: Invocation): Promise<Answer> {
  const waiting = await withKept(invocation, (kept) => findWaiting(kept, invocation));
  const approvals = waiting.map(({ asked }) => asked);
  const drafts = await listWaitingDrafts(invocation);
  const documents = drafts.map(({ waiting: facts, draft }) => ({ ...facts, draft }));
  const document = { approvals, ...(drafts.length > 0 && { drafts: documents }) };
  const rows = waiting.map(({ asked: { approval, tool, input }, user = "" }) => [
    approval,
    tool,
    user,
    showInput(input),
  ]);
  const tables = [
    ...(rows.length > 0 ? [renderTable(["ID", "TOOL", "ASKED BY", "INPUT"], rows, invocation.terminal)] : []),
    ...(drafts.length > 0 ? [renderDrafts(drafts, invocation)] : []),
  ];
  if (tables.length === 0) return { document, text: "No call waits for an approval." };
  return { document, text: [...tables, "To see all of one: kitbag approvals show <id>"].join("\n\n") };
}

async function showApproval(invocation: Invocation): Promise<Answer> {
  const [id = ""] = invocation.args;
  const draft = await findWaitingDraft(invocation, id);
  if (draft !== undefined) return (await import("../forge/waiting-drafts.ts")).showDraft(draft, invocation);
  const { asked } = pick(await withKept(invocation, (kept) => findWaiting(kept, invocation)), id);
  const { approval, run, tool, input } = asked;
  const facts = renderFacts([
    ["tool", tool],
    ["run", run],
    ["approval", approval],
  ]);
  return { document: asked, text: `${facts}\n\n${toPrintable(JSON.stringify(input, undefined, 2))}` };
}

async function decide(invocation: Invocation, decision: "approve" | "deny"): Promise<Answer> {
  const { options, args } = invocation;
  const given = getText(options, "input");
  const reason = getText(options, "reason");
  if (given !== undefined && decision === "deny") throw usageError("Cannot deny a call with another input");
  if (reason !== undefined && decision === "approve")
    throw usageError("Cannot use --reason with approve: it is for deny");
  const draft = await decideDraft(invocation, args[0] ?? "", decision);
  if (draft !== undefined) return draft;
  const input = given === undefined ? undefined : ((await readInput(given, invocation)) as JsonValue);
  return withKept(invocation, async (kept) => {
    const { asked, origin, root } = pick(await findWaiting(kept, invocation), args[0] ?? "");
    const { approval, run, tool } = asked;
    const place = { runs: createRuns({ store: kept.store }), sealer: await needSealer(kept, invocation) };
    await decideApproval(place, approval, {
      decision,
      ...(reason !== undefined && { reason }),
      ...(input !== undefined && { input }),
    });
    const resume = renderResume(root, origin, invocation);
    const text = toPrintableLine(`${decision === "approve" ? "Approved" : "Denied"} ${tool}. To go on: ${resume}`);
    return { document: { approval, decision, run }, text };
  });
}

function pick(waiting: readonly Waiting[], given: string): Waiting {
  const fit = waiting.filter(({ asked }) => asked.approval.startsWith(given));
  const exact = fit.find(({ asked }) => asked.approval === given);
  const [first, second] = exact === undefined ? fit : [exact];
  if (first !== undefined && second === undefined) return first;
  if (first === undefined)
    throw new KitbagError("name-not-found", {
      what: "approval",
      name: given,
      cure: "kitbag approvals lists those that wait",
    });
  const names = fit.map(({ asked }) => asked.approval).join(", ");
  throw usageError(`Cannot tell which approval ${quote(given)} is: ${names}`);
}
