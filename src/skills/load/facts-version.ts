import { readFileSync } from "node:fs";

/** Changes when the same files would give other facts or other findings, between two releases. */
const format = 30;

/** The version of this package. */
export const kitbagVersion: string = readVersion();

/** What facts are remembered under: facts that another release read are not used. */
export const factsVersion: string = `kitbag-facts-${format}-${kitbagVersion}`;

function readVersion(): string {
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
