import { afterAll, beforeAll, expect, test } from "vitest";

import { openTestSandbox, runScript } from "../../../test/support/run-script.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

test("scriptRuntime() hands on what a script prints, exactly", async () => {
  const { outcome } = await runScript(sandbox, {
    files: { "a.py": "print('hi'); import sys; print(sys.argv, repr(sys.stdin.read()))" },
    command: { argv: ["x"], stdin: "in" },
  });

  expect(outcome).toEqual({ status: "ok", output: "hi\n['/skill/a.py', 'x'] 'in'\n" });
});
