/** A tool that is one script, for programs that are not run by the test runner. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Permissions, Tool } from "kitbag";

import type { ScriptCode } from "../../../src/core/script-code.ts";

/** The script of a tool. */
interface Script {
  readonly source: string;
  readonly extension: string;
  readonly permissions: Permissions;
}

/** Makes a tool of a script in a folder below `root`. */
export function createPlainTool(root: string, tool: string, { source, extension, permissions }: Script): Tool {
  const directory = join(root, tool);
  const path = `${tool}.${extension}`;
  mkdirSync(directory);
  writeFileSync(join(directory, path), source);
  const digest = `sha256:${createHash("sha256").update(source).digest("hex")}`;
  const code: ScriptCode = {
    kind: "script",
    ...{ directory, path, digest, interpreter: [], environment: [] },
    toCommand: () => ({ argv: [], env: {} }),
  };
  return {
    ...{ name: tool, description: "Takes part in an attack", code, permissions, limits: { limitMs: 170_000 } },
    inputSchema: { type: "object" },
    annotations: {},
    examples: [],
    inject: [],
    needsApproval: false,
  };
}
