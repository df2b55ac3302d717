import { canGoOn } from "../../../agent/run/run-end.ts";
import type { RunResult } from "../../../agent/run-result.ts";
import type { Answer } from "../../cli-command.ts";
import { toPrintable, toPrintableLine } from "../../printable.ts";
import type { NextCommands } from "../runs/run-origin.ts";
import { renderCosts, type CostLine } from "../../../agent/cost/render-costs.ts";
import type { AgentRun } from "../../../agent/agent-run.ts";
import type { CostRow } from "../../../agent/cost/usage-counter.ts";
import { cutToWidth, renderTable, textWidth, plural } from "../../render.ts";
import type { Terminal } from "../../terminal.ts";

const reasons: Readonly<Record<NonNullable<RunResult["reason"]>, string>> = {
  steps: "the model was asked as often as it may be; raise --max-steps",
  tokens: "it has used as many tokens as it may; raise --max-tokens",
  cost: "it would cost more than it may; raise --max-cost",
  time: "its time is over; raise --max-ms",
  calls: "it has made as many calls as it may; raise --max-calls",
  loop: "it went round in circles",
  cancelled: "you stopped it",
  lost: "another process works on it now",
};

/** How a run ended if it did not end well, and what to do about it; nothing if it did. */
export function describeEnd(result: RunResult, next: NextCommands | undefined): string | undefined {
  const { status, reason = "cancelled", error, approvals = [] } = result;
  switch (status) {
    case "ok":
      return undefined;
    case "failed":
    case "refused":
      return toPrintable(error?.message ?? "It failed") + describeNext(result, next);
    case "cut":
      return `The answer is not whole: the output limit of the model cut it off${describeNext(result, next)}`;
    case "stopped":
      return `Stopped: ${describeLoss(result) ?? reasons[reason]}${describeNext(result, next)}`;
    case "paused":
      return [
        `Paused: ${approvals.length === 1 ? "a call needs" : `${approvals.length} calls need`} an approval. To decide, and to go on:`,
        ...approvals.map((approval) => `  ${next?.approve(approval) ?? approval}    (or deny)`),
        ...(next === undefined ? [] : [`  ${next.resume}`]),
      ].join("\n");
  }
}

/** Why another process has the run, or may take it. */
function describeLoss({ error }: RunResult): string | undefined {
  return error?.code === "lease-lost" ? toPrintable(String(error.details.reason)) : undefined;
}

/** How to go on: a run that was stopped is resumed; one that has ended is forked where it ended. */
function describeNext(result: RunResult, next: NextCommands | undefined): string {
  const { status, reason, steps, usage } = result;
  if (next === undefined) return "";
  if (canGoOn(result)) return `${status === "failed" ? "\nTo go on from there" : "; go on with it"}: ${next.resume}`;
  if (usage.modelCalls === 0) return "";
  // Those before count, too.
  const words = reason === "steps" ? ` --max-steps ${steps * 2}` : reason === "loop" ? ' --say "…"' : "";
  return `\nTo go on from there: ${next.fork}${words}`;
}

/** What a run used, in one line. */
export function summarizeRun({ steps, usage, cost }: RunResult, durationMs: string): string {
  const tokens = usage.inputTokens + usage.outputTokens;
  const parts = [
    plural(steps, "step"),
    ...(usage.toolCalls === 0 ? [] : [plural(usage.toolCalls, "call")]),
    `${showCount(tokens)} tokens`,
    ...(cost === 0 ? [] : [cost === undefined ? "price unknown" : showDollars(cost)]),
    durationMs,
  ];
  return parts.join(" · ");
}

/** The answer of a command that was one run; all that is to be read has been shown. */
export function toRunAnswer(result: RunResult, next: NextCommands | undefined): Answer {
  const failure = describeEnd(result, next);
  if (failure === undefined) return { document: undefined };
  return { document: undefined, failure, exitCode: 1 };
}

/** A number that is easy to read: `12,345`. */
export function showCount(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/gu, ",");
}

/** An amount of US dollars; small ones with as many digits as they need. */
export function showDollars(cost: number | undefined): string {
  if (cost === undefined) return "?";
  if (cost === 0) return "$0";
  return cost < 0.01 ? `$${cost.toPrecision(2)}` : `$${cost.toFixed(cost < 1 ? 3 : 2)}`;
}

const headings = ["CALLS", "TOKENS IN", "TOKENS OUT", "SHARE", "COST"];

/** Shows what a run was spent on, unless it cost nothing: a local model, say. */
export function noteCosts(run: AgentRun, { cost }: RunResult, terminal: Terminal): void {
  if (cost !== 0) terminal.note(`\n${renderCostTable(run.breakdown(), terminal)}\n`);
}

/** What the tokens of a run were spent on, as a table. On a narrow screen names are cut, and not numbers. */
export function renderCostTable(rows: readonly CostRow[], terminal: Pick<Terminal, "style" | "columns">): string {
  const lines = renderCosts(rows);
  const numbers = lines.map((line) => [
    line.calls === 0 ? "" : String(line.calls),
    showTokens(line, line.inputTokens),
    showTokens(line, line.outputTokens),
    `${Math.round(line.share * 100)} %`,
    showDollars(line.cost),
  ]);
  const room = (terminal.columns ?? Infinity) - numbersWidth(numbers);
  const cells = lines.map(({ depth, label }, index) => [
    cutToWidth(`${"↳ ".repeat(depth)}${toPrintableLine(label)}`, Math.max(leastName, room)),
    ...(numbers[index] ?? []),
  ]);
  return renderTable(["SPENT ON", ...headings], cells, terminal);
}

const leastName = 8;

/** How wide the columns with numbers are, each with the gap before it. */
function numbersWidth(numbers: readonly (readonly string[])[]): number {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...numbers.map((row) => textWidth(row[column] ?? ""))),
  );
  return widths.reduce((sum, width) => sum + width + 2, 0);
}

function showTokens({ isEstimate }: CostLine, tokens: number): string {
  return tokens === 0 ? "0" : `${isEstimate ? "≈ " : ""}${showCount(tokens)}`;
}
