/** Builds small WASM tools, and calls them. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { createWorkspace, type Tool, type ToolOutcome } from "kitbag";
import { vi, type TestContext } from "vitest";

import type { WasmCode } from "../../src/core/script-code.ts";
import { buildTool, type BuildToolOptions, type BuiltTool } from "../../src/packages/build/build-tool.ts";
import { createSearch, findCompiler } from "../../src/packages/build/find-compilers.ts";
import type { Language } from "../../src/packages/build/languages.ts";
import { wasmRuntime } from "../../src/runtimes/wasm/wasm-runtime.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { createFolder } from "./temporary-folder.ts";

/** A skill's folder and a cache, both of one test. */
export interface BuildPlace {
  readonly directory: string;
  readonly cacheDirectory: string;
  /** Builds one of its sources; into `tool.wasm` if nothing else is said. */
  build(source: string, options?: Partial<BuildToolOptions>): Promise<BuiltTool>;
  /** Calls the module that was built. */
  call(input: unknown, path?: string): Promise<ToolOutcome>;
}

/** Makes a folder with these files to build in. */
export function createBuildPlace(sandbox: Sandbox, files: Readonly<Record<string, string>>): BuildPlace {
  const directory = realpathSync(createFolder(files));
  const cacheDirectory = join(createFolder(), "cache");
  return {
    directory,
    cacheDirectory,
    build: (source, options = {}) =>
      buildTool({ sandbox, directory, source, output: "tool.wasm", cacheDirectory, ...options }),
    async call(input, path = "tool.wasm") {
      const runtime = wasmRuntime({ sandbox, workers: 1 });
      const workspace = createWorkspace({ tools: [toTool(directory, path)], runtimes: [runtime] });
      try {
        return await workspace.call("tool", input);
      } finally {
        await runtime.close();
      }
    },
  };
}

/** Skips a test whose compiler is not on this machine, and says so; not with `KITBAG_REQUIRE_ALL=1`. */
export async function needCompiler(
  { skip }: Pick<TestContext, "skip">,
  sandbox: Sandbox,
  language: Language,
): Promise<void> {
  if (process.env["KITBAG_REQUIRE_ALL"] === "1") return;
  const found = await findCompiler(language, createSearch(sandbox));
  if (found === undefined) skip(`no compiler for ${language} is on this machine`);
}

/** Gives the test a folder for temporary files of its own: a function that lists what lies there. */
export function watchTemporaryFiles(): () => string[] {
  const folder = createFolder();
  vi.stubEnv("TMPDIR", folder);
  return () => readdirSync(folder);
}

function toTool(directory: string, path: string): Tool {
  const digest = `sha256:${createHash("sha256")
    .update(readFileSync(join(directory, path)))
    .digest("hex")}`;
  const code: WasmCode = { kind: "wasm", directory, path, digest };
  return {
    name: "tool",
    description: "A tool that was built",
    inputSchema: { type: "object" },
    outputSchema: { type: "object" },
    annotations: {},
    permissions: {},
    examples: [],
    inject: [],
    needsApproval: false,
    limits: {},
    code,
  };
}
