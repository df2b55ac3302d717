import type { ForgeEvent } from "../forge-interface.ts";

/** A time in which a version was live, in milliseconds since 1970. */
export interface LiveWindow {
  readonly version: string;
  readonly from: number;
  /** Not any more at this moment. */
  readonly to: number;
}

/**
 * The times in which a version was live, or one before it that takes and gives nothing else: those from which it was made in patch
 * and minor steps. The oldest first.
 */
export function findWindows(history: readonly ForgeEvent[], version: string): readonly LiveWindow[] {
  const compatible = findForerunners(history, version);
  return history.flatMap(({ type, version: label, at }, index) => {
    if (type === "delete" || !compatible.has(label)) return [];
    return [{ version: label, from: at, to: history[index + 1]?.at ?? Infinity }];
  });
}

function findForerunners(history: readonly ForgeEvent[], version: string): ReadonlySet<string> {
  const made = new Map<string, ForgeEvent>();
  for (const event of history) {
    const isMade = event.type === "create" || event.type === "update";
    if (isMade && !made.has(event.version)) made.set(event.version, event);
  }
  const found = new Set<string>();
  for (let next: string | undefined = version; next !== undefined && !found.has(next);) {
    found.add(next);
    const { step, from }: Partial<ForgeEvent> = made.get(next) ?? {};
    next = step === "patch" || step === "minor" ? from : undefined;
  }
  return found;
}
