import { expect, onTestFinished, test } from "vitest";

import { egressChecks } from "../../../test/support/egress-checks.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { findSandbox } from "../find-sandbox.ts";

test("the network in bubblewrap passes every check", async (context) => {
  for (const program of ["bwrap", "/usr/bin/python3"]) needProgram(context, program);
  const sandbox = await findSandbox({ name: "bubblewrap" });
  onTestFinished(() => sandbox.close());

  const failures: string[] = [];
  for (const check of egressChecks) {
    await check.run(sandbox).catch((cause: unknown) => failures.push(`${check.name}: ${String(cause)}`));
  }

  expect(failures).toEqual([]);
});
