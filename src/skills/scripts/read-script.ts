import type { Diagnostic } from "../../core/diagnostics.ts";
import { quote } from "../../core/errors.ts";
import { opaqueArguments } from "./derived-interface.ts";
import { deriveJavascript } from "./javascript/derive-javascript.ts";
import { deriveOther } from "./other/derive-other.ts";
import type { Candidate } from "./prepare-scripts.ts";
import { derivePython, derivePythonText } from "./python/derive-python.ts";
import type { PythonParser, PythonReading } from "./python/python-facts.ts";
import type { Reading, SourceScript } from "./reading.ts";
import { deriveShell } from "./shell/derive-shell.ts";
import { loadParser, ParseLimitReached, type Grammar } from "./syntax/parse.ts";
import { withoutUndefined } from "./without-undefined.ts";

/** What reading one script needs beside its text. */
export interface ReadScriptParts {
  /** What the helper said about a script in Python. */
  readonly python: PythonReading | undefined;
  readonly diagnostics: Diagnostic[];
  /** How many nodes its syntax tree may have. @default 500,000 */
  readonly maxNodes?: number | undefined;
}

/**
 * Reads one script with the reader of its language. Contract: never rejects. A script that makes a reader fail, or takes too long to
 * read, is reported, and is a tool that takes words.
 */
export async function readScript(
  { source, verdict, isCut }: Candidate,
  { python, diagnostics, maxNodes }: ReadScriptParts,
): Promise<Reading> {
  try {
    const reading = await readByLanguage(source, { python, diagnostics, maxNodes });
    if (verdict !== undefined)
      return withoutUndefined<Reading>({ ...verdict, description: reading.description, modules: reading.modules });
    // What was not read may take anything.
    const takesNothing = reading.interface?.commands.every(({ parameters }) => parameters.length === 0) === true;
    return isCut && (takesNothing || reading.kind === "library")
      ? { ...opaque(reading.description), reason: "it is too large to be read" }
      : reading;
  } catch (cause) {
    diagnostics.push(toFailure(source.path, cause));
    return verdict === undefined ? opaque("") : { ...verdict, description: "" };
  }
}

function toFailure(file: string, cause: unknown): Diagnostic {
  const isLimit = cause instanceof ParseLimitReached;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return {
    severity: "warning",
    code: isLimit ? "script-too-long" : "script-unreadable",
    message: isLimit
      ? `Skipped what ${quote(file)} says about its arguments, because ${reason}`
      : `Cannot read how ${quote(file)} is called: ${reason}`,
    file,
    cure: "Describe it in scripts/manifest.yml",
  };
}

function opaque(description: string): Reading {
  return { kind: "tool", reason: "it runs by itself", description, interface: opaqueArguments() };
}

async function readByLanguage(
  source: SourceScript,
  { python, diagnostics, maxNodes }: ReadScriptParts,
): Promise<Reading> {
  if (source.language === "python") return readPython(source, python, diagnostics);
  const grammar = grammarOf(source);
  if (grammar === undefined) return deriveOther(source);
  const parser = await loadParser(grammar);
  if ("missing" in parser) {
    diagnostics.push(withoutParser(source.path, parser.missing));
    return deriveOther(source);
  }
  const read = grammar === "bash" ? deriveShell : deriveJavascript;
  const reading = read(source, parser.parse, maxNodes);
  if (reading.isPartial) diagnostics.push(intricate(source.path, "parts of it cannot be parsed"));
  return reading;
}

function grammarOf({ language, fileName }: SourceScript): Grammar | undefined {
  if (language === "shell") return "bash";
  if (language !== "javascript" && language !== "typescript") return undefined;
  return /\.[jt]sx$/u.test(fileName) ? "tsx" : "typescript";
}

function withoutParser(file: string, reason: string): Diagnostic {
  return {
    severity: "info",
    code: "parser-missing",
    message: `Cannot parse ${quote(file)}: its parser cannot be loaded (${reason}); only its usage text was read`,
    file,
    cure: "Install Kitbag again, or describe the script in scripts/manifest.yml",
  };
}

function readPython(source: SourceScript, python: PythonReading | undefined, diagnostics: Diagnostic[]): Reading {
  if (python?.ok) {
    const { cut, parser } = python.facts;
    const strangers = parser ? strangersOf(parser) : [];
    if (cut) diagnostics.push(intricate(source.path, "it builds its arguments in too many steps"));
    else if (strangers.length > 0) diagnostics.push(intricate(source.path, describeStrangers(strangers)));
    return derivePython(source, python.facts);
  }
  if (python !== undefined) diagnostics.push(toDiagnostic(source.path, python));
  return derivePythonText(source);
}

function strangersOf({ strangers, commands }: PythonParser): readonly string[] {
  return [...new Set([...strangers, ...(commands?.parsers.flatMap(({ parser }) => strangersOf(parser)) ?? [])])];
}

function describeStrangers(names: readonly string[]): string {
  const shown = names.slice(0, 3).map((name) => quote(name));
  return `${shown.join(", ")} may add arguments, and ${shown.length === 1 ? "is" : "are"} not in the skill`;
}

function intricate(file: string, reason: string): Diagnostic {
  return {
    severity: "info",
    code: "script-intricate",
    message: `Cannot follow all of ${quote(file)}: ${reason}; some arguments may be missing`,
    file,
    cure: "Complete them in scripts/manifest.yml",
  };
}

const codes = {
  missing: "python-missing",
  syntax: "script-syntax",
  deep: "script-syntax",
  failed: "python-failed",
  stopped: "python-failed",
  "too-large": "script-too-large",
} as const;

function toDiagnostic(file: string, { reason, message, line }: Extract<PythonReading, { ok: false }>): Diagnostic {
  const what = reason === "missing" ? `there is no Python to parse it with (${message})` : message;
  return withoutUndefined<Diagnostic>({
    severity: reason === "missing" ? "info" : "warning",
    code: codes[reason],
    message: `Cannot parse ${quote(file)}: ${what}; only its usage text and its plainest code were read`,
    file,
    line,
    cure:
      reason === "missing"
        ? "Install python3, or describe the script in scripts/manifest.yml"
        : "Correct it, or describe it in scripts/manifest.yml",
  });
}
