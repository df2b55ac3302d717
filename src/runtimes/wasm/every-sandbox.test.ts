import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { moduleFromText, writeModule } from "../../../test/support/wasm-module.ts";
import { createTool } from "../../core/define-tool.ts";
import { findSandbox } from "../../sandbox/find-sandbox.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { wasmRuntime } from "./wasm-runtime.ts";

test.for(["bubblewrap", "unshare", "off"] as const)(
  "wasmRuntime() runs in the sandbox %s, and writes where it was granted and nowhere else",
  async (name, context) => {
    if (name !== "off") needProgram(context, name === "bubblewrap" ? "bwrap" : name);
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-wasm-")));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [write, read] = [join(folder, "write"), join(folder, "read")];
    for (const path of [write, read]) mkdirSync(path);
    writeFileSync(join(read, "in.txt"), "read");
    const sandbox = await findSandbox({ name });
    onTestFinished(() => sandbox.close());
    const runtime = wasmRuntime({ sandbox });
    const tool = createTool({
      name: "copy",
      description: "Writes a file where it may, and tries to where it may not",
      permissions: { read: [read], write: [write] },
      code: writeModule(folder, moduleFromText(writing)),
    });
    const workspace = createWorkspace({ tools: [tool], runtimes: [runtime] });

    const outcome = await workspace.call("copy", {});
    await runtime.close();

    expect(outcome).toMatchObject({ status: "failed", error: { code: "script-failed", details: { code: 69 } } });
    expect(readFileSync(join(write, "out.txt"), "utf8")).toBe("out");
    expect(readFileSync(join(read, "in.txt"), "utf8")).toBe("read");
  },
);

/** Writes `out.txt` in the directory 4, and ends with the error that writing in the directory 3 gave. */
const writing = `(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 100) "out.txt")
  (func $create (param $directory i32) (result i32)
    (call $open (local.get $directory) (i32.const 0) (i32.const 100) (i32.const 7)
      (i32.const 1) (i64.const 64) (i64.const 0) (i32.const 0) (i32.const 16)))
  (func (export "_start")
    (drop (call $create (i32.const 4)))
    (i32.store (i32.const 0) (i32.const 100))
    (i32.store (i32.const 4) (i32.const 3))
    (drop (call $write (i32.load (i32.const 16)) (i32.const 0) (i32.const 1) (i32.const 8)))
    (call $exit (call $create (i32.const 3)))))`;
