import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

import { expect, test, type TestContext } from "vitest";

import { createProject, program, type Project } from "../../test/run-kitbag.ts";
import { needProgram } from "../../test/support/need-program.ts";

const container = ["--pid", "--fork", "--kill-child", "--mount-proc"];

const tools = `
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { defineTool } from "kitbag";
const stateOf = (pid) => { try { return readFileSync("/proc/" + pid + "/stat", "utf8").split(") ")[1][0]; } catch { return ""; } };
const countZombies = () => readdirSync("/proc").filter((name) => /^\\\\d+$/.test(name) && stateOf(name) === "Z").length;
const orphans = defineTool({ name: "orphans", description: "Leaves processes behind", run: async () => {
  for (let index = 0; index < 20; index++) spawn("sh", ["-c", "sleep 0.1 &"], { stdio: "ignore" });
  await wait(500);
  for (let tries = 0; tries < 50 && countZombies() > 0; tries++) await wait(100);
  return { isFirst: process.pid === 1, zombies: countZombies() };
} });
const sleeps = defineTool({ name: "sleeps", description: "Sleeps", run: async (_, { signal }) => { console.error("sleeping"); await wait(60_000, undefined, { signal }); } });
export default [orphans, sleeps];
`;

function open(context: TestContext): Project {
  needProgram(context, "unshare");
  context.skip(process.getuid?.() !== 0, "only root can make a list of processes");
  return createProject({ "tools.mjs": tools });
}

function toCommand(tool: string): string[] {
  return [...container, ...program, "call", tool, "--module", "tools.mjs", "--store", "none"];
}

test("as the first process of a container, kitbag leaves no process behind that has ended", (context) => {
  const { folder, home } = open(context);
  const run = spawnSync("unshare", toCommand("orphans"), {
    cwd: folder,
    env: { ...process.env, KITBAG_HOME: home },
    encoding: "utf8",
  });

  expect(JSON.parse(run.stdout)).toEqual({ isFirst: false, zombies: 0 });
  expect(run).toMatchObject({ status: 0, stderr: "" });
});

test("as the first process of a container, kitbag ends as its command ends", (context) => {
  const { folder, home } = open(context);
  const run = spawnSync("unshare", toCommand("missing"), { cwd: folder, env: { ...process.env, KITBAG_HOME: home } });

  expect(run.status).toBe(1);
});

test("as the first process of a container, kitbag is told to end as any process is", async (context) => {
  const { folder, home } = open(context);
  const child = spawn("unshare", toCommand("sleeps"), {
    cwd: folder,
    env: { ...process.env, KITBAG_HOME: home },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await once(child.stderr, "data");
  // The first process of the container: the child of unshare.
  const [first] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").split(" ");
  process.kill(Number(first), "SIGTERM");
  const [code] = (await once(child, "exit")) as [number | null];

  expect(code).not.toBe(0);
});
