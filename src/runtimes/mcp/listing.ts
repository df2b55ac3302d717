import type { McpDefinition } from "../../core/mcp-code.ts";
import { findChangedParts, type Definitions } from "./definitions.ts";

/** What a server offers, as far as is known. */
export interface Listing {
  readonly current: Definitions;
  /** Asks the server again. */
  refresh(signal?: AbortSignal): Promise<void>;
  /** What of a tool is not as it was agreed to. The server is asked again before anything is said to be otherwise. */
  findChanges(agreed: McpDefinition, signal: AbortSignal): Promise<readonly string[]>;
}

/** Not every server tells when its list changes; what it said is believed for so long. */
const oldMs = 10 * 60_000;
const refreshMs = 30_000;

/** Makes the list of a server that was not asked yet. `onChange` is told of each but the first. */
export function createListing(
  ask: (signal: AbortSignal) => Promise<Definitions>,
  onChange: (definitions: Definitions) => void,
): Listing {
  let current: Definitions = { tools: new Map(), refused: [] };
  let askedAt: number | undefined;
  // Comparing takes longer than most calls; a definition that was compared stays as it is.
  let same = new WeakMap<McpDefinition, McpDefinition>();

  async function refresh(signal: AbortSignal = AbortSignal.timeout(refreshMs)): Promise<void> {
    current = await ask(signal);
    same = new WeakMap();
    const isFirst = askedAt === undefined;
    askedAt = performance.now();
    if (!isFirst) onChange(current);
  }

  function compare(agreed: McpDefinition): readonly string[] {
    const now = current.tools.get(agreed.name);
    if (now === undefined) return ["it is gone"];
    if (same.get(now) === agreed) return [];
    const changed = findChangedParts(agreed, now);
    if (changed.length === 0) same.set(now, agreed);
    return changed;
  }

  return {
    get current() {
      return current;
    },
    refresh,
    async findChanges(agreed, signal) {
      const isOld = askedAt === undefined || performance.now() - askedAt > oldMs;
      const changed = isOld ? ["it was not asked for long"] : compare(agreed);
      if (changed.length === 0) return changed;
      await refresh(signal);
      return compare(agreed);
    },
  };
}
