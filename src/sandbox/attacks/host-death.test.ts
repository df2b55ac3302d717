import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

import { expect, onTestFinished, test } from "vitest";

import { corners, countProcesses, programsOf, sleep } from "../../../test/support/attacks/arena.ts";
import { needProgram } from "../../../test/support/need-program.ts";

const project = resolve(import.meta.dirname, "../../..");

test.for(corners)(
  "$sandbox, $way, ends all that it started when the process that asked for it is killed",
  { timeout: 60_000 },
  async ({ sandbox, way }, context) => {
    for (const program of programsOf({ sandbox, way })) needProgram(context, program);
    const script = join(project, "test/support/attacks/start-and-wait.ts");
    const child = spawn(process.execPath, ["--conditions=@kitbag/source", script, sandbox, way], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [line = "{}"] = await readLines(child.stdout);
    const { mark, started, root } = JSON.parse(line) as { mark: string; started: number[]; root: string };
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));

    child.kill("SIGKILL");
    const left = await untilGone(started);

    expect(started.length).toBeGreaterThan(2);
    expect(left).toEqual([]);
    expect(countProcesses(mark)).toBe(0);
  },
);

async function readLines(input: NodeJS.ReadableStream): Promise<string[]> {
  for await (const line of createInterface({ input })) return [line];
  return [];
}

async function untilGone(pids: readonly number[]): Promise<number[]> {
  let left = pids.filter(isRunning);
  for (let waits = 0; left.length > 0 && waits < 150; waits++) {
    await sleep(20);
    left = left.filter(isRunning);
  }
  return left;
}

function isRunning(pid: number): boolean {
  try {
    // One that has ended and that nobody asked about yet is no process any more.
    return existsSync(`/proc/${pid}`) && !/^State:\s+[ZX]/mu.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
