import type { Diagnostic } from "./diagnostics.ts";
import type { JsonObject } from "./json.ts";
import type { McpSource } from "./mcp-source.ts";
import type { Permissions } from "./permissions.ts";
import type { SkillGrant } from "./skill-grant.ts";
import type { Tool, ToolAuthor } from "./tool.ts";

/** A tool of another owner that a skill uses. */
export interface ToolUse {
  /** `other/tool`, or the bare name of a global tool. */
  readonly address: string;
  /** Versions of it that the skill was made for, as a semver range. @default any */
  readonly range?: string;
  /** Digest of the signature (input and output schema) that the skill was made for. */
  readonly signature?: string;
}

/** Another skill's tool under a name of the skill's own, with some arguments fixed. */
export interface ToolReuse {
  /** The name it has here. */
  readonly name: string;
  /** The tool behind it. */
  readonly uses: ToolUse;
  readonly description?: string;
  /** Arguments that a caller neither sees nor sets. */
  readonly locked: Readonly<Record<string, unknown>>;
}

/** One file of a skill's folder. */
export interface SkillFile {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
}

/** Where a skill is on disk, and exactly which bytes it is made of. */
export interface SkillFolder {
  /** Absolute, with symbolic links resolved. */
  readonly directory: string;
  /** What errors call it where they must not tell its path. @default its path */
  readonly shownAs?: string;
  readonly files: readonly SkillFile[];
  /** Of all files together: changes when any of them does. */
  readonly digest: string;
  readonly scope: SkillScope;
  readonly trust: SkillTrust;
  /** The file with the skill's own code (`skill.ts`), which runs in this process with all its rights once it is trusted. */
  readonly code?: string;
}

/** Whether this folder was trusted, in exactly this state. */
export type SkillTrust =
  | {
      readonly status: "trusted";
      /** What this person granted it from outside, besides what its own files ask for. */
      readonly granted?: SkillGrant;
    }
  | {
      readonly status: "untrusted";
      /** What changed since it was trusted; empty if it never was. */
      readonly changed: readonly string[];
      /** The person took the trust back with `kitbag trust --remove`. */
      readonly removed?: true;
    };

/** How a skill was found: in a given folder, in the project, or in the home directory. */
export type SkillScope = "given" | "project" | "user";

/** What a skill's life-cycle functions get. */
export interface SkillContext {
  readonly skill: string;
  /** Aborted when no caller waits for the activation any more. */
  readonly signal: AbortSignal;
}

/** Instructions, tools, permissions and a life cycle. Its tools exist only while it is open. */
export interface Skill {
  readonly name: string;
  readonly displayName?: string;
  /** What it does and when to use it: a model decides by this text. */
  readonly description: string;
  readonly version?: string;
  /** What it can do, in a few words each. */
  readonly capabilities: readonly string[];
  /** The text that a model gets when the skill is opened; of a folder, the body of SKILL.md as it is written. */
  readonly instructions: string;
  readonly tools: readonly Tool[];
  readonly uses: readonly ToolUse[];
  /** Tools that its text names, as `owner/tool`: its own must be there, those of other skills must be in `uses`. */
  readonly mentions?: readonly string[];
  readonly reuses: readonly ToolReuse[];
  /** Tools of it that could not be made, each with the reason: its text may speak of them. @default all were made */
  readonly leftOut?: readonly string[];
  /** Skills that are opened with it. */
  readonly requires: readonly string[];
  /** No other skill may be open beside it. */
  readonly exclusive: boolean;
  /** One grant for the skill and all its tools. */
  readonly permissions: Permissions;
  /** The part of `permissions` that its own files ask for, if a person granted more from outside. @default all of it */
  readonly declared?: Permissions;
  /** Whether a model may open it by itself. */
  readonly modelInvocable: boolean;
  readonly folder?: SkillFolder;
  /** Of a skill that was made here. @default it was not made here */
  readonly author?: ToolAuthor;
  /**
   * Earlier versions of it that may run, each with its `version`: their tools can be called as `skill/tool@1.2.0` while it is open, and
   * are listed nowhere. @default none
   */
  readonly earlier?: readonly Skill[];
  /** Other MCP servers that it brings; their tools become its own once a person has trusted them. @default none */
  readonly servers?: readonly McpSource[];
  /** Makes the text for one use: arguments put in, base directory and files named. @default the instructions as they are */
  readonly render?: (argumentText: string, parts?: TextParts) => string;
  /** The commands of its text, in order, for one use. Runs nothing. @default no commands */
  readonly commands?: (argumentText: string) => readonly SkillCommand[];
  readonly onActivate?: (context: SkillContext) => unknown;
  readonly onDeactivate?: (context: SkillContext) => unknown;
}

/** A command was not started. */
export interface CommandNotRun {
  readonly status: "not-run";
  readonly reason: string;
  /** What to do about it. @default the reason says it */
  readonly cure?: string;
}

/** What became of a command in the text of a skill. */
export type CommandAnswer =
  | {
      readonly status: "ran";
      /** What it printed. It is put into the text as it is, and not looked at again. */
      readonly output: string;
    }
  | { readonly status: "failed"; readonly reason: string }
  | CommandNotRun;

/**
 * A command that the text of a skill wants to have run before a model reads it. The tool is in no workspace: nothing can call it
 * but the text it stands in.
 */
export type SkillCommand =
  | { readonly ok: true; readonly tool: Tool; readonly input: JsonObject }
  | { readonly ok: false; readonly answer: CommandNotRun };

/** What the text of a skill is made with, beside the arguments. */
export interface TextParts {
  /** How the reader of the text names the skill's folder. @default its absolute path */
  readonly directory?: string;
  /** The results of its commands, in order. @default no command was run */
  readonly answers?: readonly CommandAnswer[];
  /** Changes the text around the outputs of commands, piece by piece. @default it stays */
  readonly prose?: (text: string) => string;
  /** Told of each command that did not run, or failed. */
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void;
}
