/** Runs the real command line in a process of its own, in folders of its own. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { onTestFinished } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * How `kitbag` is started: from the sources, or with `KITBAG_BUILT` as it was built, which takes half the time and is what is
 * shipped.
 */
export const program: Program =
  process.env["KITBAG_BUILT"] === undefined ? fromSource() : [process.execPath, join(root, "dist/cli/main.js")];

type Program = readonly [command: string, ...args: string[]];

function fromSource(): Program {
  return [process.execPath, "--conditions=@kitbag/source", join(root, "src/cli/main.ts")];
}

/** Halves the time that each of the many processes takes; Node compares the sources with it. */
const compileCache = join(root, "node_modules/.cache/kitbag-compile");

/** The file with six example tools. */
export const toolbox: string = join(root, "examples/toolbox.ts");

/** A folder with files and a home of its own; both vanish with the test. */
export interface Project {
  readonly folder: string;
  /** `KITBAG_HOME` of {@link runKitbag} in this project; not made yet. */
  readonly home: string;
  readonly trustFile: string;
  write(path: string, content: string | Uint8Array): string;
}

/** Makes a project. */
export function createProject(files: Readonly<Record<string, string | Uint8Array>> = {}): Project {
  const base = realpathSync.native(mkdtempSync(join(tmpdir(), "kitbag-cli-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const folder = join(base, "project");
  const home = join(base, "home");
  mkdirSync(folder);
  const project: Project = {
    folder,
    home,
    trustFile: join(home, "trust.json"),
    write(path, content) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
  };
  for (const [path, content] of Object.entries(files)) project.write(path, content);
  return project;
}

/** What a run of the program printed, and how it ended. */
export interface KitbagRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What may be said to {@link runKitbag}. */
export interface RunKitbagOptions {
  readonly project?: Project;
  readonly stdin?: string;
  /** Runs the sources, whatever the other tests run. */
  readonly isSource?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Is sent this signal as soon as it has printed `after`. */
  readonly signal?: { readonly name: NodeJS.Signals; readonly after: string };
  /** Told all of standard output so far, whenever there is more. */
  readonly onOutput?: (seen: string) => void;
}

/** Runs `kitbag` with these words. */
export async function runKitbag(words: readonly string[], options: RunKitbagOptions = {}): Promise<KitbagRun> {
  const { project = createProject(), stdin = "", env = {}, signal, onOutput, isSource = false } = options;
  const [command, ...args] = isSource ? fromSource() : program;
  const child = spawn(command, [...args, ...words], {
    cwd: project.folder,
    // The skills of whoever runs the tests are none of their business.
    env: {
      PATH: process.env["PATH"],
      HOME: dirname(project.folder),
      NODE_COMPILE_CACHE: compileCache,
      KITBAG_HOME: project.home,
      ...env,
    },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  // A program may end without reading its input.
  child.stdin.on("error", () => {}).end(stdin);
  let seen = "";
  let isSignalled = false;
  child.stdout.on("data", (piece: Buffer) => {
    seen += piece.toString("utf8");
    onOutput?.(seen);
    // A second signal would end the program at once.
    if (signal === undefined || isSignalled || !seen.includes(signal.after)) return;
    isSignalled = true;
    child.kill(signal.name);
  });
  const closed = new Promise<number | null>((resolve, reject) => child.once("close", resolve).once("error", reject));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout, stderr };
}
