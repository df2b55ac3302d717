import type { Condition } from "./parse-condition.ts";
import type { Template } from "./parse-template.ts";

/** A pipeline, taken apart and checked: what runs. */
export interface Plan {
  readonly steps: readonly PlannedStep[];
  /** Where each step is that has an id. */
  readonly indexes: ReadonlyMap<string, number>;
  readonly output?: Template;
}

/** One step of a {@link Plan}. */
export interface PlannedStep {
  readonly index: number;
  readonly id?: string;
  /** How messages name it. */
  readonly label: string;
  readonly tool: string;
  readonly args: Template;
  readonly condition?: Condition;
  /** The condition looks at the item, so it is asked for each. */
  readonly isFilter: boolean;
  readonly forEach?: Template;
  readonly maxConcurrent: number;
  readonly continueOnError: boolean;
  readonly after: readonly string[];
}
