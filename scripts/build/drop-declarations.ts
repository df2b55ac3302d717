import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const importPattern = /\b(?:from|import)\s*\(?\s*"(\.[^"]+)\.ts"/gu;

/** Imports of packages that are ES modules alone. */
const esmOnly = /^(import type [^;]+ from "@ai-sdk\/provider");/gmu;

/** Deletes the declarations in `dist` that `entries` do not lead to: nobody can import what they describe. */
export function dropDeclarations(dist: string, entries: readonly string[]): void {
  const needed = new Set(entries.map((file) => join(dist, file)));
  // A set that grows while it is gone through is gone through to its new end.
  for (const file of needed) {
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(importPattern)) {
      needed.add(join(dirname(file), `${name}.d.ts`));
    }
  }
  for (const name of globSync("**/*.d.ts", { cwd: dist })) {
    if (!needed.has(join(dist, name))) rmSync(join(dist, name));
  }
}

/**
 * Writes each declaration once more for CommonJS. Node lets such a program require ours; a compiler that resolves as Node 16 did believes it only
 * of declarations that are CommonJS themselves.
 */
export function writeCommonJsDeclarations(dist: string): void {
  for (const name of globSync("**/*.d.ts", { cwd: dist })) {
    const text = readFileSync(join(dist, name), "utf8");
    const imported = text
      .replaceAll(importPattern, (words: string) => words.replace(/\.ts"$/u, '.cts"'))
      .replaceAll(esmOnly, '$1 with { "resolution-mode": "import" };');
    writeFileSync(join(dist, name.replace(/\.ts$/u, ".cts")), imported);
  }
}
