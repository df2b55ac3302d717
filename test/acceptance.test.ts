/** The acceptance criteria of the design "Dynamic tool discovery from scripts". */
import { expect, onTestFinished, test, vi } from "vitest";

import { createWorkspace } from "kitbag";
import { openRuntimes } from "kitbag/runtimes";
import { loadSkills } from "kitbag/skills";

import { needProgram } from "./support/need-program.ts";
import { createFolder } from "./support/temporary-folder.ts";

vi.setConfig({ testTimeout: 60_000 });

test("AC-1: a skill with tool1.py, tool2.sh and helper.txt has two tools, also without opening it", async (context) => {
  needProgram(context, "python3");
  const folder = createFolder({
    "my-skill/SKILL.md": document("my-skill"),
    "my-skill/scripts/tool1.py": "import sys\nprint(sys.argv[1])\n",
    "my-skill/scripts/tool2.sh": '#!/bin/sh\necho "$1"\n',
    "my-skill/scripts/helper.txt": "not a script",
    "my-skill/scripts/inner/tool3.py": "print()",
  });

  const workspace = await workspaceOf(folder);

  expect(workspace.getSkillTools("my-skill").map((tool) => tool.name)).toEqual(["tool1", "tool2"]);
  expect(workspace.getAvailableTools()).toEqual([]);
});

test("AC-1: a skill without scripts has no tools and no error", async () => {
  const folder = createFolder({ "plain/SKILL.md": document("plain") });

  const { reports } = await loadSkills({ directories: [folder] });

  expect(reports).toMatchObject([{ name: "plain", status: "ok", tools: [], diagnostics: [] }]);
});

test("AC-2: the description of a tool is the docstring of its script", async (context) => {
  needProgram(context, "python3");
  const folder = createFolder({
    "my-skill/SKILL.md": document("my-skill"),
    "my-skill/scripts/process.py": [
      "import sys",
      "",
      "def main(input_path: str):",
      '    """Process a file and return results."""',
      "    print(open(input_path).read())",
      "",
      'if __name__ == "__main__":',
      "    main(sys.argv[1])",
      "",
    ].join("\n"),
  });

  const workspace = await workspaceOf(folder);

  expect(workspace.getSkillTools("my-skill")).toMatchObject([
    { name: "process", description: "Process a file and return results." },
  ]);
});

test("AC-2: scripts/manifest.yml goes before the docstring, and a script that says nothing has a description all the same", async (context) => {
  needProgram(context, "python3");
  const folder = createFolder({
    "my-skill/SKILL.md": document("my-skill"),
    "my-skill/scripts/named.py": '"""From the docstring."""\nimport sys\nprint(sys.argv[1])\n',
    "my-skill/scripts/silent.sh": 'echo "$1"\n',
    "my-skill/scripts/manifest.yml":
      "tools:\n  - name: chosen\n    script: named.py\n    description: From the manifest.\n",
  });

  const workspace = await workspaceOf(folder);

  expect(workspace.getSkillTools("my-skill").map(({ name, description }) => [name, description])).toEqual([
    ["chosen", "From the manifest."],
    ["silent", "Run scripts/silent.sh"],
  ]);
});

test("AC-3: a tool made of scripts/greet.py, called with World, answers Hello, World!", async (context) => {
  needProgram(context, "python3");
  const workspace = await workspaceOf(
    createFolder({
      "my-skill/SKILL.md": document("my-skill"),
      "my-skill/scripts/greet.py": 'import sys\nprint(f"Hello, {sys.argv[1]}!")\n',
    }),
  );
  await workspace.activateSkill("my-skill");

  const outcome = await workspace.call("my-skill/greet", { arg1: "World" });

  expect(outcome).toEqual({ status: "ok", output: "Hello, World!" });
});

test("AC-4: a script that fails with exit code 1 is a failed call with what it said on stderr", async (context) => {
  needProgram(context, "python3");
  const workspace = await workspaceOf(
    createFolder({
      "my-skill/SKILL.md": document("my-skill"),
      "my-skill/scripts/fail.py": 'import sys\nprint("so far")\nsys.exit("there is no such page")\n',
    }),
  );
  await workspace.activateSkill("my-skill");

  const outcome = await workspace.call("my-skill/fail");

  expect(outcome).toMatchObject({
    status: "failed",
    error: {
      code: "script-failed",
      message: expect.stringContaining("there is no such page"),
      details: { code: 1, stderr: "there is no such page", stdout: "so far\n" },
    },
  });
});

test("AC-5: invoking a skill returns its processed text, whatever scripts it has", async () => {
  const folder = createFolder({
    "my-skill/SKILL.md": `${document("my-skill")}Look at $ARGUMENTS in {baseDir}.\n`,
    "my-skill/scripts/tool1.py": "import sys\nprint(sys.argv[1])\n",
  });

  const workspace = await workspaceOf(folder);
  const text = await workspace.invokeSkill("my-skill", "report.pdf");

  expect(text).toContain(`Look at report.pdf in ${workspace.getSkill("my-skill")?.folder?.directory}.`);
  expect(text).toContain("scripts/tool1.py");
  expect(text).not.toContain("description:");
});

async function workspaceOf(folder: string): Promise<ReturnType<typeof createWorkspace>> {
  const { reports } = await loadSkills({ directories: [folder] });
  const runtimes = openRuntimes({ directory: folder });
  onTestFinished(() => runtimes.close());
  return createWorkspace({ skills: reports.flatMap((report) => report.skill ?? []), runtimes });
}

function document(name: string): string {
  return `---\nname: ${name}\ndescription: Does things. Use it when things are to be done.\n---\n\n# ${name}\n\n`;
}
