import type { Code } from "../code/code.ts";
import { isAnyToken, isToken, type Token } from "../code/token.ts";
import type { Reading, SourceScript } from "../reading.ts";

/** What the code of a JavaScript file shows about its purpose. */
export interface JavascriptShape {
  /** It starts with `#!`, reads its arguments, or asks whether it is the program. */
  readonly isProgram: boolean;
  readonly exports: boolean;
  /** It does something when it is loaded. */
  readonly acts: boolean;
  readonly tests: boolean;
}

const testCalls = new Set(["describe", "it", "test", "suite", "beforeEach"]);
const harmless = new Set(["require", "defineConfig", "import", "Object", "config", "dotenv", "function", "async"]);

/** Looks at what a JavaScript file does when it is loaded. */
export function shapeOf({ tokens }: Code, text: string): JavascriptShape {
  let depth = 0;
  let acts = false;
  let exportsSomething = false;
  let tests = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "symbol") depth += depthChange(token.text);
    if (isToken(token, "export") || isExportAssignment(tokens, index)) exportsSomething = true;
    if (isAnyToken(token, testCalls) && isToken(tokens[index + 1], "(") && !isToken(tokens[index - 1], ".")) tests += 1;
    if (depth === 0 && isStatementStart(tokens, index) && actsAt(tokens, index)) acts = true;
  }
  const isProgram = text.startsWith("#!") || readsArguments.test(text);
  return { isProgram, exports: exportsSomething, acts, tests: tests > 1 };
}

/** The argument list, a question whether this file is the program, or a package that reads the list by itself. */
const readsArguments =
  /process\.argv|Deno\.args|Bun\.argv|require\.main|import\.meta\.main|hideBin\(|(?:from |require\()["'](?:arg|meow|commander|yargs|cac|citty|minimist|mri)["']/u;

function depthChange(symbol: string): number {
  if (symbol === "{" || symbol === "(" || symbol === "[") return 1;
  return symbol === "}" || symbol === ")" || symbol === "]" ? -1 : 0;
}

function isExportAssignment(tokens: readonly Token[], index: number): boolean {
  const isModule =
    isToken(tokens[index], "module") && isToken(tokens[index + 1], ".") && isToken(tokens[index + 2], "exports");
  const isPlain =
    isToken(tokens[index], "exports") && isToken(tokens[index + 1], ".") && isToken(tokens[index + 3], "=");
  return (isModule && !isToken(tokens[index + 3], ")")) || isPlain;
}

function isStatementStart(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1];
  return (
    before === undefined || isToken(before, ";") || isToken(before, "}") || before.line < (tokens[index]?.line ?? 0)
  );
}

const actingWords = new Set(["await", "if", "for", "while", "try", "switch", "new", "void"]);
const declarers = new Set(["const", "let", "var"]);

function actsAt(tokens: readonly Token[], index: number): boolean {
  if (isAnyToken(tokens[index], actingWords)) return true;
  if (!isAnyToken(tokens[index], declarers)) return callsAt(tokens, index);
  // `const answer = ask(…)` does something as well.
  const equals = isToken(tokens[index + 2], "=") ? index + 3 : -1;
  return equals !== -1 && (isAnyToken(tokens[equals], actingWords) || callsAt(tokens, equals));
}

function callsAt(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index];
  if (token?.kind !== "word" || harmless.has(token.text)) return false;
  let end = index + 1;
  // `process.stdin.on(…)`
  while (end < index + 9 && isToken(tokens[end], ".")) end += 2;
  return isToken(tokens[end], "(");
}

/** Says why a JavaScript file is not a tool; nothing if it is one. */
export function classifyJavascript(
  { fileName, text }: SourceScript,
  shape: JavascriptShape,
): Pick<Reading, "kind" | "reason"> | undefined {
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
