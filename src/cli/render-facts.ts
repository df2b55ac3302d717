import { toPrintableLine } from "./printable.ts";

/** A fact as its name and what it is; one that is empty is not shown. */
export type Fact = readonly [name: string, value: string];

/** Lays out facts under each other. */
export function renderFacts(facts: readonly Fact[]): string {
  return facts
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name.padEnd(13)}${toPrintableLine(value)}`)
    .join("\n");
}
