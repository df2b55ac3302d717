import { writeFileSync } from "node:fs";
import { resolve } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { readCallTree } from "../../records/stats/read-call-tree.ts";
import type { Answer, CliContext } from "../cli-command.ts";
import { toPrintableLine } from "../printable.ts";
import { toShownPath } from "../shown-path.ts";
import { usageError } from "../usage-error.ts";
import { listCalls } from "./flame/lay-out-flame.ts";
import { renderFlame } from "./flame/render-flame.ts";
import { toSpeedscope } from "./flame/to-speedscope.ts";
import { showDuration } from "./show-duration.ts";

/** Which call to draw, and where to. */
export interface FlameRequest {
  readonly call: string;
  /** A file that ends in `.html`, or in `.json` for speedscope. */
  readonly out: string | undefined;
}

/**
 * Writes the flame graph of one call into a file.
 *
 * @throws {KitbagError} `usage-invalid` if the file is of no kind that can be written; `call-missing`.
 */
export async function writeFlame(store: Store, { call, out }: FlameRequest, { cwd }: CliContext): Promise<Answer> {
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
    text: `Wrote ${toPrintableLine(toShownPath(file, cwd))}: ${toPrintableLine(tool)}, ${showDuration(durationMs)}, ${calls} ${calls === 1 ? "call" : "calls"}`,
  };
}
