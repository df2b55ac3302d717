/** What tools of a project see of the token files of `kitbag serve`, which may lie in the project. */
import { chmodSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createWorkspace, type Permissions, type ToolOutcome } from "kitbag";
import { describe, expect, onTestFinished, test, vi } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createScriptTool } from "../../../test/support/run-script.ts";
import { createFolder, writeFiles } from "../../../test/support/temporary-folder.ts";
import type { Invocation } from "../cli-command.ts";
import { openCliRuntimes } from "./open-cli-runtimes.ts";

vi.setConfig({ testTimeout: 60_000 });

const sandboxes = [
  { sandbox: "bubblewrap", program: "bwrap" },
  { sandbox: "unshare", program: "unshare" },
  { sandbox: "firejail", program: "firejail" },
] as const;
const deep = "a/b/c/d/e";
const hidden = { status: "ok", output: "done" };

describe.for(sandboxes)("in $sandbox", ({ sandbox, program }) => {
  test.for([
    { by: "--token", options: { token: ["@tokens.txt"] } },
    { by: "KITBAG_TOKEN", env: { KITBAG_TOKEN: "@tokens.txt" } },
    { by: "KITBAG_TOKEN, unused for --no-token", options: { token: false }, env: { KITBAG_TOKEN: "@tokens.txt" } },
  ])("a token file that $by names cannot be read", async ({ options, env }, context) => {
    needProgram(context, program);
    const directory = makeProject({ "tokens.txt": "canary ann\n" });
    const call = openTool({ directory, options, env: { ...env, KITBAG_SANDBOX: sandbox } });

    expect(await call()).toEqual(hidden);
  });

  test("a token file can be reached neither by the link that names it nor by its own path", async (context) => {
    needProgram(context, program);
    const directory = makeProject({ [`${deep}/real`]: "canary ann\n" });
    symlinkSync(`${deep}/real`, join(directory, "tokens.txt"));
    const call = openTool({ directory, env: { KITBAG_SANDBOX: sandbox } });

    expect(await call()).toEqual(hidden);
  });

  test("a token file that is replaced, removed and made anew stays hidden from a warm tool", async (context) => {
    needProgram(context, program);
    const directory = makeProject({ [`${deep}/real`]: "canary ann\n" });
    const file = join(directory, deep, "real");
    const token = { token: [`@${file}`] };
    const call = openTool({ directory, options: token, env: { KITBAG_SANDBOX: sandbox } });

    const outcomes = [await call(), await call()];
    writeFileSync(`${file}.new`, "canary bob\n");
    renameSync(`${file}.new`, file);
    outcomes.push(await call());
    rmSync(file);
    outcomes.push(await call());
    writeFileSync(file, "canary cleo\n");
    outcomes.push(await call(), await call());

    expect(outcomes).toEqual(outcomes.map(() => hidden));
  });

  test("a link outside of the project that names another token file of the project hides that one", async (context) => {
    needProgram(context, program);
    const directory = makeProject({ [`${deep}/real`]: "ann\n", [`${deep}/next`]: "bob\n" });
    const link = join(createFolder(), "tokens");
    symlinkSync(join(directory, deep, "real"), link);
    const call = openTool({ directory, options: { token: [`@${link}`] }, env: { KITBAG_SANDBOX: sandbox } });

    await call();
    rmSync(link);
    symlinkSync(join(directory, deep, "next"), link);
    writeFileSync(join(directory, deep, "next"), "canary bob\n");

    expect(await call()).toEqual(hidden);
  });

  test("a tool that may write the project cannot bring a token file of its own", async (context) => {
    needProgram(context, program);
    const directory = makeProject({ real: "canary ann\n" });
    symlinkSync("real", join(directory, "tokens.txt"));
    const script = "rm tokens.txt; echo evil > tokens.txt; echo evil >> real; mv real away; echo done";
    const call = openTool({ directory, script, permissions: { write: ["./"] }, env: { KITBAG_SANDBOX: sandbox } });

    expect(await call()).toMatchObject({
      status: "failed",
      error: { details: { permission: 'write = "tokens.txt"' } },
    });
    expect(realpathSync(join(directory, "tokens.txt"))).toBe(join(directory, "real"));
  });
});

interface Asked {
  readonly directory: string;
  readonly options?: Record<string, unknown> | undefined;
  readonly env?: Record<string, string>;
  readonly script?: string;
  readonly permissions?: Permissions;
}

/** A tool that looks for a canary in all files of the project, unless it is another script. */
function openTool({ directory, options, env = {}, script, permissions }: Asked): () => Promise<ToolOutcome> {
  const search = "grep -rh canary . tokens.txt; echo done";
  const tool = {
    ...createScriptTool({ "a.sh": `#!/usr/bin/env bash\nexec 2>/dev/null\n${script ?? search}\n` }),
    permissions: permissions ?? { read: ["./"] },
  };
  const terminal = { note: () => {}, showStatus: () => {}, style: (_style: string, text: string) => text };
  const invocation = {
    ...{ args: [], options: options ?? { token: ["@tokens.txt"] }, json: false, cwd: directory, terminal },
    env: { KITBAG_HOME: createFolder(), ...env },
  } as unknown as Invocation;
  const runtimes = openCliRuntimes(invocation, { warm: true });
  onTestFinished(() => runtimes.close());
  const workspace = createWorkspace({ tools: [tool], runtimes });
  return () => workspace.call(tool.name, {});
}

/** Programs may run as another user. */
function makeProject(files: Readonly<Record<string, string>>): string {
  const directory = realpathSync(createFolder());
  chmodSync(directory, 0o777);
  writeFiles(directory, files);
  return directory;
}
