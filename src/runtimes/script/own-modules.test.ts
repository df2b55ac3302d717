import { expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { openTestSandbox, runScript, type TestScript } from "../../../test/support/run-script.ts";

const modules = {
  "utils.py": 'def name(): return "utils of the folder"\n',
  "scripts/helper.py": 'def name(): return "helper"\n',
  "lib/deep/more.py": 'def name(): return "more"\n',
  "json/plain.py": "",
};

test.for([
  ["from scripts.helper import name", "helper"],
  ["from helper import name", "helper"],
  ["from utils import name", "utils of the folder"],
  ["from lib.deep.more import name", "more"],
  ["import scripts.helper; name = scripts.helper.name", "helper"],
  ["import json; name = lambda: json.loads('1')", "1"],
] as const)("a script of Python finds the modules of its own skill: %s", async ([line, printed], context) => {
  needProgram(context, "python3");
  const files: TestScript["files"] = { "scripts/main.py": `${line}\nprint(name())\n`, ...modules };

  const { outcome } = await runScript(await openTestSandbox(), { files });

  expect(outcome).toMatchObject({ status: "ok", output: printed });
});
