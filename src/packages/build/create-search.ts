import { homedir } from "node:os";

import { findProgram } from "../../sandbox/programs.ts";
import { defaultLimits, type Sandbox } from "../../sandbox/sandbox.ts";
import type { CompilerSearch } from "./compilers/compiler.ts";
import { runSandboxed } from "./run-compiler.ts";

const askLimitMs = 20_000;
const askBytes = 64 * 1024;

/** Looks for compilers on this machine; for those that are npm packages in `packagesFrom`, and where Kitbag itself is installed. */
export function createSearch(sandbox: Sandbox, packagesFrom: readonly string[] = []): CompilerSearch {
  return {
    findProgram,
    home: homedir(),
    packagesFrom: [...packagesFrom, import.meta.dirname],
    async ask(command, { programs, mounts }) {
      const limits = { ...defaultLimits, memoryBytes: 1024 * 1024 * 1024 };
      const profile = { mounts, programs, environment: {}, limits };
      const { exit, stdout } = await runSandboxed({
        sandbox,
        profile,
        command,
        limitMs: askLimitMs,
        maxBytes: askBytes,
      });
      return exit.code === 0 ? new TextDecoder().decode(stdout) : undefined;
    },
  };
}
