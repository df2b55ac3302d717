import type { Diagnostic } from "../../core/diagnostics.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { Skill } from "../../core/skill.ts";
import type { Confidence, ScriptInterface } from "../scripts/script-interface.ts";

/** A tool of a skill, as `kitbag check` and `kitbag show` tell it. */
export interface ToolReport {
  readonly name: string;
  readonly address: string;
  readonly description: string;
  readonly kind: string;
  /** How sure the schema is. */
  readonly confidence: Confidence;
  /** What the schema was read from, in a word or two. */
  readonly source: string;
  /** The file that is run. */
  readonly file?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
}

/** The result of loading a folder: a skill, or the reasons why it cannot be loaded. Every folder gets a report. */
export interface SkillReport {
  /** The folder, as it was found. */
  readonly path: string;
  /** The folder, absolute, with links resolved. */
  readonly directory: string;
  readonly name: string;
  readonly status: "ok" | "warning" | "skipped";
  readonly diagnostics: readonly Diagnostic[];
  readonly tools: readonly ToolReport[];
  /** All scripts, also those that are no tools, each with the reason. */
  readonly scripts: readonly ScriptInterface[];
  /** Missing if the status is `skipped`. */
  readonly skill?: Skill;
}
