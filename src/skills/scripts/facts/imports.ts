import type { ScriptImport, ScriptLanguage } from "../script-interface.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { DeclaredPackages } from "./declared-packages.ts";
import {
  isSharedName,
  nodePackageOf,
  packageSpellings,
  pythonModules,
  sharedNamesIn,
  specifiersIn,
} from "../../../packages/install/imported-modules.ts";
import { normaliseName } from "../../../packages/install/python/parse-requirement.ts";
import { findPythonPackage } from "../../../packages/install/known-packages.ts";

/** What there is to know about the imports of a script. */
export interface ImportSources {
  readonly language: ScriptLanguage;
  readonly path: string;
  readonly text: string;
  /** The modules that a reader found; without them the text is searched. */
  readonly modules?: readonly string[] | undefined;
  /** The names of the skill's own files and folders, without endings. */
  readonly local: ReadonlySet<string>;
  readonly declared: DeclaredPackages;
}

const mostImports = 200;

/** Finds the packages that a script imports and its language does not bring along, and where they are declared. */
export function findImports(sources: ImportSources): readonly ScriptImport[] {
  if (sources.language === "python") return fromPython(sources);
  const isJavascript = sources.language === "javascript" || sources.language === "typescript";
  return isJavascript ? fromJavascript(sources) : [];
}

function fromPython({ text, path, modules, local, declared }: ImportSources): readonly ScriptImport[] {
  const inline = new Set(inlinePackages(text).map(normaliseName));
  const deep = sharedNamesIn(text);
  const names = new Set((modules ?? modulesIn(text)).filter((name) => isForeign(name, local)));
  return [...names]
    .toSorted()
    .slice(0, mostImports)
    .map((name) => {
      const wanted = findPythonPackage(name, deep) ?? name;
      const spellings = packageSpellings(name, wanted);
      const isInline = spellings.some((spelling) => inline.has(spelling)) || hasPrefix(inline, name);
      const file = isInline
        ? path
        : declared.find(
            "python",
            (spelling) => spellings.includes(normaliseName(spelling)) || isSharedName(spelling, name),
          );
      return withoutUndefined<ScriptImport>({ name, package: normaliseName(wanted), declaredIn: file });
    });
}

function isForeign(name: string, local: ReadonlySet<string>): boolean {
  return (
    !name.startsWith(".") && !name.startsWith("_") && !pythonModules.has(name) && !local.has(name) && name !== "kitbag"
  );
}

function hasPrefix(names: ReadonlySet<string>, name: string): boolean {
  return [...names].some((spelling) => isSharedName(spelling, name));
}

function modulesIn(text: string): readonly string[] {
  return Array.from(text.matchAll(/^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)/gmu), ([, module = ""]) => module);
}

/** The packages of an inline block: `# /// script`. */
export function inlinePackages(text: string): readonly string[] {
  if (!text.includes("# /// script")) return [];
  const block = /^# \/\/\/ script[^\n]*\n((?:#[^\n]*\n){0,200}?)# \/\/\/\s*$/mu.exec(text)?.[1] ?? "";
  const list = /dependencies\s*=\s*\[([\s\S]{0,8000}?)\]/u.exec(block.replaceAll(/^# ?/gmu, ""))?.[1] ?? "";
  return Array.from(list.matchAll(/["']([A-Za-z0-9][\w.-]*)/gu), ([, name = ""]) => name);
}

function fromJavascript({ text, path, declared }: ImportSources): readonly ScriptImport[] {
  const found = new Map<string, boolean>();
  for (const specifier of specifiersIn(text)) {
    const isInline = /^(?:npm|jsr):/u.test(specifier);
    const name = nodePackageOf(specifier);
    if (name !== undefined) found.set(name, isInline || found.get(name) === true);
  }
  return [...found]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .slice(0, mostImports)
    .map(([name, isInline]) => {
      const file = isInline ? path : declared.find("javascript", (spelling) => spelling === name);
      return withoutUndefined<ScriptImport>({ name, package: name, declaredIn: file });
    });
}
