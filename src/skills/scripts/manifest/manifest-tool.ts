import type { FileUse } from "../../../core/call-files.ts";
import type { JsonSchema } from "../../../core/schema/json-schema.ts";
import type { ToolAnnotations, ToolExample, ToolLimits } from "../../../core/tool.ts";
import type { ArgvMapping, PropertyPart } from "../argv-mapping.ts";
import type { Confidence, ScriptCache } from "../script-interface.ts";

/** A parameter as the manifest has it. */
export interface ManifestParameter {
  readonly name: string;
  readonly schema: JsonSchema;
  /** The schema was written as a whole: what it does not say is left open. */
  readonly isWhole?: true;
  readonly required?: boolean;
  /** How it is passed; when the manifest does not say, it is passed as the script's own parameter of that name. */
  readonly part?: PropertyPart;
  readonly after?: number;
  /** Whether it names a file or a folder that the script reads or writes. @default told by its name and description */
  readonly file?: FileUse | "none";
  /** Counts from 1. */
  readonly line: number;
}

/** An entry of `scripts/manifest.yml`. What is not set is taken from the script. */
export interface ManifestTool {
  /** Relative to the skill's folder. */
  readonly path: string;
  /** The words of the sub-command that it is about. */
  readonly words: readonly string[];
  /** Counts from 1. */
  readonly line: number;
  readonly name?: string;
  readonly description?: string;
  readonly interpreter?: readonly string[];
  readonly parameters?: readonly ManifestParameter[];
  readonly outputSchema?: JsonSchema;
  readonly limits?: ToolLimits;
  readonly cache?: ScriptCache;
  readonly annotations?: ToolAnnotations;
  readonly hidden?: boolean;
  readonly confidence?: Confidence;
  readonly source?: string;
  readonly examples?: readonly ToolExample[];
  readonly separator?: NonNullable<ArgvMapping["separator"]>;
  readonly otherFields?: true;
  /** It takes flags that are not listed. */
  readonly otherFlags?: true;
}
