import { type ArgvFacts, type FlagFact, noFacts, type StdinFact } from "../arguments/argv-facts.ts";
import { pythonDialect } from "../arguments/argument-lists.ts";
import { deriveManualInterface } from "../arguments/derive-manual.ts";
import { readCode } from "../arguments/read-code.ts";
import { readJsonInput } from "../arguments/read-fields.ts";
import { type Code, indexCode } from "../code/code.ts";
import { headComments, textsOf } from "../code/pieces.ts";
import { pythonSyntax, scan, type Scanned } from "../code/scan.ts";
import { toDescription } from "../describe.ts";
import { asOpen, type DerivedInterface, withInput } from "../derived-interface.ts";
import { plainArguments, readPlainPlaces } from "../other/plain-places.ts";
import type { Reading, SourceScript } from "../reading.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { fromArgparse } from "./from-argparse.ts";
import { fromClick } from "./from-click.ts";
import { fromFire, fromMain } from "./from-signature.ts";
import { fromTyper } from "./from-typer.ts";
import type { PythonFacts } from "./python-facts.ts";
import { argumentsOf, textOf, textsOf as literalTexts } from "../code/literals.ts";

/** Reads a Python file with what the helper found in it. */
export function derivePython(source: SourceScript, facts: PythonFacts): Reading {
  const description = describe(source, facts);
  const modules = facts.imports;
  const other = classifyPython(source, facts);
  if (other !== undefined) return { ...other, description, modules };
  if (isUncalledMain(facts) && facts.main !== null) {
    const { interpreter, ...derived } = fromMain(facts.main);
    return { kind: "tool", reason: "it has a main function", description, interface: derived, interpreter, modules };
  }
  const declared = deriveDeclared(source, facts);
  const input = readStdin(undefined, source.text);
  const read =
    declared === undefined ? deriveManual(source, facts) : input === undefined ? declared : withInput(declared, input);
  const derived = facts.cut ? asOpen(read) : read;
  const reason = facts.guard ? "it has a block for when it is run by itself" : "it runs by itself";
  return { kind: "tool", reason, description, interface: derived, modules };
}

/** Reads a Python file without the helper: only what its usage text and its plain code say. */
export function derivePythonText(source: SourceScript): Reading {
  const description = describe(source, undefined);
  const derived = deriveManual(source, undefined);
  const isLibrary =
    !/^if\s+__name__\s*==/mu.test(source.text) && !/^(?:main\(|print\(|sys\.exit\(|asyncio\.run\()/mu.test(source.text);
  const takesNothing = derived.commands.every(({ parameters }) => parameters.length === 0);
  if (isLibrary && takesNothing)
    return { kind: "library", reason: "it does nothing when it is run by itself", description };
  return { kind: "tool", reason: "it runs by itself", description, interface: derived };
}

/** A `main` with parameters that nothing calls is meant to be called by the program that loads the file. */
function isUncalledMain(facts: PythonFacts): boolean {
  return facts.main !== null && !facts.mainCalled && !facts.guard && !facts.acts;
}

function deriveDeclared({ text }: SourceScript, facts: PythonFacts): DerivedInterface | undefined {
  if (facts.typer !== undefined) return fromTyper(facts.typer);
  const click = facts.click === undefined ? undefined : fromClick(facts.click);
  if (click !== undefined) return click;
  if (facts.parser) return fromArgparse(facts.parser, /["']--["']/u.test(text));
  return facts.fire === undefined ? undefined : fromFire(facts.fire);
}

function deriveManual({ text, fileName }: SourceScript, facts: PythonFacts | undefined): DerivedInterface {
  const scanned = scan(text, pythonSyntax);
  const modules = facts?.imports ?? [];
  const code = facts?.code ? indexCode(facts.code, { ...scanned, hasErrors: false }) : undefined;
  const plain = code === undefined ? readPlain(scanned) : withGetopt(readCode(code, pythonDialect), code);
  const readsArgv = plain.readsArgv || modules.some((module) => otherParsers.has(module));
  const read = withoutUndefined<ArgvFacts>({ ...plain, readsArgv, stdin: readStdin(code, text) });
  const words = new Set(scanned.pieces.filter(({ kind }) => kind === "string").map((piece) => piece.text));
  // For docopt the usage text is the declaration: a bare word in it is always meant.
  const isWord = (word: string): boolean => words.has(word) || modules.includes("docopt");
  return deriveManualInterface({ fileName, facts: read, texts: textsOf(text, scanned.pieces), isWord });
}

/** Without a syntax tree, only `sys.argv[1]` and its like are read. */
function readPlain(scanned: Scanned): ArgvFacts {
  const { python } = plainArguments;
  const isImported = /^[ \t]*from sys import [^\n]*\bargv\b/mu.test(scanned.code);
  const list = isImported ? /\b(?:sys\.)?argv\b/u : python.list;
  return scanned.code.includes("argv") ? readPlainPlaces(scanned, { ...python, list }) : noFacts;
}

const readsStdin =
  /sys\.stdin\b(?!\.isatty|\.encoding|\.reconfigure|\.fileno)|fileinput\.input|open\(0\b|\/dev\/stdin|get_text_stream\(["']stdin/u;

/** A declared file to read is standard input if its name is `-`. */
const takesDash =
  /\bFileType\(\s*(?:\)|["']r[bt]?["'])|\bclick\.File\(\s*(?:\)|["']r[bt]?["'])|\btyper\.FileText(?!Write)\b/u;

function readStdin(code: Code | undefined, text: string): StdinFact | undefined {
  if (!readsStdin.test(text)) return takesDash.test(text) ? { as: "text", fields: [] } : undefined;
  if (!/json\.loads?\(/u.test(text) || !/json\.load\(sys\.stdin|sys\.stdin\.(?:buffer\.)?read\(\)/u.test(text))
    return { as: "text", fields: [] };
  return code === undefined ? { as: "json", fields: [] } : readJsonInput(code);
}

function describe({ text, fileName }: SourceScript, facts: PythonFacts | undefined): string {
  const doc =
    facts === undefined ? /^(?:#[^\n]*\n|\s)*[rRuU]?("""|''')([\s\S]{0,8000}?)\1/u.exec(text)?.[2] : facts.doc;
  const fromDoc = toDescription(doc ?? "", fileName);
  if (fromDoc !== "") return fromDoc;
  const fromMainDoc = toDescription(facts?.main?.doc ?? "");
  if (fromMainDoc !== "") return fromMainDoc;
  const [head = ""] = /^(?:#[^\n]*\n)+/u.exec(text) ?? [];
  return (
    headComments(scan(head, pythonSyntax).pieces, head.split("\n").length)
      .map((comment) => toDescription(comment, fileName))
      .find((found) => found !== "") ?? ""
  );
}

/** Adds the flags of `getopt.getopt(sys.argv[1:], "ho:", ["help", "output="])`, which tells what has a value. */
function withGetopt(facts: ArgvFacts, code: Code): ArgvFacts {
  const call = [...code.callsOf("getopt"), ...code.callsOf("gnu_getopt")].find(({ args }) => args.length > 1);
  if (call === undefined) return facts;
  const [, short, long] = argumentsOf(code, call);
  const letters = (textOf(short) ?? "").match(/[A-Za-z0-9]:?/gu) ?? [];
  const notations = [...literalTexts(long).map((name) => `--${name}`), ...letters.map((letter) => `-${letter}`)];
  const spellings = new Map(facts.flags.flatMap((fact) => fact.flags.map((flag) => [flag, fact.flags] as const)));
  const flags = new Map<string, FlagFact>();
  for (const notation of notations) {
    const flag = notation.replace(/[:=]$/u, "");
    // Two spellings of one flag stand in one comparison: `if o in ("-o", "--output")`.
    const all = spellings.get(flag) ?? [flag];
    const key = all.join(" ");
    const takesValue = flags.get(key)?.takesValue === true || notation !== flag;
    const isLong = all.some((spelling) => spelling.startsWith("--"));
    flags.set(key, { flags: all, takesValue, ...(takesValue && isLong && { joined: "either" }) });
  }
  return { ...facts, readsArgv: true, flags: [...flags.values()], separator: true };
}

/** Packages that read the arguments in ways we do not follow. */
const otherParsers: ReadonlySet<string> = new Set(
  "absl docopt plac tyro cyclopts simple_parsing jsonargparse cleo cement invoke hydra tap defopt argh clize".split(
    " ",
  ),
);

type Verdict = Pick<Reading, "kind" | "reason">;

/** Says why a Python file is not a tool; nothing if it is one. */
function classifyPython({ fileName, text }: SourceScript, facts: PythonFacts): Verdict | undefined {
  const declarations = [facts.parser ?? undefined, facts.click, facts.typer, facts.fire];
  const declares = declarations.some((declaration) => declaration !== undefined);
  return (
    byTests(fileName, facts, declares) ??
    byInput(text, facts, declares) ??
    (declares ? undefined : byShape(fileName, text, facts))
  );
}

function byTests(fileName: string, facts: PythonFacts, declares: boolean): Verdict | undefined {
  if (fileName === "conftest.py") return { kind: "test", reason: "it prepares tests for pytest" };
  const isTestFile = /^test_|_test\.py$/u.test(fileName);
  const usesRunner = facts.imports.includes("pytest") || facts.imports.includes("unittest");
  if (facts.tests === 0 || declares) return undefined;
  return isTestFile || usesRunner ? { kind: "test", reason: "it defines tests" } : undefined;
}

function byInput(text: string, facts: PythonFacts, declares: boolean): Verdict | undefined {
  if (
    /["'](?:tool_input|hook_event_name|hookSpecificOutput|stop_hook_active)["']/u.test(text) &&
    text.includes("stdin") &&
    !declares
  ) {
    return { kind: "hook", reason: "it reads the event of an agent's hook from standard input" };
  }
  const isServer =
    (facts.imports.includes("mcp") || facts.imports.includes("fastmcp")) &&
    /FastMCP\(|stdio_server\(|Server\(/u.test(text);
  if (isServer && !declares)
    return { kind: "interactive", reason: "it is an MCP server, which stays and speaks its own protocol" };
  if (!declares && serves(text, facts))
    return { kind: "interactive", reason: "it is a server, which stays until it is stopped" };
  const asks = /(?:^|[^.\w])(?:input|getpass\.getpass|getpass)\(/mu.test(text);
  if (asks && !declares && !text.includes("argv"))
    return { kind: "interactive", reason: "it asks questions at a terminal (input)" };
  return undefined;
}

function serves(text: string, { imports }: PythonFacts): boolean {
  if (text.includes("argv") || !imports.some((module) => webServers.has(module))) return false;
  return /^\s+(?:app\.run|uvicorn\.run|web\.run_app|\w+\.serve_forever|\w+\.launch)\(/mu.test(text);
}

const webServers = new Set(["flask", "fastapi", "uvicorn", "aiohttp", "tornado", "bottle", "gradio", "streamlit"]);

function byShape(fileName: string, text: string, facts: PythonFacts): Verdict | undefined {
  if (fileName === "__init__.py") return { kind: "library", reason: "it makes its folder a package" };
  if (facts.demo)
    return { kind: "library", reason: "it defines functions for others; run by itself it only shows an example" };
  if (facts.guard || facts.acts || text.includes("sys.argv")) return undefined;
  if (facts.imports.some((module) => otherParsers.has(module))) return undefined;
  if (facts.main !== null) return undefined;
  return {
    kind: "library",
    reason: "it defines functions and classes for others and does nothing when it is run by itself",
  };
}
