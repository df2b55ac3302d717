/** What tools can do to Kitbag's own files in a directory that they may write: nothing, in every sandbox. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { createWorkspace, type ToolOutcome } from "kitbag";
import { expect, onTestFinished, test, vi, type TestContext } from "vitest";

import { needProgram } from "../../test/support/need-program.ts";
import { createScriptTool } from "../../test/support/run-script.ts";
import { createFolder } from "../../test/support/temporary-folder.ts";
import { moduleFromText, writeModule } from "../../test/support/wasm-module.ts";
import { createTool } from "../core/define-tool.ts";
import type { Tool } from "../core/tool.ts";
import type { SandboxName } from "../sandbox/sandbox.ts";
import { openRuntimes } from "./open-runtimes.ts";

vi.setConfig({ testTimeout: 120_000 });

const sandboxes = [
  ["bubblewrap", "bwrap"],
  ["unshare", "unshare"],
  ["firejail", "firejail"],
] as const;

test.for(sandboxes.flatMap((sandbox) => [0o755, 0o700].map((mode) => [...sandbox, mode] as const)))(
  "openRuntimes() lets no script change or read what is ours, in %s of %s, in a folder of mode %i",
  async ([name, program, mode], context) => {
    const project = createProject();
    chmodSync(join(project.directory, ".kitbag"), mode);
    // It ends well only if it could write where it may.
    const tool = createScriptTool({ "a.sh": attack(project) });

    const outcome = await callIn(project, tool, { name, program, context });

    expect(outcome).toEqual({ status: "ok", output: "done" });
    expect(readFileSync(join(project.directory, "free.txt"), "utf8")).toBe("free\n");
    expect(readOwn(project)).toEqual(readOwn(createProject()));
  },
);

test.for(sandboxes)(
  "openRuntimes() puts aside what a script makes in our place, and fails the call, in %s",
  async ([name, program], context) => {
    const directory = createFolder();
    chmodSync(directory, 0o777);
    const project = { directory, home: join(createFolder(), "home") };
    const tool = createScriptTool({
      "a.sh": `cd '${directory}'; echo evil > kitbag.lock; ln -s /etc/passwd kitbag.config.ts; mkdir .kitbag; echo evil > .kitbag/kitbag.db; echo free > free.txt; echo done`,
    });

    const outcome = await callIn(project, tool, { name, program, context });

    expect(outcome).toMatchObject({
      status: "failed",
      error: {
        code: "permission-refused",
        details: { permission: 'write = ["kitbag.lock", "kitbag.config.ts", ".kitbag"]' },
      },
    });
    expect(readdirSync(directory).toSorted()).toEqual([
      ".kitbag.put-aside-1",
      "free.txt",
      "kitbag.config.ts.put-aside-1",
      "kitbag.lock.put-aside-1",
    ]);
  },
);

test("openRuntimes() covers what is ours from the first call after it is there", async (context) => {
  needProgram(context, "unshare");
  const directory = createFolder();
  chmodSync(directory, 0o777);
  const runtimes = openRuntimes({ directory, home: join(createFolder(), "home"), warm: false });
  onTestFinished(() => runtimes.close());
  const tool = createScriptTool({
    "a.sh": `cd '${directory}'; [ ! -e kitbag.lock ] || echo evil > kitbag.lock; echo done`,
  });
  const workspace = createWorkspace({ tools: [{ ...tool, permissions: { write: ["./"] } }], runtimes });

  const before = await workspace.call(tool.name, {});
  writeFileSync(join(directory, "kitbag.lock"), "ours");
  const after = await workspace.call(tool.name, {});

  expect([before.status, after.status]).toEqual(["ok", "ok"]);
  expect(readFileSync(join(directory, "kitbag.lock"), "utf8")).toBe("ours");
});

test.for(sandboxes)("openRuntimes() lets no module change what is ours, in %s", async ([name, program], context) => {
  const project = createProject();
  const made: number[] = [];
  for (const path of ["free.txt", ...ownFiles]) {
    const tool = createTool({
      name: "write",
      description: "Writes a file",
      code: writeModule(createFolder(), moduleFromText(writing(path))),
    });
    const outcome = await callIn(project, tool, { name, program, context });
    made.push(
      outcome.status === "failed" && outcome.error.code === "script-failed" ? (outcome.error.details.code ?? -1) : 0,
    );
  }

  expect(made.slice(0, 1)).toEqual([0]);
  expect(made.slice(1)).not.toContain(0);
  expect(readOwn(project)).toEqual(readOwn(createProject()));
});

test("openRuntimes() refuses to grant what is ours by its name", async (context) => {
  const project = createProject();
  const asked = [
    ["write", "./.kitbag/"],
    ["write", "./kitbag.lock"],
    ["read", "./.kitbag/kitbag.db"],
    ["read", "./.kitbag/tools/"],
  ] as const;

  for (const [kind, path] of asked) {
    const tool = { ...createScriptTool({ "a.sh": "echo done" }), permissions: { [kind]: [path] } };
    const outcome = await callIn(project, tool, { name: "unshare", program: "unshare", context });

    expect(outcome).toMatchObject({ status: "failed", error: { code: "permission-refused" } });
  }
});

/** Relative to the directory that tools may write. */
const ownFiles = [
  "kitbag.lock",
  "kitbag.config.mjs",
  ".kitbag/kitbag.db",
  ".kitbag/kitbag.db-wal",
  ".kitbag/new",
  ".git/config",
  "home/audit.key",
];

interface TestProject {
  readonly directory: string;
  readonly home: string;
}

function createProject(): TestProject {
  const directory = createFolder();
  // Programs may run as another user.
  chmodSync(directory, 0o777);
  for (const path of ownFiles.filter((file) => !file.endsWith("new"))) {
    mkdirSync(join(directory, dirname(path)), { recursive: true });
    writeFileSync(join(directory, path), "ours");
  }
  return { directory, home: join(directory, "home") };
}

function readOwn({ directory }: TestProject): readonly (string | undefined)[] {
  return ownFiles
    .map((path) => join(directory, path))
    .map((path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined));
}

/** Every way to change a file, and to read those that others keep something in. */
function attack({ directory }: TestProject): string {
  const tries = ownFiles.map((path) => {
    const place = `'${join(directory, path)}'`;
    return [
      `echo evil >> ${place}`,
      `: > ${place}`,
      `rm -f ${place}`,
      `mv ${place} '${join(directory, "moved")}'`,
      `echo evil > '${join(directory, "evil")}' && mv -f '${join(directory, "evil")}' ${place}`,
      `chmod 777 ${place}`,
    ].join("\n");
  });
  const secret = [".kitbag/kitbag.db", ".kitbag/kitbag.db-wal", "home/audit.key"].map(
    (path) => `'${join(directory, path)}'`,
  );
  return [
    "exec 2>/dev/null",
    ...tries,
    `mv '${join(directory, ".kitbag")}' '${join(directory, "away")}'`,
    `rm -rf '${join(directory, ".kitbag")}'`,
    `grep -l ours ${secret.join(" ")} && echo read`,
    `echo free > '${join(directory, "free.txt")}' && echo done`,
  ].join("\n");
}

interface Sandboxed {
  readonly name: SandboxName;
  readonly program: string;
  readonly context: TestContext;
}

async function callIn(project: TestProject, tool: Tool, { name, program, context }: Sandboxed): Promise<ToolOutcome> {
  needProgram(context, program);
  const store = join(project.directory, ".kitbag/kitbag.db");
  const runtimes = openRuntimes({
    ...project,
    sandbox: name,
    warm: false,
    hidden: [store, `${store}-wal`, `${store}-shm`],
  });
  onTestFinished(() => runtimes.close());
  const permissions = Object.keys(tool.permissions).length > 0 ? tool.permissions : { read: ["./"], write: ["./"] };
  const workspace = createWorkspace({ tools: [{ ...tool, permissions }], runtimes });
  return workspace.call(tool.name, {});
}

/** Opens a file to write it, and ends with the error that it got. */
function writing(path: string): string {
  return `(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 100) "${path}")
  (func (export "_start") (local $failed i32)
    (local.set $failed (call $open (i32.const 3) (i32.const 0) (i32.const 100) (i32.const ${path.length})
      (i32.const 1) (i64.const 64) (i64.const 0) (i32.const 0) (i32.const 16)))
    (i32.store (i32.const 0) (i32.const 100))
    (i32.store (i32.const 4) (i32.const 4))
    (if (i32.eqz (local.get $failed))
      (then (local.set $failed (call $write (i32.load (i32.const 16)) (i32.const 0) (i32.const 1) (i32.const 8)))))
    (call $exit (local.get $failed))))`;
}
