import { isAbsolute } from "node:path";

import { readCallStats } from "../../records/stats/read-call-stats.ts";
import type { Answer, CliCommand, Invocation } from "../cli-command.ts";
import { addOption, getText } from "../options.ts";
import { parseSince } from "../stats/parse-since.ts";
import { renderStats } from "../stats/render-stats.ts";
import { writeFlame } from "../stats/write-flame.ts";
import { addStoreOption } from "../store/choose-store.ts";
import { withKept, type Kept } from "../store/open-kept.ts";
import { toShownPath } from "../shown-path.ts";
import { usageError } from "../usage-error.ts";

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
