import type { Reading, SourceScript } from "../reading.ts";
import type { PythonFacts } from "./python-facts.ts";

/** Packages that read the arguments in ways we do not follow. */
export const otherParsers: ReadonlySet<string> = new Set(
  "absl docopt plac tyro cyclopts simple_parsing jsonargparse cleo cement invoke hydra tap defopt argh clize".split(
    " ",
  ),
);

type Verdict = Pick<Reading, "kind" | "reason">;

/** Says why a Python file is not a tool; nothing if it is one. */
export function classifyPython({ fileName, text }: SourceScript, facts: PythonFacts): Verdict | undefined {
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
