import { globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

/** Deletes the declarations in `dist` that `entries` do not lead to: nobody can import what they describe. */
export function dropDeclarations(dist: string, entries: readonly string[]): void {
  const needed = new Set(entries.map((file) => join(dist, file)));
  // A set that grows while it is gone through is gone through to its new end.
  for (const file of needed) {
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)\.ts"/gu)) {
      needed.add(join(dirname(file), `${name}.d.ts`));
    }
  }
  for (const name of globSync("**/*.d.ts", { cwd: dist })) {
    if (!needed.has(join(dist, name))) rmSync(join(dist, name));
  }
}
