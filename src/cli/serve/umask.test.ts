/** What Kitbag lays out for tools can be read by them, also where nothing that its user makes can be read by others. */
import { chmodSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject, program as kitbag } from "../../../test/run-kitbag.ts";
import { makeNpmPackage, makeWheel } from "../../../test/support/make-packages.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { startStdio } from "../../../test/support/serve-kitbag.ts";
import { skillFiles } from "../../../test/support/skill-files.ts";

vi.setConfig({ testTimeout: 120_000 });

const scripts = {
  "bash.sh": '#!/usr/bin/env bash\ncat "$(dirname "$0")/../deep/er/data.txt" plain.txt\n',
  "python.py":
    'import os\nown = os.path.dirname(__file__) + "/../deep/er/data.txt"\nprint(open(own).read() + open("plain.txt").read(), end="")\n',
  "node.mjs":
    'import { readFileSync } from "node:fs";\nfor (const file of [import.meta.dirname + "/../deep/er/data.txt", "plain.txt"]) process.stdout.write(readFileSync(file));\n',
  "typescript.ts":
    'import { show } from "../deep/er/show.ts";\nconst files: string[] = [import.meta.dirname + "/../deep/er/data.txt", "plain.txt"];\nfor (const file of files) show(file);\n',
};

test.for([
  ["bubblewrap", "bwrap"],
  ["unshare", "unshare"],
  ["firejail", "firejail"],
] as const)(
  "kitbag serve runs scripts under the umask 077, cold and warm, in %s",
  async ([sandbox, needed], context) => {
    needProgram(context, needed);
    needProgram(context, "python3");
    const project = createProject({
      ...skillFiles("skills/read"),
      ...Object.fromEntries(Object.entries(scripts).map(([name, text]) => [`skills/read/scripts/${name}`, text])),
      "skills/read/kitbag.toml": '[permissions]\nread = ["./"]\n',
      "skills/read/deep/er/data.txt": "own\n",
      "skills/read/deep/er/show.ts":
        'import { readFileSync } from "node:fs";\nexport const show = (file: string): boolean => process.stdout.write(readFileSync(file));\n',
      "plain.txt": "plain\n",
    });
    for (const folder of [dirname(project.folder), project.folder]) chmodSync(folder, 0o755);
    const serve = [...kitbag, "serve", "skills", "--sandbox", sandbox, "--store", "memory"];
    const { client } = await startStdio(project, ["sh", "-c", 'umask 077; exec "$@"', "sh", ...serve]);
    await client.callTool({ name: "activate_skill", arguments: { name: "read" } });

    // As root, firejail reaches nothing in a home that only its owner may enter, and what TypeScript becomes is kept there.
    const used = Object.keys(scripts).filter((name) => sandbox !== "firejail" || !name.endsWith(".ts"));
    const names = used.map((name) => `read__${name.split(".")[0]}`);
    for (const name of [...names, ...names]) {
      const answer = await client.callTool({ name, arguments: {} });

      expect([name, answer.content]).toEqual([name, [{ type: "text", text: "own\nplain" }]]);
    }
  },
);

test("kitbag serve runs scripts with packages that were installed under the umask 077", async (context) => {
  needProgram(context, "python3");
  const [wheel, tarball] = [makeWheel({ name: "hello" }), makeNpmPackage({ name: "hello" })];
  const project = createProject({
    ...skillFiles("skills/read"),
    "skills/read/scripts/python.py": '# /// script\n# dependencies = ["hello"]\n# ///\nimport hello\nprint("done")\n',
    "skills/read/package.json": JSON.stringify({ dependencies: { hello: "*" } }),
    "skills/read/scripts/node.cjs": 'require("hello");\nconsole.log("done");\n',
  });
  for (const { file, bytes } of [wheel, tarball]) writeFileSync(project.write(`wheels/${file}`, ""), bytes);
  const serve = [...kitbag, "serve", "skills", "--store", "memory"];
  const begin = 'umask 077; KITBAG_WHEELHOUSE=wheels exec "$@"';
  const { client } = await startStdio(project, ["sh", "-c", begin, "sh", ...serve]);
  await client.callTool({ name: "activate_skill", arguments: { name: "read" } });

  for (const name of ["read__python", "read__node"]) {
    const answer = await client.callTool({ name, arguments: {} });

    expect([name, answer.content]).toEqual([name, [{ type: "text", text: "done" }]]);
  }
});
