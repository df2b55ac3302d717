import type { Diagnostic } from "../../core/diagnostics.ts";
import type { Permissions } from "../../core/permissions.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { LockedSource } from "../../skills/trust/lock-format.ts";
import type { SkillTokens } from "../../workspace/skills/render-skills.ts";
import type { SkillDifference } from "./diff-skills.ts";

/** A tool of a skill that may be imported. */
export interface CandidateTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** How sure the schema is. */
  readonly confidence: string;
  /** About how much its definition costs in each request to a model. */
  readonly tokens: number;
}

/** A skill that was fetched, with everything that somebody should know before it is enabled. */
export interface ImportCandidate {
  readonly name: string;
  /** A tool is a folder with a `manifest.json` that is one tool. */
  readonly kind: "skill" | "tool";
  readonly description: string;
  readonly version?: string;
  /** The plugin that it is a part of. */
  readonly plugin?: string;
  /** Of all its files together. */
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
  readonly permissions: Permissions;
  readonly tools: readonly CandidateTool[];
  readonly tokens: SkillTokens;
  /** A file that runs in our process with all rights: such a skill is never enabled by an import. */
  readonly code?: string;
  /** What was wrong or unclear, and what a careful reader would stop at. */
  readonly diagnostics: readonly Diagnostic[];
  /** Where it comes from, and which state of that it is. */
  readonly source: LockedSource;
  /** Where it is put, relative to the project. */
  readonly place: string;
  /** What is there now. A tool is the same while its source is, also if it was changed here. */
  readonly state: "new" | "same" | "changed" | "taken";
  /** Of a tool that was added before: it was edited here since. What it is now stays as a version. */
  readonly changedHere?: boolean;
  /** What would be different; only if something is there that it would replace. */
  readonly difference?: SkillDifference;
}

/** A candidate with the folder that it was read from. */
export interface LoadedCandidate extends ImportCandidate {
  readonly report: SkillReport;
  /** The digest of what was in its place when it was compared; none if nothing was. */
  readonly replaces?: string;
}

/** A folder that cannot be used, with the reason. */
export interface SkippedFolder {
  readonly name: string;
  /** In the source. */
  readonly path: string;
  readonly reason: string;
}
