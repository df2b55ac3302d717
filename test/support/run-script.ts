/** Runs small scripts as tools, in the sandbox of this machine. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import {
  createWorkspace,
  memoryStore,
  type CallEvent,
  type JsonSchema,
  type Permissions,
  type Tool,
  type ToolOutcome,
  type Workspace,
  type WorkspaceOptions,
} from "kitbag";
import { onTestFinished } from "vitest";

import type { CodeFolder, ScriptCode, ScriptCommand } from "../../src/core/script-code.ts";
import { scriptRuntime, type ScriptRuntimeOptions } from "../../src/runtimes/script/script-runtime.ts";
import { findSandbox } from "../../src/sandbox/find-sandbox.ts";
import {
  defaultLimits,
  type Limits,
  type Mount,
  type Profile,
  type Sandbox,
  type SandboxName,
} from "../../src/sandbox/sandbox.ts";

/** The sandbox that scripts of tests run in. */
export function openTestSandbox(name?: SandboxName): Promise<Sandbox> {
  return findSandbox(name === undefined ? {} : { name });
}

/** A script, and how it is called. */
export interface TestScript {
  /** The files of its skill, by path; the first one is the script. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** @default what its first line or its ending says */
  readonly interpreter?: readonly string[];
  readonly command?: Partial<ScriptCommand>;
  readonly permissions?: Permissions;
  /** The skill that it belongs to. @default none */
  readonly skill?: string;
  readonly output?: JsonSchema;
  readonly environment?: readonly string[];
  readonly limits?: Partial<Limits>;
  /** What is there beside the skill. */
  readonly mounts?: readonly Mount[];
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
  /** Who calls it. */
  readonly user?: string;
  readonly options?: Partial<ScriptRuntimeOptions>;
  /** Other tools that it may call. */
  readonly tools?: readonly Tool[];
  /** The tools that it declares. @default all of `tools` */
  readonly uses?: readonly string[];
  /** How much its users may use. */
  readonly quotas?: NonNullable<WorkspaceOptions["quotas"]>;
}

/** What became of a call. */
export interface ScriptRun {
  readonly outcome: ToolOutcome;
  readonly events: readonly CallEvent[];
  /** Lines that were logged. */
  readonly log: readonly string[];
  /** Pieces of the output, in order. */
  readonly chunks: readonly unknown[];
}

/** A script as a tool in a workspace. */
export interface ScriptWorkspace {
  readonly workspace: Workspace;
  readonly tool: Tool;
}

/** Calls a script once. */
export async function runScript(sandbox: Sandbox, script: TestScript): Promise<ScriptRun> {
  const { workspace } = createScriptWorkspace(sandbox, script);
  const events: CallEvent[] = [];
  const onEvent = (event: CallEvent): void => void events.push(event);
  const { signal, user } = script;
  const outcome = await workspace.call("script", {}, { onEvent, ...(signal && { signal }), ...(user && { user }) });
  const log = events.filter((event) => event.type === "call-log").map(({ message }) => message);
  const chunks = events.filter((event) => event.type === "call-chunk").map(({ chunk }) => chunk);
  return { outcome, events, log, chunks };
}

/** Makes a workspace with a script as its tool `script`. */
export function createScriptWorkspace(sandbox: Sandbox, script: TestScript): ScriptWorkspace {
  const folder = writeFolder(script.files);
  const cache = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-cache-")));
  chmodSync(cache, 0o755);
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }));
  const profile: Profile = {
    mounts: [{ source: folder, target: "/skill" }, ...(script.mounts ?? [])],
    environment: {},
    programs: script.permissions?.run ?? [],
    limits: { ...defaultLimits, ...script.limits },
  };
  const runtime = scriptRuntime({ sandbox, toProfile: () => profile, cache, ...script.options });
  const tool = toTool(folder, script);
  const workspace = createWorkspace({
    tools: [tool, ...(script.tools ?? [])],
    runtimes: [runtime],
    ...(script.quotas && { quotas: script.quotas, store: memoryStore() }),
  });
  return { workspace, tool };
}

/** Makes a tool of a script; the first file is the script. */
export function createScriptTool(files: TestScript["files"]): Tool {
  return toTool(writeFolder(files), { files });
}

/** Writes files into a folder of their own, which vanishes with the test. */
export function writeFolder(files: TestScript["files"]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-script-")));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content, { mode: 0o755 });
  }
  return folder;
}

function readFiles(directory: string, files: TestScript["files"]): CodeFolder {
  const digest = `sha256:${"0".repeat(64)}`;
  return { directory, digest, files: Object.keys(files).map((path) => ({ path, digest, bytes: 1 })) };
}

function toTool(directory: string, script: TestScript): Tool {
  const [path = ""] = Object.keys(script.files);
  const command: ScriptCommand = { argv: [], env: {}, ...script.command };
  const code: ScriptCode = {
    kind: "script",
    ...(script.skill !== undefined && { skill: script.skill, folder: readFiles(directory, script.files) }),
    directory,
    path,
    digest: `sha256:${createHash("sha256")
      .update(script.files[path] ?? "")
      .digest("hex")}`,
    interpreter: script.interpreter ?? [],
    environment: script.environment ?? [],
    toCommand: () => command,
  };
  return {
    name: "script",
    description: "Runs a script",
    inputSchema: { type: "object" },
    ...(script.output !== undefined && { outputSchema: script.output }),
    annotations: {},
    permissions: script.permissions ?? {},
    examples: [],
    inject: [],
    needsApproval: false,
    limits: script.limitMs === undefined ? {} : { limitMs: script.limitMs },
    ...(script.tools !== undefined && { uses: script.uses ?? script.tools.map(({ name }) => name) }),
    code,
  };
}

/** How many processes of this machine have `text` in their command line. */
export function countProcesses(text: string): number {
  return readdirSync("/proc").filter((name) => /^\d+$/u.test(name) && commandOf(name).includes(text)).length;
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // It has ended in the meantime.
    return "";
  }
}
