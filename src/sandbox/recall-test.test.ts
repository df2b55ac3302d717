import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { writeFolder } from "../../test/support/run-script.ts";
import { findSandbox, type FoundSandbox, recallTest } from "./find-sandbox.ts";
import type { Sandbox } from "./sandbox.ts";
import type { WorkArea } from "./work-area.ts";

let opened: Promise<FoundSandbox> | undefined;
afterAll(async () => (await opened)?.close());

test("recallTest() tests a sandbox once, and keeps what it found for this user alone", async () => {
  const { sandbox, area, starts } = await open();

  const first = await recallTest(sandbox, area);
  const second = await recallTest(sandbox, area);

  expect(first).toEqual({ enforced: [...sandbox.enforces], broken: [] });
  expect([second, starts()]).toEqual([first, 1]);
  expect(statSync(fileOf(area)).mode & 0o777).toBe(0o600);
  expect(readdirSync(area.kept)).toHaveLength(1);
});

test("recallTest() tests again a sandbox that promises something else", async () => {
  const { sandbox, area, starts } = await open();
  await recallTest(sandbox, area);

  const less = await recallTest({ ...sandbox, enforces: new Set(["files" as const]) }, area);

  expect([less.enforced, starts()]).toEqual([["files"], 2]);
});

test.for(["", "null", "{}", '{"enforced":[],"broken":0}'])(
  "recallTest() tests again when what was kept is %j",
  async (content) => {
    const { sandbox, area, starts } = await open();
    await recallTest(sandbox, area);
    writeFileSync(fileOf(area), content);

    const result = await recallTest(sandbox, area);

    expect([result.broken, starts()]).toEqual([[], 2]);
    expect(JSON.parse(readFileSync(fileOf(area), "utf8"))).toEqual(result);
  },
);

test("recallTest() does not remember a sandbox that does not hold what it promises", async () => {
  const { area } = await open();
  const off = await findSandbox({ name: "off" });
  const boaster: Sandbox = { ...off, enforces: new Set(["files", "privileges"] as const) };

  const result = await recallTest(boaster, area);
  await off.close();

  expect(result.broken.map(({ guarantee }) => guarantee)).toContain("files");
  expect(readdirSync(area.kept)).toEqual([]);
});

interface Opened {
  readonly sandbox: Sandbox;
  readonly area: WorkArea;
  /** How often the probe was started in it. */
  starts(): number;
}

/** The sandbox of this machine, with nothing kept of it. */
async function open(): Promise<Opened> {
  opened ??= findSandbox();
  const found = await opened;
  let starts = 0;
  const start: Sandbox["start"] = (profile, command, input) => {
    if (command.includes("/skill/probe.sh")) starts++;
    return found.start(profile, command, input);
  };
  return { sandbox: { ...found, start }, area: { ...found.area, kept: writeFolder({}) }, starts: () => starts };
}

function fileOf({ kept }: WorkArea): string {
  return join(kept, readdirSync(kept)[0] ?? "");
}
