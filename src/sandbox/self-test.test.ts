import { rmSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { needProgram } from "../../test/support/need-program.ts";
import { writeFolder } from "../../test/support/run-script.ts";
import { findSandbox, type FoundSandbox } from "./find-sandbox.ts";
import { measureTree } from "./limits/watch-resources.ts";
import { guarantees, type Guarantee, type Profile, type Sandbox } from "./sandbox.ts";
import { groupBroken, testSandbox } from "./self-test.ts";

let opened: Promise<FoundSandbox> | undefined;
afterAll(async () => (await opened)?.close());

test("testSandbox() finds that a sandbox holds all it promises", async (context) => {
  const sandbox = await open(context);

  const { broken, enforced } = await testSandbox(sandbox, sandbox.area);

  expect(broken).toEqual([]);
  expect(enforced).toEqual(guarantees);
});

const large = 1e9;
const leaks: Partial<Record<Guarantee, (profile: Profile, area: FoundSandbox["area"]) => Partial<Profile>>> = {
  files: ({ mounts }, area) => ({ mounts: [...mounts, { source: area.private, target: area.private, granted: true }] }),
  sockets: () => ({ sockets: "private" }),
  environment: ({ environment }) => ({ environment: { ...environment, LEAKED: "x" } }),
  programs: () => ({ programs: ["*"] }),
  memory: ({ limits }) => ({ limits: { ...limits, memoryBytes: large } }),
  cpu: ({ limits }) => ({ limits: { ...limits, cpuSeconds: 1000 } }),
  "process-count": ({ limits }) => ({ limits: { ...limits, processes: 200 } }),
  "open-files": ({ limits }) => ({ limits: { ...limits, openFiles: 1000 } }),
  "file-size": ({ limits }) => ({ limits: { ...limits, fileBytes: large } }),
  disk: ({ limits }) => ({ limits: { ...limits, temporaryBytes: large } }),
};

test.for(Object.keys(leaks) as Guarantee[])(
  "testSandbox() finds a sandbox that does not hold %s",
  async (guarantee, context) => {
    const sandbox = await open(context);
    const leaky: Sandbox = {
      ...sandbox,
      start: (profile, command, input) =>
        sandbox.start({ ...profile, ...leaks[guarantee]?.(profile, sandbox.area) }, command, input),
    };

    const { broken } = await testSandbox(leaky, sandbox.area);

    expect(broken.map((problem) => problem.guarantee)).toContain(guarantee);
  },
);

test("testSandbox() tests several sandboxes at once, and none sees the files of the others", async (context) => {
  const sandbox = await open(context);

  const results = await Promise.all(Array.from({ length: 3 }, () => testSandbox(sandbox, sandbox.area)));

  expect(results.map(({ broken }) => broken)).toEqual([[], [], []]);
});

test("testSandbox() proves nothing when somebody removed what must not be seen", async (context) => {
  const sandbox = await open(context);
  const robbed: Sandbox = {
    ...sandbox,
    start(profile, command, input) {
      rmSync(profile.environment["OUTSIDE"] ?? "", { force: true });
      return sandbox.start(profile, command, input);
    },
  };

  const tested = testSandbox(robbed, sandbox.area);

  await expect(tested).rejects.toMatchObject({ code: "sandbox-failed" });
});

test("testSandbox() finds a sandbox that lets programs run as their owner", async (context) => {
  const sandbox = await open(context);
  const folder = writeFolder({ chmod: "#!/bin/sh\nexit 0\n" });
  const leaky: Sandbox = {
    ...sandbox,
    start(profile, command, input) {
      const cover = { source: join(folder, "chmod"), target: "/usr/bin/chmod" };
      return sandbox.start({ ...profile, mounts: [...profile.mounts, cover] }, command, input);
    },
  };

  const { broken } = await testSandbox(leaky, sandbox.area);

  expect(broken).toEqual([{ guarantee: "privileges", found: "it may make programs that run as their owner" }]);
});

test("groupBroken() names a cause once", () => {
  const broken = (["files", "network"] as const).map((guarantee) => ({ guarantee, found: "it does not start" }));

  const groups = groupBroken({ enforced: [], broken: [...broken, { guarantee: "cpu", found: "any time" }] });

  expect([...groups]).toEqual([
    ["it does not start", ["files", "network"]],
    ["any time", ["cpu"]],
  ]);
});

test("testSandbox() takes no memory that a watch over it would end the test for", async (context) => {
  const sandbox = await open(context);
  const sizes: number[] = [];
  const watched: Sandbox = {
    ...sandbox,
    async start(profile, command, input) {
      const started = await sandbox.start(profile, command, input);
      const timer = setInterval(() => sizes.push(measureTree(started.pid)), 1);
      void started.exit.finally(() => clearInterval(timer));
      return started;
    },
  };

  await testSandbox(watched, sandbox.area);

  expect(sizes.length).toBeGreaterThan(10);
  expect(Math.max(...sizes)).toBeLessThan(48 * 1024 * 1024);
});

test("testSandbox() believes nothing of a program that does not come to its end", async (context) => {
  const sandbox = await open(context);
  const silent: Sandbox = { ...sandbox, start: (profile) => sandbox.start(profile, ["echo", "files ok"]) };

  const { enforced, broken } = await testSandbox(silent, sandbox.area);

  expect(enforced).toEqual([]);
  expect(broken).toHaveLength(guarantees.length);
});

function open(context: Parameters<typeof needProgram>[0]): Promise<FoundSandbox> {
  needProgram(context, "unshare");
  opened ??= findSandbox({ name: "unshare" });
  return opened;
}
