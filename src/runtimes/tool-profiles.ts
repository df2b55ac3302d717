import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";

import type { CodeFolder, ScriptCode } from "../core/script-code.ts";
import type { RuntimeContext } from "../core/runtime.ts";
import type { Tool } from "../core/tool.ts";
import type { Egress } from "../sandbox/egress/open-egress.ts";
import type { EgressConnection } from "../sandbox/egress/ledger.ts";
import type { FoundSandbox } from "../sandbox/find-sandbox.ts";
import { findGrants, type GrantPlaces, type Grants } from "../sandbox/grants.ts";
import { defaultLimits, type Limits, type Profile } from "../sandbox/sandbox.ts";
import { createSnapshots } from "../sandbox/snapshots.ts";
import type { Dependencies } from "../packages/install/create-dependencies.ts";
import type { PreparedDependencies } from "../packages/install/dependency-request.ts";
import { loadDependencyRequest } from "../packages/install/load-dependency-request.ts";
import { permissionsIn } from "./files/mounted-files.ts";
import { findInterpreter } from "./script/find-interpreter.ts";

/** What the profiles of tools are made with. */
export interface ProfileOptions {
  readonly sandbox: FoundSandbox;
  readonly places: GrantPlaces;
  readonly dependencies: Dependencies;
  readonly limits?: Partial<Limits> | undefined;
  /** Called when a connection of a tool ended or was refused. */
  readonly onConnection?: (tool: Tool, connection: EgressConnection) => void;
}

/** Makes what each script tool may see and use, once. */
export interface ToolProfiles {
  find(tool: Tool, context?: Partial<Pick<RuntimeContext, "files" | "signal">>): Promise<Profile>;
  /** Waits for the connections of a tool that is over to end. */
  settle(tool: Tool): Promise<void>;
  close(): Promise<void>;
}

/** Makes profiles: the skill's folder, what was granted, the packages that the script needs, a way out if there is one. */
export function createToolProfiles(options: ProfileOptions): ToolProfiles {
  const { sandbox, places, dependencies, limits } = options;
  const snapshots = createSnapshots(sandbox.area.own);
  const exits = createExits(options);
  const profiles = new WeakMap<Tool, { readonly grants: Grants; readonly profile: Profile }>();
  const unfinished = new Set<Promise<Profile>>();

  async function make(tool: Tool, grants: Grants, signal: AbortSignal | undefined): Promise<Profile> {
    const code = tool.code as ScriptCode;
    const folder = await snapshots.take(code.folder ?? toFolder(code));
    const packages = await prepare({ tool, code, folder }, dependencies, signal);
    const exit = await exits.find(tool);
    return {
      mounts: [{ source: folder, target: "/skill" }, ...grants.mounts, ...packages.mounts],
      sealed: grants.sealed,
      environment: { ...grants.environment, ...packages.environment, ...exit?.environment },
      programs: grants.programs,
      directory: grants.directory,
      limits: { ...defaultLimits, ...limits },
      ...(exit !== undefined && { egress: exit.socket }),
      ...(tool.permissions.sockets !== undefined && { sockets: tool.permissions.sockets }),
    };
  }

  /** One that was made with other grants does not cover what is shielded by now. */
  function findKnown(tool: Tool, grants: Grants): Profile | undefined {
    const known = profiles.get(tool);
    return known?.grants === grants ? known.profile : undefined;
  }

  return {
    async find(tool, context = {}) {
      const permissions = permissionsIn(context, tool);
      const found = findGrants(tool.name, permissions, places);
      // Folders that only this call names do not move its working directory.
      const isOwn = permissions === tool.permissions;
      const directory = isOwn ? found.directory : findGrants(tool.name, tool.permissions, places).directory;
      const grants = isOwn ? found : { ...found, directory };
      const known = findKnown(tool, grants);
      if (known !== undefined) return known;
      // Each caller waits for himself: one that gives up must not end what others wait for. What is slow is shared below.
      const making = make(tool, grants, context.signal).then((made) => {
        const profile = findKnown(tool, grants) ?? made;
        if (isOwn) profiles.set(tool, { grants, profile });
        return profile;
      });
      keepUntilDone(making, unfinished);
      return making;
    },
    settle: (tool) => exits.settle(tool),
    async close() {
      // A call may have ended while its profile was being made; that still writes where everything is about to be removed.
      await Promise.allSettled(unfinished);
      await exits.close();
    },
  };
}

/** Ways out of the sandbox: one for each tool that may use the network. */
function createExits({ sandbox, onConnection }: ProfileOptions): {
  find(tool: Tool): Promise<Egress> | undefined;
  settle(tool: Tool): Promise<void>;
  close(): Promise<void>;
} {
  const open: Egress[] = [];
  const exits = new WeakMap<Tool, Promise<Egress>>();

  async function openExit(tool: Tool, rules: readonly string[]): Promise<Egress> {
    const { openEgress } = await import("../sandbox/egress/open-egress.ts");
    const exit = await openEgress({
      rules,
      directory: sandbox.area.own,
      onConnection: (connection) => onConnection?.(tool, connection),
    });
    open.push(exit);
    return exit;
  }

  return {
    find(tool) {
      const rules = tool.permissions.network ?? [];
      if (rules.length === 0) return undefined;
      const exit = exits.get(tool) ?? openExit(tool, rules);
      exits.set(tool, exit);
      return exit;
    },
    async settle(tool) {
      // The call that needed it got the failure.
      const exit = await exits.get(tool)?.catch(() => undefined);
      await exit?.settle();
    },
    async close() {
      await Promise.all(open.map((exit) => exit.close()));
    },
  };
}

function keepUntilDone(profile: Promise<Profile>, unfinished: Set<Promise<Profile>>): void {
  const forget = (): boolean => unfinished.delete(profile);
  unfinished.add(profile);
  profile.then(forget, forget);
}

/** A script that came without its folder is all there is. */
function toFolder({ directory, path, digest }: ScriptCode): CodeFolder {
  const bytes = statSync(join(directory, path), { throwIfNoEntry: false })?.size ?? 0;
  return { directory, digest, files: [{ path, digest, bytes }] };
}

interface Script {
  readonly tool: Tool;
  readonly code: ScriptCode;
  /** The snapshot. */
  readonly folder: string;
}

async function prepare(
  { tool, code, folder }: Script,
  dependencies: Dependencies,
  signal: AbortSignal | undefined,
): Promise<PreparedDependencies> {
  const interpreter = findInterpreter(tool, code, folder);
  if (interpreter.family !== "python" && interpreter.family !== "node") return { mounts: [], environment: {} };
  const python = interpreter.family === "python" ? { python: realpathSync(interpreter.program) } : {};
  const request = loadDependencyRequest({
    directory: folder,
    path: code.path,
    dependencies: code.dependencies,
    ...python,
  });
  return dependencies.prepare(request, signal);
}
