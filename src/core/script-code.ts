import type { JsonObject } from "./json.ts";
import type { SkillFolder } from "./skill.ts";
import type { ToolCode } from "./tool.ts";

/** The folder that code is in, and exactly which bytes it is made of. */
export type CodeFolder = Pick<SkillFolder, "directory" | "files" | "digest">;

/** What a program is started with, after its interpreter and its own path. */
export interface ScriptCommand {
  readonly argv: readonly string[];
  /** Standard input; nothing is written to it when this is not set. */
  readonly stdin?: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The packages that a manifest lists, as they are written there. */
export interface ListedDependencies {
  /** `requests>=2`. */
  readonly python?: readonly string[];
  /** `lodash@^4`. */
  readonly npm?: readonly string[];
  readonly cargo?: readonly string[];
}

/** The code of a tool that is a script in a skill's folder. */
export interface ScriptCode extends ToolCode {
  readonly kind: "script";
  /** The skill that it belongs to, as commands name it. @default it belongs to none */
  readonly skill?: string;
  /** The skill's folder, absolute. */
  readonly directory: string;
  /** All files that belong to it. @default the script alone */
  readonly folder?: CodeFolder;
  /** The script, relative to the folder; empty if the interpreter alone is the program. */
  readonly path: string;
  /** Of the script's bytes: nothing else may run in its place. */
  readonly digest: string;
  /** The program and its first arguments; the script's path and its arguments follow. */
  readonly interpreter: readonly string[];
  /** It does not run with the sandbox `off`, because no person asked for this run. @default false */
  readonly needsSandbox?: boolean;
  /** Environment variables that the script reads, as far as can be seen. */
  readonly environment: readonly string[];
  /** What the manifest lists; what the script and the files beside it ask for is read when it is needed. */
  readonly dependencies?: ListedDependencies;
  /** The parameter whose value it reads from standard input. @default it has none */
  readonly stdin?: string;
  /** Turns a checked input into the command line that means it. */
  readonly toCommand: (input: JsonObject) => ScriptCommand;
  /** Turns a command line of the script back into the input that it means. @default its command lines are not known */
  readonly readCommand?: (argv: readonly string[]) => ReadArgv;
}

/** A command line of a script, read back. */
export interface ReadArgv {
  readonly input: JsonObject;
  /** Flags that the script does not have, as far as is known. */
  readonly unknownFlags: readonly string[];
  /** Words that are left over. */
  readonly unknownWords: readonly string[];
}

/** The code of a tool that is in a WASM module of a skill's folder. */
export interface WasmCode extends ToolCode {
  readonly kind: "wasm";
  readonly directory: string;
  /** The module, relative to the folder. */
  readonly path: string;
  readonly digest: string;
  /** Which of the module's tools it is, as the module knows it: its first argument, and `KITBAG_TOOL`. @default the tool's name */
  readonly tool?: string;
}
