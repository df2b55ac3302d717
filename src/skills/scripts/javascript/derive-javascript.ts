import type { ArgvFacts, StdinFact } from "../arguments/argv-facts.ts";
import { javascriptDialect } from "../arguments/argument-lists.ts";
import { deriveByHand } from "../arguments/derive-by-hand.ts";
import { createHelpTexts } from "../arguments/help-texts.ts";
import { readCode } from "../arguments/read-code.ts";
import { findFields } from "../arguments/read-fields.ts";
import { demandedNames } from "../arguments/read-positions.ts";
import type { Code } from "../code/code.ts";
import { headComments, textsOf } from "../code/pieces.ts";
import { toDescription } from "../describe.ts";
import { asOpen, type DerivedInterface } from "../derived-interface.ts";
import type { Reading, SourceScript } from "../reading.ts";
import type { Parse } from "../syntax/parse.ts";
import { readUsage } from "../usage/read-usage.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { classifyJavascript } from "./classify-javascript.ts";
import { fromCommander } from "./commander.ts";
import { fromParseArgs } from "./parse-args.ts";
import { fromArg, fromCitty, fromMeow, fromMinimist } from "./small-parsers.ts";
import { toCode } from "./to-code.ts";
import { fromYargs } from "./yargs.ts";

/** Reads a JavaScript or TypeScript file. */
export function deriveJavascript(source: SourceScript, parse: Parse, maxNodes?: number): Reading {
  const code = toCode(source.text, parse(source.text, maxNodes === undefined ? {} : { maxNodes }));
  const description = describe(code, source.fileName);
  const other = classifyJavascript(source, code);
  if (other !== undefined) return { ...other, description };
  const texts = textsOf(code.text, code.pieces);
  const derived = deriveDeclared(code, texts, source.fileName) ?? deriveManual(code, texts, source);
  return withoutUndefined<Reading>({
    kind: "tool",
    reason: "it runs by itself",
    description,
    interface: code.hasErrors ? asOpen(derived) : derived,
    interpreter: interpreterOf(source),
    isPartial: code.hasErrors ? true : undefined,
  });
}

function deriveDeclared(code: Code, texts: readonly string[], fileName: string): DerivedInterface | undefined {
  const help = createHelpTexts(readUsage(texts, fileName), demandedNames(code));
  return (
    fromParseArgs(code, help) ??
    fromCommander(code) ??
    fromYargs(code, help) ??
    fromArg(code, help) ??
    fromMeow(code, help) ??
    fromMinimist(code, help) ??
    fromCitty(code)
  );
}

/** Packages that read the arguments in ways we do not follow. */
const otherParsers =
  /(?:from |require\()["'](?:sade|clipanion|@oclif\/core|args|command-line-args|dashdash|gunshi|cleye|caporal|@caporal\/core|vorpal|argparse|nopt|optionator|getopts|zx|yargs|commander|cac|meow|arg|minimist|mri|citty)["']/u;

function deriveManual(code: Code, texts: readonly string[], { fileName, text }: SourceScript): DerivedInterface {
  const read = readCode(code, javascriptDialect);
  const readsArgv = read.readsArgv || otherParsers.test(text) || /^#!.*\bzx\b/u.test(text);
  const facts = withoutUndefined<ArgvFacts>({ ...read, readsArgv, stdin: readStdin(code, text) });
  const words = new Set(code.all.flatMap((node) => (node.kind === "value" ? [node.value] : [])));
  return deriveByHand({ fileName, facts, texts, isWord: (word) => words.has(word) });
}

const stdinUse =
  /process\.stdin\b(?!\.isTTY)|readFileSync\(\s*(?:0|["']\/dev\/stdin["']|process\.stdin\.fd)|Deno\.stdin|Bun\.stdin/u;

function readStdin(code: Code, text: string): StdinFact | undefined {
  if (!stdinUse.test(text)) return undefined;
  return text.includes("JSON.parse(") ? { as: "json", fields: findFields(code) } : { as: "text", fields: [] };
}

function describe(code: Code, fileName: string): string {
  const start = code.nodes[0]?.start ?? code.text.length;
  const firstLine = code.text.slice(0, start).split("\n").length;
  for (const text of headComments(code.pieces, firstLine)) {
    const description = toDescription(text, fileName);
    if (description !== "") return description;
  }
  return "";
}

/** Some files only run under one of the other runtimes. */
function interpreterOf({ text }: SourceScript): readonly string[] | undefined {
  if (text.startsWith("#!")) return undefined;
  if (/\bfrom ["']bun:|\bBun\.(?:argv|file|write|spawn|serve|stdin|\$)|require\(["']bun:/u.test(text)) return ["bun"];
  return /\bDeno\.(?:args|readTextFile|writeTextFile|Command|env|exit)/u.test(text)
    ? ["deno", "run", "--allow-all"]
    : undefined;
}
