import { join } from "node:path";

import { expect, onTestFinished, test, vi } from "vitest";

import { needProgram } from "../../test/support/need-program.ts";
import { createFolder } from "../../test/support/temporary-folder.ts";
import { loadSkills } from "../skills/load/load-skills.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import { openRuntimes } from "./open-runtimes.ts";

vi.setConfig({ testTimeout: 60_000 });

test("prepare() runs nothing of a tool, and calls work after it as without it", async (context) => {
  needProgram(context, "python3");
  const { workspace, runtimes } = await open();
  const tools = workspace.getAvailableTools().map(({ tool }) => tool);

  await runtimes.prepare(tools);
  const first = await workspace.call("stats/count", { text: "one two" });
  const second = await workspace.call("stats/count", { text: "one" });

  expect(tools).toHaveLength(1);
  expect([first, second]).toMatchObject([
    { status: "ok", output: "2 words, 0 left" },
    { status: "ok", output: "1 words, 0 left" },
  ]);
});

test("prepare() leaves what cannot be made ready to the call", async () => {
  const runtimes = openRuntimes({ sandbox: "nsjail", directory: createFolder(), home: createFolder() });
  onTestFinished(() => runtimes.close());
  const { workspace } = await open();

  await expect(runtimes.prepare(workspace.getAvailableTools().map(({ tool }) => tool))).resolves.toBeUndefined();
});

async function open() {
  const directory = createFolder({
    "skills/stats/SKILL.md": "---\nname: stats\ndescription: Counts words\n---\nRun scripts/count.py",
    "skills/stats/scripts/count.py": `import argparse, os
parser = argparse.ArgumentParser()
parser.add_argument("text")
words = len(parser.parse_args().text.split())
left = [name for name in os.listdir("/tmp") if name.startswith("mine")]
open("/tmp/mine", "w").write("x")
print(f"{words} words, {len(left)} left")
`,
  });
  const runtimes = openRuntimes({ directory, home: createFolder() });
  onTestFinished(() => runtimes.close());
  const { reports } = await loadSkills({ directories: [join(directory, "skills")] });
  const workspace = createWorkspace({ skills: reports.flatMap(({ skill }) => skill ?? []), runtimes });
  await workspace.activateSkill("stats");
  return { workspace, runtimes };
}
