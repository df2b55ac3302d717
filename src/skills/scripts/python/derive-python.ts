import { parseCode, type Code } from "../code/code.ts";
import { pythonSyntax } from "../code/syntax.ts";
import { commentTexts, textsOf } from "../code/texts.ts";
import { toDescription } from "../describe.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import type { ArgvFacts, StdinFact } from "../hand/argv-facts.ts";
import { findFields } from "../hand/code-fields.ts";
import { deriveByHand } from "../hand/derive-by-hand.ts";
import { pythonDialect, type Dialect } from "../hand/dialects.ts";
import { readCode } from "../hand/read-code.ts";
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
  const derived = deriveDeclared(source, facts) ?? deriveManual(source, modules);
  const reason = facts.guard ? "it has a block for when it is run by itself" : "it runs by itself";
  return { kind: "tool", reason, description, interface: derived, modules };
}

/** Reads a Python file without the helper: only what its usage text and its plain code say. */
export function derivePythonText(source: SourceScript): Reading {
  const description = describe(source, undefined);
  const derived = deriveManual(source, []);
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

function deriveManual({ text, fileName }: SourceScript, modules: readonly string[]): DerivedInterface {
  const code = parseCode(text, pythonSyntax);
  const read = withGetopt(readCode(code, dialectOf(text)), code);
  const readsArgv = read.readsArgv || modules.some((module) => otherParsers.has(module));
  const facts = withoutUndefined<ArgvFacts>({ ...read, readsArgv, stdin: readStdin(code, text) });
  const words = new Set(code.tokens.filter((token) => token.kind === "string").map((token) => token.text));
  // For docopt the usage text is the declaration: a bare word in it is always meant.
  const isWord = (word: string): boolean => words.has(word) || modules.includes("docopt");
  return deriveByHand({ fileName, facts, texts: textsOf(code), isWord });
}

/** `from sys import argv` gives the list another name. */
function dialectOf(text: string): Dialect {
  if (!/^[ \t]*from sys import [^\n]*\bargv\b/mu.test(text)) return pythonDialect;
  return { ...pythonDialect, roots: [...pythonDialect.roots, { tokens: ["argv"], skip: 1 }] };
}

function readStdin(code: Code, text: string): StdinFact | undefined {
  if (!/sys\.stdin\b(?!\.isatty|\.encoding|\.reconfigure)|fileinput\.input|open\(0\b|\/dev\/stdin/u.test(text))
    return undefined;
  return /json\.loads?\(/u.test(text) && /json\.load\(sys\.stdin|sys\.stdin\.(?:buffer\.)?read\(\)/u.test(text)
    ? { as: "json", fields: findFields(code) }
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
    commentTexts(parseCode(head, pythonSyntax).comments.filter(({ text: line }) => !line.startsWith("!")))
      .map((comment) => toDescription(comment, fileName))
      .find((found) => found !== "") ?? ""
  );
}
