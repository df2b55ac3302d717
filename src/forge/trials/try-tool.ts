import type { Failure } from "../../core/errors.ts";
import { isRecord, type JsonObject } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { createEngine } from "../../core/schema/engine.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { Tool } from "../../core/tool.ts";
import { toExampleResult, type TriedCall } from "../creation/run-examples.ts";
import type { ExampleResult } from "../forge-interface.ts";

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

/** The result of an example when a tool was tried. */
export interface TriedExample extends ExampleResult {
  /**
   * `declined`: the example does not say what comes of it, and the tool said in an orderly way that it cannot do it, as when a file is
   * not there. It is unknown which of them is wrong.
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

/** How interpreters begin to report an uncaught error. */
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

/** Inputs that were made from a schema. */
interface SampledInputs {
  /** Those that fit it. Fewer than were wanted if its rules are hard to meet by chance. */
  readonly fitting: readonly JsonObject[];
  /** Those that do not, and that no harmless change makes fit. */
  readonly unfitting: readonly JsonObject[];
}

/** How many of them, and which: the same seed gives the same ones. */
interface SampleOptions {
  readonly count: number;
  readonly seed: number;
}

/** How many times as many inputs are made as are wanted, because some will not fit the schema. */
const spare = 4;

/** Makes inputs from a schema, small and odd ones: empty texts, limits, what must be escaped, what is left out. */
export async function sampleInputs(schema: JsonSchema, { count, seed }: SampleOptions): Promise<SampledInputs> {
  const [fc, { createArbitraries }] = await Promise.all([import("fast-check"), import("./arbitraries.ts")]);
  const engine = createEngine(schema);
  const made = fc.sample(createArbitraries(fc, schema).ofSchema(schema), { numRuns: count * spare, seed });
  const fitting = made.filter((value): value is JsonObject => isRecord(value) && engine.fits(schema, value));
  const broken = fitting.flatMap((value) => breakInput(value)).filter((value) => !engine.fits(schema, value));
  return { fitting: unique(fitting).slice(0, count), unfitting: spread(unique(broken), count) };
}

/** Values that fit no parameter and cannot be repaired. */
const wrongValues = [{ "": [null] }, [[{}]]];

/** Inputs with one thing wrong: a value of a kind that cannot be meant, a parameter left out, one that there is not. */
function breakInput(input: JsonObject): JsonObject[] {
  const names = Object.keys(input);
  const wrong = names.flatMap((name) => wrongValues.map((value) => ({ ...input, [name]: value })));
  const without = names.map((name) => Object.fromEntries(Object.entries(input).filter(([other]) => other !== name)));
  return [...wrong, ...without, { ...input, "no such parameter": 1 }] as JsonObject[];
}

function unique(values: readonly JsonObject[]): JsonObject[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** Picks `count` of the values, spread evenly from the first to the last. */
function spread<Value>(values: readonly Value[], count: number): Value[] {
  const step = Math.max(1, values.length / count);
  return Array.from(
    { length: Math.min(count, values.length) },
    (_, index) => values[Math.floor(index * step)] as Value,
  );
}
