import { expect, test } from "vitest";

import { createProject, runKitbag, toolbox, type KitbagRun } from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { renderToml } from "./learning.ts";

const script = `"""Make a report."""
import argparse, os
parser = argparse.ArgumentParser()
parser.add_argument("--table", required=True)
print(len(open(parser.parse_args().table).read()), os.environ.get("REPORT_TOKEN"))
`;

test("kitbag call --learn shows what a script tried and the permissions for it", async (context) => {
  needProgram(context, "python3");

  const run = await learn([]);

  expect(run.code).toBe(0);
  expect(run.stdout).toContain("Round 1: nothing was granted; it failed: FileNotFoundError");
  expect(run.stdout).toContain("Round 2: it could read data.csv; it ended well");
  expect(run.stdout).toContain('[permissions]\nread = ["./data.csv"]\nenv = ["REPORT_TOKEN"]\n');
});

test("kitbag call --learn gives programs all of it as JSON", async (context) => {
  needProgram(context, "python3");

  const run = await learn(["--json", "--sandbox", "unshare"]);

  expect(JSON.parse(run.stdout)).toMatchObject({
    tool: "make",
    permissions: { read: ["./data.csv"], env: ["REPORT_TOKEN"] },
    outcome: { status: "ok", output: "4 None" },
  });
});

test("kitbag call --learn refuses a tool that nothing could hold back", async () => {
  const run = await runKitbag(["call", "--learn", "add", "--a", "1", "--b", "2", "--module", toolbox, "--yes"]);

  expect(run.code).not.toBe(0);
  expect(run.stderr).toContain("only scripts run where they can be watched, and it is a function tool");
});

test("kitbag call --learn --yes grants what was seen beside the skill, but for files that the call names", async (context) => {
  needProgram(context, "python3");
  const project = createProject({
    "data.csv": "a,b\n",
    "more.txt": "more\n",
    ".claude/skills/report/SKILL.md": "---\nname: report\ndescription: Makes a report of a table\n---\nRun it.\n",
    ".claude/skills/report/scripts/make.py": `${script}print(open("more.txt").read())\n`,
  });
  await runKitbag(["trust", ".claude/skills/report"], { project });
  const words = ["report/make", "--table", "data.csv"];

  const shown = await runKitbag(["call", "--learn", ...words], { project });
  const learned = await runKitbag(["call", "--learn", ...words, "--yes"], { project });
  const called = await runKitbag(["call", ...words], { project });

  expect(shown.stdout).toContain("Beside the skill: kitbag grant report --read ./more.txt --env REPORT_TOKEN");
  expect(learned.stdout).toContain("Granted to report: read ./more.txt; env REPORT_TOKEN");
  expect(called).toMatchObject({ code: 0, stdout: "4 None\nmore\n\n" });
});

test("renderToml() lets no text end its string or speak to the terminal", () => {
  expect(renderToml({ read: ['./a"]\nrun = ["*"'], env: ["\u009B2J\u202E"] })).toBe(
    String.raw`[permissions]
read = ["./a\"]\nrun = [\"*\""]
env = ["\u009b2J\u202e"]`,
  );
});

async function learn(words: readonly string[]): Promise<KitbagRun> {
  const project = createProject({
    "data.csv": "a,b\n",
    "skills/report/SKILL.md": "---\nname: report\ndescription: Makes a report of a table\n---\nRun it.\n",
    "skills/report/scripts/make.py": script,
  });
  await runKitbag(["trust", "skills/report", "--yes"], { project });
  return runKitbag(["call", "--learn", "report/make", "--table", "data.csv", "--skills", "skills", ...words], {
    project,
  });
}
