import { expect, test } from "vitest";

import { runSoak } from "../bench/soak/run-soak.ts";
import { needProgram } from "./support/need-program.ts";

/** What a short run may add: code that is compiled late. A leak of 10 kB a call or notice would be more. */
const mostBytes = 12 * 1024 * 1024;

test("createMcpServer() loses no call and no notice while tools come and go and the forge makes more", async (context) => {
  needProgram(context, "bash");

  const result = await runSoak({
    clients: 40,
    seconds: 4,
    settledAfterSeconds: 2,
    nodeArgs: ["--conditions=@kitbag/source"],
  });

  expect(result.errors).toEqual([]);
  expect(result.lost).toBe(0);
  expect(result.calls).toBeGreaterThan(40);
  expect(result.changes).toBeGreaterThan(10);
  expect(result.forged).toBeGreaterThan(0);
  expect(result.heapEndBytes - result.heapSettledBytes).toBeLessThan(mostBytes);
});
