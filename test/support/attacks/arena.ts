import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createWorkspace, type Permissions, type Tool, type ToolOutcome } from "kitbag";

import type { ScriptCode } from "../../../src/core/script-code.ts";
import { createDependencies } from "../../../src/packages/install/create-dependencies.ts";
import { scriptRuntime } from "../../../src/runtimes/script/script-runtime.ts";
import { warmLauncher, type WarmLauncher } from "../../../src/runtimes/script/warm-launcher.ts";
import { createToolProfiles, type ToolProfiles } from "../../../src/runtimes/tool-profiles.ts";
import { findSandbox, type FoundSandbox } from "../../../src/sandbox/find-sandbox.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { layBait, type Bait } from "./bait.ts";

/** The sandboxes that are attacked. */
export const attackedSandboxes = ["bubblewrap", "unshare", "firejail"] as const;

/** The ways in which a script starts: in a new sandbox, or in one that waits. */
export const ways = ["cold", "warm bash", "warm node", "fork server"] as const;

/** A sandbox, and a way to start in it. */
export interface Corner {
  readonly sandbox: (typeof attackedSandboxes)[number];
  readonly way: (typeof ways)[number];
}

/** All sandboxes, each in all ways to start; firejail keeps nothing warm. */
export const corners: readonly Corner[] = attackedSandboxes.flatMap((sandbox) =>
  ways.filter((way) => sandbox !== "firejail" || way === "cold").map((way) => ({ sandbox, way })),
);

/** What each sandbox is made with. */
export const programOf: Record<Corner["sandbox"], string> = {
  bubblewrap: "bwrap",
  unshare: "unshare",
  firejail: "firejail",
};

/** The programs that a corner needs. */
export function programsOf({ sandbox, way }: Corner): readonly string[] {
  return way === "fork server" ? [programOf[sandbox], "python3"] : [programOf[sandbox]];
}

/** Bait, and a tool that runs what it is given. */
export interface Arena {
  readonly corner: Corner;
  readonly enforces: Sandbox["enforces"];
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
  readonly language: "bash" | "python" | "arguments";
  /** What is run; with `arguments` nothing is, and each argument is printed with a zero byte after it. */
  readonly program?: string;
  readonly argv?: readonly string[];
  readonly isBrief?: boolean;
  /** Told what it prints. */
  readonly onOutput?: (chunk: unknown) => void;
}

/** What differs from the usual. */
export interface ArenaOptions {
  readonly permissions?: (bait: Bait) => Permissions;
  readonly findSecret?: (name: string, bait: Bait) => string | undefined;
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
  "run.sh": `if [ "$1" = arguments ]; then shift; [ $# = 0 ] || printf '%s\\0' "$@"; exit; fi
program=$(cat)
[ "$1" = bash ] || exec python3 -c "$program"
eval "$program"
`,
  "run.cjs": `const { spawnSync } = require("node:child_process");
const [language, ...argv] = process.argv.slice(2);
if (language === "arguments") return void process.stdout.write(argv.map((word) => word + "\\0").join(""));
const program = require("node:fs").readFileSync(0, "utf8");
const shell = language === "bash" ? "bash" : "python3";
const { status, signal } = spawnSync(shell, ["-c", program], { stdio: ["inherit", "inherit", "inherit", 3] });
if (signal) process.kill(process.pid, signal);
process.exitCode = status ?? 1;
`,
  "run.py": `import os, sys
if sys.argv[1] == "arguments":
    sys.exit(sys.stdout.write("".join(word + "\\0" for word in sys.argv[2:])) and 0)
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
export async function openArena(corner: Corner, options: ArenaOptions = {}): Promise<Arena> {
  const bait = await layBait();
  const own = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-arena-")));
  const found = await findSandbox({ name: corner.sandbox });
  const counted = countColdStarts(found);
  const profiles = toProfiles(found, bait, own);
  const warmOptions = { directory: found.area.private, mostOfAKind: 2 };
  const launcher = corner.way === "cold" ? undefined : warmLauncher(counted.sandbox, warmOptions);
  const runtime = scriptRuntime({
    sandbox: counted.sandbox,
    toProfile: (tool) => profiles.find(tool),
    cache: join(own, "cache"),
    findSecret: (name) => options.findSecret?.(name, bait) ?? { value: "granted", shown: true },
    maxOutputBytes: mebibyte,
    ...(launcher !== undefined && { launcher }),
  });
  const toTool = createTools(own, scriptOf[corner.way], (options.permissions ?? usualPermissions)(bait));
  const workspace = createWorkspace({ tools: [toTool("attack", 25_000), toTool("brief", 1200)], runtimes: [runtime] });
  const wake = launcher && createWake(launcher, () => workspace.call("attack", { language: "bash", program: "true" }));
  return {
    corner,
    enforces: found.enforces,
    bait,
    async call({ isBrief = false, onOutput, ...input }) {
      await wake?.();
      const before = counted.coldStarts();
      const onEvent = onOutput && ((event: { type: string; chunk?: unknown }) => onOutput(event.chunk));
      const outcome = await workspace.call(isBrief ? "brief" : "attack", input, onEvent && { onEvent });
      return { outcome, wasCold: counted.coldStarts() > before };
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

function countColdStarts(found: FoundSandbox): { readonly sandbox: Sandbox; readonly coldStarts: () => number } {
  let starts = 0;
  const sandbox: Sandbox = {
    ...found,
    start(profile, command, input) {
      if (command.some((word) => word.startsWith("/skill/"))) starts++;
      return found.start(profile, command, input);
    },
  };
  return { sandbox, coldStarts: () => starts };
}

function toProfiles(sandbox: FoundSandbox, bait: Bait, own: string): ToolProfiles {
  return createToolProfiles({
    sandbox,
    places: { directory: bait.project, home: bait.home, protected: [sandbox.area.root] },
    dependencies: createDependencies({ sandbox, home: own, offline: true }),
    limits,
  });
}

function usualPermissions({ readable, writable }: Bait): Permissions {
  return { read: [readable], write: [writable], env: ["GRANTED"], run: ["python3"] };
}

/** The first call of a kind starts cold; those that attack must not. */
function createWake(launcher: WarmLauncher, callOnce: () => Promise<unknown>): () => Promise<void> {
  let first: Promise<unknown> | undefined;
  return async () => {
    first ??= callOnce();
    await first;
    for (let waits = 0; launcher.waiting === 0 && waits < 1000; waits++) await sleep(10);
  };
}

function createTools(
  own: string,
  path: keyof typeof scripts,
  permissions: Permissions,
): (name: string, limitMs: number) => Tool {
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
    toCommand({ language, program, argv }) {
      const words = Array.isArray(argv) ? argv.map((word) => word as string) : [];
      return { argv: [language as string, ...words], stdin: (program ?? "") as string, env: {} };
    },
  };
  return (name, limitMs) => ({
    ...{ name, code, limits: { limitMs } },
    description: "Runs what it is given",
    inputSchema: { type: "object" },
    annotations: {},
    permissions,
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
