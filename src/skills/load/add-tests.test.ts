import { expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { loadSkills } from "./load-skills.ts";
import type { SkillReport } from "./skill-report.ts";

test("addTests() makes the tests of kitbag.toml examples of scripts and modules, before those of the instructions", async (context) => {
  needProgram(context, "python3");
  const { skill, diagnostics } = await load(`
[[tools]]
name = "sum"
kind = "wasm"
file = "sum.wasm"
input = { type = "object", properties = { a = { type = "integer" } } }
output = { type = "object" }

[[tests]]
tool = "sum"
input = { a = 1 }
output = { sum = 1 }

[[tests]]
tool = "roll"
description = "a die with two sides"
input = { sides = 2 }

[[tests]]
tool = "roll"
input = { sides = 6 }
output = "4"
`);

  expect(diagnostics).toEqual([]);
  expect(Object.fromEntries(skill?.tools.map(({ name, examples }) => [name, examples]) ?? [])).toEqual({
    sum: [{ input: { a: 1 }, output: { sum: 1 } }],
    roll: [
      { description: "a die with two sides", input: { sides: 2 } },
      // The instructions have it without an output.
      { input: { sides: 6 }, output: "4" },
      { input: { sides: 20 } },
    ],
  });
});

test.for([
  ['tool = "rol"\ninput = {}', 'Left out tests[0]: the skill has no tool "rol"; did you mean "roll"?'],
  ['tool = "xyzzy"\ninput = {}', 'Left out tests[0]: the skill has no tool "xyzzy"; its tools are roll'],
  [
    'tool = "roll"\ninput = { sides = "many", side = 1 }',
    'Left out tests[0]: it does not fit "roll": input.sides: expected a whole number, found "many"; input.side: expected only sides, found an unknown parameter (did you mean "sides"?)',
  ],
])("addTests() says why %j is no test, and leaves the tool as it is", async ([toml, message], context) => {
  needProgram(context, "python3");
  const { skill, diagnostics } = await load(`[[tests]]\n${toml}\n`);

  expect(diagnostics).toMatchObject([{ severity: "warning", code: "test-invalid", message, file: "kitbag.toml" }]);
  expect(skill?.tools[0]?.examples).toEqual([{ input: { sides: 6 } }, { input: { sides: 20 } }]);
});

async function load(toml: string): Promise<SkillReport> {
  const folder = createFolder({
    "dice/SKILL.md":
      "---\nname: dice\ndescription: Rolls dice\n---\n```sh\npython3 scripts/roll.py --sides 6\npython3 scripts/roll.py --sides 20\n```\n",
    "dice/kitbag.toml": toml,
    "dice/sum.wasm": "not looked into yet",
    "dice/scripts/roll.py":
      'import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--sides", type=int)\nparser.parse_args()\n',
  });
  const { reports } = await loadSkills({ directories: [folder] });
  const [report] = reports;
  if (report === undefined) throw new Error("no skill was found");
  return report;
}
