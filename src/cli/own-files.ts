import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** Whether this runs from the sources, not from what was built of them. */
export const isSource: boolean = import.meta.url.endsWith(".ts");

/** The file that is started as `kitbag`. */
export const mainFile: string = join(import.meta.dirname, isSource ? "main.ts" : "main.js");

/** The skills that come with Kitbag: the folder is beside `src`, and beside `dist`. */
export const exampleSkills: string = join(root, "skills");

/** The version of Kitbag. */
export function readVersion(): string {
  return (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;
}
