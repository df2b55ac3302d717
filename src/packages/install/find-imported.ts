import { posix } from "node:path";

import {
  isSharedName,
  nodePackageOf,
  packageSpellings,
  pythonModules,
  sharedNamesIn,
  specifiersIn,
} from "./imported-modules.ts";
import { findPythonPackage } from "./known-packages.ts";

/** Which of the packages that are listed for a skill one script imports, itself or through the skill's own modules. */
export interface ImportedPackages {
  /** Of the listed ones. */
  readonly names: readonly string[];
  /** It imports nothing but its own files and what its language brings along, and starts nothing that could. */
  readonly isNone: boolean;
}

/** A file of the skill's folder, or nothing. */
export type ReadText = (file: string) => string | undefined;

/** Scripts that are spread over more files are taken to import anything. */
const mostFiles = 200;

/** Finds out what a Python script imports. The text is searched, not parsed: a comment may look like an import, and nothing is missed by it. */
export function findImportedPython(path: string, read: ReadText, listed: readonly string[]): ImportedPackages {
  if (listed.length === 0) return { names: [], isNone: true };
  const { texts, isOpen } = collect(path, read, pythonFilesOf);
  const used = texts.flatMap(({ text, file }) => {
    const deep = sharedNamesIn(text);
    return pythonImportsIn(text).flatMap(({ module }) => {
      const [first = ""] = module.split(".");
      const isOwn = first === "" || pythonModules.has(first) || first === "kitbag" || findPythonFile(file, first, read);
      return isOwn ? [] : [{ module: first, wanted: findPythonPackage(first, deep) ?? first }];
    });
  });
  const names = listed.filter((name) =>
    used.some(({ module, wanted }) => packageSpellings(module, wanted).includes(name) || isSharedName(name, module)),
  );
  return { names, isNone: used.length === 0 && !isOpen && !texts.some(({ text }) => pythonStarts.test(text)) };
}

/** Finds out what a script that Node runs imports. */
export function findImportedNode(path: string, read: ReadText, listed: readonly string[]): ImportedPackages {
  if (listed.length === 0) return { names: [], isNone: true };
  const { texts, isOpen } = collect(path, read, nodeFilesOf);
  const used = new Set(texts.flatMap(({ text }) => specifiersIn(text).map(nodePackageOf)));
  used.delete(undefined);
  const names = listed.filter((name) => used.has(name));
  return { names, isNone: used.size === 0 && !isOpen && !texts.some(({ text }) => nodeStarts.test(text)) };
}

/** Code that imports what its text does not name, or starts a program that may. */
const pythonStarts =
  /\b(?:importlib|__import__|runpy|pkgutil|entry_points|subprocess|multiprocessing|Popen)\b|(?<![\w.])(?:exec|eval|compile)\s*\(|\bos\.(?:system|popen|exec|spawn|posix_spawn)/u;
const nodeStarts =
  /\b(?:child_process|worker_threads|createRequire|eval|Function)\b|\b(?:import|require)\s*\(\s*(?!["'])|\brequire\.(?:resolve|main)\b|["']cluster["']/u;

interface Text {
  readonly file: string;
  readonly text: string;
}

/** The script and the files of the skill that it imports, and those that they import. */
function collect(
  path: string,
  read: ReadText,
  filesOf: (text: Text, read: ReadText) => readonly string[],
): { readonly texts: readonly Text[]; readonly isOpen: boolean } {
  const texts: Text[] = [];
  const seen = new Set([path]);
  for (const file of seen) {
    const text = read(file);
    if (text === undefined) continue;
    texts.push({ file, text });
    for (const found of filesOf({ file, text }, read)) seen.add(found);
    if (seen.size > mostFiles) return { texts, isOpen: true };
  }
  return { texts, isOpen: texts.length === 0 };
}

interface PythonImport {
  /** Dotted; it begins with dots if it is relative. */
  readonly module: string;
  readonly names: readonly string[];
}

const pythonImport =
  /(?:^|[;:])[ \t]*(?:from[ \t]+(?<from>\.*[ \t]*[\w.]*)[ \t]+import[ \t]+\(?(?<names>[^\n#]*)|import[ \t]+(?<plain>[\w., \t]+))/gmu;

function pythonImportsIn(text: string): readonly PythonImport[] {
  return Array.from(text.matchAll(pythonImport), ({ groups }) => {
    const { from, names = "", plain = "" } = groups ?? {};
    if (from !== undefined) return [{ module: from.replaceAll(/\s/gu, ""), names: toNames(names) }];
    return toNames(plain).map((module) => ({ module, names: [] }));
  }).flat();
}

/** `a as b, c` names `a` and `c`. */
function toNames(list: string): readonly string[] {
  return list.split(",").flatMap((part) => /^[\w.]+/u.exec(part.trim()) ?? []);
}

function pythonFilesOf({ text, file }: Text, read: ReadText): readonly string[] {
  return pythonImportsIn(text).flatMap(({ module, names }) =>
    [module, ...names.map((name) => (module.endsWith(".") ? module + name : `${module}.${name}`))].flatMap(
      (name) => findPythonFile(file, name, read) ?? [],
    ),
  );
}

/** The file of a module: in the folder of the file that imports it, or in one above. */
function findPythonFile(from: string, module: string, read: ReadText): string | undefined {
  const [, dots = "", name = ""] = /^(\.*)(.*)$/su.exec(module) ?? [];
  const steps = name.split(".").filter((step) => step !== "");
  const folders = dots === "" ? foldersAbove(from) : foldersAbove(from).slice(dots.length - 1, dots.length);
  const candidates = folders.flatMap((folder) => {
    const place = posix.join(folder, ...steps);
    return [`${place}.py`, posix.join(place, "__init__.py")];
  });
  return candidates.find((file) => read(file) !== undefined);
}

/** The folder that a file is in, and those above, up to the skill's own. */
function foldersAbove(file: string): readonly string[] {
  const folders = [posix.dirname(file)];
  while (folders.at(-1) !== ".") folders.push(posix.dirname(folders.at(-1) ?? "."));
  return folders;
}

const nodeEndings = [
  "",
  ".js",
  ".mjs",
  ".cjs",
  ".ts",
  ".mts",
  ".cts",
  ".jsx",
  ".tsx",
  "/index.js",
  "/index.ts",
  "/index.mjs",
];

function nodeFilesOf({ text, file }: Text, read: ReadText): readonly string[] {
  return specifiersIn(text)
    .filter((specifier) => /^\.{1,2}\//u.test(specifier))
    .flatMap((specifier) => {
      const place = posix.join(posix.dirname(file), specifier);
      // TypeScript names the file that it becomes.
      const places = [place, place.replace(/\.([cm]?)js$/u, ".$1ts")];
      return (
        places.flatMap((one) => nodeEndings.map((ending) => one + ending)).find((one) => read(one) !== undefined) ?? []
      );
    });
}
