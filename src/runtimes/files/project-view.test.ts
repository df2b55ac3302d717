import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { createWorkspace, type CallOptions, type Permissions, type ToolOutcome, type Workspace } from "kitbag";
import { afterAll, describe, expect, onTestFinished, test, type TestContext, vi } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createScriptTool } from "../../../test/support/run-script.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import { isRoot } from "../../sandbox/host.ts";
import { defaultLimits, type Profile } from "../../sandbox/sandbox.ts";
import { openRuntimes, type Runtimes } from "../open-runtimes.ts";
import { viewProject } from "./project-view.ts";

vi.setConfig({ testTimeout: 60_000 });

const asPerson: CallOptions = { namedBy: "person" };
const makesReport = `import os
print(open("data.csv").read(), open(os.path.abspath("data.csv")).read() == open("data.csv").read(), sorted(os.listdir(".")))
open("report.md", "w").write("report")`;

describe.for([
  ["bubblewrap", "bwrap"],
  ["unshare", "unshare"],
] as const)("a script in %s that may read the project", ([sandbox, program]) => {
  const opened: Runtimes[] = [];
  afterAll(() => Promise.all(opened.map((runtimes) => runtimes.close())));

  /** A project, and a workspace with a script that has `permissions` in it. */
  function open(context: TestContext, script: Readonly<Record<string, string>>, given: Given = {}): Opened {
    const { files = { "data.csv": "1,2" }, permissions = { read: ["."] } } = given;
    for (const name of [program, "python3"]) needProgram(context, name);
    const directory = makeProject(files);
    const runtimes = openRuntimes({ directory, home: join(directory, ".kitbag"), sandbox });
    opened.push(runtimes);
    const tool = createScriptTool(script);
    const toCommand: ScriptCode["toCommand"] = ({ input, output }) => ({
      argv: ([input, output] as string[]).filter((word) => word !== undefined),
      env: {},
    });
    const code = { ...tool.code, toCommand } as ScriptCode;
    const tools = [{ ...tool, permissions, files: { input: "read", output: "write" } as const, code }];
    return { directory, workspace: createWorkspace({ tools, runtimes }) };
  }

  test("starts in a private folder at its path, cold and warm: new files are kept, and the project stays as it is", async (context) => {
    const { directory, workspace } = open(context, { "a.py": makesReport });

    const outcomes = [await workspace.call("script"), await workspace.call("script"), await workspace.call("script")];

    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: "ok", files: [{ path: "report.md", bytes: 6 }] });
      expect(outcome).toMatchObject({ output: "1,2 True ['data.csv']" });
    }
    expect(readdirSync(directory)).toEqual(["data.csv"]);
  });

  test.for([
    ["bash", { "a.sh": 'cat data.csv "$PWD/data.csv"; find . -name "*.csv"; echo report > report.md' }],
    [
      "node",
      {
        "a.cjs":
          'const fs = require("fs"); console.log(fs.readFileSync("data.csv", "utf8") + fs.readFileSync(process.cwd() + "/data.csv", "utf8") + "./data.csv"); fs.writeFileSync("report.md", "report\\n")',
      },
    ],
  ] as const)("starts so in %s as well", async ([, script], context) => {
    const { workspace } = open(context, script);

    for (let count = 0; count < 3; count++) {
      const outcome = await workspace.call("script");
      expect(outcome).toMatchObject({ output: "1,21,2./data.csv", files: [{ path: "report.md", bytes: 7 }] });
    }
  });

  test("sees what was added, removed or replaced since the last call", async (context) => {
    const { directory, workspace } = open(context, { "a.py": makesReport });
    const first = await workspace.call("script");
    await workspace.call("script");

    writeFileSync(join(directory, "new.csv"), "");
    const added = await workspace.call("script");
    writeFileSync(join(directory, "draft"), "3,4");
    renameSync(join(directory, "draft"), join(directory, "data.csv"));
    const replaced = await workspace.call("script");
    rmSync(join(directory, "new.csv"));
    const removed = await workspace.call("script");

    expect([first, added, replaced, removed].map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok"]);
    expect(added).toMatchObject({ output: expect.stringContaining("'new.csv'") as string });
    expect(replaced).toMatchObject({ output: expect.stringMatching(/^3,4 True/u) as string });
    expect(removed).toMatchObject({ output: expect.not.stringContaining("new.csv") as string });
  });

  test("writes next to a file that the call names, and still reads what is beside it", async (context) => {
    const source = `import os, sys
path = sys.argv[1]
print(open(path).read() + open(os.path.join(os.path.dirname(path), "beside.txt")).read())
open(path + ".last", "w").write("last")`;
    const files = { "in/deep/a.txt": "a", "in/deep/beside.txt": "b", "in/other.txt": "c" };
    const { directory, workspace } = open(context, { "a.py": source }, { files });

    const relative = await workspace.call("script", { input: "in/deep/a.txt" }, asPerson);
    const absolute = await workspace.call("script", { input: join(directory, "in/deep/a.txt") }, asPerson);

    for (const outcome of [relative, absolute])
      expect(outcome).toMatchObject({ output: "ab", files: [{ path: "in/deep/a.txt.last", bytes: 4 }] });
    expect(readdirSync(join(directory, "in/deep"))).toEqual(["a.txt", "beside.txt"]);
  });

  test("saves an output where the call names it, also in a folder that it may only read", async (context) => {
    const source = `import sys\nopen(sys.argv[1], "w").write("new")`;
    const { directory, workspace } = open(context, { "a.py": source }, { files: { "out/old.txt": "old" } });
    const call = (output: string): Promise<ToolOutcome> => workspace.call("script", { output }, asPerson);

    const outcomes = [await call("top.txt"), await call("out/new.txt"), await call("out/old.txt")];

    expect(outcomes.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
    const read = (path: string): string => readFileSync(join(directory, path), "utf8");
    expect([read("top.txt"), read("out/new.txt"), read("out/old.txt"), read("out/old.txt.bak")]).toEqual([
      "new",
      "new",
      "new",
      "old",
    ]);
  });

  test("writes what it may write, and keeps the rest private", async (context) => {
    const source = `open("out/a.txt", "w").write("a"); open("b.txt", "w").write("b"); print(open("data.csv").read())`;
    const permissions = { read: ["./data.csv"], write: ["./out/"] };
    const { directory, workspace } = open(context, { "a.py": source }, { permissions });

    const outcomes = [await workspace.call("script"), await workspace.call("script"), await workspace.call("script")];

    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ output: "1,2", files: [{ path: "b.txt", bytes: 1 }] });
    expect(existsSync(join(directory, "b.txt"))).toBe(false);
    expect(readFileSync(join(directory, "out/a.txt"), "utf8")).toBe("a");
  });

  test("sees of the project only what was granted", async (context) => {
    const files = { "data.csv": "1,2", "other.csv": "secret", "in/x.csv": "secret" };
    const source = `import os\nprint(sorted(os.listdir(".")), os.path.exists("in"), os.path.exists(os.path.abspath("other.csv")))`;
    const { workspace } = open(context, { "a.py": source }, { files, permissions: { read: ["./data.csv"] } });

    expect(await workspace.call("script")).toMatchObject({ status: "ok", output: "['data.csv'] False False" });
    await workspace.call("script");
    expect(await workspace.call("script")).toMatchObject({ status: "ok", output: "['data.csv'] False False" });
  });

  test("cannot read what is shielded, by any name, and cannot change, move or uncover what it may read", async (context) => {
    const files = {
      "data.csv": "1,2",
      ".env": "SECRET=1",
      "in/.env": "SECRET=2",
      "in/a.csv": "3",
      ".git/config": "[core]",
      "kitbag.lock": "{}",
      ".kitbag/key": "SECRET=3",
    };
    const { directory, workspace } = open(context, { "a.py": attack }, { files });
    symlinkSync(".env", join(directory, "env-link"));
    symlinkSync("in", join(directory, "in-link"));

    for (let count = 0; count < 3; count++) {
      const outcome = await workspace.call("script", { input: "in/a.csv" }, asPerson);
      expect(outcome, JSON.stringify(outcome)).toMatchObject({ status: "ok", output: "contained" });
      expect(JSON.stringify(outcome)).not.toContain("SECRET");
    }
    expect(readFileSync(join(directory, "data.csv"), "utf8")).toBe("1,2");
    expect(readFileSync(join(directory, ".env"), "utf8")).toBe("SECRET=1");
    expect(readdirSync(directory).toSorted()).toEqual(
      [".env", ".git", ".kitbag", "data.csv", "env-link", "in", "in-link", "kitbag.lock"].toSorted(),
    );
  });

  test("is told the command that lets it replace a file of the project", async (context) => {
    const source = `import os\nopen("draft", "w").write("x"); os.replace("draft", "data.csv")`;
    const { workspace } = open(context, { "a.py": source });

    const outcome = await workspace.call("script");

    const cure = `it may write only to its private folders, and not to draft: add it to the skill's permissions: write = ["."]`;
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining(cure) as string } });
  });

  test("follows no link of the project to what it may not see", async (context) => {
    const outside = makeProject({ "secret.txt": "SECRET" });
    const source = `import os
for path in ("file", "folder/secret.txt", "up/secret.txt", "shadow"):
    try: print(open(path).read())
    except OSError: pass
print(sorted(name for name in os.listdir(".") if os.path.islink(name)))
os.remove("file"); open("file", "w").write("own")`;
    const { directory, workspace } = open(context, { "a.py": source });
    symlinkSync(join(outside, "secret.txt"), join(directory, "file"));
    symlinkSync(outside, join(directory, "folder"));
    symlinkSync(join("..", outside.slice(dirname(directory).length + 1)), join(directory, "up"));
    symlinkSync("/etc/shadow", join(directory, "shadow"));

    for (let count = 0; count < 3; count++) {
      const outcome = await workspace.call("script");
      expect(outcome).toMatchObject({ output: "['file', 'folder', 'shadow', 'up']" });
      expect(outcome.files).toMatchObject([{ path: "file", bytes: 3 }]);
    }
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("SECRET");
  });

  test("loses no word about a project with too many entries: it stays read-only, and the call says so", async (context) => {
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`${index}.txt`, ""]));
    const { workspace } = open(context, { "a.py": makesReport }, { files: { "data.csv": "1,2", ...files } });

    const outcome = await workspace.call("script");

    expect(outcome).toMatchObject({ status: "failed", error: { code: "script-failed" } });
    expect(outcome.status === "failed" && outcome.error.message).toMatch(
      /Read-only file system[\s\S]*write = \["\."\]/u,
    );
  });

  test.runIf(isRoot)(
    "reads what the owner of a granted folder can read, and not what only root can",
    async (context) => {
      const source = `for path in ("own.txt", "of-root.txt"):
    try: print(open(path).read())
    except PermissionError as cause: print(cause.strerror)`;
      const { directory, workspace } = open(
        context,
        { "a.py": source },
        { files: { "own.txt": "own", "of-root.txt": "root" } },
      );
      for (const path of [".", "own.txt"]) chownSync(join(directory, path), 61_234, 61_234);
      for (const path of ["own.txt", "of-root.txt"]) chmodSync(join(directory, path), 0o600);

      for (let count = 0; count < 3; count++)
        expect(await workspace.call("script")).toMatchObject({ output: "own\nPermission denied" });
    },
  );
});

test("viewProject() leaves a project alone that the script may write, or at whose place a sandbox has its own files", () => {
  const directory = makeProject({ "a.txt": "" });
  const view = (mount: object, at = directory): unknown =>
    viewProject({ ...toProfile(at), mounts: [{ source: directory, target: at, granted: true, ...mount }] }, []);

  expect(view({})).toMatchObject({ profile: { work: { path: directory, folders: [] } } });
  expect([view({ write: true }), view({ granted: false }), view({}, "/opt"), view({}, "/"), view({}, "/etc")]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("viewProject() takes places where something is mounted, below them, and links, so that nothing is put there", () => {
  const directory = makeProject({ "a.txt": "", "in/b.txt": "", "deep/er/c.txt": "" });
  symlinkSync("/etc", join(directory, "link"));
  spawnSync("mkfifo", [join(directory, "pipe")]);
  const mounts = [{ source: directory, target: directory, granted: true }];

  const view = viewProject({ ...toProfile(directory), mounts }, [
    "deep/er/c.txt",
    "../x/y",
    "link/passwd",
    "a\0/b",
    "/",
  ]);

  const taken = ["a.txt", "in", "in/new", "link", "link/new", "deep/er/c.txt"];
  expect(taken.filter((place) => view?.isTaken(place) !== true)).toEqual([]);
  expect(
    ["new", "a.txt.bak", "inn", "pipe", "deep/new", "deep/er/new"].filter((place) => view?.isTaken(place)),
  ).toEqual([]);
  expect(view?.profile.work?.folders).toEqual(["deep", "deep/er"]);
  expect([...(view?.links ?? [])]).toEqual([["link", "/etc"]]);
});

interface Given {
  readonly files?: Readonly<Record<string, string>>;
  readonly permissions?: Permissions;
}

interface Opened {
  readonly directory: string;
  readonly workspace: Workspace;
}

/** Not below /tmp, where a script that may read a project has other places for temporary files. */
function makeProject(files: Readonly<Record<string, string>>): string {
  const directory = realpathSync(mkdtempSync("/var/tmp/kitbag-view-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return directory;
}

function toProfile(directory: string): Profile {
  return { mounts: [], environment: {}, programs: [], directory, limits: defaultLimits };
}

/** Tries everything that must not succeed, and tells what did. */
const attack = `import ctypes, os, shutil
escaped = []
def refused(what, do):
    try: do()
    except OSError: return
    escaped.append(what)
here = os.getcwd()
private = "/opt/kitbag/call/files"
for root in (".", here, private, "/proc/self/root" + here):
    for path in (".env", "in/.env", "env-link", "in-link/.env", ".kitbag/key"):
        try:
            if "SECRET" in open(os.path.join(root, path)).read(): escaped.append("read " + root + path)
        except OSError: pass
for path in ("data.csv", "in/a.csv", ".git/config", "kitbag.lock", ".env"):
    refused("write " + path, lambda: open(path, "w"))
    refused("append " + path, lambda: open(path, "a"))
    refused("truncate " + path, lambda: os.truncate(path, 0))
    refused("chmod " + path, lambda: os.chmod(path, 0o777))
    refused("remove " + path, lambda: os.remove(path))
    refused("move " + path, lambda: os.rename(path, "moved"))
    refused("link " + path, lambda: os.link(path, "linked"))
    refused("replace " + path, lambda: (open("x", "w").close(), os.replace("x", path)))
    if os.path.exists(os.path.join(private, path)):
        refused("uncover " + path, lambda: os.remove(os.path.join(private, path)))
refused("make in .git", lambda: open(".git/hooks", "w"))
refused("move .git", lambda: os.rename(".git", "git"))
refused("move in", lambda: os.rename("in", "moved"))
refused("move the project", lambda: os.rename(here, here + "-moved"))
refused("above", lambda: open("../x", "w"))
libc = ctypes.CDLL(None, use_errno=True)
for path in (b".env", b"in/.env", here.encode()):
    if libc.umount2(path, 2) == 0: escaped.append("unmount")
if libc.unshare(0x10000000 | 0x20000) == 0: escaped.append("unshare")
for name in ("x", "moved", "linked"):
    if os.path.exists(name): os.remove(name)
print(escaped or "contained")
`;
