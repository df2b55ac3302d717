import { expect, test } from "vitest";

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
