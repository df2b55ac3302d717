import { tmpdir } from "node:os";

import type { Mount, Profile, Sandbox, SandboxProcess } from "../../sandbox/sandbox.ts";
import { makeWorkFolder, toWorkMounts, type FillFolder, type WorkFolder } from "../../sandbox/work-folder.ts";
import type { Family } from "./families.ts";

/** A program that runs scripts, as it is inside. */
export interface Interpreter {
  readonly family: Family;
  /** Its path inside. */
  readonly program: string;
  /** Its first arguments; the script's path follows. */
  readonly argv: readonly string[];
  /** What must be inside for it, beside the system's libraries. */
  readonly mounts: readonly Mount[];
  /** Programs of the system that it needs inside. */
  readonly programs: readonly string[];
  /** The script is the program: its path does not follow. */
  readonly isScript?: boolean;
}

/** One start of a script. Only `profile` and `interpreter` are known before the call: the rest is of this call alone. */
export interface Launch {
  /** What the script may see and use, with what its interpreter needs. Equal for all calls of tools with equal rights. */
  readonly profile: Profile;
  readonly interpreter: Interpreter;
  /** The script's path inside, and its arguments. */
  readonly argv: readonly string[];
  /** Environment variables of this call, beside those of the profile. */
  readonly env: Readonly<Record<string, string>>;
  /** Standard input; without it there is nothing to read. */
  readonly input?: string | Uint8Array;
  /**
   * Gets the private folder of this call, which is empty, and puts files into it; then the script starts, and may write it. The caller
   * removes it. Without this the script has no such folder.
   */
  readonly fill?: FillFolder;
  /** No other launch will have this profile. @default false */
  readonly isOnce?: boolean;
  /** The private folder, if its place on the host had to be known before. */
  readonly folder?: WorkFolder;
  /** First arguments for the interpreter that make it wait for a debugger. */
  readonly debug?: readonly string[];
}

/**
 * Starts scripts.
 *
 * **Contract**: the process answers exactly like one that {@link Sandbox.start} started for this launch alone; nothing of another
 * launch is visible to it. Rejects if it cannot be started.
 */
export interface Launcher {
  start(launch: Launch): Promise<SandboxProcess>;
  /** Begins to make ready what the first of such launches needs. @default nothing is made ready */
  prepare?(launch: Launch): void;
}

/** Starts every script in a sandbox that is made when it is asked for; private folders are made in `directory`. */
export function coldLauncher(sandbox: Sandbox, directory = tmpdir()): Launcher {
  return {
    async start(launch) {
      const { interpreter, argv, env, input, debug = [] } = launch;
      const { environment, ...profile } = await openWorkFolder(sandbox, launch, directory);
      const command = [interpreter.program, ...debug, ...interpreter.argv, ...argv];
      return sandbox.start({ ...profile, environment: { ...environment, ...env } }, command, input ?? "");
    },
  };
}

/** The profile of a launch, with its private folder, filled. Where nothing can be shown at another place, the folder is there already. */
export async function openWorkFolder(
  sandbox: Sandbox,
  { profile, fill, folder: given }: Launch,
  directory: string,
): Promise<Profile> {
  if (fill === undefined) return profile;
  const folder = given ?? makeWorkFolder(directory, profile);
  await fill(folder);
  const own = sandbox.keepsPaths === true ? [toOwnPlace(folder)] : toWorkMounts(folder, profile);
  return { ...profile, mounts: [...profile.mounts, ...own] };
}

function toOwnPlace({ root }: WorkFolder): Mount {
  return { source: root, target: root, write: true, granted: true };
}
