import { text } from "node:stream/consumers";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { writeFolder } from "../../../test/support/run-script.ts";
import { findSandbox, type FoundSandbox } from "../find-sandbox.ts";
import { defaultLimits, type ExitStatus, type Profile, type SandboxProcess } from "../sandbox.ts";
import { startSlot, type Slot, type SlotKind } from "./shelf.ts";

let opened: Promise<FoundSandbox> | undefined;
afterAll(async () => (await opened)?.close());

test("run() starts the program with its words, variables, input and directory as they are", async () => {
  const slot = await open("program", { directory: "/skill", environment: { A: "profile", B: "b" } });
  const hostile = ["", " a  b ", "$(id)", "`id`", "--", "-n", "*", "a\nb\n", "'\"\\", "ü€😀"];
  const source = 'pwd; printf "%s|" "$A" "$B" "$C" "$@"; cat';
  const argv = ["bash", "-c", source, "name", ...hostile];

  const run = await finish(slot.run({ argv, environment: { A: "own", C: "=c\n=" }, input: "in\0put" }));

  expect(run).toEqual({
    stdout: `/skill\n${["own", "b", "=c\n=", ...hostile].map((word) => `${word}|`).join("")}in\0put`,
    stderr: "",
    exit: { code: 0 },
  });
});

test("run() starts the script in the Node that waits, with all of its environment", async () => {
  const slot = await open("node", {
    directory: "/skill",
    environment: { A: "profile" },
    mounts: [{ source: writeFolder({ "a.cjs": mirror }), target: "/skill" }],
  });

  const run = await finish(slot.run({ argv: ["/skill/a.cjs", "x y", ""], environment: { __proto: "p" }, input: "in" }));

  expect(run.stderr).toBe("");
  expect(JSON.parse(run.stdout)).toEqual({
    argv: ["/opt/node", "/skill/a.cjs", "x y", ""],
    directory: "/skill",
    input: "in",
    isMain: true,
    environment: {
      PATH: "/usr/bin:/bin",
      HOME: "/tmp",
      TMPDIR: "/tmp",
      LANG: "C.UTF-8",
      PWD: "/skill",
      A: "profile",
      __proto: "p",
    },
  });
});

test("run() takes an order for Node of any length", async () => {
  const source = "process.stdout.write(String(process.argv[2].length + process.env.A.length))";
  const slot = await open("node", { mounts: [{ source: writeFolder({ "a.cjs": source }), target: "/skill" }] });

  const run = await finish(
    slot.run({ argv: ["/skill/a.cjs", "x".repeat(300_000)], environment: { A: "\n".repeat(200_000) } }),
  );

  expect(run).toEqual({ stdout: "500000", stderr: "", exit: { code: 0 } });
});

test("run() gives every program the path to all programs, if it may use all", async () => {
  const source = "process.stdout.write(process.env.PATH)";
  const mounts = [{ source: writeFolder({ "a.cjs": source }), target: "/skill" }];
  const [node, shell] = await Promise.all([
    open("node", { programs: ["*"], mounts }),
    open("program", { programs: ["*"] }),
  ]);

  const one = await finish(node.run({ argv: ["/skill/a.cjs"], environment: {} }));
  const other = await finish(shell.run({ argv: ["bash", "-c", 'printf %s "$PATH"'], environment: {} }));

  expect([one.stdout, other.stdout]).toEqual([other.stdout, "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"]);
});

test("run() tells how a program ended, and that one is not there", async () => {
  const ends: ExitStatus[] = [];
  for (const argv of [["bash", "-c", "exit 3"], ["bash", "-c", "kill -TERM $$"], ["/usr/bin/not-there"]]) {
    ends.push((await finish((await open("program")).run({ argv, environment: {} }))).exit);
  }

  expect(ends).toEqual([{ code: 3 }, { signal: "SIGTERM" }, { code: 127 }]);
});

test("close() ends a slot that waits", async () => {
  const slot = await open("program");

  slot.close();

  expect(await slot.ended).toEqual({ signal: "SIGKILL" });
});

test("startSlot() rejects when the interpreter ends before it waits", async () => {
  opened ??= findSandbox();
  const profile = toProfile({});

  const started = startSlot(await opened, profile, { kind: "node", argv: ["--no-such-option"] });

  await expect(started).rejects.toMatchObject({
    code: "sandbox-failed",
    details: { reason: expect.stringContaining("--no-such-option") as string },
  });
});

const mirror = `const input = require("node:fs").readFileSync("/dev/stdin", "utf8");
const { argv, env: environment } = process;
console.log(JSON.stringify({ argv, directory: process.cwd(), input, isMain: require.main === module, environment }));`;

function toProfile(more: Partial<Profile>): Profile {
  const mounts = [{ source: process.execPath, target: "/opt/node" }, ...(more.mounts ?? [])];
  const skill = more.mounts === undefined ? [{ source: writeFolder({}), target: "/skill" }] : [];
  return { environment: {}, programs: [], limits: defaultLimits, ...more, mounts: [...mounts, ...skill] };
}

async function open(kind: SlotKind, more: Partial<Profile> = {}): Promise<Slot> {
  opened ??= findSandbox();
  const slot = await startSlot(await opened, toProfile(more), { kind, argv: [] });
  onTestFinished(() => slot.close());
  return slot;
}

async function finish(
  starting: Promise<SandboxProcess>,
): Promise<{ stdout: string; stderr: string; exit: ExitStatus }> {
  const started = await starting;
  const [stdout, stderr, exit] = await Promise.all([text(started.stdout), text(started.stderr), started.exit]);
  return { stdout, stderr, exit };
}
