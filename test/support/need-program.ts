import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

import type { TestContext } from "vitest";

/**
 * Skips a test that needs a program which is not on this machine, and says so. With `KITBAG_REQUIRE_ALL=1` nothing is skipped: the
 * test fails by itself.
 */
export function needProgram({ skip }: Pick<TestContext, "skip">, program: string): void {
  if (process.env["KITBAG_REQUIRE_ALL"] !== "1") skip(!hasProgram(program), `${program} is not on this machine`);
}

/** Skips a test that debugs Python where the debugger of Python is missing, and says so; see {@link needProgram}. */
export function needDebugpy(context: Pick<TestContext, "skip">): void {
  needProgram(context, "python3");
  if (process.env["KITBAG_REQUIRE_ALL"] !== "1") context.skip(!hasDebugpy(), "debugpy is not on this machine");
}

let debugpy: boolean | undefined;

function hasDebugpy(): boolean {
  debugpy ??= spawnSync("python3", ["-c", "import debugpy"]).status === 0;
  return debugpy;
}

function hasProgram(program: string): boolean {
  if (isAbsolute(program)) return isProgram(program);
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => isProgram(join(folder, program)));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
