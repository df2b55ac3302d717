import type { PythonModules } from "./python-facts.ts";

/** The Python files of a skill: their text by path, `scripts/lib/cli.py`. */
export type PythonFiles = ReadonlyMap<string, string>;

const mostModules = 12;
const mostCharacters = 256 * 1024;

const imports =
  /^[ \t]*(?:from[ \t]+(?<from>\.*[\w.]*)[ \t]+import[ \t]+(?<names>\([^)]{0,2000}\)|[^\n]{1,500})|import[ \t]+(?<modules>[^\n]{1,500}))/gmu;

/** Finds the modules that a script imports and that are files of its skill, with those that they import in turn. */
export function findLocalModules(path: string, files: PythonFiles): PythonModules | undefined {
  if (!mayImport(path, files)) return undefined;
  const byName = new Map([...files.keys()].map((file) => [stemOf(file), file]));
  const found = new Map<string, string>();
  const pending = [path];
  const seen = new Set(pending);
  for (let file = pending.shift(); file !== undefined; file = pending.shift()) {
    for (const name of namesIn(files.get(file) ?? "")) {
      const target = resolve(name, file, { files, byName });
      if (target === undefined || target === path || found.has(name)) continue;
      found.set(name, files.get(target) ?? "");
      if (!seen.has(target)) pending.push(target);
      seen.add(target);
    }
  }
  return toModules(found);
}

/** A plain search is much cheaper than the pattern, and most scripts import nothing of their skill. */
function mayImport(path: string, files: PythonFiles): boolean {
  const text = files.get(path) ?? "";
  return [...files.keys()].some((file) => file !== path && text.includes(toModuleName(file)));
}

/** As many as a helper is asked to parse for one script; one that is too large does not keep out the others. */
function toModules(found: ReadonlyMap<string, string>): PythonModules | undefined {
  const kept: (readonly [string, string])[] = [];
  let left = mostCharacters;
  for (const [name, text] of found) {
    if (kept.length === mostModules || text.length > left) continue;
    left -= text.length;
    kept.push([name, text]);
  }
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The last word of the name by which a file is imported; that of its folder for a package. */
function toModuleName(file: string): string {
  const stem = stemOf(file);
  return stem === "__init__" ? (file.split("/").at(-2) ?? "") : stem;
}

function stemOf(file: string): string {
  return (file.split("/").at(-1) ?? "").replace(/\.py$/u, "");
}

/** Every name by which a text may import a file: `lib`, `lib.cli`, `.common`. */
function namesIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { groups = {} } of text.matchAll(imports)) {
    const { from, names: members, modules } = groups;
    if (from !== undefined) {
      if (/\w/u.test(from)) names.add(from);
      const prefix = /\w/u.test(from) ? `${from}.` : from;
      for (const member of wordsOf(members ?? "")) names.add(prefix + member);
    }
    for (const module of wordsOf(modules ?? "")) names.add(module);
  }
  return names;
}

/** The names of a list, without those that they get: `a, b as c`. */
function wordsOf(list: string): readonly string[] {
  return list
    .replaceAll(/#[^\n]*|[()\\]/gu, "")
    .split(",")
    .map((item) => item.trim().split(/\s/u)[0] ?? "")
    .filter((item) => /^[A-Za-z_][\w.]*$/u.test(item));
}

interface Places {
  readonly files: PythonFiles;
  readonly byName: ReadonlyMap<string, string>;
}

/** Beside the file that imports it, in `scripts/`, in the skill's folder, or wherever else the one file of that name is. */
function resolve(name: string, from: string, { files, byName }: Places): string | undefined {
  const dots = /^\.*/u.exec(name)?.[0].length ?? 0;
  const own = from.split("/").slice(0, -1);
  const steps = name.slice(dots).split(".");
  const bases = dots > 0 ? [own.slice(0, own.length - dots + 1)] : [own, ["scripts"], []];
  for (const base of bases) {
    const file = [...base, ...steps].join("/");
    const target = [`${file}.py`, `${file}/__init__.py`].find((candidate) => files.has(candidate));
    if (target !== undefined) return target;
  }
  // Many scripts put a folder of the skill on the path first.
  return dots === 0 ? byName.get(steps.at(-1) ?? "") : undefined;
}
