import type { Diagnostic } from "../../../core/diagnostics.ts";
import { nearestNames } from "../../../core/nearest.ts";
import type { ToolExample } from "../../../core/tool.ts";
import { quote } from "../../../core/errors.ts";
import { fromArgv, type ReadArgv } from "../from-argv.ts";
import type { ScriptInterface, ScriptTool } from "../script-interface.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { findInvocations, type Invocation } from "./find-invocations.ts";

/** Instructions whose calls are examples for the scripts. */
export interface Instructions {
  readonly text: string;
  /** @default "SKILL.md" */
  readonly file?: string;
  /** The number of the first line of `text` in the file. @default 1 */
  readonly line?: number;
}

/** Scripts with the examples that their instructions have, and what is wrong with those. */
export interface ExampleResult {
  readonly scripts: readonly ScriptInterface[];
  readonly diagnostics: readonly Diagnostic[];
}

const mostExamples = 3;

/**
 * Takes the calls in the instructions as examples, and checks them against what was read from the scripts. `settled` are the tools
 * that have their examples from elsewhere, each as its path and its words.
 */
export function addExamples(
  scripts: readonly ScriptInterface[],
  { text, file = "SKILL.md", line = 1 }: Instructions,
  settled: ReadonlySet<string> = new Set(),
): ExampleResult {
  const diagnostics: Diagnostic[] = [];
  const byName = new Map(
    scripts.filter(({ kind }) => kind === "tool").map((script) => [script.path.split("/").at(-1) ?? "", script]),
  );
  const examples = new Map<ScriptTool, ToolExample[]>();
  for (const invocation of findInvocations(text, [...byName.keys()])) {
    const script = byName.get(invocation.fileName);
    const tool = script === undefined ? undefined : pickTool(script.tools, invocation.words);
    if (script === undefined || tool === undefined) continue;
    const read = fromArgv(tool.mapping, tool.inputSchema, invocation.words);
    const place = { file, line: invocation.line + line - 1 };
    diagnostics.push(...checkFlags(script, tool, { read, place }));
    const list = examples.get(tool) ?? [];
    if (settled.has(`${script.path} ${wordsOf(tool).join(" ")}`)) continue;
    if (isExample(tool, invocation, read) && list.length < mostExamples && !has(list, read))
      list.push({ input: read.input });
    examples.set(tool, list);
  }
  return { scripts: scripts.map((script) => withExamples(script, examples)), diagnostics };
}

function withExamples(
  script: ScriptInterface,
  examples: ReadonlyMap<ScriptTool, readonly ToolExample[]>,
): ScriptInterface {
  if (!script.tools.some((tool) => (examples.get(tool)?.length ?? 0) > 0)) return script;
  const tools = script.tools.map((tool) => ({ ...tool, examples: [...tool.examples, ...(examples.get(tool) ?? [])] }));
  return { ...script, tools };
}

function wordsOf(tool: ScriptTool): readonly string[] {
  return tool.mapping.parts.flatMap((part) => (part.kind === "word" ? [part.word] : []));
}

/** The tool whose sub-command the words begin with, flags aside. */
function pickTool(tools: readonly ScriptTool[], argv: readonly string[]): ScriptTool | undefined {
  const plain = new Set(argv.filter((word) => !word.startsWith("-")));
  const ranked = tools.map((tool) => ({
    tool,
    words: tool.mapping.parts.filter((part) => part.kind === "word").map((part) => part.word),
  }));
  const fitting = ranked.filter(({ words }) => words.every((word) => plain.has(word)));
  return fitting.toSorted((left, right) => right.words.length - left.words.length)[0]?.tool;
}

interface Check {
  readonly read: ReadArgv;
  readonly place: { readonly file: string; readonly line: number };
}

function checkFlags(script: ScriptInterface, tool: ScriptTool, { read, place }: Check): readonly Diagnostic[] {
  if (tool.confidence === "opaque" || tool.source === "manifest") return [];
  const known = tool.mapping.parts.flatMap((part) =>
    part.kind === "flag" || part.kind === "count"
      ? [part.flag]
      : part.kind === "choice"
        ? Object.values(part.words).flat()
        : [],
  );
  return read.unknownFlags
    .map((word) => word.replace(/=.*$/su, ""))
    .filter((flag) => !/^(?:-h|--help|--version|-V)$/u.test(flag) && /^--?[A-Za-z][\w-]*$/u.test(flag))
    .map((flag): Diagnostic => {
      const [nearest] = nearestNames(flag, known, 1);
      return withoutUndefined<Diagnostic>({
        severity: tool.confidence === "declared" ? "warning" : "info",
        code: "example-flag-unknown",
        message: `The example calls ${script.path} with ${quote(flag)}, which the script does not seem to have`,
        ...place,
        cure:
          nearest === undefined ? `Its flags are: ${known.join(", ") || "none"}` : `Did you mean ${quote(nearest)}?`,
      });
    });
}

/** An example is complete, has nothing to fill in, and says something. */
function isExample(tool: ScriptTool, invocation: Invocation, read: ReadArgv): boolean {
  if (invocation.hasPlaceholders || read.unknownFlags.length > 0 || read.unknownWords.length > 0) return false;
  const required = tool.inputSchema["required"];
  const isComplete = !Array.isArray(required) || required.every((name) => Object.hasOwn(read.input, String(name)));
  return isComplete && Object.keys(read.input).length > 0;
}

function has(list: readonly ToolExample[], read: ReadArgv): boolean {
  const text = JSON.stringify(read.input);
  return list.some((example) => JSON.stringify(example.input) === text);
}
