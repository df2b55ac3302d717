import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, expect, onTestFinished, test, vi } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createScriptTool, openTestSandbox, writeFolder } from "../../../test/support/run-script.ts";
import { openEgress } from "../../sandbox/egress/open-egress.ts";
import { findSandbox, type FoundSandbox } from "../../sandbox/find-sandbox.ts";
import { defaultLimits, type ExitStatus, type Profile, type SandboxProcess } from "../../sandbox/sandbox.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import { completeProfile } from "./complete-profile.ts";
import { findInterpreter } from "./find-interpreter.ts";
import { coldLauncher, type Launch } from "./launch.ts";
import { warmLauncher, type WarmLauncher, type WarmOptions } from "./warm-launcher.ts";

vi.setConfig({ testTimeout: 60_000 });

let opened: Promise<FoundSandbox> | undefined;
afterAll(async () => (await opened)?.close());

/** Each says what it finds of a call before it, and then leaves as much as it can. */
const leavers = {
  "a.py": `import os, sys, subprocess, json, builtins
print(sorted(os.listdir("/tmp")), sorted(os.listdir("/dev/shm")), sys.stdin.read(), sys.argv[1:], os.environ.get("SECRET"))
print(hasattr(builtins, "left"), hasattr(json, "left"), sum(name.isdigit() for name in os.listdir("/proc")) < 4, os.path.exists("/proc/self/fd/4"))
builtins.left = json.left = os.environ["LEFT"] = "left"
for path in ("/tmp/left", "/dev/shm/left"): open(path, "w").write("left")
subprocess.Popen(["sleep", "100"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)`,
  "a.sh": `#!/usr/bin/env bash
echo $(ls /tmp) $(ls /dev/shm) "$(cat)" "$*" "$SECRET" "$left" "$LEFT"
shopt -s nullglob; all=(/proc/[0-9]*); echo $(( \${#all[@]} < 5 )) $(declare -F)
left=left; export LEFT=left; leave() { :; }; export -f leave
echo left > /tmp/left; echo left > /dev/shm/left
setsid sleep 100 > /dev/null 2>&1 &`,
  "a.mjs": `import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
console.log(readdirSync("/tmp"), readdirSync("/dev/shm"), readFileSync(0, "utf8"), process.argv.slice(2), process.env.SECRET);
console.log(globalThis.left, process.env.LEFT, readdirSync("/proc").filter((name) => /^\\d+$/u.test(name)).length < 4);
globalThis.left = process.env.LEFT = "left";
for (const path of ["/tmp/left", "/dev/shm/left"]) writeFileSync(path, "left");
spawn("sleep", ["100"], { detached: true, stdio: "ignore" }).unref();`,
};

test.for([
  ["a.py", "/usr/bin/python3"],
  ["a.sh", "bash"],
  ["a.mjs", process.execPath],
] as const)("start() shows %s nothing of the calls before it, cold or warm", async ([file, program], context) => {
  needProgram(context, program);
  const { launcher, toLaunch } = await open({ [file]: leavers[file] });
  const first = await toLaunch(["one"], { env: { SECRET: "secret-one" }, input: "input-one" });
  const next = { ...first, argv: [...first.argv.slice(0, -1), "two"], env: {}, input: "" };

  const cold = await finish(await launcher.start(first));
  const outputs: string[] = [];
  for (let calls = 0; calls < 4; calls++) {
    await waitUntilWarm(launcher);
    await finish(await launcher.start(first));
    await waitUntilWarm(launcher);
    outputs.push((await finish(await launcher.start(next))).stdout);
  }

  expect(cold.stdout).toContain("secret-one");
  const expected = (await finish(await coldLauncher(await sandboxOf()).start(next))).stdout;
  expect(new Set(outputs)).toEqual(new Set([expected]));
  expect(expected).not.toMatch(/left|secret|input/u);
});

/** Each prints what a program can see of how it was started; but for `_` and `SHLVL`, which a shell that starts it adds. */
const mirrors = {
  "a.py": `import os, sys, json
print(sorted(os.environ.items()), sys.argv, os.getcwd(), __name__, __file__, sys.path[0], sys.executable, os.umask(0), os.path.exists("/proc/self/fd/3"), os.path.exists("/proc/self/fd/5"))
print(sys.stdin.read(), sys.stdin.encoding, sys.stdout.encoding, sys.flags.safe_path, sys.flags.utf8_mode, [os.isatty(n) for n in range(3)])
print("complaint", file=sys.stderr)
sys.exit(7)`,
  "a.sh": `#!/usr/bin/env bash
env | grep -v '^_=' | sort; echo "$0|$*|$#|$PWD|$-|$(umask)|\${BASH_SOURCE[0]}|\${FUNCNAME[*]}|$BASH_SUBSHELL|$IFS|"
(return 0 2>/dev/null) && echo sourced
where() { echo "\${FUNCNAME[1]}"; }; where
declare -p OLDPWD 2>&1; compgen -v kitbag; ls /proc/self/fd | head -n 4; cat
echo complaint >&2
exit 7`,
  "a.cjs": `const { readFileSync } = require("node:fs");
console.log(Object.entries(process.env).sort(), process.argv, process.execArgv, process.cwd(), process.umask(), require.main === module, __filename);
console.log(readFileSync(0, "utf8"), process.execPath, process.stdout.isTTY, process.stdin.isTTY);
console.error("complaint");
process.exitCode = 7;`,
  "a.pl": `print map { "$_=$ENV{$_}\\n" } sort grep { !/^(_|SHLVL)$/ } keys %ENV;
print "$0 @ARGV ", <STDIN>; opendir my $all, "/proc/self/fd"; print join " ", sort grep { /^[0-3]$/ } readdir $all;
print STDERR "complaint\\n"; exit 7;`,
};

test.for([
  ["a.py", "/usr/bin/python3"],
  ["a.sh", "bash"],
  ["a.cjs", process.execPath],
  ["a.pl", "perl"],
] as const)("start() answers for %s as a start of its own would", async ([file, program], context) => {
  needProgram(context, program);
  const { launcher, toLaunch, started } = await open({ [file]: mirrors[file] });
  const launch = await toLaunch(["--x", "a b", ""], { env: { A: "1\n2 'x' $(id)", B: "" }, input: "in\nput" });

  const cold = await finish(await launcher.start(launch));
  await waitUntilWarm(launcher);
  const commands = started.length;
  const warm = await finish(await launcher.start(launch));

  expect(started.slice(0, commands).map(isWarm)).toEqual([false, true]);
  expect(cold).toMatchObject({ stderr: "complaint\n", exit: { code: 7 } });
  expect(warm).toEqual(cold);
});

test.for([
  [
    "a.py",
    "/usr/bin/python3",
    "import os, sys; os.write(os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND), b'ran '); os.kill(os.getpid(), 9)",
  ],
  ["a.sh", "bash", "printf 'ran ' >> $1; kill -9 $$"],
  [
    "a.mjs",
    process.execPath,
    `import { appendFileSync } from "node:fs"; appendFileSync(process.argv[2], "ran "); process.kill(process.pid, "SIGKILL");`,
  ],
] as const)("start() runs %s once, also when a signal ends it at once", async ([file, program, source], context) => {
  needProgram(context, program);
  const folder = writeFolder({ log: "" });
  const mounts = [{ source: folder, target: folder, write: true, granted: true }];
  const { launcher, toLaunch } = await open({ [file]: source }, {}, { mounts });
  const launch = await toLaunch([join(folder, "log")]);

  const runs = [await finish(await launcher.start(launch))];
  for (let calls = 0; calls < 3; calls++) {
    await waitUntilWarm(launcher);
    runs.push(await finish(await launcher.start(launch)));
  }

  expect(runs).toEqual(Array.from({ length: 4 }, () => ({ stdout: "", stderr: "", exit: { signal: "SIGKILL" } })));
  expect(readFileSync(join(folder, "log"), "utf8")).toBe("ran ran ran ran ");
});

test.for([
  ["a.py", "/usr/bin/python3", "print('hello')"],
  ["a.sh", "bash", "echo hello"],
  ["a.mjs", process.execPath, "console.log('hello')"],
] as const)("start() answers %s when what waited was killed, and makes another", async (row, context) => {
  const [file, program, source] = row;
  needProgram(context, program);
  const { launcher, toLaunch, started } = await open({ [file]: source });
  const launch = await toLaunch([]);
  await finish(await launcher.start(launch));
  await waitUntilWarm(launcher);
  await finish(await launcher.start(launch));
  await waitUntilWarm(launcher);

  const waiting = started.filter(isWarm).map(({ process }) => process);
  for (const process of waiting) process.kill();
  await Promise.all(waiting.map(({ exit }) => exit));
  const after = await finish(await launcher.start(launch));
  await waitUntilWarm(launcher);
  const later = await finish(await launcher.start(launch));

  const hello = { stdout: "hello\n", stderr: "", exit: { code: 0 } };
  expect([after, later]).toEqual([hello, hello]);
  expect(started.filter(isWarm).length).toBeGreaterThan(waiting.length);
});

test("start() does not run a script again whose server was killed", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { launcher, toLaunch, started } = await open({
    "a.py": "import sys, time; print('ran', flush=True); time.sleep(float(sys.argv[1]))",
  });
  const launch = await toLaunch(["0"]);
  await finish(await launcher.start(launch));
  await waitUntilWarm(launcher);

  const script = await launcher.start({ ...launch, argv: [...launch.argv.slice(0, 1), "100"] });
  let printed = "";
  script.stdout.setEncoding("utf8").on("data", (piece) => (printed += piece));
  await vi.waitFor(() => expect(printed).toBe("ran\n"), waiting);
  for (const { process } of started.filter(isWarm)) process.kill();

  expect([await script.exit, printed]).toEqual([{ signal: "SIGKILL" }, "ran\n"]);
});

test.for([0o755, 0o700])(
  "start() shows a warm script its project below the temporary folder, and nothing of ours in it, with a store of mode %i",
  async (mode, context) => {
    needProgram(context, "/usr/bin/python3");
    const project = writeFolder({ "README.md": "read me", ".kitbag/kitbag.db": "ours", "docs/a.md": "a" });
    chmodSync(project, 0o777);
    chmodSync(join(project, ".kitbag"), mode);
    const nothing = writeFolder({ file: "" });
    const { launcher, toLaunch, started } = await open(
      { "a.py": lookAround },
      {},
      {
        mounts: [
          { source: project, target: project, write: true, granted: true },
          { source: join(project, "docs"), target: join(project, "docs"), granted: true },
          mode === 0o755
            ? { source: join(nothing, "file"), target: join(project, ".kitbag/kitbag.db") }
            : { source: nothing, target: join(project, ".kitbag") },
        ],
      },
    );
    const launch = await toLaunch([project]);

    const cold = await finish(await launcher.start(launch));
    const warm: unknown[] = [];
    for (let calls = 0; calls < 3; calls++) {
      await waitUntilWarm(launcher);
      warm.push(await finish(await launcher.start(launch)));
    }

    expect(cold).toEqual({ stdout: "read me \n", stderr: "", exit: { code: 0 } });
    expect(warm).toEqual([cold, cold, cold]);
    expect(started.filter((each) => !isWarm(each))).toHaveLength(1);
  },
);

test.for([
  ["a.py", "/usr/bin/python3", "print(open('/data/note.txt').read(), end='')"],
  ["a.sh", "bash", "#!/usr/bin/env bash\ncat /data/note.txt"],
] as const)(
  "start() shows %s the granted folder that is there now, not one that was replaced",
  async ([file, program, source], context) => {
    needProgram(context, program);
    const granted = join(writeFolder({ "data/note.txt": "old" }), "data");
    const { launcher, toLaunch } = await open(
      { [file]: source },
      {},
      { mounts: [{ source: granted, target: "/data", granted: true }] },
    );
    const launch = await toLaunch([]);
    const first = await finish(await launcher.start(launch));
    await waitUntilWarm(launcher);

    renameSync(granted, `${granted}.old`);
    mkdirSync(granted);
    writeFileSync(join(granted, "note.txt"), "new");
    const second = await finish(await launcher.start(launch));
    rmSync(granted, { recursive: true });

    expect([first.stdout, second.stdout]).toEqual(["old", "new"]);
    await expect(launcher.start(launch)).rejects.toMatchObject({ code: "grant-changed" });
  },
);

/** Says what is in the project, tries to change what may not be changed, and changes the rest. */
const lookAround = `import os, sys
os.chdir(sys.argv[1])
read = lambda path: open(path).read() if os.path.exists(path) else ""
for path in ("docs/a.md", ".kitbag/kitbag.db"):
    try: open(path, "a").write("evil")
    except OSError: continue
    print("changed", path)
open("free.txt", "w").write("free")
print(read("README.md"), read(".kitbag/kitbag.db"))`;

test("start() runs a script cold when its server cannot make a child, and gets another server", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const project = writeFolder({ "a/b.txt": "b" });
  const mounts = [{ source: join(project, "a"), target: "/tmp/project/a", granted: true }];
  const { launcher, toLaunch, started } = await open({ "a.py": "print('hello')" }, {}, { mounts });
  const launch = await toLaunch([]);
  await finish(await launcher.start(launch));
  await waitUntilWarm(launcher);

  // What the server was given is gone; what it is called is there.
  rmSync(join(project, "a"), { recursive: true });
  mkdirSync(join(project, "a"));
  const broken = await finish(await launcher.start(launch));
  await vi.waitFor(async () => {
    const count = started.filter((each) => !isWarm(each)).length;
    expect(await finish(await launcher.start(launch))).toEqual(broken);
    expect(started.filter((each) => !isWarm(each))).toHaveLength(count);
  }, waiting);

  expect(broken).toEqual({ stdout: "hello\n", stderr: "", exit: { code: 0 } });
  expect(started.filter(isWarm).length).toBeGreaterThan(1);
});

test("warmLauncher() gives up what nobody uses, and its programs end", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { launcher, toLaunch, started } = await open({ "a.py": "", "a.sh": "", "a.mjs": "" }, { idleMs: 400 });
  for (const file of ["a.py", "a.sh", "a.mjs"]) await finish(await launcher.start(await toLaunch([], { file })));
  await vi.waitFor(() => expect(started.filter(isWarm)).toHaveLength(3), waiting);

  await vi.waitFor(() => expect(launcher.waiting).toBe(0), waiting);

  const ends = await Promise.all(started.filter(isWarm).map(({ process }) => process.exit));
  expect(ends).toEqual(Array.from({ length: 3 }, () => ({ signal: "SIGKILL" })));
});

test("warmLauncher() keeps no more slots of a kind than it may", async () => {
  const { launcher, toLaunch, started } = await open({ "a.sh": "sleep 0.5" }, { mostOfAKind: 2 });
  const launch = await toLaunch([]);

  await Promise.all(Array.from({ length: 5 }, async () => finish(await launcher.start(launch))));
  await vi.waitFor(() => expect(launcher.waiting).toBe(2), waiting);

  expect(started.filter(isWarm)).toHaveLength(2);
});

test("warmLauncher() keeps no more slots than it may, however many kinds are called at once", async () => {
  const { launcher, toLaunch, started } = await open({ "a.sh": "" }, { most: 2 });
  const launch = await toLaunch([]);

  const launches = Array.from({ length: 5 }, (_, index) => withVariable(launch, String(index)));
  await Promise.all(launches.map(async (each) => finish(await launcher.start(each))));
  await vi.waitFor(() => expect(started.filter(isWarm).length).toBeGreaterThanOrEqual(5), waiting);
  await vi.waitFor(() => expect(launcher.waiting).toBe(2), waiting);
});

test("warmLauncher() keeps no more servers than it may, however many profiles are called", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { launcher, toLaunch, started } = await open({ "a.py": "" }, { most: 2 });
  const launch = await toLaunch([]);

  for (const name of ["1", "2", "3", "4"]) {
    const mine = withVariable(launch, name);
    await vi.waitFor(async () => {
      const count = started.filter((each) => !isWarm(each)).length;
      await finish(await launcher.start(mine));
      expect(started.filter((each) => !isWarm(each))).toHaveLength(count);
    }, waiting);
  }

  // Two that serve, and two that will take their place.
  await vi.waitFor(() => expect(launcher.waiting).toBe(4), waiting);
  const ended = started.filter(isWarm).slice(0, -4);
  await expect(Promise.all(ended.map(({ process }) => process.exit))).resolves.toHaveLength(ended.length);
});

test("start() gives a script with a way out a sandbox of its own, never a server", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const sandbox = await sandboxOf();
  const egress = await openEgress({ rules: ["example.com"], directory: sandbox.area.own });
  onTestFinished(() => egress.close());
  const source = "import os; print(os.listdir('/tmp')); open('/tmp/left', 'w'); print(os.path.exists('/run/calls'))";
  const { launcher, toLaunch, started } = await open({ "a.py": source }, {}, { egress: egress.socket });
  const launch = await toLaunch([]);

  const cold = await finish(await launcher.start(launch));
  await waitUntilWarm(launcher);
  const warm = await finish(await launcher.start(launch));

  expect([cold, warm]).toEqual([cold, { stdout: "[]\nFalse\n", stderr: "", exit: { code: 0 } }]);
  expect(started.flatMap(({ command }) => command).filter((word) => word.endsWith("serve.py"))).toEqual([]);
});

test("start() gives a script that is debugged a start of its own, with the words for the interpreter", async () => {
  const { launcher, toLaunch, started } = await open({ "a.sh": "echo hello" });
  const launch = await toLaunch([]);
  await finish(await launcher.start(launch));
  await waitUntilWarm(launcher);

  const debugged = await finish(await launcher.start({ ...launch, debug: ["-x"] }));

  expect(debugged).toEqual({ stdout: "hello\n", stderr: "+ echo hello\n", exit: { code: 0 } });
  expect(started.at(-1)?.command).toContain("-x");
  expect(launcher.waiting).toBe(1);
});

test("start() keeps nothing ready where there is no sandbox", async () => {
  const sandbox = await openTestSandbox("off");
  onTestFinished(() => sandbox.close());
  const folder = writeFolder({ "a.sh": "echo hello" });
  const launcher = warmLauncher(sandbox, { directory: folder });
  onTestFinished(() => launcher.close());
  const profile = {
    mounts: [{ source: folder, target: "/skill" }],
    environment: {},
    programs: [],
    limits: defaultLimits,
  };
  const interpreter = { family: "shell" as const, program: "bash", argv: [], mounts: [], programs: [] };
  const launch = { profile, interpreter, argv: ["/skill/a.sh"], env: {} };

  const runs = [await finish(await launcher.start(launch)), await finish(await launcher.start(launch))];

  expect(runs.map(({ stdout }) => stdout)).toEqual(["hello\n", "hello\n"]);
  expect(launcher.waiting).toBe(0);
});

test.for(["UID", "RANDOM", "IFS", "kitbag_count", "POSIXLY_CORRECT", "A-B", "BASH_ENV", "SHELLOPTS"])(
  "start() hands a variable called %s on as a start of its own would",
  async (name, context) => {
    needProgram(context, "perl");
    const { launcher, toLaunch } = await open({
      "a.pl": `print map { "$_=$ENV{$_}\\n" } sort grep { !/^(_|SHLVL)$/ } keys %ENV`,
    });
    const launch = await toLaunch([], { env: { [name]: "5", Z: "z" } });

    const cold = await finish(await launcher.start(launch));
    await finish(await launcher.start({ ...launch, env: {} }));
    await waitUntilWarm(launcher);
    const next = await finish(await launcher.start(launch));

    expect(cold.stdout).toContain(`${name}=5\n`);
    expect(next).toEqual(cold);
  },
);

test.for([
  ["a.py", 'print("hello", open("/tmp/x", "w").write("x"))', "/usr/bin/python3"],
  ["a.sh", 'echo "hello $1"', "bash"],
] as const)(
  "prepare() has the first call of %s find an interpreter that waits, and runs nothing",
  async ([file, code, program], context) => {
    needProgram(context, program);
    const { launcher, toLaunch, started } = await open({ [file]: code });
    const launch = await toLaunch(["one"]);

    launcher.prepare({ ...launch, argv: [], env: {} });
    launcher.prepare({ ...launch, argv: [], env: {} });
    await waitUntilWarm(launcher);
    const before = started.length;
    const first = await finish(await launcher.start(launch));

    expect(before).toBe(1);
    expect(first).toMatchObject({ stdout: expect.stringContaining("hello"), stderr: "" });
    expect(first).toEqual(await finish(await coldLauncher(await sandboxOf()).start(launch)));
  },
);

test("close() ends all that waits", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { launcher, toLaunch, started } = await open({ "a.py": "", "a.sh": "" });
  for (const file of ["a.py", "a.sh"]) await finish(await launcher.start(await toLaunch([], { file })));
  await vi.waitFor(() => expect(launcher.waiting).toBe(2), waiting);

  launcher.close();

  const ends = await Promise.all(started.filter(isWarm).map(({ process }) => process.exit));
  expect(ends).toEqual([{ signal: "SIGKILL" }, { signal: "SIGKILL" }]);
  expect(launcher.waiting).toBe(0);
});

const waiting = { timeout: 30_000, interval: 20 };

interface Started {
  readonly command: readonly string[];
  readonly process: SandboxProcess;
}

interface Call {
  /** @default the first one */
  readonly file?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

interface Opened {
  readonly launcher: WarmLauncher;
  /** Everything that was started in a sandbox, in order. */
  readonly started: readonly Started[];
  toLaunch(argv: readonly string[], call?: Call): Promise<Launch>;
}

function sandboxOf(): Promise<FoundSandbox> {
  return (opened ??= findSandbox());
}

async function open(
  files: Readonly<Record<string, string>>,
  options: Partial<WarmOptions> = {},
  more: Partial<Profile> = {},
): Promise<Opened> {
  const sandbox = await sandboxOf();
  const started: Started[] = [];
  const recorded = {
    ...sandbox,
    async start(...[profile, command, input]: Parameters<FoundSandbox["start"]>) {
      const process = await sandbox.start(profile, command, input);
      started.push({ command, process });
      return process;
    },
  };
  const launcher = warmLauncher(recorded, { directory: sandbox.area.private, ...options });
  onTestFinished(() => launcher.close());
  const folder = writeFolder(files);
  const mounts = [{ source: folder, target: "/skill" }, ...(more.mounts ?? [])];
  const base: Profile = { environment: {}, programs: [], limits: defaultLimits, ...more, mounts };
  return {
    launcher,
    started,
    async toLaunch(argv, { file = Object.keys(files)[0] ?? "", env = {}, input } = {}) {
      const tool = createScriptTool({ [file]: files[file] ?? "" });
      const interpreter = findInterpreter(tool, tool.code as ScriptCode, folder);
      const completed = completeProfile(base, { interpreter, isOff: false });
      return { ...completed, argv: [join("/skill", file), ...argv], env, ...(input !== undefined && { input }) };
    },
  };
}

function isWarm({ command }: Started): boolean {
  return command.some((word) => word.startsWith("/opt/kitbag/warm/"));
}

async function waitUntilWarm(launcher: WarmLauncher): Promise<void> {
  await vi.waitFor(() => expect(launcher.waiting).toBeGreaterThan(0), waiting);
}

function withVariable(launch: Launch, value: string): Launch {
  const { profile } = launch;
  return { ...launch, profile: { ...profile, environment: { ...profile.environment, KIND: value } } };
}

async function finish(started: SandboxProcess): Promise<{ stdout: string; stderr: string; exit: ExitStatus }> {
  const [stdout, stderr, exit] = await Promise.all([text(started.stdout), text(started.stderr), started.exit]);
  return { stdout, stderr, exit };
}
