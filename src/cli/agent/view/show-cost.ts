import { renderCosts, type CostLine } from "../../../agent/cost/render-costs.ts";
import type { CostRow } from "../../../agent/cost/cost-row.ts";
import { renderTable } from "../../render-table.ts";
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

/** What the tokens of a run were spent on, as a table. */
export function renderCostTable(rows: readonly CostRow[], terminal: Pick<Terminal, "style" | "columns">): string {
  const lines = renderCosts(rows);
  const cells = lines.map((line) => [
    `${"↳ ".repeat(line.depth)}${line.label}`,
    line.calls === 0 ? "" : String(line.calls),
    showTokens(line, line.inputTokens),
    showTokens(line, line.outputTokens),
    `${Math.round(line.share * 100)} %`,
    showDollars(line.cost),
  ]);
  return renderTable(["SPENT ON", "CALLS", "TOKENS IN", "TOKENS OUT", "SHARE", "COST"], cells, terminal);
}

function showTokens({ isEstimate }: CostLine, tokens: number): string {
  return tokens === 0 ? "0" : `${isEstimate ? "≈ " : ""}${showCount(tokens)}`;
}
