import type { ModelAnswered } from "../../../agent/events.ts";
import type { Answer, Invocation } from "../../cli-command.ts";
import { toPrintable, toPrintableLine } from "../../printable.ts";
import { renderFacts } from "../../render-facts.ts";
import { cutText } from "../../render-table.ts";
import { showDuration } from "../../stats/show-duration.ts";
import { showCommand } from "../../store/choose-store.ts";
import { findSealer } from "../../store/find-sealer.ts";
import { withKept } from "../../store/open-kept.ts";
import { showTime } from "../../store/show-time.ts";
import type { Terminal } from "../../terminal.ts";
import { isSkillCall, nameCall } from "../view/run-view.ts";
import { showCount, showDollars } from "../view/show-cost.ts";
import { showInput } from "../view/show-input.ts";
import { showOutcome } from "../view/show-outcome.ts";
import { callsOf } from "./calls-of.ts";
import { needRun, type ReadRun } from "./read-run.ts";
import { originOf, renderResume } from "./run-origin.ts";

/** Shows one run as a transcript; its journal as data. */
export async function showRun(invocation: Invocation): Promise<Answer> {
  const [given = ""] = invocation.args;
  return withKept(invocation, async (kept) => {
    const run = await needRun(kept.store, given, { sealer: await findSealer(kept, invocation) });
    const { id, status, entries } = run;
    return { document: { run: id, status, journal: entries }, text: renderTranscript(run, invocation) };
  });
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
  const { forkOf } = start;
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
    ["Fork of", forkOf === undefined ? "" : `${forkOf.run}, up to step ${forkOf.step}`],
  ]);
}

function renderStep(answer: ModelAnswered, { folded }: ReadRun, terminal: Terminal): string {
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
    return `${mark} ${cutText(words, room - 2)}\n  ${terminal.style("dim", cutText(`→ ${result}`, room - 2))}`;
  });
  return [head, ...texts.filter((text) => text !== ""), ...calls].join("\n");
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
