import { chmodSync, readdirSync, statfsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { countProcesses } from "../../../test/support/run-script.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { isKitbagError } from "../../core/errors.ts";
import { findSandbox } from "../../sandbox/find-sandbox.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { compile, type CompileJob } from "./compile.ts";
import type { Compiler } from "./compilers/compiler.ts";

// Compilers that do what a hostile source, or a hostile package of npm, would have them do.
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await findSandbox();
});
afterAll(() => sandbox.close());

test("compile() answers with what was written, and nothing that was printed", async () => {
  const module = await run('echo chatter; printf module > "$KITBAG_OUTPUT"');

  expect(new TextDecoder().decode(module)).toBe("module");
});

test("compile() shows the sources, and lets nobody write there or anywhere else", async () => {
  const script =
    'cat src/a.c; for f in src/a.c src/new /skill/x /usr/x /etc/x; do echo x > "$f" && echo "wrote $f"; done; exit 1';

  const message = await failureOf(script);

  expect(message).toContain("int main");
  expect(message).not.toContain("wrote");
  expect(message).toMatch(/src\/a\.c: Read-only file system/u);
});

test("compile() ends a compiler that forks without end", async () => {
  const message = await failureOf("bomb() { bomb | bomb & }; bomb; sleep 1; exit 1 # fork-kitbag-test", {
    limitMs: 8000,
  });

  expect(message).toMatch(/says:|was ended|was still running/u);
  await vi.waitFor(() => expect(countProcesses("fork-kitbag-test")).toBe(0));
});

test("compile() ends a compiler that loops, and what it left in the background", async () => {
  const message = await failureOf("(trap '' TERM; sleep 77.125) & while :; do :; done", { limitMs: 700 });

  expect(message).toBe('Cannot build "src/a.c": tester was still running after 0.7 s');
  await vi.waitFor(() => expect(countProcesses("77.125")).toBe(0));
});

test("compile() does not wait for what a compiler leaves running", async () => {
  const start = performance.now();

  await run('(sleep 66.125 >/dev/null 2>&1 &) ; printf x > "$KITBAG_OUTPUT"');

  expect(performance.now() - start).toBeLessThan(30_000);
  await vi.waitFor(() => expect(countProcesses("66.125")).toBe(0));
});

test("compile() gives a compiler only so much disk, and none of the machine's", async () => {
  const before = statfsSync("/tmp").bavail;

  const message = await failureOf(
    'i=0; while dd if=/dev/zero of="$TMPDIR/fill$i" bs=1M count=200 2>/dev/null; do i=$((i+1)); done; echo "full at $i"; exit 1',
  );

  const { bavail, bsize } = statfsSync("/tmp");
  expect(message).toContain("full at 2");
  expect((before - bavail) * bsize).toBeLessThan(300 * 1024 * 1024);
});

test("compile() gives a compiler no network", async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.end("TOPSECRET");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };

  const message = await failureOf(`bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3'; exit 1`);
  server.close();

  expect(message).not.toContain("TOPSECRET");
  expect(connections).toBe(0);
});

test("compile() stops a compiler that prints without end, and keeps little of it", async () => {
  const message = await failureOf("yes 'a line of many'");

  expect(message).toMatch(/^Cannot build "src\/a\.c": tester did not stop to print messages\n/u);
  expect(message.length).toBeLessThan(20_000);
});

test("compile() takes no module that is too large", async () => {
  const message = await failureOf('dd if=/dev/zero of="$KITBAG_OUTPUT" bs=1M count=20 2>/dev/null', {
    maxBytes: 1024 * 1024,
  });

  expect(message).toBe('Cannot build "src/a.c": the module is larger than 1048576 bytes');
});

test("compile() follows no link that a compiler leaves instead of a module", async () => {
  const message = await failureOf('ln -s /etc/shadow "$KITBAG_OUTPUT"');

  expect(message).not.toContain("root:");
  expect(message).toContain("No such file");
});

test("compile() gives a compiler an environment without anything of this machine", async () => {
  vi.stubEnv("KITBAG_BUILD_SECRET", "TOPSECRET");

  const message = await failureOf("env; exit 1");

  expect(message).not.toContain("TOPSECRET");
  expect(message).toContain("HOME=/tmp");
});

test("compile() shows control characters of nobody", async () => {
  const message = await failureOf(String.raw`printf '\033[31mred\033[0m ./src/a.c:1: error\n'; exit 1`);

  expect(message).toBe('Cannot build "src/a.c": tester says:\nred src/a.c:1: error');
});

async function run(script: string, options: Partial<CompileJob["options"]> = {}): Promise<Uint8Array> {
  const skill = createFolder({ "src/a.c": "int main(void) { return 0; }\n" });
  chmodSync(skill, 0o755);
  const scratch = createFolder();
  const tester: Compiler = {
    language: "c",
    program: "tester",
    version: "1",
    identity: "",
    programs: [],
    mounts: [],
    toCommand: () => ({ argv: ["/bin/sh", "-c", script] }),
  };
  const job = { options: { sandbox, ...options }, source: "src/a.c", compiler: tester, work: { skill, scratch } };
  const module = await compile(job);
  expect(readdirSync(join(skill, "src"))).toEqual(["a.c"]);
  return module;
}

async function failureOf(script: string, options?: Partial<CompileJob["options"]>): Promise<string> {
  try {
    await run(script, options);
  } catch (cause) {
    if (isKitbagError(cause, "build-failed")) return cause.message;
    throw cause;
  }
  throw new Error("it did not fail");
}
