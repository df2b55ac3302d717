import { readFileSync } from "node:fs";

/** Changes when the same files would give other facts, between two releases. */
const format = 19;

/** What facts are remembered under: facts that another release read are not used. */
export const factsVersion: string = `kitbag-facts-${format}-${readVersion()}`;

function readVersion(): string {
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
