import type { Entry } from "./entry.ts";
import type { Holder } from "./holder.ts";

/** What a list is made of. */
export interface AvailableToolsSource {
  /** Counts what changed for everybody. */
  version(): number;
  list(holder: Holder): readonly Entry[];
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
  let sharedVersion = 0;

  /** The list of others with the same open skills, or a new one that they will find. */
  function listFor(holder: Holder): readonly Entry[] {
    if (sharedVersion !== version() || shared.size >= mostKnown) shared.clear();
    sharedVersion = version();
    const key = [...holder.open].toSorted().join("\n");
    const found = shared.get(key)?.deref() ?? list(holder);
    // An old one that says the same goes before: somebody may have made something of it.
    const kept = [known.get(holder.open)?.tools, holder.tools].find((tools) => isSame(tools, found));
    const tools = kept ?? Object.freeze(found);
    shared.set(key, new WeakRef(tools));
    return tools;
  }

  return (holder) => {
    if (holder.isClosed) return nothing;
    const { open } = holder;
    let kept = known.get(open);
    if (kept?.version !== version()) {
      kept = { version: version(), tools: listFor(holder) };
      known.set(open, kept);
    }
    holder.tools = kept.tools;
    return kept.tools;
  };
}

function isSame(left: readonly Entry[] | undefined, right: readonly Entry[]): boolean {
  return left?.length === right.length && left.every((entry, index) => entry === right[index]);
}
