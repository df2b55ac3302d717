import type { ArgvFacts, StdinFact } from "../arguments/argv-facts.ts";
import { javascriptDialect } from "../arguments/argument-lists.ts";
import { deriveManualInterface } from "../arguments/derive-manual.ts";
import { createHelpTexts } from "../arguments/help-texts.ts";
import { readCode } from "../arguments/read-code.ts";
import { readJsonInput } from "../arguments/read-fields.ts";
import { demandedNames } from "../arguments/read-positions.ts";
import type { Code } from "../code/code.ts";
import { headComments, textsOf } from "../code/pieces.ts";
import { isAboutNextLine, toDescription } from "../describe.ts";
import { asOpen, type DerivedInterface, withInput } from "../derived-interface.ts";
import type { Reading, SourceScript } from "../reading.ts";
import type { Parse } from "../syntax/parse.ts";
import { readUsage } from "../usage/read-usage.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { fromCommander } from "./commander.ts";
import { fromParseArgs } from "./parse-args.ts";
import { fromArg, fromCitty, fromMeow, fromMinimist } from "./small-parsers.ts";
import { toCode } from "./to-code.ts";
import { fromYargs } from "./yargs.ts";
import { type CodeNode, dottedName } from "../code/node.ts";

/** Reads a JavaScript or TypeScript file. */
export function deriveJavascript(source: SourceScript, parse: Parse, maxNodes?: number): Reading {
  const code = toCode(source.text, parse(source.text, maxNodes === undefined ? {} : { maxNodes }));
  const description = describe(code, source.fileName);
  const other = classifyJavascript(source, code);
  if (other !== undefined) return { ...other, description };
  const texts = textsOf(code.text, code.pieces);
  const declared = deriveDeclared(code, texts, source.fileName);
  const input = asksQuestions.test(source.text) ? undefined : readStdin(code, source.text);
  const derived =
    declared === undefined
      ? deriveManual(code, texts, source)
      : input === undefined
        ? declared
        : withInput(declared, input);
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
  return deriveManualInterface({ fileName, facts, texts, isWord: (word) => words.has(word) });
}

const stdinUse =
  /process\.stdin\b(?!\.isTTY)|readFileSync\(\s*(?:0|["']\/dev\/stdin["']|process\.stdin\.fd)|Deno\.stdin|Bun\.stdin/u;

/** A question at a terminal is not an input. */
const asksQuestions =
  /["'](?:node:)?readline(?:\/promises)?["']|["'](?:prompts|inquirer|@inquirer\/\w+|@clack\/prompts)["']/u;

function readStdin(code: Code, text: string): StdinFact | undefined {
  if (!stdinUse.test(text)) return undefined;
  return text.includes("JSON.parse(") ? readJsonInput(code) : { as: "text", fields: [] };
}

function describe(code: Code, fileName: string): string {
  const start = code.nodes[0]?.start ?? code.text.length;
  const firstLine = code.text.slice(0, start).split("\n").length;
  for (const text of headComments(code.pieces, firstLine)) {
    const description = isAboutNextLine(code.text, text) ? "" : toDescription(text, fileName);
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

/** What the code of a JavaScript file shows about its purpose. */
interface JavascriptShape {
  /** It starts with `#!`, reads its arguments, or asks whether it is the program. */
  readonly isProgram: boolean;
  readonly exports: boolean;
  /** It does something when it is loaded. */
  readonly acts: boolean;
  readonly tests: boolean;
}

const testCalls = new Set(["describe", "it", "test", "suite", "beforeEach"]);

function shapeOf({ nodes, all, calls, text }: Code): JavascriptShape {
  const tests = calls.filter((call) => call.callee.kind === "name" && testCalls.has(call.callee.name)).length;
  const isProgram = text.startsWith("#!") || readsArguments.test(text);
  return { isProgram, exports: all.some(exportsSomething), acts: nodes.some(acts), tests: tests > 1 };
}

/** The argument list, a question whether this file is the program, or a package that reads the list by itself. */
const readsArguments =
  /process\.argv|Deno\.args|Bun\.argv|require\.main|import\.meta\.main|hideBin\(|(?:from |require\()["'](?:arg|meow|commander|yargs|cac|citty|minimist|mri)["']/u;

function exportsSomething(node: CodeNode): boolean {
  if (node.kind === "other") return node.type === "export_statement";
  if (node.kind !== "assign") return false;
  return /^(?:module\.)?exports(?:\.|$)/u.test(dottedName(node.target) ?? "");
}

/** Calls that only prepare something. */
const harmless = /^(?:require|defineConfig|Object|config|dotenv)(?:\.|$)/u;
const actingStatements = new Set(["if", "loop", "switch", "operation"]);

/** Whether a statement does something when the file is loaded. */
function acts(node: CodeNode): boolean {
  if (node.kind === "assign") return node.declares === true && (node.value.kind === "call" ? acts(node.value) : false);
  if (node.kind === "call") return node.isNew === true || !harmless.test(rootOf(node));
  if (node.kind === "other") return node.type === "try_statement";
  return actingStatements.has(node.kind);
}

/** `require("x").y(…)` begins with `require`. */
function rootOf(node: CodeNode): string {
  if (node.kind === "call") return node.callee.kind === "name" ? node.callee.name : rootOf(node.callee);
  if (node.kind === "member") return rootOf(node.object);
  return node.kind === "name" ? node.name : "";
}

/** Says why a JavaScript file is not a tool; nothing if it is one. */
function classifyJavascript(
  { fileName, text }: SourceScript,
  code: Code,
): Pick<Reading, "kind" | "reason"> | undefined {
  const shape = shapeOf(code);
  if (/\.d\.[cm]?ts$/u.test(fileName)) return { kind: "library", reason: "it only declares types" };
  if (shape.tests && !shape.isProgram) return { kind: "test", reason: "it defines tests" };
  if (
    /tool_input|hook_event_name|hookSpecificOutput/u.test(text) &&
    /process\.stdin|readFileSync\(0|Bun\.stdin/u.test(text)
  ) {
    return { kind: "hook", reason: "it reads the event of an agent's hook from standard input" };
  }
  if (/@modelcontextprotocol\/(?:sdk|server)/u.test(text) && /Stdio|\.connect\(/u.test(text)) {
    return { kind: "interactive", reason: "it is an MCP server, which stays and speaks its own protocol" };
  }
  if (shape.isProgram) return asks(text) ? interactive : undefined;
  if (shape.exports) return { kind: "library", reason: "it exports things for other files and reads no arguments" };
  if (!shape.acts && !/^[ \t]*[;!]?\(/mu.test(text)) {
    return { kind: "library", reason: "it does nothing when it is run by itself" };
  }
  return asks(text) ? interactive : undefined;
}

const interactive = { kind: "interactive", reason: "it asks questions at a terminal" } as const;

function asks(text: string): boolean {
  if (/process\.argv|Deno\.args|Bun\.argv|parseArgs|commander/u.test(text)) return false;
  return /\.question\(|from ["'](?:inquirer|prompts|enquirer|@clack\/prompts|@inquirer\/)|require\(["'](?:inquirer|prompts|enquirer)/u.test(
    text,
  );
}
