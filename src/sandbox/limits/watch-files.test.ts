import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { findSandbox, type FoundSandbox } from "../find-sandbox.ts";
import { defaultLimits, type SandboxName, type SandboxProcess } from "../sandbox.ts";
import { mostFiles, watchFiles } from "./watch-resources.ts";

const opened = new Map<SandboxName, Promise<FoundSandbox>>();
afterAll(async () => {
  for (const sandbox of opened.values()) await (await sandbox).close();
});

test.for(["/tmp", "/dev/shm"])(
  "watchFiles() has nothing to tell where the kernel stops a program at the same number, in %s",
  async (place, context) => {
    needProgram(context, "perl");
    const program = await start(
      "unshare",
      `mkdir ${place}/d; echo; read -r _ <&3; cd ${place}/d; ${makeFiles}; echo; sleep 100`,
    );
    let told = 0;
    onTestFinished(watchFiles(program.pid, () => told++));
    await once(program.stdout, "data");
    const before = told;

    program.channel.write("go\n");
    await once(program.stdout, "data");
    await sleep(300);

    expect([before, told]).toEqual([0, 0]);
  },
);

test.for(["/tmp", "/dev/shm"])(
  "watchFiles() lets bubblewrap end a program that makes too many files in %s",
  async (place, context) => {
    needProgram(context, "bwrap");
    const program = await start("bubblewrap", `cd ${place}; ${makeFiles}; sleep 100`);
    program.stdout.resume();
    program.stderr.resume();

    expect(await program.exit).toEqual({ signal: "SIGKILL", outOfMemory: true });
  },
);

test("watchFiles() tells nothing as long as there are not too many", async (context) => {
  needProgram(context, "bwrap");
  const program = await start("bubblewrap", "cd /tmp; seq 1000 | xargs touch; echo; read -r _ <&3; sleep 100");
  let told = 0;
  onTestFinished(watchFiles(program.pid, () => told++));
  await once(program.stdout, "data");
  await sleep(300);

  expect(told).toBe(0);
});

test("watchFiles() says nothing of a program that is gone, or that never entered", async () => {
  let told = 0;
  for (const pid of [process.pid, 999_999_999]) onTestFinished(watchFiles(pid, () => told++));

  await sleep(300);

  expect(told).toBe(0);
});

test("watchFiles() stops when it is told to", async (context) => {
  needProgram(context, "bwrap");
  let [told, toldOther] = [0, 0];
  const program = await start("bubblewrap", `read -r _ <&3; cd /tmp; ${makeFiles}; sleep 100`);
  watchFiles(program.pid, () => told++)();
  onTestFinished(watchFiles(program.pid, () => toldOther++));

  program.channel.write("go\n");
  await program.exit;

  expect(told).toBe(0);
  expect(toldOther).toBeLessThanOrEqual(1);
});

const makeFiles = `seq ${mostFiles + 500} | xargs touch 2>/dev/null`;

async function start(name: SandboxName, source: string): Promise<SandboxProcess> {
  const found = opened.get(name) ?? findSandbox({ name });
  opened.set(name, found);
  const profile = { mounts: [], environment: {}, programs: [], limits: defaultLimits };
  const program = await (await found).start(profile, ["bash", "-c", source]);
  onTestFinished(() => program.kill());
  return program;
}
