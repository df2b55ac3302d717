import type { ToolCode } from "../../core/tool.ts";
import type { PipelineSpec } from "./pipeline-spec.ts";
import type { Plan } from "./plan.ts";

/** The code of a tool that is a pipeline. */
export interface PipelineCode extends ToolCode {
  readonly kind: "pipeline";
  readonly spec: PipelineSpec;
  readonly plan: Plan;
  /** For each step, the steps that must have run before it. */
  readonly dependsOn: readonly (readonly number[])[];
}
