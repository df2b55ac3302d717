import type { Tool } from "../../core/tool.ts";
import type { ChangeOptions, ReplayDifference, ReplayReport } from "../forge-interface.ts";
import type { ForgeParts } from "../forge-parts.ts";
import { replayCalls } from "../birth/replay-calls.ts";
import { findWindows } from "../versions/live-windows.ts";
import type { StoredSkill } from "./stored-skill.ts";

/** A skill that is replaced: its tools before, and those that come now. */
interface Replaced {
  readonly stored: StoredSkill;
  readonly before: readonly Tool[];
  readonly after: readonly Tool[];
}

/** Makes recorded calls of a skill's tools again with its new version. Nothing if there is none before, or it may not run. */
export async function replaySkill(
  { policy, runtimes, workspace, store, trust }: ForgeParts,
  { stored, before, after }: Replaced,
  { signal, call }: Pick<ChangeOptions, "signal" | "call">,
): Promise<ReplayReport | undefined> {
  const { name, current, history } = stored;
  if (current === undefined || !trust.mayRun(current.folder)) return undefined;
  const trial = { runtimes, workspace, limitMs: policy.exampleLimitMs, signal, call };
  const windows = findWindows(history, current.label);
  const differences: ReplayDifference[] = [];
  const skipped = new Set<string>();
  let calls = 0;
  for (const tool of after) {
    const known = before.find((one) => one.name === tool.name);
    if (known === undefined) continue;
    const address = `${name}/${tool.name}`;
    const replay = { store, address, before: known, windows, maxCalls: policy.maxReplays - calls };
    const report = await replayCalls(tool, replay, trial);
    calls += report.calls;
    differences.push(...report.differences.map((one) => ({ tool: address, ...one })));
    if (report.skipped !== undefined) skipped.add(report.skipped);
  }
  const why = calls === 0 && skipped.size > 0 ? { skipped: [...skipped].join("; ") } : {};
  return { calls, same: calls - differences.length, differences, ...why };
}
