import { toPath } from "../../core/json.ts";
import type { Reference } from "./parse-reference.ts";
import type { Template } from "./parse-template.ts";
import type { Plan, PlannedStep } from "./plan.ts";
import { conditionReferences, referencesIn } from "./references-in.ts";

/** One place in a pipeline where something is referred to. */
export interface Use {
  readonly reference: Reference;
  /** Where, as a path from the pipeline's root. */
  readonly path: string;
  /** The step that refers; none for the pipeline's output. */
  readonly step?: PlannedStep;
  /** `$item` and `$index` mean something here. */
  readonly hasItem: boolean;
}

/** Everything that a pipeline refers to, in order. */
export function* findUses(plan: Plan): Generator<Use> {
  for (const step of plan.steps) yield* usesOfStep(step);
  if (plan.output !== undefined) yield* usesIn(plan.output, ["output"], { hasItem: false });
}

/** Everything that a step refers to. */
export function* usesOfStep(step: PlannedStep): Generator<Use> {
  const at = ["steps", step.index] as const;
  const hasItem = step.forEach !== undefined;
  if (step.forEach !== undefined) yield* usesIn(step.forEach, [...at, "forEach"], { step, hasItem: false });
  if (step.condition !== undefined) {
    for (const reference of conditionReferences(step.condition)) {
      yield { reference, path: toPath([...at, "if"]), step, hasItem };
    }
  }
  yield* usesIn(step.args, [...at, "args"], { step, hasItem });
}

function* usesIn(
  template: Template,
  at: readonly (string | number)[],
  where: Pick<Use, "step" | "hasItem">,
): Generator<Use> {
  for (const [reference, path] of referencesIn(template)) yield { reference, path: toPath([...at, ...path]), ...where };
}

/** What a reference begins at. */
export type Root =
  | { readonly kind: "input" | "item" | "index" }
  | { readonly kind: "step" | "errors"; readonly step: PlannedStep };

/** What a reference begins at; `undefined` if there is no such thing where it stands. */
export function findRoot(plan: Plan, { reference, step, hasItem }: Use): Root | undefined {
  const { root, path } = reference;
  switch (root) {
    case "input":
      return { kind: "input" };
    case "item":
    case "index":
      return hasItem ? { kind: root } : undefined;
    case "prev":
      return toRoot("step", plan.steps[(step?.index ?? plan.steps.length) - 1]);
    case "errors":
      return toRoot("errors", findStep(plan, path[0]));
    default:
      return toRoot("step", findStep(plan, root));
  }
}

function toRoot(kind: "step" | "errors", step: PlannedStep | undefined): Root | undefined {
  return step === undefined ? undefined : { kind, step };
}

function findStep({ steps, indexes }: Plan, id: string | number | undefined): PlannedStep | undefined {
  return typeof id === "string" ? steps[indexes.get(id) ?? -1] : undefined;
}
