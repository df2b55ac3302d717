import { showPath } from "../../platform/paths.ts";
import type { Digests } from "./trust-format.ts";

/** Says which files are not what they were: `SKILL.md (changed)`, `scripts/new.py (added)`; sorted, empty if all are the same. */
export function describeChanges(before: Digests, after: Digests): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return paths
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => `${showPath(path)} (${describeChange(before.has(path), after.has(path))})`);
}

function describeChange(wasThere: boolean, isThere: boolean): string {
  if (wasThere && isThere) return "changed";
  return isThere ? "added" : "removed";
}
