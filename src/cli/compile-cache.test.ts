import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createProject, runKitbag } from "../../test/run-kitbag.ts";

// The tests keep compiled code elsewhere, and Node takes the first folder that it is told.
const env = { NODE_COMPILE_CACHE: "" };

test("kitbag keeps compiled code in its home, if only the user can write there", async () => {
  const project = createProject();
  const cache = join(project.home, "cache");

  await runKitbag(["list", "--help"], { project, env });
  const isMade = existsSync(project.home);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  chmodSync(cache, 0o722);
  await runKitbag(["list", "--help"], { project, env });
  const isKeptForOthers = existsSync(join(cache, "compiled"));
  chmodSync(cache, 0o700);
  await runKitbag(["list", "--help"], { project, env });

  expect([isMade, isKeptForOthers]).toEqual([false, false]);
  expect(existsSync(join(cache, "compiled"))).toBe(true);
});
