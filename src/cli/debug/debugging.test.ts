import { expect, test } from "vitest";

import { createProject, runKitbag, type KitbagRun } from "../../../test/run-kitbag.ts";

test("kitbag call --debug obeys commands from standard input", async () => {
  const run = await debug(
    ["--break", "scripts/count.mjs:3 if index === 2"],
    "c\nbt\np index * 21\np nothing\nbogus\nc\n",
  );

  expect(run.stdout).toBe("3\n");
  expect(run.stderr).toContain(`Breakpoint at scripts/count.mjs:3
→    3    sum += index;
(debug) bt
#0 (top level) scripts/count.mjs:3
(debug) p index * 21
42
(debug) p nothing
ReferenceError: nothing is not defined
(debug) bogus
There is no command bogus; h lists them
(debug) c
`);
  expect(run.code).toBe(0);
});

test("kitbag call --debug ends the script when there are no more commands", async () => {
  const run = await debug([], "n\n");

  expect(run.stderr).toContain("The script was ended\n");
  expect(run.code).toBe(1);
});

test.for([
  [["--input", "-"], "standard input has the commands"],
  [["--limit-ms", "5"], "takes as long as you look at it"],
  [["--break", "nowhere"], "expected a file and a line"],
] as const)("kitbag call --debug refuses %s", async ([flags, message]) => {
  const run = await debug(flags, "");

  expect(run.stderr).toContain(message);
  expect(run.code).toBe(2);
});

const script = `let sum = 0;
for (const index of [0, 1, 2]) {
  sum += index;
}
console.log(sum);
`;

function debug(flags: readonly string[], stdin: string): Promise<KitbagRun> {
  const project = createProject({
    "sums/SKILL.md": "---\nname: sums\ndescription: Adds numbers. Use it to add numbers.\n---\nCall count.\n",
    "sums/scripts/count.mjs": script,
  });
  return runKitbag(["call", "--debug", ...flags, "--skills", ".", "sums/count"], { project, stdin });
}
