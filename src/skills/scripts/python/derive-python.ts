import { noFacts, type ArgvFacts, type StdinFact } from "../arguments/argv-facts.ts";
import { pythonDialect } from "../arguments/argument-lists.ts";
import { deriveByHand } from "../arguments/derive-by-hand.ts";
import { readCode } from "../arguments/read-code.ts";
import { findFields } from "../arguments/read-fields.ts";
import { indexCode, type Code } from "../code/code.ts";
import { headComments, textsOf } from "../code/pieces.ts";
import { pythonSyntax, scan, type Scanned } from "../code/scan.ts";
import { toDescription } from "../describe.ts";
import { asOpen, type DerivedInterface } from "../derived-interface.ts";
import { plainArguments, readPlainPlaces } from "../other/plain-places.ts";
import type { Reading, SourceScript } from "../reading.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { withGetopt } from "./getopt.ts";
import { classifyPython, otherParsers } from "./classify-python.ts";
import { fromArgparse } from "./from-argparse.ts";
import { fromClick } from "./from-click.ts";
import { fromFire, fromMain } from "./from-signature.ts";
import { fromTyper } from "./from-typer.ts";
import type { PythonFacts } from "./python-facts.ts";

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
  const read = deriveDeclared(source, facts) ?? deriveManual(source, facts);
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

/** A `main` with parameters that nothing calls is meant to be called by whoever loads the file. */
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
  return deriveByHand({ fileName, facts: read, texts: textsOf(text, scanned.pieces), isWord });
}

/** Without a syntax tree, only `sys.argv[1]` and its like are read. */
function readPlain(scanned: Scanned): ArgvFacts {
  const { python } = plainArguments;
  const isImported = /^[ \t]*from sys import [^\n]*\bargv\b/mu.test(scanned.code);
  const list = isImported ? /\b(?:sys\.)?argv\b/u : python.list;
  return scanned.code.includes("argv") ? readPlainPlaces(scanned, { ...python, list }) : noFacts;
}

function readStdin(code: Code | undefined, text: string): StdinFact | undefined {
  if (!/sys\.stdin\b(?!\.isatty|\.encoding|\.reconfigure)|fileinput\.input|open\(0\b|\/dev\/stdin/u.test(text))
    return undefined;
  return /json\.loads?\(/u.test(text) && /json\.load\(sys\.stdin|sys\.stdin\.(?:buffer\.)?read\(\)/u.test(text)
    ? { as: "json", fields: code === undefined ? [] : findFields(code) }
    : { as: "text", fields: [] };
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
