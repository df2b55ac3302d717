import { renderCosts, type CostLine } from "../../../agent/cost/render-costs.ts";
import type { CostRow } from "../../../agent/cost/cost-row.ts";
import { toPrintableLine } from "../../printable.ts";
import { cutText, renderTable, textWidth } from "../../render-table.ts";
import type { Terminal } from "../../terminal.ts";

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
    cutText(`${"↳ ".repeat(depth)}${toPrintableLine(label)}`, Math.max(leastName, room)),
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
