import { expect, onTestFinished, test } from "vitest";

import { attackedSandboxes, programOf } from "../../../test/support/attacks/arena.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { openTestSandbox, runScript } from "../../../test/support/run-script.ts";

const bombs = {
  heap: "const all = []; for (;;) all.push(new Array(1e6).fill(all.length));",
  buffers: "const all = []; for (;;) all.push(Buffer.alloc(8 << 20, 1));",
  threads: `const { Worker } = require("node:worker_threads");
for (let i = 0; i < 8; i++) new Worker("const all = []; for (;;) all.push(Buffer.alloc(4 << 20, 1));", { eval: true });`,
};

test.for(attackedSandboxes.flatMap((name) => Object.entries(bombs).map(([kind, bomb]) => ({ name, kind, bomb }))))(
  "$name ends a Node that takes memory without end: $kind",
  { timeout: 60_000 },
  async ({ name, bomb }, context) => {
    needProgram(context, programOf[name]);
    const sandbox = await openTestSandbox(name);
    onTestFinished(() => sandbox.close());

    const { outcome } = await runScript(sandbox, {
      files: { "bomb.cjs": bomb },
      limits: { memoryBytes: 200 * 1024 * 1024 },
      limitMs: 40_000,
    });

    expect(outcome).toMatchObject({ status: "failed", error: { code: "memory-exceeded" } });
  },
);
