import type { Failure } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Tool } from "../../core/tool.ts";
import type { ExampleResult } from "../forge-interface.ts";
import { toExampleResult, type TriedCall } from "../birth/run-examples.ts";
import { sampleInputs, type SampleOptions } from "./sample-inputs.ts";

/** Makes one call of the tool that is tried. */
export type TryCall = (input: JsonObject) => Promise<TriedCall>;

/** What inputs made from the schema brought to light. */
export interface FuzzResult {
  readonly seed: number;
  /** Inputs that fit the schema, and how many of them the tool turned down in an orderly way. */
  readonly fitting: number;
  readonly declined: number;
  /** Inputs that do not fit the schema. */
  readonly unfitting: number;
  readonly faults: readonly FuzzFault[];
}

/** An input with which something went wrong. */
export interface FuzzFault {
  /** A tool crashed on an input that fits its schema, or was reached by one that does not. */
  readonly kind: "crashed" | "let-in";
  readonly input: JsonObject;
  readonly error?: Failure;
}

/** What came of an example when a tool was tried. */
export interface TriedExample extends ExampleResult {
  /**
   * `declined`: the example does not say what comes of it, and the tool said in an orderly way that it cannot do it, as when a file is
   * not there. Nobody can tell which of them is wrong.
   */
  readonly status: "passed" | "failed" | "declined";
}

/** How examples are tried. */
export interface ExampleOptions {
  /** Whether all that they need is there, so that none may be declined. */
  readonly isComplete: boolean;
  /** Before each example. */
  prepare(): void;
}

/** Runs every example of a tool, one after the other. */
export async function tryExamples(
  { examples }: Tool,
  call: TryCall,
  { isComplete, prepare }: ExampleOptions,
): Promise<readonly TriedExample[]> {
  const results: TriedExample[] = [];
  for (const [index, example] of examples.entries()) {
    prepare();
    const result = toExampleResult(index, example, await call(example.input));
    const { passed, expected, error } = result;
    const mayDecline = !isComplete && expected === undefined && error !== undefined && !isCrash(error);
    const status = passed ? "passed" : mayDecline ? "declined" : "failed";
    results.push({ ...result, status });
  }
  return results;
}

/** Calls a tool with inputs made from its schema: those that fit must not make it crash, and none that does not fit may reach it. */
export async function fuzzTool({ inputSchema }: Tool, call: TryCall, options: SampleOptions): Promise<FuzzResult> {
  const { fitting, unfitting } = await sampleInputs(inputSchema, options);
  const faults: FuzzFault[] = [];
  let declined = 0;
  for (const input of fitting) {
    const { outcome } = await call(input);
    if (outcome.status === "ok") continue;
    if (isCrash(outcome.error)) faults.push({ kind: "crashed", input, error: outcome.error });
    else declined += 1;
  }
  for (const input of unfitting) {
    const { outcome } = await call(input);
    if (!isRefused(outcome)) faults.push({ kind: "let-in", input });
  }
  return { seed: options.seed, fitting: fitting.length, declined, unfitting: unfitting.length, faults };
}

function isRefused(outcome: ToolOutcome): boolean {
  return outcome.status === "failed" && outcome.error.code === "input-invalid";
}

/** What never happens to a tool that is right. */
const crashCodes: ReadonlySet<string> = new Set([
  "call-crashed",
  "call-timeout",
  "input-invalid",
  "memory-exceeded",
  "output-flooded",
  "output-invalid",
]);

/** How a step of a pipeline fails that could not even be called. */
const missingCodes: ReadonlySet<string> = new Set([
  "tool-not-found",
  "tool-undeclared",
  "tool-unavailable",
  "version-not-found",
]);

/** How interpreters begin to tell of an error that nobody caught. */
const traces =
  /Traceback \(most recent call last\)|^\s+at .+:\d+:\d+\)?$|Unhandled|\bpanicked at\b|Segmentation fault|core dumped|unbound variable|syntax error|command not found/mu;

/** Tells whether a tool broke, other than one that says what is wrong and ends with an exit code. */
function isCrash({ code, details }: Failure): boolean {
  if (crashCodes.has(code)) return true;
  if (code === "step-failed") return missingCodes.has(details.code);
  if (code !== "script-failed") return false;
  const { signal, stderr } = details as { readonly signal?: string; readonly stderr: string };
  return signal !== undefined || traces.test(stderr);
}
