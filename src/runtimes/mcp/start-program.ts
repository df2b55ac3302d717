import { join } from "node:path";

import type { McpProgram } from "../../core/mcp-source.ts";
import { createTool } from "../../core/define-tool.ts";
import { openEgress, type Egress } from "../../sandbox/egress/open-egress.ts";
import type { FoundSandbox } from "../../sandbox/find-sandbox.ts";
import { toGrants, type GrantPlaces } from "../../sandbox/grants.ts";
import type { ReservedPlaces } from "../../sandbox/reserved-places.ts";
import { defaultLimits, type Limits, type Mount, type SandboxProcess } from "../../sandbox/sandbox.ts";
import { noteShields, refuseReplaced, type FindReplaced } from "../../sandbox/watch-shields.ts";
import type { Snapshots } from "../../sandbox/snapshots.ts";
import type { Dependencies } from "../../packages/install/create-dependencies.ts";
import { findInterpreter } from "../script/find-interpreter.ts";
import { loadSecrets, type FindSecret, type Secrets } from "../script/load-secrets.ts";
import { preparePackages } from "./package-runner.ts";

/** Where programs are started. */
export interface ProgramOptions {
  readonly sandbox: FoundSandbox;
  readonly places: GrantPlaces;
  /** Looks after shielded places; none without a sandbox. */
  readonly reserved?: ReservedPlaces;
  readonly findSecret: FindSecret;
  readonly limits?: Partial<Limits> | undefined;
  /** Installs the packages of a server that `npx` would fetch. */
  readonly prepare?: Dependencies["prepare"] | undefined;
  /** Copies of the folders of skills. */
  readonly snapshots: Snapshots;
}

/** A server that runs. */
export interface StartedProgram {
  readonly process: SandboxProcess;
  readonly secrets: Secrets;
  /** Puts aside what it has made at shielded places, and throws if there was something, or it may have lost a shield. */
  check(): void;
  /** Finds a shielded place that was replaced since it was started: it may have lost that shield, and must not be used again. */
  readonly findReplaced: FindReplaced;
  /** Looks at those places for the last time, and closes its way out. */
  close(): Promise<void>;
}

/** A server lives as long as it is used; each call has a limit of its own. */
const cpuSeconds = 30 * 24 * 60 * 60;

/** Standard input is a file in the sandbox; a server needs one that goes on, so it gets the channel. */
const onChannel = 'exec "$@" <&3 3<&-';

/**
 * Starts the program of a server in the sandbox: it sees its skill's folder, what its permissions name, and nothing else.
 *
 * @throws {KitbagError} `interpreter-missing`, `permission-refused`, `network-rule-invalid` or `sandbox-failed`.
 */
export async function startServer(source: McpProgram, options: ProgramOptions): Promise<StartedProgram> {
  const { sandbox, places, findSecret, limits } = options;
  const { permissions } = source;
  const grants = toGrants(source.name, permissions, places);
  const { mounts: folder, toInside } = await mountFolder(source, options.snapshots);
  const program = await preparePackages(source, options.prepare);
  const interpreter = findProgram({ ...source, command: program.command });
  const secrets = await loadSecrets({ permissions }, findSecret);
  const findReplaced = sandbox.mountsShields === true ? noteShields(grants.mounts) : () => undefined;
  const checkReserved = options.reserved?.watch(source.name, grants.reserved) ?? (() => {});
  const check = (): void => {
    checkReserved();
    const replaced = findReplaced();
    if (replaced !== undefined) throw refuseReplaced(replaced);
  };
  const { network: rules = [] } = permissions;
  const exit = rules.length === 0 ? undefined : await openEgress({ rules, directory: sandbox.area.own });
  const isOff = sandbox.name === "off";
  const command = [interpreter.program, ...interpreter.argv, ...program.words.map(toInside)];
  try {
    const process = await sandbox.start(
      {
        mounts: [...folder, ...grants.mounts, ...interpreter.mounts, ...program.mounts],
        sealed: grants.sealed,
        environment: {
          ...{ ...grants.environment, ...program.environment, ...(isOff && ownEnvironment()) },
          ...{ ...exit?.environment, ...secrets.values },
        },
        programs: [...grants.programs, ...interpreter.programs],
        directory: isOff ? places.directory : grants.directory,
        limits: { ...defaultLimits, ...limits, cpuSeconds },
        ...(exit !== undefined && { egress: exit.socket }),
        ...(permissions.sockets !== undefined && { sockets: permissions.sockets }),
      },
      ["/bin/sh", "-c", onChannel, "sh", ...command],
      "",
    );
    return { process, secrets, check, findReplaced, close: () => closeProgram(check, exit) };
  } catch (cause) {
    await exit?.close();
    throw cause;
  }
}

async function closeProgram(check: () => void, exit: Egress | undefined): Promise<void> {
  try {
    check();
  } catch {
    // It was put aside; no call is left that could be told.
  }
  await exit?.close();
}

/** Without a sandbox a program is at home here: package runners look for their caches there. */
function ownEnvironment(): Record<string, string> {
  const { HOME } = process.env;
  return HOME === undefined ? {} : { HOME };
}

/** The program that a command means, as it is inside. */
function findProgram({ name, command, folder }: McpProgram): ReturnType<typeof findInterpreter> {
  const about = createTool({ name, description: "An MCP server", code: { kind: "mcp" } });
  return findInterpreter(about, {
    kind: "script",
    directory: folder?.directory ?? "",
    path: "",
    digest: "",
    interpreter: [command],
    environment: [],
    toCommand: () => ({ argv: [], env: {} }),
  });
}

interface MountedFolder {
  readonly mounts: readonly Mount[];
  /** Names a file of the folder by where it is inside; everything else stays as it is. */
  toInside(argument: string): string;
}

/** The bytes that were trusted are the bytes that run. */
async function mountFolder({ folder }: McpProgram, snapshots: Snapshots): Promise<MountedFolder> {
  if (folder === undefined) return { mounts: [], toInside: (argument) => argument };
  const source = await snapshots.take(folder);
  const files = new Set(folder.files.map(({ path }) => path));
  return {
    mounts: [{ source, target: "/skill" }],
    toInside(argument) {
      const path = argument.replace(/^\.\//u, "");
      return files.has(path) ? join("/skill", path) : argument;
    },
  };
}
