import { expect, test } from "vitest";

import { createFolder } from "../../../../test/support/temporary-folder.ts";
import { createScriptTool } from "../../../../test/support/run-script.ts";
import type { ScriptCode } from "../../../core/script-code.ts";
import { findHint } from "./find-hint.ts";

test.for([
  "bwrap: Race condition binding dirfd: Invalid argument",
  "bwrap: Can't get type of source /a/data: No such file or directory",
  "bwrap: Can't find source path /proc/self/fd/6: No such file or directory",
  "bwrap: Can't bind mount /oldroot/a/data on /newroot/a/data: Unable to mount source on destination: Not a directory",
  "kitbag: sandbox: opening the granted path /a/data: Too many levels of symbolic links",
  "kitbag: opening the granted path /a/data, which was replaced: ",
])("findHint() says that a granted path was replaced, and what to do, for: %s", (stderr) => {
  const tool = createScriptTool({ "a.sh": "" });

  const hint = findHint(tool, tool.code as ScriptCode, { exit: { code: 1 }, stderr });

  expect(hint).toMatch(/^a granted path was replaced or removed .* put the path back, and call again$/u);
});

test.for([
  { files: {}, read: undefined, hint: undefined, place: "here" },
  { files: { ".git/HEAD": "" }, read: undefined, hint: "kitbag grant notes --read .", place: "here" },
  { files: { ".git/HEAD": "" }, read: ["."], hint: "none", place: "here" },
  { files: {}, read: ["./data"], hint: "kitbag grant notes --read .", place: "elsewhere" },
])("findHint() says what a script needs that asks git about a repository: %j", ({ files, read, hint, place }) => {
  const tool = createScriptTool({ "a.sh": "" });
  const code = { ...(tool.code as ScriptCode), skill: "notes" };
  const stderr =
    "fatal: not a git repository (or any parent up to mount point /opt)\nStopping (GIT_DISCOVERY_ACROSS_FILESYSTEM not set).\n";
  const permissions = read === undefined ? {} : { read };
  const directory = place === "here" ? createFolder(files) : undefined;

  const found = findHint({ ...tool, permissions }, code, { exit: { code: 128 }, stderr, directory });

  if (hint === "none") expect(found).toBe("there is no git repository in the folders that the script may read");
  else if (hint === undefined) expect(found).toMatch(/^there is no git repository in /u);
  else expect(found).toBe(`git sees no repository, because the script may not read this folder: ${hint}`);
});
