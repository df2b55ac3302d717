import type { CallFigures } from "../../records/stats/call-stats.ts";
import type { RecordedCallStats } from "../../records/stats/read-call-stats.ts";
import { showDollars } from "../agent/view/describe-end.ts";
import { toPrintableLine } from "../printable.ts";
import { renderTable, showTime, showDuration } from "../render.ts";
import type { Terminal } from "../terminal.ts";

type Screen = Pick<Terminal, "style" | "columns" | "isScreen">;

/** How wide the bars are. */
const barWidth = 10;

/** Shows what is known of calls: with small charts on a screen, plain in a pipe. `store` is what the store is called. */
export function renderStats(stats: RecordedCallStats, store: string, terminal: Screen): string {
  if (stats.total.calls === 0 && stats.open > 0) {
    return `No call ended ${describeTime(stats)} in ${toPrintableLine(store)}; ${showOpen(stats)}.`;
  }
  if (stats.total.calls === 0) {
    return `No calls ${describeTime(stats)} in ${toPrintableLine(store)}. What kitbag call does is recorded; see --since and --store.`;
  }
  const parts = [
    renderTotal(stats, store, terminal),
    renderRows(
      "TOOL",
      stats.tools.map((row) => [row.tool, row]),
      terminal,
    ),
    stats.owners.length > 0 &&
      renderRows(
        "SKILL OR COMPONENT",
        stats.owners.map((row) => [row.owner, row]),
        terminal,
      ),
    stats.total.codes.length > 0 && renderCodes(stats, terminal),
    renderSlowest(stats, terminal),
    terminal.isScreen && terminal.style("dim", legend),
  ];
  return parts.filter((part) => part !== false).join("\n\n");
}

const legend =
  "TIME: █ half of the calls are faster, ▓ 95 %, ░ 99 %. A flame graph of one: kitbag stats --flame CALL --out flame.html";

function renderTotal(stats: RecordedCallStats, store: string, terminal: Screen): string {
  const { total } = stats;
  const { p50Ms, p95Ms, p99Ms } = total.time;
  const facts = [
    `${terminal.style("bold", String(total.calls))} ${total.calls === 1 ? "call" : "calls"} ${describeTime(stats)}`,
    total.errors === 0 ? "no errors" : terminal.style("red", `${total.errors} failed (${showShare(total)})`),
    ...(total.recalled > 0 ? [`${total.recalled} recalled`] : []),
    ...(total.costUsd > 0 ? [showDollars(total.costUsd)] : []),
    `p50 ${showDuration(p50Ms)}, p95 ${showDuration(p95Ms)}, p99 ${showDuration(p99Ms)}`,
  ];
  const lines = [facts.join(" · "), terminal.style("dim", toPrintableLine(store))];
  if (stats.open > 0) lines.push(terminal.style("red", showOpen(stats)));
  if (terminal.isScreen) lines.push(renderSparkline(total.slices ?? []));
  return lines.join("\n");
}

function showOpen({ open }: RecordedCallStats): string {
  return `${open} more ${open === 1 ? "call has" : "calls have"} no end: still running, or the process died; see kitbag audit show`;
}

function describeTime({ since, until }: Pick<RecordedCallStats, "since" | "until">): string {
  return since === 0 ? "until now" : `in ${showSpan(until - since)}`;
}

function showSpan(durationMs: number): string {
  const hours = durationMs / 3_600_000;
  if (hours < 1) return `${Math.max(1, Math.round(hours * 60))} minutes`;
  return hours <= 48 ? `${Math.round(hours)} hours` : `${Math.round(hours / 24)} days`;
}

type Row = readonly [name: string, figures: CallFigures];

function renderRows(heading: string, rows: readonly Row[], terminal: Screen): string {
  const longest = Math.max(...rows.map(([, { time }]) => time.p99Ms), Number.MIN_VALUE);
  const columns = [
    toColumn(heading, rows, ([name]) => name),
    toColumn("CALLS", rows, ([, { calls }]) => String(calls)),
    toColumn("FAILED", rows, ([, figures]) =>
      figures.errors === 0 ? none : `${figures.errors} (${showShare(figures)})`,
    ),
    toColumn("RECALLED", rows, ([, { recalled }]) => (recalled === 0 ? none : String(recalled))),
    toColumn("WAITED", rows, ([, { queue }]) =>
      queue.calls === 0 ? none : `${queue.calls} (p95 ${showDuration(queue.p95Ms)})`,
    ),
    toColumn("COST", rows, ([, { costUsd }]) => (costUsd === 0 ? none : showDollars(costUsd))),
    toColumn("P50", rows, ([, { time }]) => showDuration(time.p50Ms)),
    toColumn("P95", rows, ([, { time }]) => showDuration(time.p95Ms)),
    toColumn("P99", rows, ([, { time }]) => showDuration(time.p99Ms)),
  ];
  const charts = [
    toColumn(
      "TIME".padEnd(barWidth),
      rows,
      ([
        ,
        {
          time: { p50Ms, p95Ms, p99Ms },
        },
      ]) => renderQuantiles([p50Ms / longest, p95Ms / longest, p99Ms / longest], barWidth),
    ),
    toColumn("WHEN", rows, ([, { slices = [] }]) => renderSparkline(slices)),
  ];
  // On a screen there is little room, and most tools never wait. Programs that read it find every column.
  const shown = terminal.isScreen ? [...columns.filter(isTelling), ...charts] : columns;
  return renderTable(
    shown.map((column) => column.heading),
    rows.map((_, row) => shown.map(({ cells }) => cells[row] ?? none)),
    terminal,
  );
}

interface Column {
  readonly heading: string;
  readonly cells: readonly string[];
}

const none = "-";

function toColumn(heading: string, rows: readonly Row[], toCell: (row: Row) => string): Column {
  return { heading, cells: rows.map(toCell) };
}

function isTelling({ cells }: Column): boolean {
  return cells.some((cell) => cell !== none);
}

function showShare({ calls, errors }: CallFigures): string {
  const share = (errors / calls) * 100;
  return `${Number(share.toFixed(share < 10 ? 1 : 0))} %`;
}

function renderCodes({ total }: RecordedCallStats, terminal: Screen): string {
  const rows = total.codes.slice(0, 8).map(({ code, count }) => [code, String(count)]);
  return renderTable(["ERROR", "CALLS"], rows, terminal);
}

function renderSlowest({ slowest }: RecordedCallStats, terminal: Screen): string {
  const rows = slowest.map(({ call, tool, durationMs, time }) => [
    call,
    showDuration(durationMs),
    showTime(time),
    tool,
  ]);
  return renderTable(["SLOWEST CALL", "TOOK", "ENDED", "TOOL"], rows, terminal);
}

const heights = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** A line of small columns, as high as the numbers; the highest number fills its line. Nothing is a dot. */
export function renderSparkline(values: readonly number[]): string {
  const highest = Math.max(1, ...values);
  return values.map((value) => renderColumn(value / highest)).join("");
}

function renderColumn(share: number): string {
  return share > 0 ? (heights[Math.min(heights.length - 1, Math.floor(share * heights.length))] ?? "") : "·";
}

/** A bar of `width` characters: dark until the first of three shares, lighter until the second, lightest until the third. */
export function renderQuantiles(shares: readonly [number, number, number], width: number): string {
  const ends = shares.map((share) => Math.round(Math.min(1, share) * width));
  const [first = 0, second = 0, third = 0] = ends;
  const bar =
    "█".repeat(first) +
    "▓".repeat(Math.max(0, second - first)) +
    "░".repeat(Math.max(0, third - Math.max(first, second)));
  // What is there, but too small to be seen, is seen all the same.
  return bar === "" && shares[2] > 0 ? "▏" : bar;
}
