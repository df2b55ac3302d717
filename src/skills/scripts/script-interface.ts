import type { FileParameters } from "../../core/call-files.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { ToolAnnotations, ToolCache, ToolExample, ToolLimits } from "../../core/tool.ts";
import type { ArgvMapping } from "./argv-mapping.ts";

/** A file that may be a script, as it was hashed. */
export interface ScriptFile {
  /** Relative to the skill's folder, with `/`: `scripts/extract.py`. */
  readonly path: string;
  readonly content: Uint8Array | string;
}

/** The languages whose scripts are read; `other` is anything else with a known interpreter. */
export type ScriptLanguage =
  | "python"
  | "javascript"
  | "typescript"
  | "shell"
  | "ruby"
  | "perl"
  | "php"
  | "lua"
  | "powershell"
  | "r"
  | "other";

/** What a script is for. Only `tool` becomes tools. */
export type ScriptKind = "tool" | "library" | "test" | "hook" | "interactive" | "config" | "unsupported";

/**
 * How sure a schema is: `declared` was read from a declaration (or the script takes nothing at all), `usage` from a usage line or
 * from hand-written code, `opaque` means that only a list of words is known to go in.
 */
export type Confidence = "declared" | "usage" | "opaque";

/** How long the outputs of a script may be used again: what of it is data. */
export type ScriptCache = Omit<ToolCache, "key">;

/** One operation of a script: the whole of it, or one of its sub-commands. */
export interface ScriptTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly mapping: ArgvMapping;
  /** The parameters that name files. @default none */
  readonly files?: FileParameters;
  readonly confidence: Confidence;
  /** What the schema was read from, in a word or two: `argparse`, `usage line`, `manifest`. */
  readonly source: string;
  readonly examples: readonly ToolExample[];
  readonly annotations?: ToolAnnotations;
  readonly limits?: ToolLimits;
  readonly cache?: ScriptCache;
  /** The author does not want it to be offered. */
  readonly hidden?: true;
}

/** An environment variable that a script reads. */
export interface EnvironmentVariable {
  readonly name: string;
  /** The script stops without it, as far as can be seen. */
  readonly required?: true;
}

/** A package that a script imports and that its language does not bring along. */
export interface ScriptImport {
  /** As it is imported. */
  readonly name: string;
  /** As it is installed. */
  readonly package: string;
  /** The file that declares it (or the script itself, for an inline block); none if nothing does. */
  readonly declaredIn?: string;
}

/** What a script seems to touch. Seen in its text, so neither complete nor proven. */
export interface ScriptAccess {
  /** Hosts that its text names. */
  readonly hosts: readonly string[];
  /** What it uses to reach a network: `requests`, `fetch`, `curl`. */
  readonly network: readonly string[];
  /** Paths that stand in its text and are opened for reading. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Programs that it starts. */
  readonly programs: readonly string[];
}

/** What is known about a script without running it. JSON throughout, so it can be cached by the digests of the files. */
export interface ScriptInterface {
  readonly path: string;
  readonly language: ScriptLanguage;
  /** The program and its first arguments; the script's path and its arguments follow. */
  readonly interpreter: readonly string[];
  readonly kind: ScriptKind;
  /** Why it is of this kind, as a sentence without its full stop. */
  readonly reason: string;
  /** Empty unless the kind is `tool`. */
  readonly tools: readonly ScriptTool[];
  readonly environment: readonly EnvironmentVariable[];
  readonly imports: readonly ScriptImport[];
  readonly access: ScriptAccess;
}

/** What {@link deriveScripts} answers. */
export interface DerivedScripts {
  /** Sorted by path. */
  readonly scripts: readonly ScriptInterface[];
  readonly diagnostics: readonly Diagnostic[];
}
