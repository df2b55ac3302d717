/** Sockets in folders whose paths are longer than that of a socket may be: a TMPDIR of 150 characters. */
import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";

import { expect, onTestFinished, test, vi } from "vitest";

import { startDebugging } from "../../test/support/debug-script.ts";
import { needProgram } from "../../test/support/need-program.ts";
import { createFolder } from "../../test/support/temporary-folder.ts";
import { openDebugSocket, listenIn } from "./sockets.ts";
import { openEgress } from "./egress/open-egress.ts";
import { findSandbox } from "./find-sandbox.ts";
import { createStreamMaker } from "./warm/call-streams.ts";

vi.setConfig({ testTimeout: 60_000 });

test("openDebugSocket(), openEgress() and createStreamMaker() have sockets in a folder with a long path", async () => {
  const folder = makeLongFolder();

  const debug = await openDebugSocket(folder);
  const egress = await openEgress({ rules: [], directory: folder });
  const streams = await createStreamMaker(folder);
  const made = [debug.path, egress.socket, join(folder, "channel")].map((path) => existsSync(path));
  debug.close();
  await egress.close();
  streams.close();

  expect(made).toEqual([true, true, true]);
  await vi.waitFor(() => expect(readdirSync(folder)).toEqual([]));
});

test("openDebugSocket() serves a debugger with a TMPDIR of 150 characters", async (context) => {
  needProgram(context, "unshare");
  vi.stubEnv("TMPDIR", makeLongFolder());
  const sandbox = await findSandbox({ name: "unshare" });
  onTestFinished(() => sandbox.close());

  const debugged = await startDebugging(sandbox, { files: { "a.mjs": "console.log(1 + 1);\n" } });
  const start = debugged.session.stopped;
  await debugged.stopAfter(debugged.session.continue);

  expect(sandbox.area.private.length).toBeGreaterThan(150);
  expect(start).toMatchObject({ reason: "start", file: "a.mjs" });
  expect(await debugged.outcome).toEqual({ status: "ok", output: "2" });
});

test("listenIn() tells of a socket that cannot be made, and leaves no descriptor open", async () => {
  const folder = makeLongFolder();
  const countOpen = (): number => readdirSync("/proc/self/fd").length;
  const before = countOpen();

  for (let count = 0; count < 5; count += 1) {
    const server = createServer();
    const failed = new Promise<Error>((resolve) => void server.once("error", resolve));
    listenIn(folder, "missing/socket", server);
    expect(await failed).toMatchObject({ syscall: "listen" });
  }

  expect(countOpen()).toBeLessThan(before + 5);
});

/** Programs of root, which are other users, can pass through it. */
function makeLongFolder(): string {
  const base = createFolder();
  const folder = join(base, "t".repeat(150 - base.length - 1));
  mkdirSync(folder);
  for (const path of [base, folder]) chmodSync(path, 0o755);
  expect([dirname(folder), folder.length]).toEqual([base, 150]);
  return folder;
}
