import type { Entry } from "./entry.ts";
import type { Holder } from "./holder.ts";

/** What a list is made of. */
export interface AvailableToolsSource {
  /** Counts what changed for everybody. */
  version(): number;
  list(holder: Holder): Entry[];
}

const nothing: readonly Entry[] = Object.freeze([]);

/** So many combinations of open skills are known at once. */
const mostKnown = 1000;

/**
 * Makes lists of what is available to a holder. While the list would be the same, the same array is answered, and holders that have
 * the same skills open share it.
 */
export function createAvailableTools({ version, list }: AvailableToolsSource): (holder: Holder) => readonly Entry[] {
  const known = new WeakMap<ReadonlySet<string>, { readonly version: number; readonly tools: readonly Entry[] }>();
  const shared = new Map<string, WeakRef<readonly Entry[]>>();
  let sharedVersion = version();

  /** Puts the list where others with the same open skills find it, or answers with the one that is there. */
  function share(open: ReadonlySet<string>, tools: () => readonly Entry[]): readonly Entry[] {
    if (sharedVersion !== version() || shared.size >= mostKnown) shared.clear();
    sharedVersion = version();
    const key = [...open].toSorted().join("\n");
    const found = shared.get(key)?.deref();
    if (found !== undefined) return found;
    const made = tools();
    shared.set(key, new WeakRef(made));
    return made;
  }

  return (holder) => {
    if (holder.isClosed) return nothing;
    const { open } = holder;
    const kept = known.get(open);
    if (kept?.version === version()) return (holder.tools = kept.tools);
    holder.tools = share(open, () => {
      const fresh = list(holder);
      return [kept?.tools, holder.tools].find((tools) => tools !== undefined && isSame(tools, fresh)) ?? freeze(fresh);
    });
    known.set(open, { version: version(), tools: holder.tools });
    return holder.tools;
  };
}

/** It goes to many, and none of them may change it for the others. */
function freeze(tools: Entry[]): readonly Entry[] {
  return Object.freeze(tools);
}

function isSame(left: readonly Entry[], right: readonly Entry[]): boolean {
  return left.length === right.length && left.every((entry, index) => entry === right[index]);
}
