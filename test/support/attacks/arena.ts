import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createWorkspace, type Tool, type ToolOutcome } from "kitbag";

import type { ScriptCode } from "../../../src/core/script-code.ts";
import { createDependencies } from "../../../src/runtimes/dependencies/create-dependencies.ts";
import { scriptRuntime } from "../../../src/runtimes/script/script-runtime.ts";
import { warmLauncher, type WarmLauncher } from "../../../src/runtimes/script/warm-launcher.ts";
import { createToolProfiles } from "../../../src/runtimes/tool-profiles.ts";
import { findSandbox } from "../../../src/sandbox/find-sandbox.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { layBait, type Bait } from "./bait.ts";

/** The sandboxes that are attacked. */
export const attackedSandboxes = ["bubblewrap", "unshare"] as const;

/** The ways in which a script starts: in a new sandbox, or in one that waits. */
export const ways = ["cold", "warm bash", "warm node", "fork server"] as const;

/** A sandbox, and a way to start in it. */
export interface Corner {
  readonly sandbox: (typeof attackedSandboxes)[number];
  readonly way: (typeof ways)[number];
}

/** All sandboxes, each in all ways to start. */
export const corners: readonly Corner[] = attackedSandboxes.flatMap((sandbox) => ways.map((way) => ({ sandbox, way })));

/** What each sandbox is made with. */
export const programOf: Record<Corner["sandbox"], string> = { bubblewrap: "bwrap", unshare: "unshare" };

/** Bait, and a tool that runs what it is given. */
export interface Arena {
  readonly corner: Corner;
  readonly bait: Bait;
  call(call: ArenaCall): Promise<ArenaOutcome>;
  close(): Promise<void>;
}

/** What became of a call. */
export interface ArenaOutcome {
  readonly outcome: ToolOutcome;
  /** It was started in a sandbox that was made for it. */
  readonly wasCold: boolean;
}

/** One call of the tool. */
export interface ArenaCall {
  readonly language: "bash" | "python";
  readonly program: string;
  readonly isBrief?: boolean;
  /** Told what it prints. */
  readonly onOutput?: (chunk: unknown) => void;
}

const mebibyte = 1024 * 1024;
const limits = {
  memoryBytes: 160 * mebibyte,
  cpuSeconds: 2,
  processes: 32,
  openFiles: 128,
  fileBytes: 4 * mebibyte,
  temporaryBytes: 8 * mebibyte,
};

const scripts = {
  "run.sh": 'program=$(cat)\n[ "$1" = bash ] || exec python3 -c "$program"\neval "$program"\n',
  "run.cjs": `const { spawnSync } = require("node:child_process");
const program = require("node:fs").readFileSync(0, "utf8");
const shell = process.argv[2] === "bash" ? "bash" : "python3";
const { status, signal } = spawnSync(shell, ["-c", program], { stdio: ["inherit", "inherit", "inherit", 3] });
if (signal) process.kill(process.pid, signal);
process.exitCode = status ?? 1;
`,
  "run.py": `import os, sys
program = sys.stdin.read()
if sys.argv[1] == "bash":
    os.execvp("bash", ["bash", "-c", program])
exec(compile(program, "attack", "exec"), {"__name__": "__main__"})
`,
};

const scriptOf: Record<Corner["way"], keyof typeof scripts> = {
  cold: "run.sh",
  "warm bash": "run.sh",
  "warm node": "run.cjs",
  "fork server": "run.py",
};

/** Opens an arena; whoever opens it closes it. */
export async function openArena(corner: Corner): Promise<Arena> {
  const bait = await layBait();
  const own = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-arena-")));
  const found = await findSandbox({ name: corner.sandbox });
  let coldStarts = 0;
  let isWoken = false;
  const sandbox: Sandbox = {
    ...found,
    start(profile, command, input) {
      if (command.some((word) => word.startsWith("/skill/"))) coldStarts++;
      return found.start(profile, command, input);
    },
  };
  const profiles = createToolProfiles({
    sandbox: found,
    places: { directory: bait.project, home: bait.home, protected: [found.area.root] },
    dependencies: createDependencies({ sandbox, home: own, offline: true }),
    limits,
  });
  const launcher =
    corner.way === "cold" ? undefined : warmLauncher(sandbox, { directory: found.area.private, mostOfAKind: 2 });
  const runtime = scriptRuntime({
    sandbox,
    toProfile: (tool) => profiles.find(tool),
    cache: join(own, "cache"),
    findSecret: (name) => (name === "GRANTED" ? { value: "granted", shown: true } : undefined),
    maxOutputBytes: mebibyte,
    ...(launcher !== undefined && { launcher }),
  });
  const toTool = createTools(own, bait, scriptOf[corner.way]);
  const workspace = createWorkspace({ tools: [toTool("attack", 25_000), toTool("brief", 1200)], runtimes: [runtime] });
  return {
    corner,
    bait,
    async call({ isBrief = false, onOutput, ...input }) {
      if (launcher !== undefined && !isWoken) await workspace.call("attack", wakeUp);
      isWoken = true;
      if (launcher !== undefined) await untilWarm(launcher);
      const before = coldStarts;
      const onEvent = onOutput && ((event: { type: string; chunk?: unknown }) => onOutput(event.chunk));
      const outcome = await workspace.call(isBrief ? "brief" : "attack", input, onEvent && { onEvent });
      return { outcome, wasCold: coldStarts > before };
    },
    async close() {
      launcher?.close();
      await profiles.close();
      await found.close();
      bait.close();
      rmSync(own, { recursive: true, force: true });
    },
  };
}

const wakeUp = { language: "bash", program: "true" };

/** The first call of a kind starts cold; those that attack must not. */
async function untilWarm(launcher: WarmLauncher): Promise<void> {
  for (let waits = 0; launcher.waiting === 0 && waits < 1000; waits++) await sleep(10);
}

function createTools(own: string, bait: Bait, path: keyof typeof scripts): (name: string, limitMs: number) => Tool {
  const directory = join(own, "skill");
  mkdirSync(directory);
  const files = Object.entries(scripts).map(([name, text]) => {
    writeFileSync(join(directory, name), text);
    return { path: name, bytes: Buffer.byteLength(text), digest: digestOf(text) };
  });
  const code: ScriptCode = {
    kind: "script",
    ...{ directory, path, digest: digestOf(scripts[path]) },
    folder: { directory, files, digest: digestOf(JSON.stringify(files)) },
    interpreter: [],
    environment: [],
    toCommand: (input) => ({ argv: [String(input["language"])], stdin: String(input["program"]), env: {} }),
  };
  return (name, limitMs) => ({
    ...{ name, code, limits: { limitMs } },
    description: "Runs what it is given",
    inputSchema: { type: "object" },
    annotations: {},
    permissions: { read: [bait.readable], write: [bait.writable], env: ["GRANTED"], run: ["python3"] },
    examples: [],
    inject: [],
    needsApproval: false,
  });
}

function digestOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Waits. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** How many processes of this machine have `text` in their command line. */
export function countProcesses(text: string): number {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/u.test(name));
  return pids.filter((pid) => commandOf(pid).includes(text)).length;
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // It has ended in the meantime.
    return "";
  }
}
