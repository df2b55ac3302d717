import type { Diagnostic } from "../../core/diagnostics.ts";
import type { JsonObject } from "../../core/json.ts";

/** A tool that a skill asks to use without further questions: a request, never a grant. */
export interface AllowedTool {
  /** As written: `Bash(git:*)`. */
  readonly raw: string;
  readonly name: string;
  /** What stands in the parentheses: `git:*`. */
  readonly rule?: string;
}

/** A tool that a skill says it uses. */
export interface DeclaredTool {
  /** As written: `tool`, `skill/tool` or `plugin:skill/tool`, with or without `@version`. */
  readonly reference: string;
  /** `metadata`: from `metadata.kitbag-tools`; `tools`: from a top-level `tools:`, which other clients use for their own tools. */
  readonly from: "metadata" | "tools";
  /** What else is said about it (`script`, `input`, …), as written. */
  readonly definition?: JsonObject;
  readonly line: number;
  readonly column: number;
}

/** A SKILL.md, read. */
export interface SkillDocument {
  /** As diagnostics name it. */
  readonly file: string;
  /** The name the skill goes by: what is declared, if that can be a name; else what is nearest to it, or the directory's name. */
  readonly name: string;
  /** As written. */
  readonly declaredName?: string;
  readonly description: string;
  /** `body`: the author wrote none, and this is the beginning of the instructions. */
  readonly descriptionFrom: "front-matter" | "body";
  /** When to use it, where the author keeps that apart from the description. */
  readonly whenToUse?: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly allowedTools: readonly AllowedTool[];
  /** Every value as text: numbers as written, lists and maps as JSON. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Kitbag's own part of the metadata: `kitbag-tools` is `tools` here. */
  readonly kitbag: Readonly<Record<string, string>>;
  readonly tools: readonly DeclaredTool[];
  /** The names of the arguments, in order. */
  readonly arguments: readonly string[];
  readonly argumentHint?: string;
  /** As written, of the top level or else of the metadata. */
  readonly version?: string;
  readonly modelInvocable: boolean;
  readonly userInvocable: boolean;
  /** Every top-level key that the specification does not have, as written. */
  readonly extra: JsonObject;
  /** The instructions, with `\n` line ends. */
  readonly body: string;
  /** The line of the file on which {@link body} begins. */
  readonly bodyLine: number;
}

/** The result of reading a SKILL.md: a document, or an `error` that says why it cannot be read. */
export interface SkillReading {
  readonly document?: SkillDocument;
  readonly diagnostics: readonly Diagnostic[];
}

/** The largest SKILL.md that is read. */
export const maxFileBytes = 1_048_576;

/** The largest front matter that is parsed. */
export const maxFrontMatterBytes = 65_536;
