import { execFileSync } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";

const skill = "---\nname: dice\ndescription: Games of chance\n---\n";
const files = { "skills/dice/SKILL.md": skill, "skills/dice/scripts/roll.sh": "echo 4\n" };

test.for([
  [["ca"], ["call"]],
  [["call", "--skills", "skills", "dice"], ["dice/roll"]],
  [
    ["show", "--skills", "skills", ""],
    ["dice", "dice/roll"],
  ],
  [["check", "--sk"], ["--skills"]],
  [["call", "dice/roll", "--", "--"], []],
  [["none", "x"], []],
  [["call", "--log", ""], []],
] as const)(
  "kitbag completion words knows what may stand in the place of the last word of %j",
  async ([words, found]) => {
    const project = createProject(files);

    const run = await runKitbag(["completion", "words", "--json", "--", ...words], { project });

    expect(JSON.parse(run.stdout)).toEqual({ words: found });
  },
);

test("kitbag completion runs nothing of the project", async () => {
  const project = createProject({
    ...files,
    "kitbag.config.ts": 'import { writeFileSync } from "node:fs";\nwriteFileSync("ran", "");\nexport default {};\n',
  });

  const run = await runKitbag(["completion", "words", "--", "call", "dice"], { project });

  expect(run.code).toBe(0);
  expect(existsSync(join(project.folder, "ran"))).toBe(false);
});

test("kitbag completion refuses a shell that it does not know", async () => {
  const run = await runKitbag(["completion", "tcsh"]);

  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toContain("it must be bash, zsh or fish");
});

const ask: Readonly<Record<string, string>> = {
  bash: 'eval "$(kitbag completion bash)"; COMP_WORDS=(kitbag call --skills skills dice); COMP_CWORD=4; _kitbag; printf "%s\\n" "${COMPREPLY[@]}"',
  zsh: 'compdef() { :; }; eval "$(kitbag completion zsh)"; compadd() { shift; print -l -- "$@"; }; words=(kitbag call --skills skills dice); CURRENT=5; _kitbag',
  fish: 'kitbag completion fish | source; complete -C "kitbag call --skills skills dice"',
};

test.for(Object.entries(ask))("%s completes the name of a tool", ([shell, commands], context) => {
  needProgram(context, shell);
  const project = createProject(files);
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const kitbag = `#!/bin/sh\nexec "${process.execPath}" --conditions=@kitbag/source "${main}" "$@"\n`;
  chmodSync(project.write("bin/kitbag", kitbag), 0o755);
  const env = { ...process.env, PATH: `${join(project.folder, "bin")}:${process.env["PATH"] ?? ""}` };

  const found = execFileSync(shell, ["-c", commands], { cwd: project.folder, env, encoding: "utf8" });

  expect(found.trim()).toBe("dice/roll");
});
