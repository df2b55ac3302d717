import { type Code } from "../code/code.ts";
import { dottedName, type CodeNode } from "../code/node.ts";
import type { Reading, SourceScript } from "../reading.ts";

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
export function classifyJavascript(
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
