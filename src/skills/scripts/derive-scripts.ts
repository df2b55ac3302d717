import { setImmediate } from "node:timers/promises";

import type { Diagnostic } from "../../core/diagnostics.ts";
import { quote } from "../../core/errors.ts";
import { toDescription } from "./describe.ts";
import type { DerivedCommand, DerivedInterface } from "./derived-interface.ts";
import { addExamples, type Instructions } from "./examples/add-examples.ts";
import { describeFromText } from "./examples/describe-from-text.ts";
import { findAccess } from "./facts/access.ts";
import { findEnvironment } from "./facts/environment.ts";
import { findFileParameters } from "./facts/file-parameters.ts";
import { findImports } from "./facts/imports.ts";
import { applyManifest } from "./manifest/apply-manifest.ts";
import { toSchemaAndMapping } from "./parameter.ts";
import { type Candidate, type PreparedScripts, prepareScripts } from "./prepare-scripts.ts";
import { findLocalModules } from "./python/local-modules.ts";
import type { PythonReading } from "./python/python-facts.ts";
import { createPythonReader, type PythonReader, type PythonReaderOptions } from "./python/python-reader.ts";
import { readScript } from "./read-script.ts";
import type { Reading, SourceScript } from "./reading.ts";
import type { DerivedScripts, ScriptFile, ScriptInterface, ScriptTool } from "./script-interface.ts";
import { isName } from "../../core/names.ts";

/** The files of one skill, and what its author wrote about them. */
export interface SkillScripts {
  /** All of the folder: scripts may lie anywhere, and other files declare packages. */
  readonly files: readonly ScriptFile[];
  /** The text of SKILL.md: its calls of scripts are examples, and are checked. */
  readonly instructions?: Instructions;
  /** What {@link startScripts} made of the files. @default it is made now */
  readonly started?: StartedScripts;
}

/** How scripts are read. */
export interface DeriveScriptsOptions extends PythonReaderOptions {
  /** Shared by several calls; the caller closes it. @default one for this call */
  readonly pythonReader?: PythonReader;
  /** How many nodes the syntax tree of one script may have. @default 500,000, twice what 1 MiB of code has */
  readonly maxNodes?: number;
  /** Tells the time in milliseconds, for how long other work has waited. @default performance.now */
  readonly now?: () => number;
}

/**
 * Derives how the scripts of a skill are called, from their text alone: nothing is run. Contract: never rejects and never throws,
 * whatever the files hold; time is bounded.
 */
export async function deriveScripts(
  files: readonly ScriptFile[],
  { instructions, ...options }: DeriveScriptsOptions & Pick<SkillScripts, "instructions"> = {},
): Promise<DerivedScripts> {
  const skill = instructions === undefined ? { files } : { files, instructions };
  const [derived] = await deriveAllScripts([skill], options);
  return derived ?? { scripts: [], diagnostics: [] };
}

/** How long other work waits while scripts are read. */
const sliceMs = 10;

/** Derives the scripts of many skills, with one Python helper for all of them. The answers are in the order of `skills`. */
export async function deriveAllScripts(
  skills: readonly SkillScripts[],
  options: DeriveScriptsOptions = {},
): Promise<readonly DerivedScripts[]> {
  const reader = options.pythonReader ?? createPythonReader(options);
  const waiting = skills.map((skill) => ({ skill, ...(skill.started ?? startScripts(skill, reader)) }));
  const derived: DerivedScripts[] = [];
  const now = options.now ?? (() => performance.now());
  let sliceEnd = now() + sliceMs;
  const breathe = async (): Promise<void> => {
    if (now() < sliceEnd) return;
    await setImmediate();
    sliceEnd = now() + sliceMs;
  };
  // The helper parses Python while the other languages are read here; it must be fed meanwhile.
  await setImmediate();
  for (const one of waiting) derived.push(await finish({ ...one, breathe, maxNodes: options.maxNodes }));
  if (options.pythonReader === undefined) await reader.close();
  return derived;
}

/** The scripts of a skill, sorted out, while a helper reads those in Python. */
export interface StartedScripts {
  readonly prepared: PreparedScripts;
  readonly python: ReadonlyMap<Candidate, Promise<PythonReading>>;
}

/** Begins to read the files of a skill, so that Python is read while there is other work to do. */
export function startScripts(
  { files, instructions }: Pick<SkillScripts, "files" | "instructions">,
  reader: PythonReader,
): StartedScripts {
  const prepared = prepareScripts(files, instructions);
  const scripts = prepared.candidates.filter(({ source, isCut }) => source.language === "python" && !isCut);
  // A script without an ending is in no list of modules.
  const modules = new Map([...prepared.modules, ...scripts.map(({ source }) => [source.path, source.text] as const)]);
  const read = ({ source }: Candidate): Promise<PythonReading> =>
    reader.read(source.text, findLocalModules(source.path, modules));
  return { prepared, python: new Map(scripts.map((script) => [script, read(script)])) };
}

interface ScriptsToFinish extends StartedScripts {
  readonly skill: SkillScripts;
  readonly maxNodes: number | undefined;
  /** Lets other work go on, if it has waited long enough. */
  breathe(): Promise<void>;
}

async function finish({ skill, prepared, python, maxNodes, breathe }: ScriptsToFinish): Promise<DerivedScripts> {
  const { diagnostics, manifest } = prepared;
  const readings: { candidate: Candidate; reading: Reading }[] = [];
  for (const candidate of prepared.candidates) {
    const parts = { python: await python.get(candidate), diagnostics, maxNodes };
    readings.push({ candidate, reading: await readScript(candidate, parts) });
    await breathe();
  }
  const derived = readings.map(({ candidate, reading }) => toInterface(candidate, reading, prepared));
  const applied = applyManifest(derived, manifest.tools);
  const settled = new Set(
    manifest.tools
      .filter(({ examples }) => examples !== undefined)
      .map(({ path, words }) => `${path} ${words.join(" ")}`),
  );
  const illustrated =
    skill.instructions === undefined
      ? { scripts: applied.scripts, diagnostics: [] }
      : addExamples(applied.scripts, {
          instructions: skill.instructions,
          settled,
          texts: new Map(prepared.candidates.map(({ source }) => [source.path, source.text])),
        });
  const described =
    skill.instructions === undefined
      ? illustrated.scripts
      : withDescriptions(illustrated.scripts, [skill.instructions.text, ...prepared.linked]);
  const scripts = withNames(described, diagnostics);
  return {
    scripts,
    diagnostics: [
      ...manifest.diagnostics,
      ...applied.diagnostics,
      ...joinMissing(diagnostics),
      ...illustrated.diagnostics,
    ],
  };
}

/** That Python is missing is said once, not for every script. */
function joinMissing(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const missing = diagnostics.filter(({ code }) => code === "python-missing");
  const [first] = missing;
  if (first === undefined || missing.length === 1) return diagnostics;
  const message = first.message.replace(";", ` (and ${missing.length - 1} more like it);`);
  return [...diagnostics.filter(({ code }) => code !== "python-missing"), { ...first, message }];
}

function toInterface(candidate: Candidate, reading: Reading, { declared, local }: PreparedScripts): ScriptInterface {
  const { source } = candidate;
  const { path, language, text } = source;
  return {
    path,
    language,
    interpreter: reading.interpreter ?? candidate.interpreter,
    kind: reading.kind,
    reason: reading.reason,
    tools:
      reading.kind === "tool" && reading.interface !== undefined ? toTools(source, reading, reading.interface) : [],
    environment: findEnvironment(language, text),
    imports: findImports({ language, path, text, modules: reading.modules, local, declared }),
    access: findAccess(language, text, reading),
  };
}

function toTools({ path, text }: SourceScript, reading: Reading, derived: DerivedInterface): readonly ScriptTool[] {
  return derived.commands.map((command) => {
    const { paths, ...line } = toSchemaAndMapping(command);
    const files = findFileParameters({ ...line, text, declared: paths });
    return {
      name: "",
      description: describe(path, { reading, derived, command }),
      ...line,
      ...(Object.keys(files).length > 0 && { files }),
      // Nothing is sure about a command that may take more than is known.
      confidence: command.open ? "opaque" : derived.confidence,
      source: derived.source,
      examples: [],
    };
  });
}

interface Descriptions {
  readonly reading: Reading;
  readonly derived: DerivedInterface;
  readonly command: DerivedCommand;
}

/** Gives scripts that say nothing about themselves the words of the first text that describes them. */
function withDescriptions(scripts: readonly ScriptInterface[], texts: readonly string[]): readonly ScriptInterface[] {
  return scripts.map((script) => {
    if (script.tools.every(({ description }) => description !== withoutWords(script.path))) return script;
    const said = texts.reduce((found, text) => found || describeFromText(text, script.path), "");
    const tools = script.tools.map((tool) =>
      tool.description === withoutWords(script.path) && said !== "" ? { ...tool, description: said } : tool,
    );
    return { ...script, tools };
  });
}

function withoutWords(path: string): string {
  return `Run ${path}`;
}

/** The script's own words; only where it has none, the one thing that is certain about it. */
function describe(path: string, { reading, derived, command }: Descriptions): string {
  const own = toDescription(command.description ?? "");
  const whole = reading.description || toDescription(derived.description ?? "");
  const isCommand = (command.words?.length ?? 0) > 0;
  return (isCommand ? own || whole : whole || own) || withoutWords(path);
}

/** Gives every tool a name that no other tool of the skill has. Names that an author chose come first. */
function withNames(scripts: readonly ScriptInterface[], diagnostics: Diagnostic[]): readonly ScriptInterface[] {
  const owners = new Map<string, string>();
  const chosen = new Map<ScriptTool, string>();
  const all = scripts.flatMap(({ path, tools }) => tools.map((tool) => ({ path, tool })));
  // A tool of a script in scripts/ keeps its name when the text begins to name a script elsewhere.
  const placeOf = ({ path, tool }: (typeof all)[number]): number =>
    tool.name !== "" ? 0 : /^scripts\/[^/]+$/u.test(path) ? 1 : 2;
  const ordered = all.toSorted((left, right) => placeOf(left) - placeOf(right));
  for (const { path, tool } of ordered) {
    const words = tool.mapping.parts.flatMap((part) => (part.kind === "word" ? [part.word] : []));
    const wanted = tool.name === "" ? toToolName(path, words) : tool.name;
    const name = toFreeName(wanted, path, owners);
    if (name !== wanted) diagnostics.push(collision(wanted, name, { path, owner: owners.get(wanted) ?? path }));
    owners.set(name, path);
    chosen.set(tool, name);
  }
  return scripts.map((script) => ({
    ...script,
    tools: script.tools.map((tool) => ({ ...tool, name: chosen.get(tool) ?? tool.name })),
  }));
}

function collision(wanted: string, name: string, { path, owner }: { path: string; owner: string }): Diagnostic {
  return {
    severity: "warning",
    code: "tool-name-collision",
    message: `Two tools would be called ${quote(wanted)}, from ${quote(owner)} and from ${quote(path)}: the second is called ${quote(name)}`,
    file: path,
    cure: "Rename one of the files, or give a name in scripts/manifest.yml",
  };
}

const longestName = 64;

/**
 * Makes the name of a tool from the path of a script and the words of a sub-command: `scripts/extract.py` is `extract`, and
 * `scripts/office/unpack.py` is `office-unpack`, so that a name depends on no other script.
 */
export function toToolName(path: string, words: readonly string[] = []): string {
  const steps = path.replace(/^scripts\//u, "").split("/");
  const stem = (steps.pop() ?? "").replace(/(?<=.)\.\w{1,5}$/u, "");
  return toName([...steps, stem, ...words].join("-"));
}

/** Makes a name that the grammar of names takes. */
function toName(text: string): string {
  const clean = text
    .replaceAll(/[^A-Za-z0-9_.-]+/gu, "-")
    .replaceAll(/^[^A-Za-z0-9]+|[-.]+$/gu, "")
    .slice(0, longestName)
    .replace(/[-.]+$/u, "");
  return isName(clean) ? clean : "script";
}

/** A name that `taken` does not have: the wanted one, with the ending of the file, or with a number. */
export function toFreeName(wanted: string, path: string, taken: { has(name: string): boolean }): string {
  if (!taken.has(wanted)) return wanted;
  const ending = /\.(\w{1,5})$/u.exec(path)?.[1]?.toLowerCase();
  const withEnding = ending === undefined ? wanted : withSuffix(wanted, ending);
  if (!taken.has(withEnding)) return withEnding;
  for (let count = 2; ; count++) {
    const name = withSuffix(wanted, String(count));
    if (!taken.has(name)) return name;
  }
}

function withSuffix(name: string, suffix: string): string {
  return `${name.slice(0, longestName - suffix.length - 1)}-${suffix}`;
}
