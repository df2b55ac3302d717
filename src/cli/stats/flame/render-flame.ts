import { createHash } from "node:crypto";

import type { CallTree } from "../../../records/stats/read-call-tree.ts";
import { toPrintableLine } from "../../printable.ts";
import { showDuration } from "../../render.ts";

const rowHeight = 21;
const tickCount = 6;

/** Draws a call and what is inside it as a page of its own: it loads nothing, and no text in it can become code. */
export function renderFlame(tree: CallTree): string {
  const { boxes, rows, left } = layOutFlame(tree);
  const totalMs = Math.max(tree.durationMs, 0.001);
  const title = escapeHtml(`${tree.tool}: ${showDuration(tree.durationMs)}`);
  const count = listCalls(tree).length;
  const facts = [
    `call ${tree.call}`,
    new Date(tree.time).toISOString(),
    count === 1 ? "no calls inside" : `${count - 1} calls inside`,
    ...(left > 0 ? [`the ${left} shortest are not drawn`] : []),
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src '${hashOf(flameScript)}'">
<title>${title}</title>
<style>${flameStyle}</style>
<h1>${title}</h1>
<p>${escapeHtml(facts.join(" · "))}</p>
<div id="ticks">${renderTicks(totalMs)}</div>
<div id="graph" data-total="${totalMs}" style="height:${rows * rowHeight}px">
${boxes.map((box) => renderBox(box, totalMs)).join("\n")}
</div>
<div id="about" aria-live="polite">Point at a call to read about it. Click it to look at it closely; click it again, or press Escape, to see everything.</div>
${renderTotals(tree)}
<script>${flameScript}</script>
</html>
`;
}

function renderTicks(totalMs: number): string {
  const ticks = Array.from({ length: tickCount }, (_, index) => {
    const share = index / (tickCount - 1);
    return `<span style="left:${share * 100}%">${showDuration(totalMs * share)}</span>`;
  });
  return ticks.join("");
}

function renderBox({ call, row }: FlameBox, totalMs: number): string {
  const { tool, startMs, durationMs, status, recalled } = call;
  const left = (startMs / totalMs) * 100;
  const width = (durationMs / totalMs) * 100;
  const classes = ["box", ...(status === "ok" ? [] : [status]), ...(recalled ? ["recalled"] : [])].join(" ");
  const style = `left:${left}%;width:${width}%;top:${row * rowHeight}px;background:hsl(${hueOf(tool)} 65% 74%)`;
  const data = `data-start="${startMs}" data-length="${durationMs}"`;
  return `<button class="${classes}" style="${style}" ${data} title="${escapeHtml(describe(call))}">${escapeHtml(tool)}</button>`;
}

function describe({ tool, call, startMs, durationMs, queuedMs, code, status, recalled, calls }: CallTree): string {
  const inside = calls.reduce((sum, inner) => sum + inner.durationMs, 0);
  const facts = [
    `${showDuration(durationMs)}, from ${showDuration(startMs)} on`,
    ...(queuedMs > 0 ? [`waited ${showDuration(queuedMs)}`] : []),
    ...(calls.length > 0 ? [`${calls.length} calls inside, together ${showDuration(inside)}`] : []),
    ...(code === undefined ? [] : [`failed: ${code}`]),
    ...(status === "open" ? ["its end is not in the log"] : []),
    ...(recalled ? ["recalled: the tool was not run"] : []),
  ];
  return `${tool} (${call})\n${facts.join(" · ")}`;
}

interface Total {
  calls: number;
  failed: number;
  durationMs: number;
  selfMs: number;
}

/** A table of the tools, for those who cannot see the graph, and for those who want numbers. */
function renderTotals(tree: CallTree): string {
  const totals = new Map<string, Total>();
  for (const call of listCalls(tree)) {
    const { tool, durationMs, status } = call;
    const total = totals.get(tool) ?? { calls: 0, failed: 0, durationMs: 0, selfMs: 0 };
    totals.set(tool, total);
    total.calls += 1;
    total.failed += status === "failed" ? 1 : 0;
    total.durationMs += durationMs;
    total.selfMs += selfTime(call);
  }
  const sorted = [...totals].toSorted(([, left], [, right]) => right.selfMs - left.selfMs).slice(0, 100);
  const rows = sorted.map(([tool, { calls, failed, durationMs, selfMs }]) => {
    const numbers = [String(calls), String(failed), showDuration(durationMs), showDuration(selfMs)];
    return `<tr><td>${escapeHtml(tool)}</td>${numbers.map((text) => `<td class="number">${text}</td>`).join("")}</tr>`;
  });
  const headings = ["Calls", "Failed", "Total", "Without calls inside"].map(
    (text) => `<th class="number">${text}</th>`,
  );
  return `<table>\n<tr><th>Tool</th>${headings.join("")}</tr>\n${rows.join("\n")}\n</table>`;
}

/** How much of a call no call inside it was running. */
function selfTime({ durationMs, startMs, calls }: CallTree): number {
  let coveredMs = 0;
  let coveredUntil = startMs;
  // They are in the order in which they began.
  for (const inner of calls) {
    const endMs = inner.startMs + inner.durationMs;
    coveredMs += Math.max(0, endMs - Math.max(coveredUntil, inner.startMs));
    coveredUntil = Math.max(coveredUntil, endMs);
  }
  return Math.max(0, durationMs - coveredMs);
}

/** The same tool has the same colour in every graph. */
function hueOf(tool: string): number {
  return createHash("sha256").update(tool).digest().readUInt16BE() % 360;
}

function hashOf(script: string): string {
  return `sha256-${createHash("sha256").update(script).digest("base64")}`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Line by line, so that control characters and marks that turn text around are seen, and do nothing. */
function escapeHtml(text: string): string {
  const lines = text.split("\n").map(toPrintableLine);
  return lines.join("\n").replaceAll(/[&<>"']/gu, (character) => entities[character] ?? "");
}

/** How the page of a flame graph looks. */
const flameStyle = `
:root { color-scheme: light dark; --line: #8886; --soft: #888; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem; }
h1 { font-size: 1.25rem; margin: 0; overflow-wrap: anywhere; }
p { margin: 0.25rem 0 1rem; color: var(--soft); overflow-wrap: anywhere; }
#ticks { position: relative; height: 1.4rem; border-bottom: 1px solid var(--line); }
#ticks span { position: absolute; padding-left: 3px; border-left: 1px solid var(--line); color: var(--soft); font-size: 12px; white-space: nowrap; }
#ticks span:last-child { border-left: 0; border-right: 1px solid var(--line); padding: 0 3px 0 0; transform: translateX(-100%); }
#graph { position: relative; overflow: hidden; }
.box { position: absolute; height: 20px; min-width: 1px; box-sizing: border-box; padding: 0 4px; border: 0; border-right: 1px solid Canvas; border-bottom: 1px solid Canvas; border-radius: 3px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font: 12px/19px system-ui, sans-serif; text-align: left; color: #111; cursor: pointer; }
.box:hover, .box:focus-visible { outline: 2px solid Highlight; outline-offset: -2px; }
.failed { box-shadow: inset 0 0 0 2px #c22; }
.recalled { opacity: 0.55; }
.open { border-style: dashed; }
#about { min-height: 3em; margin: 0.75rem 0 1.5rem; white-space: pre-line; overflow-wrap: anywhere; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 0.2rem 1rem 0.2rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
`;

/** Makes a click on a box look at it closely, and another click on the widest one, or Escape, look at everything again. */
const flameScript = `
const graph = document.getElementById("graph");
const ticks = document.getElementById("ticks");
const about = document.getElementById("about");
const boxes = [...graph.querySelectorAll(".box")];
const total = Number(graph.dataset.total);
const hint = about.textContent;
function show(ms) {
  if (ms < 1) return Number(ms.toFixed(2)) + " ms";
  if (ms < 1000) return Number(ms.toFixed(ms < 10 ? 1 : 0)) + " ms";
  return ms < 60000 ? Number((ms / 1000).toFixed(1)) + " s" : Number((ms / 60000).toFixed(1)) + " min";
}
function look(start, length) {
  for (const box of boxes) {
    const from = Number(box.dataset.start), width = Number(box.dataset.length);
    const left = Math.max(from, start), right = Math.min(from + width, start + length);
    box.hidden = right < left || (right === left && width > 0);
    box.style.left = ((left - start) / length) * 100 + "%";
    box.style.width = ((right - left) / length) * 100 + "%";
  }
  [...ticks.children].forEach((tick, index, all) => {
    tick.textContent = show(start + (length * index) / (all.length - 1));
  });
}
let seen = 0 + "," + total;
function toggle(start, length) {
  const next = seen === start + "," + length || length <= 0 ? [0, total] : [start, length];
  seen = next.join();
  look(...next);
}
graph.addEventListener("click", ({ target }) => {
  const box = target.closest(".box");
  if (box) toggle(Number(box.dataset.start), Number(box.dataset.length));
});
document.addEventListener("keydown", ({ key }) => { if (key === "Escape") { seen = ""; toggle(0, total); } });
for (const type of ["mouseover", "focusin"]) {
  graph.addEventListener(type, ({ target }) => { about.textContent = target.closest(".box")?.title ?? hint; });
}
`;

/** A call, and the row that it is drawn in: below its caller, and below calls at the same time that were there first. */
interface FlameBox {
  readonly call: CallTree;
  readonly row: number;
}

/** Where everything of a flame graph is. */
interface FlameLayout {
  readonly boxes: readonly FlameBox[];
  readonly rows: number;
  /** How many calls are not drawn, because there are too many: the shortest. */
  readonly left: number;
}

/** A page with more boxes is too large for a browser to show. */
const mostBoxes = 5000;

/** Finds a row for each call. */
export function layOutFlame(tree: CallTree): FlameLayout {
  const all = listCalls(tree);
  const drawn = new Set(all.length <= mostBoxes ? all : pickLongest(all));
  const { boxes, spans } = place(tree, drawn);
  return { boxes, rows: spans.length, left: all.length - boxes.length };
}

/** A call with what is inside it: its own row is 0, and each row is busy for some time. */
interface Placed {
  readonly boxes: readonly FlameBox[];
  readonly spans: readonly Span[];
}

function place(call: CallTree, drawn: ReadonlySet<CallTree>): Placed {
  const boxes: FlameBox[] = [{ call, row: 0 }];
  const inside: Span[] = [];
  for (const inner of call.calls) {
    if (!drawn.has(inner)) continue;
    const placed = place(inner, drawn);
    const offset = findRow(inside, placed.spans);
    for (const box of placed.boxes) boxes.push({ call: box.call, row: box.row + offset + 1 });
    for (const [index, span] of placed.spans.entries()) occupy(inside, offset + index, span);
  }
  return { boxes, spans: [{ startMs: call.startMs, endMs: call.startMs + call.durationMs }, ...inside] };
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** The first row in which spans begin after everything that is there. */
function findRow(busy: readonly Span[], spans: readonly Span[]): number {
  for (let offset = 0; ; offset++) {
    if (spans.every(({ startMs }, index) => (busy[offset + index]?.endMs ?? -Infinity) <= startMs)) return offset;
  }
}

function occupy(busy: Span[], row: number, span: Span): void {
  const before = busy[row];
  busy[row] = before === undefined ? span : { startMs: before.startMs, endMs: Math.max(before.endMs, span.endMs) };
}

/** All calls of a tree, callers first. */
export function listCalls(tree: CallTree): readonly CallTree[] {
  const list = [tree];
  for (const call of list) for (const inner of call.calls) list.push(inner);
  return list;
}

/** A caller takes no less time than what is inside it, so it is there if that is. */
function pickLongest(calls: readonly CallTree[]): readonly CallTree[] {
  return calls.toSorted((left, right) => right.durationMs - left.durationMs).slice(0, mostBoxes);
}
