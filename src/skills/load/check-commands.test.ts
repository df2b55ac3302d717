import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { loadSkills } from "./load-skills.ts";

test("checkCommands() tells of commands that are never run, and what to do", async () => {
  const found = await check("# Title\n\nState: !`git status` !`date | wc`\n\n```!\nid\nid\n```\n");

  expect(found).toMatchInlineSnapshot(`
    [
      {
        "code": "shell-not-run",
        "column": 8,
        "cure": "add it to [permissions] in kitbag.toml, if the skill shall run it: run = ["git"]",
        "file": "SKILL.md",
        "line": 8,
        "message": "The command "git status" is not run: the skill's permission run does not list "git"",
        "severity": "info",
      },
      {
        "code": "shell-not-run",
        "column": 22,
        "cure": "put it into a script of the skill, and let the command name that",
        "file": "SKILL.md",
        "line": 8,
        "message": "The command "date | wc" is not run: "|" is for a shell, and commands run without a shell",
        "severity": "info",
      },
      {
        "code": "shell-not-run",
        "column": 1,
        "cure": "put it into a script of the skill, and let the command name that",
        "file": "SKILL.md",
        "line": 10,
        "message": "The command "id\\nid" is not run: it has more than one line, which needs a shell",
        "severity": "info",
      },
    ]
  `);
});

test.for([
  "!`date +%s` !`date $0 $1 $ARGUMENTS $ARGUMENTS[99] $999 $name`",
  "Write `` !`id` `` or `!id`.\n\n```md\n!`id`\n```\n",
  "Stop!",
  "",
])("checkCommands() says nothing about %j", async (body) => {
  expect(await check(body)).toEqual([]);
});

test("checkCommands() tells a bounded number", async () => {
  expect(await check("!`id` ".repeat(5000))).toHaveLength(20);
});

async function check(body: string): Promise<readonly Diagnostic[]> {
  const folder = createFolder({
    "x/SKILL.md": `---\nname: x\ndescription: y\narguments: [name]\n---\n${body}\n`,
    "x/kitbag.toml": '[permissions]\nrun = ["date"]\n',
  });
  const { reports } = await loadSkills({ directories: [folder] });
  return (reports[0]?.diagnostics ?? []).filter(({ code }) => code === "shell-not-run");
}
