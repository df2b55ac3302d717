/** What every back end of Linux does with a profile, whichever way. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test } from "vitest";

import type { FoundSandbox } from "../../src/sandbox/find-sandbox.ts";
import { defaultLimits, type ExitStatus, type Profile, type SandboxProcess } from "../../src/sandbox/sandbox.ts";
import { needProgram } from "./need-program.ts";
import { writeFolder } from "./run-script.ts";

/** A back end under test. */
export interface CheckedBackend {
  /** How its tests are called. */
  readonly symbol: string;
  /** The program of the system that it is made of. */
  readonly program: string;
  readonly open: () => Promise<FoundSandbox>;
}

const profile: Profile = { mounts: [], environment: {}, programs: [], limits: defaultLimits };

/** Registers the tests of a back end. */
export function checkBackend(backend: CheckedBackend): void {
  checkWords(backend);
  checkInside(backend);
  checkRights(backend);
  checkEnds(backend);
}

function checkWords({ symbol, program, open }: CheckedBackend): void {
  test(`${symbol} keeps the environment out of every command line`, async (context) => {
    needProgram(context, program);
    const secret = "hunter2-of-this-test";
    const sandbox = await open();
    const environment = { SECRET: secret };

    const started = await sandbox.start({ ...profile, environment }, ["bash", "-c", "echo ${#SECRET}; sleep 100"]);
    onTestFinished(() => started.kill());
    const [printed] = (await once(started.stdout, "data")) as [Buffer];
    const lines = commandLines(started.pid);

    expect(printed.toString()).toBe(`${secret.length}\n`);
    expect(lines.some((line) => line.includes("sleep"))).toBe(true);
    expect(lines.filter((line) => line.includes(secret))).toEqual([]);
  });

  test(`${symbol} reads no word of a profile or command as one of its own`, async (context) => {
    needProgram(context, program);
    const folder = writeFolder({ "--bind/a b\n$(id)/c.txt": "odd" });
    const target = "/skill/--ro-bind / /x";
    const environment = { A: "--bind\n/\n/host", B: "", C: "run\nmount" };
    const words = ["--", "--args", "run", "-x", "", "*", "$(id)"];
    const source = 'printf "%s|" "$A" "$B" "$C" "$@"; cat "$T/c.txt"; ls -d /host /x 2>/dev/null';
    const mounts = [{ source: join(folder, "--bind/a b\n$(id)"), target }];

    const run = await runIn(await open(), { ...profile, mounts, environment: { ...environment, T: target } }, [
      ...["bash", "-c", source, "name"],
      ...words,
    ]);

    expect(run.stderr).toBe("");
    expect(run.stdout).toBe(`${[...Object.values(environment), ...words].map((word) => `${word}|`).join("")}odd`);
  });

  test.for<[string, Partial<Profile>, string[]]>([
    ["a variable", { environment: { A: "a\0--bind" } }, ["true"]],
    ["a directory", { directory: "/tmp\0" }, ["true"]],
    ["a command", {}, ["true", "a\0b"]],
  ])(`${symbol} refuses a zero byte in %s`, async ([, more, command], context) => {
    needProgram(context, program);
    const sandbox = await open();

    await expect(sandbox.start({ ...profile, ...more }, command)).rejects.toMatchObject({ code: "sandbox-failed" });
  });
}

function checkInside({ symbol, program, open }: CheckedBackend): void {
  test(`${symbol} makes a program nobody, in a machine of its own`, async (context) => {
    needProgram(context, program);
    const source =
      "id -u; id -g; cat /proc/sys/kernel/hostname; tail -n +3 /proc/net/dev | cut -d: -f1; pwd; ls -A /tmp; ls /dev";

    const { stdout } = await runIn(await open(), { ...profile, directory: "/usr" }, ["bash", "-c", source]);

    const devices = "fd full null random shm stderr stdin stdout urandom zero";
    expect(stdout.split(/\s+/u).join(" ").trim()).toBe(`65534 65534 tool lo /usr ${devices}`);
  });

  test(`${symbol} sets the limits of the profile`, async (context) => {
    needProgram(context, program);
    const limits = {
      ...defaultLimits,
      cpuSeconds: 7,
      openFiles: 33,
      fileBytes: 2_097_152,
      temporaryBytes: 4_194_304,
      processes: 21,
    };
    const source = "ulimit -t; ulimit -n; ulimit -f; ulimit -u; ulimit -c; stat -f -c %b*%S /tmp /dev/shm";

    const { stdout } = await runIn(await open(), { ...profile, limits }, ["bash", "-c", source]);

    expect(stdout.trim().split("\n")).toEqual(["7", "33", "2048", "21", "0", "1024*4096", "1024*4096"]);
  });
}

function checkRights({ symbol, program, open }: CheckedBackend): void {
  test(`${symbol} lets a program write only where it may, and mounts in the order of their depth`, async (context) => {
    needProgram(context, program);
    const [outer, inner] = [writeFolder({ "in/x.txt": "hidden", "a.txt": "a" }), writeFolder({ "b.txt": "b" })];
    const mounts = [
      { source: inner, target: "/data/in" },
      { source: outer, target: "/data", write: true, granted: true },
    ];
    const source =
      "cat /data/a.txt /data/in/*; for p in /data /data/in /usr /etc /dev / /tmp; do (: > $p/new) 2>/dev/null && echo $p; done";

    const { stdout } = await runIn(await open(), { ...profile, mounts }, ["bash", "-c", source]);

    expect(stdout).toBe("ab/data\n/tmp\n");
    expect([readdirSync(outer), readdirSync(inner)]).toEqual([["a.txt", "in", "new"], ["b.txt"]]);
  });

  test(`${symbol} lets nothing be made in a sealed folder of /tmp, but in what is mounted there`, async (context) => {
    needProgram(context, program);
    const folder = writeFolder({ "a.txt": "a" });
    const mounts = [{ source: folder, target: "/tmp/project/deep/out", write: true, granted: true }];
    const sealed = ["/tmp/project", "/tmp/other"];
    const source = `cat /tmp/project/deep/out/a.txt
      for p in /tmp/project /tmp/project/deep /tmp/other /tmp/project/deep/out /tmp; do (: > $p/new) 2>/dev/null && echo $p; done
      mkdir /tmp/other/made; mv /tmp/other /tmp/moved`;

    const { stdout, stderr } = await runIn(
      await open(),
      { ...profile, mounts, sealed, directory: "/tmp/project", programs: ["mkdir", "mv"] },
      ["bash", "-c", source],
    );

    expect(stdout).toBe("a/tmp/project/deep/out\n/tmp\n");
    expect(stderr).toMatch(/made.*: Read-only file system\n.*busy\n$/u);
    expect(readdirSync(folder)).toEqual(["a.txt", "new"]);
  });
}

function checkEnds({ symbol, program, open }: CheckedBackend): void {
  test(`${symbol} opens the descriptors 0 to 3 for a program and no other, whatever was granted or left open`, async (context) => {
    needProgram(context, program);
    const [folder, file] = [writeFolder({ "a.txt": "a" }), writeFolder({ "b.txt": "b" })];
    const mounts = [
      { source: process.execPath, target: "/opt/node" },
      { source: folder, target: folder, granted: true, write: true },
      { source: join(file, "b.txt"), target: join(file, "b.txt"), granted: true },
    ];
    const sandbox = await open();
    const list = `const { readdirSync, readlinkSync } = require("node:fs");
      const open = readdirSync("/proc/self/fd").flatMap((name) => { try { return [name + " " + readlinkSync("/proc/self/fd/" + name)]; } catch { return []; } });
      console.log(open.filter((one) => / \\//u.test(one) && Number(one.split(" ")[0]) > 3).join() || "none")`;

    const bash = await runIn(sandbox, { ...profile, mounts }, ["bash", "-c", "ls /proc/$$/fd; true"]);
    const node = await runIn(sandbox, { ...profile, mounts }, ["/opt/node", "-e", list]);

    expect(bash).toEqual({ stdout: "0\n1\n2\n3\n", stderr: "", exit: { code: 0 } });
    // Node opens some of its own, which have no path.
    expect(node).toEqual({ stdout: "none\n", stderr: "", exit: { code: 0 } });
  });

  test(`${symbol} tells how a program ended, and that there is none`, async (context) => {
    needProgram(context, program);
    const sandbox = await open();

    const ends: ExitStatus[] = [];
    for (const source of ["exit 3", "kill -SEGV $$", "exec /no/such/program"]) {
      ends.push((await runIn(sandbox, profile, ["bash", "-c", source])).exit);
    }

    expect(ends).toEqual([{ code: 3 }, { signal: "SIGSEGV" }, { code: 127 }]);
  });
}

/** The command lines of a process and all that it started. */
export function commandLines(pid: number): string[] {
  const read = (file: string): string => readFileSync(`/proc/${pid}/${file}`, "utf8");
  const children = read(`task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return [read("cmdline").replaceAll("\0", " ").trim(), ...children.flatMap(commandLines)];
}

/** Runs a program to its end. */
async function runIn(
  sandbox: FoundSandbox,
  asked: Profile,
  command: readonly string[],
): Promise<{ stdout: string; stderr: string; exit: ExitStatus }> {
  const started: SandboxProcess = await sandbox.start(asked, command);
  const [stdout, stderr, exit] = await Promise.all([text(started.stdout), text(started.stderr), started.exit]);
  return { stdout, stderr, exit };
}
