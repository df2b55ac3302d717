import type { Problem } from "../../core/errors.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { TypedTool } from "../../core/tool.ts";
import { mergeInputs } from "./merge-inputs.ts";
import type { Part } from "./part.ts";

type TakesInput<Tools> = {
  [Key in keyof Tools]: Tools[Key] extends TypedTool<infer Input, unknown> ? (input: Input) => void : never;
}[keyof Tools];

/** The type of an input that every one of some tools takes. */
export type InputForAll<Tools> = [TakesInput<Tools>] extends [(input: infer Input) => void] ? Input : never;

/** The schema of an input that every one of `parts` takes. Why there is none is added to `problems`. */
export function inputForAll(parts: readonly Part[], problems: Problem[]): JsonSchema {
  if (parts.some((part) => part.isMapped)) {
    problems.push({ path: "input", expected: "a schema, because the input of a tool is made", found: "nothing" });
    return {};
  }
  const merged = mergeInputs(parts.map((part) => part.tool.inputSchema));
  if (merged.ok) return merged.schema;
  problems.push(merged.problem);
  return {};
}
