import { writeFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { readCallStats } from "../../records/stats/read-call-stats.ts";
import { readCallTree } from "../../records/stats/read-call-tree.ts";
import { type Answer, type CliCommand, type CliContext, type Invocation, usageError } from "../cli-command.ts";
import { addOption, getText, addStoreOption } from "../options.ts";
import { toPrintableLine } from "../printable.ts";
import { toShownPath, showDuration, plural } from "../render.ts";
import { listCalls, renderFlame } from "../stats/flame/render-flame.ts";
import { toSpeedscope } from "../stats/flame/to-speedscope.ts";
import { renderStats } from "../stats/render-stats.ts";
import { type Kept, withKept } from "../store/open-kept.ts";

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * Reads since when something is to be shown: `90s`, `15m`, `24h`, `7d`, `4w`, a date, or `all`; in milliseconds since 1970.
 *
 * @throws {KitbagError} `usage-invalid` for anything else.
 */
export function parseSince(text: string, now: number, flag = "--since"): number {
  if (text === "all") return 0;
  const [, count, unit = ""] = /^(\d{1,6})([smhdw])$/u.exec(text) ?? [];
  if (count !== undefined) return Math.max(0, now - Number(count) * (units[unit] ?? 0));
  const date = /^\d{4}-\d{2}-\d{2}/u.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(date)) return date;
  throw usageError(
    `Cannot use ${flag} ${JSON.stringify(text)}: expected a time like 90s, 15m, 24h, 7d or 4w, a date, or all`,
  );
}

/** `kitbag stats`: how often tools are called, how often they fail, how long they take. */
export const statsCommand: CliCommand = {
  examples: [
    ["kitbag stats", "the calls of the last 24 hours"],
    ["kitbag stats --since 7d --tool pdf-text", "of one skill, in the last 7 days; a tool's address works too"],
    ["kitbag stats --user ada", "the calls of one user of kitbag serve --http"],
    ["kitbag stats --since all --json | jq '.tools[] | {tool, calls, p95: .time.p95Ms}'", "for programs"],
    ["kitbag stats --flame 3f2a91bc-1 --out flame.html", "where the time of one call went; .json is for speedscope"],
  ],
  define(command) {
    addOption(command, "--since <time>", "calls since then: 90s, 15m, 24h, 7d, 4w, a date, or all; 24h unless set");
    addOption(command, "--tool <address>", "only of this tool, or of the tools of this skill or component");
    addOption(command, "--user <name>", "only of this user, as kitbag audit names them");
    addOption(command, "--flame <call>", "draw one call as a flame graph; its id is in the list of slow calls");
    addOption(command, "--out <file>", "with --flame: where to; .html for a browser, .json for speedscope");
    addStoreOption(command);
  },
  async run(invocation) {
    const { options } = invocation;
    const since = parseSince(getText(options, "since") ?? "24h", Date.now());
    const out = getText(options, "out");
    const call = getText(options, "flame");
    if (call === undefined && out !== undefined) throw usageError("Cannot use --out without --flame");
    return withKept(invocation, (kept) =>
      call === undefined ? showStats(invocation, kept, since) : writeFlame(kept.store, { call, out }, invocation),
    );
  },
};

async function showStats(
  { options, terminal, cwd }: Invocation,
  { store, name }: Kept,
  since: number,
): Promise<Answer> {
  const tool = getText(options, "tool");
  // As many as there is room for.
  const slices = (terminal.columns ?? 120) >= 120 ? 24 : 12;
  const user = getText(options, "user");
  const only = { ...(tool !== undefined && { tool }), ...(user !== undefined && { user }) };
  const stats = await readCallStats(store, { since, slices, ...only });
  // A database has an address, and a store of the configuration only words.
  const shown = isAbsolute(name) ? toShownPath(name, cwd) : name;
  return { document: { store: name, ...stats }, text: renderStats(stats, shown, terminal) };
}

/** Which call to draw, and where to. */
interface FlameRequest {
  readonly call: string;
  /** A file that ends in `.html`, or in `.json` for speedscope. */
  readonly out: string | undefined;
}

/**
 * Writes the flame graph of one call into a file.
 *
 * @throws {KitbagError} `usage-invalid` if the file is of no kind that can be written; `call-missing`.
 */
async function writeFlame(store: Store, { call, out }: FlameRequest, { cwd }: CliContext): Promise<Answer> {
  const [, kind] = /\.(html|json)$/iu.exec(out ?? "") ?? [];
  if (out === undefined || kind === undefined) {
    throw usageError("Cannot draw a flame graph without a file: add --out flame.html, or --out flame.speedscope.json");
  }
  const tree = await readCallTree(store, call);
  if (tree === undefined) throw new KitbagError("call-missing", { call });
  const file = resolve(cwd, out);
  const text = kind.toLowerCase() === "html" ? renderFlame(tree) : `${JSON.stringify(toSpeedscope(tree))}\n`;
  try {
    writeFileSync(file, text);
  } catch (cause) {
    throw usageError(`Cannot write ${toShownPath(file, cwd)}: ${(cause as Error).message}`);
  }
  const calls = listCalls(tree).length;
  const { tool, durationMs } = tree;
  return {
    document: { file, call, tool, durationMs, calls },
    text: `Wrote ${toPrintableLine(toShownPath(file, cwd))}: ${toPrintableLine(tool)}, ${showDuration(durationMs)}, ${plural(calls, "call")}`,
  };
}
