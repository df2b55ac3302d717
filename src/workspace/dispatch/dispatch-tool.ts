import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ToolAnnotations } from "../../core/tool-data.ts";
import type { CallOptions } from "../call/call-options.ts";

/** A tool of Kitbag's own, with which a model finds, opens and calls the others. */
export interface DispatchTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations: ToolAnnotations;
  /** Never throws and never rejects: what is wrong is in the outcome. */
  run(input: unknown, options?: CallOptions): Promise<ToolOutcome>;
}
