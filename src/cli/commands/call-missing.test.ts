import { chmodSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";
import { skillFiles } from "../../../test/support/skill-files.ts";

test("kitbag call says why a skill that was asked for was skipped", async () => {
  const manifest = '[[tools]]\nname = "go"\nkind = "script"\nfile = "scripts/go.sh"\ntimeout = 5\n';
  const project = createProject({
    ...skillFiles("skills/w"),
    "skills/w/kitbag.toml": manifest,
    "skills/w/scripts/go.sh": "echo hi\n",
    ...skillFiles("skills/other"),
    "skills/other/scripts/a.sh": "echo a\n",
  });

  const run = await runKitbag(["call", "w/go", "--skills", "skills"], { project });

  expect(run.code).toBe(1);
  expect(run.stderr).toContain("The skill w was skipped: Cannot use kitbag.toml: tools[0].timeout: ");
  expect(run.stderr).toContain('(did you mean "limitMs"?)');
  expect(run.stderr).toContain(`run: kitbag check ${join(project.folder, "skills/w")}`);
});

test("kitbag call --debug refuses a tool that is no script", async () => {
  const skills = join(import.meta.dirname, "../../../skills");

  const run = await runKitbag(["call", "checksums/digest", "--debug", "--text", "x", "--skills", skills]);

  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toContain("Cannot debug checksums/digest: only scripts can be, and it is a wasm tool");
});

test("kitbag call says what is wrong with a skill that lacks the tool", async () => {
  const project = createProject({
    ...skillFiles("skills/w"),
    "skills/w/scripts/a.sh": "echo a\n",
    "skills/w/scripts/b.sh": "echo b\n",
  });
  chmodSync(join(project.folder, "skills/w/scripts/a.sh"), 0o4755);

  const run = await runKitbag(["call", "w/a", "--skills", "skills"], { project });

  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(/The skill w [^:]*: .*setuid/u);
});
