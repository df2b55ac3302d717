import type { ModelAnswered } from "../../../agent/events.ts";
import type { Answer, Invocation } from "../../cli-command.ts";
import { toPrintable, toPrintableLine } from "../../printable.ts";
import { renderFacts, cutToWidth, showTime, showDuration, renderTable } from "../../render.ts";
import { findSealer, withKept } from "../../store/open-kept.ts";
import type { Terminal } from "../../terminal.ts";
import { isSkillCall, nameCall } from "../view/run-view.ts";
import { showCount, showDollars } from "../view/describe-end.ts";
import { showInput, showOutcome } from "../view/lines.ts";
import { callsOf, needRun, type ReadRun, shortenIds, findRuns, readRun, withChildren } from "./read-run.ts";
import { originOf, renderResume } from "./run-origin.ts";
import { isKitbagError, type Failure } from "../../../core/errors.ts";
import { getText, readLimit, showCommand } from "../../options.ts";
import type { RunSummary } from "../../../records/runs/create-runs.ts";

/** Shows one run as a transcript; its journal as data. */
export async function showRun(invocation: Invocation): Promise<Answer> {
  const [given = ""] = invocation.args;
  return withKept(invocation, async (kept) => {
    const options = { sealer: await findSealer(kept, invocation) };
    const run = await withChildren(kept.store, await needRun(kept.store, given, options), options);
    return { document: toShown(run), text: renderTranscript(run, invocation) };
  });
}

/** A run and those of its sub-agents, as data. */
function toShown({ id, status, entries, children }: ReadRun): object {
  return { run: id, status, journal: entries, ...(children.length > 0 && { children: children.map(toShown) }) };
}

/** A run to read from top to bottom. */
function renderTranscript(run: ReadRun, invocation: Pick<Invocation, "terminal" | "options" | "cwd">): string {
  const { terminal } = invocation;
  const { folded } = run;
  const steps = folded.answers.map((answer) => renderStep(answer, run, terminal));
  return [renderHead(run), `${terminal.style("bold", "›")} ${run.task}`, ...steps, ...renderEnd(run, invocation)].join(
    "\n\n",
  );
}

function renderHead(run: ReadRun): string {
  const { start } = run.folded;
  const { forkOf, parent } = start;
  return renderFacts([
    ["Run", run.id],
    ["Status", run.status],
    ["Model", run.model],
    ["Begun", showTime(run.begun)],
    ["Changed", showTime(run.changed)],
    ["Steps", String(run.steps)],
    ["Tokens", showCount(run.tokens)],
    ["Cost", showDollars(run.cost)],
    ["Skills", start.skills.join(", ")],
    ["Conversation", start.conversation ?? ""],
    ["Sub-agent of", parent === undefined ? "" : `${parent.run}, call ${parent.call}`],
    ["Fork of", forkOf === undefined ? "" : `${forkOf.run}, up to step ${forkOf.step}`],
  ]);
}

function renderStep(answer: ModelAnswered, { folded, children }: ReadRun, terminal: Terminal): string {
  const { step, content, durationMs, usage } = answer;
  const tokens = (usage.inputTokens.total ?? 0) + (usage.outputTokens.total ?? 0);
  const head = terminal.style("dim", `── step ${step} · ${showCount(tokens)} tokens · ${showDuration(durationMs)}`);
  const texts = content.flatMap((part) => {
    if (part.type === "text") return [toPrintable(part.text.trim())];
    return part.type === "reasoning" ? [terminal.style("dim", toPrintable(part.text.trim()))] : [];
  });
  const room = terminal.columns ?? 160;
  const calls = callsOf(answer).map(({ name, tool, input }) => {
    const decided = folded.decided.get(`${folded.start.run}:${name}`)?.input;
    const outcome = folded.outcomes.get(name);
    const mark =
      outcome === undefined ? "…" : outcome.status === "ok" ? terminal.style("green", "✓") : terminal.style("red", "✗");
    const result = outcome === undefined ? "no outcome is recorded" : showOutcome(outcome);
    const changed = folded.changed.get(name);
    const approved =
      decided !== undefined
        ? ` (approved with ${showInput(decided)})`
        : changed === undefined
          ? ""
          : ` (made with ${showInput(changed)})`;
    const words = `${name} ${nameCall({ tool: toPrintableLine(tool).replace("__", "/"), input })}${approved}`;
    if (outcome?.status === "ok" && isSkillCall(tool)) return `${mark} ${words}`;
    const line = `${mark} ${cutToWidth(words, room - 2)}\n  ${terminal.style("dim", cutToWidth(`→ ${result}`, room - 2))}`;
    const below = children.filter(({ folded: { start } }) => start.parent?.call === name);
    return [line, ...below.map((child) => renderChild(child, terminal))].join("\n");
  });
  return [head, ...texts.filter((text) => text !== ""), ...calls].join("\n");
}

/** The run of a sub-agent, below the call that it is. */
function renderChild(run: ReadRun, terminal: Terminal): string {
  const head = `${terminal.style("bold", run.id)} ${run.status}, ${run.model}, ${showCount(run.tokens)} tokens`;
  const steps = run.folded.answers.map((answer) => renderStep(answer, run, terminal));
  return [head, `› ${run.task}`, ...steps].join("\n").replaceAll(/^/gmu, "  │ ");
}

function renderEnd(
  { id, status, outcome, waiting, folded }: ReadRun,
  invocation: Pick<Invocation, "terminal" | "options" | "cwd">,
): string[] {
  if (outcome?.status === "failed") return [invocation.terminal.style("red", toPrintable(outcome.error.message))];
  const resume = toPrintableLine(renderResume(id, originOf(folded.start), invocation));
  if (status === "interrupted") return [`It was interrupted. To go on: ${resume}`];
  if (waiting.length === 0) return [];
  const calls = waiting.map(({ approval, tool, input }) => `  ${approval}  ${nameCall({ tool, input })}`);
  const approve = showCommand("approvals approve ID", invocation);
  return [`It waits for an approval:\n${calls.join("\n")}\nTo decide: ${approve}, or deny; then: ${resume}`];
}

/** Lists the runs of agents, the newest first. */
export async function listRuns(invocation: Invocation): Promise<Answer> {
  const limit = readLimit(getText(invocation.options, "limit"));
  return withKept(invocation, async (kept) => {
    const found = await findRuns(kept.store);
    const sealer = await findSealer(kept, invocation);
    const read: ReadOne = async (summary) => {
      const run = await readRun(kept.store, summary, { sealer });
      return run === undefined || isBelow(run) ? run : withChildren(kept.store, run, { sealer });
    };
    const runs = await readNewest(read, found, limit);
    const names = shortenIds(withoutChildren(found.map(({ id }) => id)));
    const document = { runs: runs.map(toDocument) };
    if (runs.length === 0) return { document, text: `No agent has run here yet. Try: kitbag run "What can you do?"` };
    const rows = runs.map((run) => [names.get(run.id) ?? run.id, ...toCells(run)]);
    const headings = ["ID", "STATUS", "STEPS", "TOKENS", "COST", "WHEN", "TASK"];
    return { document, text: renderTable(headings, rows, invocation.terminal) };
  });
}

/** A run whose journal cannot be read. */
interface DamagedRun {
  readonly id: string;
  readonly status: "damaged";
  readonly changed: number;
  readonly error: Failure;
}

type ReadOne = (summary: RunSummary) => Promise<ReadRun | undefined>;

async function readNewest(
  read: ReadOne,
  found: readonly RunSummary[],
  limit: number,
): Promise<readonly (ReadRun | DamagedRun)[]> {
  const runs: (ReadRun | DamagedRun)[] = [];
  for (const summary of found) {
    if (runs.length === limit) break;
    const run = await read(summary).catch((cause: unknown) => toDamaged(summary, cause));
    if (run !== undefined && !isBelow(run)) runs.push(run);
  }
  return runs;
}

/** Ids without those of the runs below: they begin with the id of the run above. */
function withoutChildren(ids: readonly string[]): readonly string[] {
  const all = new Set(ids);
  return ids.filter((id) => !all.has(id.slice(0, Math.max(0, id.indexOf("~")))));
}

/** The runs of sub-agents are shown with the run above them. */
function isBelow(run: ReadRun | DamagedRun): boolean {
  return run.status !== "damaged" && run.folded.start.parent !== undefined;
}

/** One that is damaged does not keep the others from being listed. */
function toDamaged({ id, time }: RunSummary, cause: unknown): DamagedRun {
  if (!isKitbagError(cause, "run-damaged")) throw cause;
  return { id, status: "damaged", changed: time, error: cause.toJSON() };
}

function toCells(run: ReadRun | DamagedRun): readonly string[] {
  if (run.status === "damaged")
    return [run.status, "", "", "", showTime(run.changed), toPrintableLine(run.error.message)];
  return [run.status, String(run.steps), showCount(run.tokens), showDollars(run.cost), showTime(run.begun), run.task];
}

function toDocument(found: ReadRun | DamagedRun): unknown {
  if (found.status === "damaged") return found;
  const { folded, entries: _entries, waiting, children, ...run } = found;
  const { start } = folded;
  return {
    ...run,
    approvals: waiting.map(({ approval }) => approval),
    ...(children.length > 0 && { children: children.map(({ id }) => id) }),
    ...(start.conversation !== undefined && { conversation: start.conversation }),
    ...(start.forkOf !== undefined && { forkOf: start.forkOf }),
  };
}
