import type { StoredTool } from "./stored-tool.ts";

/** The version that is live, or was so last if what stands in its place now cannot be read; none if nothing is kept. */
export function lastVersion({ current, versions, history }: StoredTool): string | undefined {
  if (current !== undefined) return current.label;
  const kept = new Set(versions.map(({ label }) => label));
  return history.findLast(({ version }) => kept.has(version))?.version ?? versions.at(-1)?.label;
}
