import type { Problem } from "../../core/errors.ts";
import { copyJson, maxJsonDepth, showValue, type JsonObject } from "../../core/json.ts";
import { isSchemaObject } from "../../core/schema/json-schema.ts";
import { checkStrictly } from "../../core/schema/validator.ts";
import { maxSteps, pipelineSchema } from "./pipeline-spec.ts";

/** The largest pipeline there is, in bytes. */
const maxSpecBytes = 1024 * 1024;

/** A pipeline as somebody gave it: ours to keep, and what is wrong with its shape. */
export interface ReadSpec {
  readonly name: string;
  /** None if it is so wrong that there is nothing to look at. */
  readonly spec?: JsonObject;
  readonly problems: readonly Problem[];
}

/** Copies a pipeline that may be anything, and checks its shape. */
export function readSpec(given: unknown): ReadSpec {
  const copy = copyJson(given, { maxBytes: maxSpecBytes, maxDepth: maxJsonDepth });
  if (!copy.ok) {
    const tooLarge = { path: "", expected: `at most ${maxSpecBytes} bytes`, found: "more" };
    return { name: "unnamed", problems: [copy.reason === "not-json" ? copy.problem : tooLarge] };
  }
  const spec = copy.value;
  if (!isSchemaObject(spec)) {
    return { name: "unnamed", problems: [{ path: "", expected: "a pipeline", found: showValue(spec) }] };
  }
  const name = typeof spec["name"] === "string" ? spec["name"] : "unnamed";
  const problems = checkStrictly(pipelineSchema, spec).map(addWord);
  const { steps } = spec;
  const isReadable = Array.isArray(steps) && steps.length <= maxSteps;
  return { name, problems, ...(isReadable && { spec }) };
}

/** What other systems call the parts of a step. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ["condition", "if"],
  ["when", "if"],
  ["name", "id"],
  ["input", "args"],
  ["arguments", "args"],
  ["params", "args"],
  ["with", "args"],
  ["depends_on", "after"],
  ["dependsOn", "after"],
  ["needs", "after"],
  ["concurrency", "maxConcurrent"],
]);

function addWord(problem: Problem): Problem {
  const [, key = ""] = /^steps\[\d+\]\.(\w+)$/u.exec(problem.path) ?? [];
  const word = otherWords.get(key);
  return word === undefined ? problem : { ...problem, didYouMean: word };
}
