import { describeExample } from "../../forge/creation/run-examples.ts";
import type { FuzzFault, TriedExample } from "../../forge/trials/try-tool.ts";
import { toPrintable } from "../printable.ts";
import { renderTable, plural } from "../render.ts";
import type { Terminal } from "../terminal.ts";
import type { TestedTool } from "./try-tools.ts";

/** Shows the results of trying tools: a line for each tool, then the failures, then the totals. */
export function renderTrials(tools: readonly TestedTool[], terminal: Terminal): string {
  if (tools.length === 0) return "There are no tools here.";
  const isFuzzed = tools.some(({ fuzz, notFuzzed }) => fuzz !== undefined || notFuzzed !== undefined);
  const rows = tools.map((tool) => [
    terminal.style(tool.passed ? "green" : "red", tool.passed ? "✓" : "✗"),
    tool.address,
    showExamples(tool),
    ...(isFuzzed ? [showFuzz(tool)] : []),
  ]);
  const head = ["", "TOOL", "EXAMPLES", ...(isFuzzed ? ["MADE INPUTS"] : [])];
  const wrong = tools.flatMap((tool) => describeFaults(tool).map((text) => `${tool.address}: ${text}`));
  return [renderTable(head, rows, terminal), ...wrong.map(toPrintable), renderSummary(tools)].join("\n\n");
}

function showExamples({ examples, error }: TestedTool): string {
  if (error !== undefined) return "its skill did not open";
  if (examples.length === 0) return "none";
  const count = (status: TriedExample["status"]): number => examples.filter((one) => one.status === status).length;
  const parts = (["passed", "failed", "declined"] as const).flatMap((status) =>
    count(status) > 0 ? [`${count(status)} ${status}`] : [],
  );
  return parts.join(", ");
}

function showFuzz({ fuzz, notFuzzed }: TestedTool): string {
  if (fuzz === undefined) return notFuzzed === undefined ? "" : `not tried: ${notFuzzed}`;
  const { fitting, unfitting, declined, faults } = fuzz;
  const crashed = faults.filter(({ kind }) => kind === "crashed").length;
  const letIn = faults.length - crashed;
  const parts = [
    `${fitting} right`,
    ...(declined > 0 ? [`${declined} declined`] : []),
    `${unfitting} wrong`,
    ...(crashed > 0 ? [`${crashed} crashed it`] : []),
    ...(letIn > 0 ? [`${letIn} let in`] : []),
  ];
  return parts.join(", ");
}

const mostShown = 3;

function describeFaults({ examples, fuzz, error }: TestedTool): string[] {
  const failed = examples.filter(({ status }) => status === "failed").map(describeExample);
  const faults = fuzz?.faults ?? [];
  const more =
    faults.length > mostShown ? [`and ${faults.length - mostShown} more made inputs; --json has them all`] : [];
  return [
    ...(error === undefined ? [] : [error.message]),
    ...failed,
    ...faults
      .slice(0, mostShown)
      .map((fault) => `${describeFault(fault)}\n  again: kitbag test --fuzz --seed ${fuzz?.seed}`),
    ...more,
  ];
}

function describeFault({ kind, input, error }: FuzzFault): string {
  const text = JSON.stringify(input);
  const shown = text.length > 500 ? `${text.slice(0, 500)}…` : text;
  return kind === "crashed"
    ? `an input that fits its schema made it crash: ${error?.message ?? ""}\n  input: ${shown}`
    : `an input that does not fit its schema was let in\n  input: ${shown}`;
}

function renderSummary(tools: readonly TestedTool[]): string {
  const examples = tools.flatMap((tool) => tool.examples);
  const good = examples.filter(({ passed }) => passed).length;
  const without = tools.filter((tool) => tool.examples.length === 0).length;
  const passed = tools.filter((tool) => tool.passed).length;
  const declined = examples.filter(({ status }) => status === "declined").length;
  const notes = [
    ...(without > 0 ? [`${plural(without, "tool has", "tools have")} no examples.`] : []),
    ...(declined > 0 ? [`${declined} examples were declined: put the files that they need into evals/files.`] : []),
  ];
  return [`${passed} of ${tools.length} tools passed, ${good} of ${examples.length} examples.`, ...notes].join(" ");
}
