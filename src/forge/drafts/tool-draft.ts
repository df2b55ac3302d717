import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Permissions } from "../../core/permissions.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { ListedDependencies } from "../../core/script-code.ts";
import type { ToolAnnotations, ToolExample, ToolLimits } from "../../core/tool.ts";

/** Languages of scripts: they run as they are. */
export const scriptLanguages = [
  "python",
  "javascript",
  "typescript",
  "bash",
  "ruby",
  "perl",
  "php",
  "lua",
  "powershell",
  "r",
] as const;

/** Languages of WASM modules: they are built once, for each version. */
export const wasmLanguages = [
  "wasm-assemblyscript",
  "wasm-c",
  "wasm-c++",
  "wasm-cpp",
  "wasm-go",
  "wasm-javascript",
  "wasm-rust",
  "wasm-zig",
] as const;

/** What the code of a tool can be written in. */
export type ForgeLanguage = (typeof scriptLanguages)[number] | (typeof wasmLanguages)[number];

/** What every tool that is made says about itself, whatever it is made of. */
export interface DraftHead {
  /** One name of the grammar that all tools have; it is also the name of the tool's folder. */
  readonly name: string;
  readonly title?: string;
  /** What it does and when to use it: a model decides by this text. */
  readonly description: string;
  /** JSON Schema of an object. @default no parameters; of a pipeline, those that its references to `$input` name */
  readonly input?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  /** What it may touch, beyond nothing. What the policy does not grant waits for a person. */
  readonly permissions?: Permissions;
  readonly limits?: ToolLimits;
  readonly needsApproval?: boolean;
  /** Whether it is there for every user; a person must agree. @default only for the user who makes it, if it is one of a service */
  readonly shared?: boolean;
  /** At least one. Each is run before the tool is live; its output, if there is one, must be what comes. */
  readonly examples: readonly ToolExample[];
}

/** A tool that is code: it gets its input as JSON on standard input and writes its output to standard output. */
export interface CodeDraft extends DraftHead {
  readonly language: ForgeLanguage;
  /** The text of the program. */
  readonly code: string;
  /** More files beside the program, by path: `Cargo.toml`, `lib/words.py`. */
  readonly files?: Readonly<Record<string, string>>;
  /** With it, what the code prints is JSON of this shape; without it, it is text. */
  readonly output?: JsonSchema;
  readonly dependencies?: ListedDependencies;
  /** Addresses of the tools that the code calls. What the policy does not name waits for a person. @default none */
  readonly uses?: readonly string[];
}

/** A tool that is made of calls of other tools. */
export interface PipelineDraft extends DraftHead {
  readonly steps: readonly JsonObject[];
  /** Made of references, like the steps' `args`. @default the last step's output */
  readonly result?: JsonValue;
}

/** What an author writes down to make a tool. */
export type ToolDraft = CodeDraft | PipelineDraft;

/** What an edit changes: what is not named stays. `null` takes a part away. */
export type ToolChanges = {
  readonly [Part in Exclude<keyof CodeDraft | keyof PipelineDraft, "name">]?:
    | (Part extends keyof CodeDraft ? CodeDraft[Part] : Part extends keyof PipelineDraft ? PipelineDraft[Part] : never)
    | null;
};

/** Tells whether a draft is one of a skill. */
export function isSkillDraft(draft: ToolDraft | SkillDraft): draft is SkillDraft {
  return "instructions" in draft;
}

/** What an author writes down to make a skill. */
export interface SkillDraft {
  readonly name: string;
  readonly description: string;
  /** The body of `SKILL.md`: Markdown. */
  readonly instructions: string;
  readonly version?: string;
  /** As of a tool. */
  readonly shared?: boolean;
  /** Tools of its own. Names are unique within the skill; all of them share its permissions. */
  readonly tools?: readonly CodeDraft[];
  /** Addresses of other tools that it uses: `other/tool`, or the bare name of a global one. */
  readonly uses?: readonly string[];
  /** More files, by path: `references/format.md`. */
  readonly files?: Readonly<Record<string, string>>;
}
