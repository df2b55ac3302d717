import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createWorkspace, type ToolOutcome } from "kitbag";
import { openRuntimes } from "kitbag/runtimes";
import { describe, expect, onTestFinished, test, vi } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createScriptTool } from "../../../test/support/run-script.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import { findSandbox } from "../../sandbox/find-sandbox.ts";
import { defaultLimits, type SandboxName } from "../../sandbox/sandbox.ts";
import { learningRuntime } from "./learning-runtime.ts";
import type { LearnReport } from "./learn-report.ts";

const backends = [
  ["bubblewrap", "bwrap"],
  ["unshare", "unshare"],
] as const;

describe.for(backends)("learningRuntime() in %s", ([name, program]) => {
  test("proposes what a Python script tried: a file, a variable, a host and a program", async (context) => {
    needProgram(context, program);
    needProgram(context, "strace");
    const { report } = await learn(name, {
      "a.py": `import os, subprocess, urllib.request
text = open("data.csv").read()
os.environ.get("GITHUB_TOKEN")
for work in (lambda: subprocess.run(["git", "--version"]), lambda: urllib.request.urlopen("http://127.0.0.1:8099/x")):
    try:
        work()
    except OSError as error:
        print(type(error).__name__)`,
    });

    expect(report.permissions).toEqual({
      read: ["./data.csv"],
      network: ["127.0.0.1:8099"],
      env: ["GITHUB_TOKEN"],
      run: ["git"],
    });
    expect(report.rounds.map(({ read, failure }) => [read.length, failure === undefined])).toEqual([
      [0, false],
      [1, true],
    ]);
    expect(report.watchedBy).toBe("strace");
  });

  test("proposes what a Node script tried", async (context) => {
    needProgram(context, program);
    needProgram(context, "strace");
    const { report } = await learn(name, {
      "a.mjs": `import { readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
readFileSync("data.csv", "utf8");
console.log(process.env.API_KEY);
spawnSync("git", ["--version"]);
await fetch("http://127.0.0.1:8099/x").catch(() => {});`,
    });

    expect(report.permissions).toEqual({
      read: ["./data.csv"],
      network: ["127.0.0.1:8099"],
      env: ["API_KEY"],
      run: ["git"],
    });
  });

  test("proposes what a Bash script tried", async (context) => {
    needProgram(context, program);
    needProgram(context, "strace");
    const { report } = await learn(name, {
      "a.sh": `set -e
cat data.csv > /dev/null
git --version || true
echo > result.txt || true
: < /dev/tcp/127.0.0.1/8099 || true
echo done`,
    });

    // Each call keeps a new file in the working directory.
    expect(report.permissions).toEqual({
      read: ["./data.csv"],
      network: ["127.0.0.1:8099"],
      run: ["git"],
    });
    expect(report.notes).toHaveLength(1);
  });

  test("proposes the directory that a script makes, and what it means by ~", async (context) => {
    needProgram(context, program);
    needProgram(context, "strace");
    const home = makeHome();
    vi.stubEnv("HOME", home);
    onTestFinished(() => void vi.unstubAllEnvs());

    const made = await learn(name, { "a.sh": "mkdir -p outdir && echo hi > outdir/x" });
    const meant = await learn(name, {
      "a.py": `import os
print(open(os.path.expanduser("~/notes.txt")).read())
open(os.path.expanduser("~/Documents/new.txt"), "w")`,
    });

    expect(made.report.permissions).toEqual({ write: ["./outdir/"] });
    expect(meant.report.permissions).toEqual({ read: ["~/notes.txt"], write: ["~/Documents/"] });
  });

  test("grants nothing but files to read, however often it runs", async (context) => {
    needProgram(context, "strace");
    needProgram(context, program);
    const { report, folder } = await learn(name, {
      "a.sh": `cat one.txt && cat two.txt && cat three.txt; for name in one.txt "$HOME_OF_TEST/.ssh/key"; do echo x > "$name"; done`,
    });

    expect(report.rounds.length).toBeGreaterThan(2);
    expect(report.rounds.every(({ read }) => read.every((path) => path.startsWith(folder)))).toBe(true);
  });
});

test.for([
  [
    "a.py",
    `import os\nos.environ["TOKEN"] if "TOKEN" in os.environ else 0\nopen("data.csv").read()\nos.listdir("sub")`,
    { read: ["./data.csv", "./sub/"], env: ["TOKEN"] },
  ],
  [
    "a.cjs",
    `require("node:fs").readFileSync("data.csv"); require("node:child_process").spawnSync("git");`,
    { read: ["./data.csv"], run: ["git"] },
  ],
] as const)("learningRuntime() sees what %s tries without strace", async ([name, text, permissions], context) => {
  if (name === "a.py") needProgram(context, "python3");
  const sandbox = await findSandbox();
  onTestFinished(() => sandbox.close());
  const { folder, home } = makeProject();
  const tool = createScriptTool({ [name]: text });
  let report: LearnReport | undefined;
  const runtime = learningRuntime({
    sandbox,
    directory: folder,
    cache: home,
    traces: false,
    onLearned: (learned) => (report = learned),
    toProfile: async ({ code, permissions: { read = [] } }) => ({
      mounts: [
        { source: (code as ScriptCode).directory, target: "/skill" },
        ...read.map((path) => ({ source: path, target: path, granted: true })),
      ],
      environment: {},
      programs: [],
      directory: read.length === 0 ? "/tmp" : folder,
      limits: defaultLimits,
    }),
  });

  await createWorkspace({ tools: [tool], runtimes: [runtime] }).call("script", {});

  expect(report).toMatchObject({ watchedBy: "hooks", permissions });
});

test("learningRuntime() proposes nothing for a script that needs nothing", async (context) => {
  needProgram(context, "python3");
  const { report, outcome } = await learn(undefined, {
    "a.py":
      "import json, ssl, urllib.request, tempfile\nwith tempfile.NamedTemporaryFile('w') as file:\n    file.write('x')\nprint(json.dumps(1))",
  });

  expect(report.permissions).toEqual({});
  expect(report.attempts).toEqual([]);
  expect(outcome).toEqual({ status: "ok", output: "1" });
});

test("learningRuntime() believes nothing that a script writes into its records", async () => {
  const { report } = await learn(undefined, {
    "a.sh": `place=$(dirname "$KITBAG_RECORD"); rm -f "$KITBAG_RECORD"; ln -s /etc/passwd "$KITBAG_RECORD"; mkfifo "$place/trace.99999"; printf '{"__proto__":{"kind":"variable"}}\\n[[[\\n{"kind":"file","path":7}\\n' > "$place/trace.1"; echo ok`,
  });

  expect(report.permissions).toEqual({});
});

interface Learned {
  readonly report: LearnReport;
  readonly outcome: ToolOutcome;
  readonly folder: string;
}

async function learn(sandbox: SandboxName | undefined, files: Readonly<Record<string, string>>): Promise<Learned> {
  const { folder, home } = makeProject();
  let report: LearnReport | undefined;
  const runtimes = openRuntimes({
    directory: folder,
    home,
    warm: false,
    onLearned: (learned) => (report = learned),
    ...(sandbox !== undefined && { sandbox }),
  });
  onTestFinished(() => runtimes.close());
  const workspace = createWorkspace({ tools: [createScriptTool(files)], runtimes });
  const outcome = await workspace.call("script", {});
  if (report === undefined) throw new Error(`nothing was learned: ${JSON.stringify(outcome)}`);
  return { report, outcome, folder };
}

function makeHome(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-person-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, "Documents"));
  writeFileSync(join(home, "notes.txt"), "mine");
  return home;
}

function makeProject(): { folder: string; home: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-learn-")));
  const home = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-home-")));
  for (const name of ["data.csv", "one.txt", "two.txt", "three.txt"]) writeFileSync(join(folder, name), name);
  mkdirSync(join(folder, "sub"));
  onTestFinished(() => {
    for (const place of [folder, home]) rmSync(place, { recursive: true, force: true });
  });
  return { folder, home };
}
