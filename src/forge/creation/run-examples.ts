import { isDeepStrictEqual } from "node:util";

import { KitbagError, type Failure } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { ToolContext, FunctionCode, Tool, ToolExample } from "../../core/tool.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import { withoutLineEnd } from "../../runtimes/parse-exactly.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { ExampleResult } from "../forge-interface.ts";
import { toolsIn } from "../live/pipelines.ts";

/** What tools are tried with. */
export interface Trial {
  readonly runtimes: Iterable<Runtime>;
  /** Where the other tools are that a tool may call. */
  readonly workspace: Workspace;
  /** How long one call may take. */
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Makes their calls. @default the workspace's, without a user */
  readonly call?: ToolContext["call"] | undefined;
}

/** A workspace in which there is one tool that is not live, and whose calls of others go to the live ones. */
export interface Bench {
  call(input: JsonObject): Promise<TriedCall>;
}

/** The result of a trial call. */
export interface TriedCall {
  readonly outcome: ToolOutcome;
  /** What the program said beside its output, cut. */
  readonly stderr: string;
  readonly durationMs: number;
}

const maxErrorText = 4000;
const maxOutputBytes = 4 * 1024 * 1024;

/**
 * Makes the workspace in which a tool is tried: the same way every call takes, with the tool's own permissions, and nothing that it
 * keeps outlives it. The tools that it calls are the live ones, called through their workspace with all that holds there, for the
 * caller of the trial.
 */
export function createBench(tool: Tool, { runtimes, workspace, limitMs, signal, call = workspace.call }: Trial): Bench {
  const own = createWorkspace({ runtimes, tools: [tool], approve: () => ({ decision: "approve" }) });
  const steps = toolsIn(tool).flatMap((address) => workspace.getTool(address) ?? []);
  for (const entry of [...workspace.getAvailableTools(), ...findClosed(steps, workspace)]) {
    // A tool that is only tried makes no others: each of them would be tried in turn.
    if (entry.address !== tool.name && entry.tool.meta !== true) addStandIn(own, call, { entry, steps });
  }
  const limit = Math.min(limitMs, tool.limits.limitMs ?? limitMs);
  return {
    async call(input) {
      const lines: string[] = [];
      const start = performance.now();
      const outcome = await own.call(tool.name, input, {
        limitMs: limit,
        maxOutputBytes,
        ...(signal !== undefined && { signal }),
        onEvent: (event) => {
          if (event.type === "call-log") lines.push(event.message);
        },
      });
      return { outcome, stderr: cutEnd(lines.join("\n")), durationMs: Math.round(performance.now() - start) };
    },
  };
}

/** The tools of closed skills that a pipeline calls: the caller may have them open, and otherwise is told to open them. */
function findClosed(steps: readonly RegisteredTool[], workspace: Workspace): readonly RegisteredTool[] {
  const closed = steps.filter(({ address }) => !workspace.isToolAvailable(address));
  return closed.flatMap(({ address }) => workspace.getTool(address) ?? []);
}

/** A tool that others stand in for, and the versions of tools that the steps of a pipeline name. */
interface StoodFor {
  readonly entry: RegisteredTool;
  readonly steps: readonly RegisteredTool[];
}

/** Two owners with one wire name cannot both be there; the first one is. */
function addStandIn(own: Workspace, call: ToolContext["call"], { entry, steps }: StoodFor): void {
  const { tool, address, source, owner } = entry;
  const named = steps.filter((step) => step.address === address && step.tool.version !== tool.version);
  const byVersion = new Map(named.map((step) => [step.tool.version, step.tool]));
  const versions = [...byVersion].map(([version, one]) => toStandIn(one, `${address}@${version}`, call));
  try {
    own.add(toStandIn(tool, address, call), { versions, ...(source !== "global" && { component: owner }) });
  } catch (cause) {
    if (!(cause instanceof KitbagError)) throw cause;
  }
}

function toStandIn(tool: Tool, address: string, call: ToolContext["call"]): Tool {
  const code: FunctionCode = {
    kind: "function",
    async run(input, { signal }) {
      const outcome = await call(address, input, { signal });
      if (outcome.status === "ok") return outcome.output;
      throw new KitbagError(outcome.error.code, outcome.error.details);
    },
  };
  const { cache: _, refine: __, ...described } = tool;
  return { ...described, inject: [], needsApproval: false, limits: {}, code };
}

/** Runs every example, one after the other: they may use the same things. */
export async function runExamples(tool: Tool, trial: Trial): Promise<readonly ExampleResult[]> {
  const bench = createBench(tool, trial);
  const results: ExampleResult[] = [];
  for (const [index, example] of tool.examples.entries()) {
    results.push(toExampleResult(index, example, await bench.call(example.input)));
  }
  return results;
}

/** The result of an example. */
export function toExampleResult(
  index: number,
  example: ToolExample,
  { outcome, stderr, durationMs }: TriedCall,
): ExampleResult {
  const { description, input, output: expected } = example;
  const isRight = outcome.status === "ok" && (expected === undefined || isSameOutput(expected, outcome.output));
  return {
    index,
    ...(description !== undefined && { description }),
    passed: isRight,
    input,
    ...(expected !== undefined && { expected }),
    ...(outcome.status === "ok" ? { got: outcome.output } : { error: outcome.error }),
    ...(stderr !== "" && { stderr }),
    durationMs,
  };
}

/** Tells whether two outputs are the same. Most programs end their text with a line break that examples leave out. */
export function isSameOutput(expected: JsonValue, got: JsonValue): boolean {
  if (typeof expected === "string" && typeof got === "string") {
    return withoutLineEnd(expected) === withoutLineEnd(got);
  }
  return isDeepStrictEqual(expected, got);
}

/** Says what went wrong with an example, in a few lines. */
export function describeExample(result: ExampleResult): string {
  const name = `example ${result.index}${result.description === undefined ? "" : ` (${result.description})`}`;
  const input = `  input: ${show(result.input)}`;
  const failure = result.error === undefined ? "" : describeFailure(result.error);
  // The message of a program that failed has its last words already.
  const isSaid = result.error?.code === "script-failed" || isIn(failure, result.stderr ?? "");
  const stderr = isSaid ? [] : [`  stderr: ${cutEnd(result.stderr ?? "", 1500)}`];
  if (result.error !== undefined) {
    return [`${name} failed: ${failure}`, input, ...stderr].join("\n");
  }
  const both = [`  expected: ${show(result.expected)}`, `  got: ${show(result.got)}`];
  return [`${name} gave something else`, input, ...both, ...stderr].join("\n");
}

/** Line breaks do not count: lines that are empty are not logged. */
function isIn(text: string, words: string): boolean {
  return text.replaceAll(/\s+/gu, " ").includes(words.replaceAll(/\s+/gu, " ").trim());
}

/** The beginning says what failed, the end says why. */
function describeFailure({ message }: Failure): string {
  return message.length > 2000 ? `${message.slice(0, 800)}\n…${message.slice(-1200)}` : message;
}

function show(value: JsonValue | undefined): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text;
}

/** The end of an error text is what tells the reason. */
function cutEnd(text: string, longest = maxErrorText): string {
  return text.length > longest ? `…${text.slice(-longest)}` : text;
}
