import type { Mount } from "../../../sandbox/sandbox.ts";
import type { Language } from "../languages.ts";

/** What is compiled, in the paths that the compiler sees. */
export interface Build {
  /** The working directory: the skill's folder. */
  readonly directory: string;
  /** Relative to the working directory, and starting with `./`, so that no name looks like an option. */
  readonly source: string;
  /** Where the module must be written. */
  readonly output: string;
  /** Where anything else may be written. */
  readonly scratch: string;
  /** Where the sources of the crates are that were fetched for it, if any were. */
  readonly crates?: string;
}

/** A program and how to start it. */
export interface CompilerCommand {
  readonly argv: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** What the paths in its messages are relative to, if not to the working directory: a folder in it. */
  readonly folder?: string;
}

/** What a compiler needs inside the sandbox. */
export interface CompilerNeeds {
  /** Programs of the system. */
  readonly programs: readonly string[];
  /** Its own directories, where they are outside of `/usr`. */
  readonly mounts: readonly Mount[];
}

/** A compiler of this machine that makes WASI command modules. */
export interface Compiler extends CompilerNeeds {
  readonly language: Language;
  /** What people call it: `clang-19`. */
  readonly program: string;
  readonly version: string;
  /** Everything that tells one installation from another, beside the version. */
  readonly identity: string;
  toCommand(build: Build): CompilerCommand;
  /** A Cargo of this machine that can fetch crates; if there is only one that cannot, that one. */
  findCargo?(): Promise<string | undefined>;
  /** What its messages mean for the author of the tool; undefined if they say it themselves. */
  explain?(messages: string): string | undefined;
}

/** Where compilers are looked for. */
export interface CompilerSearch {
  /** Where a program is; the system's own directories come before `PATH`. */
  findProgram(name: string): string | undefined;
  readonly home: string;
  /** The directories whose `node_modules`, and those above, are looked through for compilers that are npm packages. */
  readonly packagesFrom: readonly string[];
  /** Runs a program in the sandbox and answers with what it prints; nothing if it fails. */
  ask(command: readonly string[], needs: CompilerNeeds): Promise<string | undefined>;
}

/** One kind of compiler: how it is found, and how to get it. */
export interface CompilerKind {
  readonly languages: readonly Language[];
  /** What to do where it is missing. */
  toCure(language: Language): string;
  find(language: Language, search: CompilerSearch): Promise<Compiler | undefined>;
}
