import { closeSync, openSync, readdirSync } from "node:fs";
import { once } from "node:events";
import { text } from "node:stream/consumers";

import { expect, test, vi } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { createPipes } from "./pipes.ts";
import type { ExitStatus, SandboxProcess } from "./sandbox.ts";
import { startProgram, toExitStatus, type HostCommand } from "./start-program.ts";

test("startProgram() gives a program streams that it can open by their names", async () => {
  const source = "cat /dev/stdin /dev/fd/0; echo out > /dev/stdout; echo err > /dev/stderr";

  const run = await finish(await start(["bash", "-c", source], {}, "in\n"));

  expect(run).toEqual({ stdout: "in\nin\nout\n", stderr: "err\n", exit: { code: 0 } });
});

test("startProgram() gives nothing to read where there is no input, and bytes as they are", async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);

  const none = await finish(await start(["cat"]));
  const all = await start(["cat"], {}, bytes);

  expect(none).toEqual({ stdout: "", stderr: "", exit: { code: 0 } });
  expect(Buffer.concat(await all.stdout.toArray())).toEqual(Buffer.from(bytes));
});

test("startProgram() carries more than a pipe holds, in both directions", async () => {
  const input = "x".repeat(3_000_000);

  const run = await finish(await start(["bash", "-c", "tee /dev/stderr"], {}, input));

  expect([run.stdout === input, run.stderr === input]).toEqual([true, true]);
});

test("startProgram() makes descriptor 3 a channel of both directions, and puts files behind it", async () => {
  const source = 'read -r line <&3; cat <&4; cat <&5; echo "heard $line" >&3';
  const program = await start(["bash", "-c", source], { files: ["four ", Buffer.from("five")] });

  program.channel.write("hello\n");
  const [heard] = (await once(program.channel, "data")) as [Buffer];

  expect([heard.toString(), await text(program.stdout)]).toEqual(["heard hello\n", "four five"]);
});

test("startProgram() hands on nothing but what it was told to: no descriptor, no variable", async () => {
  const stray = openSync("/dev/null", "r");
  vi.stubEnv("STRAY_OF_TEST", "1");
  const hidden = inherited();

  const run = await finish(
    await start(["bash", "-c", "readlink /proc/$$/fd/*; env | sort"], { environment: { A: "a" }, hidden }),
  );

  closeSync(stray);
  vi.unstubAllEnvs();
  const lines = run.stdout.trim().split("\n");
  const known = /^(?:socket:|pipe:|\/dev\/null$|.*\/(?:input|pipe)-\d+ \(deleted\)$|.*test-[^/]*\/)/u;
  expect(lines.filter((line) => line.startsWith("/") && !known.test(line))).toEqual([]);
  expect(lines.filter((line) => line.startsWith("socket:"))).toHaveLength(1);
  expect(lines.filter((line) => /^\w+=/u.test(line) && !/^(?:PWD|SHLVL|_)=/u.test(line))).toEqual(["A=a"]);
});

test("startProgram() leaves no descriptor open in this process, whether the program is there or not", async () => {
  const pipes = createPipes(createFolder());
  const run = async (program: string): Promise<void> => {
    const command = { sandbox: "off" as const, words: [program], environment: {}, files: ["a", "b"], lifeline: true };
    await startProgram(command, pipes, "in").then(finish, () => {});
  };
  await run("true");
  const before = readdirSync("/proc/self/fd").length;

  for (let runs = 0; runs < 10; runs++) for (const program of ["true", "/not/there"]) await run(program);

  await vi.waitFor(() => expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before), { timeout: 10_000 });
});

test("startProgram() rejects when there is no such program, by name", async () => {
  await expect(start(["/not/there"])).rejects.toMatchObject({
    code: "sandbox-failed",
    details: { sandbox: "off", reason: expect.stringContaining("/not/there") as string },
  });
});

test("startProgram() ends a lifeline only when this process does", async () => {
  const program = await start(["bash", "-c", "read -t 0.2 -r line <&4; echo $?"], { lifeline: true });

  // More than 128 is the end of the time, 1 would be the end of the line.
  expect(Number(await text(program.stdout))).toBeGreaterThan(128);
});

test("startProgram() tells how a program ended, and reads exit codes as signals only where it is told so", async () => {
  const endOf = async (source: string, tellsSignals: boolean): Promise<ExitStatus> =>
    (await start(["bash", "-c", source], { tellsSignals })).exit;

  const ends = [
    await endOf("exit 137", false),
    await endOf("exit 137", true),
    await endOf("kill -TERM $$", false),
    await endOf("exit 255", true),
  ];

  expect(ends).toEqual([{ code: 137 }, { signal: "SIGKILL" }, { signal: "SIGTERM" }, { code: 255 }]);
});

test("kill() ends a program with all of its group, also twice, and after it ended", async () => {
  const program = await start(["bash", "-c", "sleep 100 & echo started; wait"]);
  await once(program.stdout, "data");

  program.kill();
  program.kill();

  expect(await program.exit).toEqual({ signal: "SIGKILL" });
  // The pipe ends only when the last one that has it is gone.
  expect(await text(program.stdout)).toBe("");
  expect(() => program.kill()).not.toThrow();
});

test("fillInput() gives a program its input after it was started", async () => {
  const program = await start(["bash", "-c", "read -r _ <&3; cat"]);

  program.fillInput("late");
  program.channel.write("go\n");

  expect(await text(program.stdout)).toBe("late");
});

test("startProgram() survives a program that ends while it is written to", async () => {
  const program = await start(["true"]);

  for (let writes = 0; writes < 50; writes++) program.channel.write("x".repeat(100_000));

  expect(await program.exit).toEqual({ code: 0 });
});

test("toExitStatus() reads an exit code as a shell does", () => {
  expect([0, 1, 128, 129, 143, 192, 255].map(toExitStatus)).toEqual([
    { code: 0 },
    { code: 1 },
    { code: 128 },
    { signal: "SIGHUP" },
    { signal: "SIGTERM" },
    { code: 192 },
    { code: 255 },
  ]);
});

function start(
  words: readonly string[],
  more: Partial<HostCommand> = {},
  input?: string | Uint8Array,
): Promise<SandboxProcess> {
  const environment = { PATH: "/usr/bin:/bin" };
  return startProgram({ sandbox: "off", words, environment, ...more }, createPipes(createFolder()), input);
}

async function finish(started: SandboxProcess): Promise<{ stdout: string; stderr: string; exit: ExitStatus }> {
  const [stdout, stderr, exit] = await Promise.all([text(started.stdout), text(started.stderr), started.exit]);
  return { stdout, stderr, exit };
}

/** Descriptors of this process; those that close by themselves do no harm in the list. */
function inherited(): number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => descriptor > 3);
}
