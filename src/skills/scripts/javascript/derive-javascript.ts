import { parseCode, type Code } from "../code/code.ts";
import { javascriptSyntax } from "../code/syntax.ts";
import { commentTexts, textsOf } from "../code/texts.ts";
import { toDescription } from "../describe.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import type { ArgvFacts, StdinFact } from "../hand/argv-facts.ts";
import { findFields } from "../hand/code-fields.ts";
import { deriveByHand } from "../hand/derive-by-hand.ts";
import { javascriptDialect, type Dialect } from "../hand/dialects.ts";
import { readCode } from "../hand/read-code.ts";
import type { Reading, SourceScript } from "../reading.ts";
import { readUsage } from "../usage/read-usage.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { fromCitty } from "./citty.ts";
import { classifyJavascript, shapeOf } from "./classify-javascript.ts";
import { fromCommander } from "./commander.ts";
import { createHelpTexts } from "../hand/help-texts.ts";
import { fromArg, fromMeow, fromMinimist } from "./minimist.ts";
import { fromParseArgs } from "./parse-args.ts";
import { fromYargs } from "./yargs.ts";

/** Reads a JavaScript or TypeScript file. */
export function deriveJavascript(source: SourceScript): Reading {
  const code = parseCode(source.text, javascriptSyntax);
  const description = describe(code, source.fileName);
  const other = classifyJavascript(source, shapeOf(code, source.text));
  if (other !== undefined) return { ...other, description };
  const texts = textsOf(code);
  const derived = deriveDeclared(code, texts, source.fileName) ?? deriveManual(code, texts, source);
  return withoutUndefined<Reading>({
    kind: "tool",
    reason: "it runs by itself",
    description,
    interface: derived,
    interpreter: interpreterOf(source),
  });
}

function deriveDeclared(code: Code, texts: readonly string[], fileName: string): DerivedInterface | undefined {
  const help = createHelpTexts(code, readUsage(texts, fileName));
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
  const read = readCode(code, dialectOf(text));
  const readsArgv = read.readsArgv || otherParsers.test(text) || /^#!.*\bzx\b/u.test(text);
  const facts = withoutUndefined<ArgvFacts>({ ...read, readsArgv, stdin: readStdin(code, text) });
  const words = new Set(code.tokens.filter((token) => token.kind === "string").map((token) => token.text));
  return deriveByHand({ fileName, facts, texts, isWord: (word) => words.has(word) });
}

/** `import { argv } from "node:process"` gives the list another name. */
function dialectOf(text: string): Dialect {
  if (!/import\s*\{[^}]*\bargv\b[^}]*\}\s*from\s*["'](?:node:)?process["']/u.test(text)) return javascriptDialect;
  return { ...javascriptDialect, roots: [...javascriptDialect.roots, { tokens: ["argv"], skip: 2 }] };
}

const stdinUse =
  /process\.stdin\b(?!\.isTTY)|readFileSync\(\s*(?:0|["']\/dev\/stdin["']|process\.stdin\.fd)|Deno\.stdin|Bun\.stdin/u;

function readStdin(code: Code, text: string): StdinFact | undefined {
  if (!stdinUse.test(text)) return undefined;
  return text.includes("JSON.parse(") ? { as: "json", fields: findFields(code) } : { as: "text", fields: [] };
}

function describe(code: Code, fileName: string): string {
  const first = code.tokens[0]?.line ?? Number.POSITIVE_INFINITY;
  const head = code.comments.filter((comment) => comment.line <= first + 3);
  for (const text of commentTexts(head)) {
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
