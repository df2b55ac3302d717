import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { createWorkspace, type CallOptions, type Tool, type ToolOutcome, type Workspace } from "kitbag";
import { afterAll, describe, expect, test, type TestContext, vi } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createScriptTool } from "../../../test/support/run-script.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import { openRuntimes, type Runtimes } from "../open-runtimes.ts";

vi.setConfig({ testTimeout: 60_000 });

const copies = `import sys
source, target = sys.argv[1:3]
open(target, "w").write(open(source).read().upper())
print(source, "->", target)`;

describe.for([
  ["bubblewrap", "bwrap"],
  ["unshare", "unshare"],
] as const)("a script in %s", ([sandbox, program]) => {
  // Not below /tmp: of a project there, scripts that start cold have their temporary folder in memory.
  const directory = realpathSync(mkdtempSync("/var/tmp/kitbag-named-"));
  let runtimes: Runtimes | undefined;
  let count = 0;
  afterAll(async () => {
    await runtimes?.close();
    rmSync(directory, { recursive: true });
  });

  /** A folder of the project of its own, with files. */
  function makeFolder(files: Readonly<Record<string, string>> = {}): string {
    const folder = join(directory, `case-${(count += 1)}`);
    mkdirSync(folder);
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
    return folder;
  }

  function openWorkspace(context: TestContext, source: string): Workspace {
    for (const name of [program, "python3"]) needProgram(context, name);
    runtimes ??= openRuntimes({ directory, home: join(directory, ".home"), sandbox });
    return createWorkspace({ tools: [toTool(source)], runtimes });
  }

  async function callScript(context: TestContext, source: string, input: TestInput): Promise<ToolOutcome> {
    return openWorkspace(context, source).call("script", { ...input }, asPerson);
  }

  test.for([
    ["relative paths", "HERE/in.txt", "HERE/out.txt"],
    ["absolute paths", "ROOT/HERE/in.txt", "ROOT/HERE/out.txt"],
    ["paths with dots", "HERE/../HERE/in.txt", "./HERE/./out.txt"],
    ["names with spaces and quotes", "HERE/in '1' é.txt", 'HERE/out " 2.txt'],
    ["names like options and patterns", "HERE/--in*.txt", "HERE/[out]$(id).txt"],
  ] as const)("reads and writes what %s name", async ([, from, to], context) => {
    const folder = makeFolder({ [basename(from)]: "text" });
    const [source, output] = [from, to].map((path) =>
      path.replace("ROOT", directory).replaceAll("HERE", basename(folder)),
    ) as [string, string];

    const outcome = await callScript(context, copies, { words: [source], output });

    expect(outcome).toMatchObject({ status: "ok", output: `${source} -> ${output}` });
    const target = join(folder, basename(to));
    expect(outcome.files).toMatchObject([{ bytes: 4, savedTo: target }]);
    expect(readFileSync(target, "utf8")).toBe("TEXT");
    expect(readdirSync(folder).toSorted()).toEqual([basename(from), basename(to)].toSorted());
  });

  test("prints the names that the caller used, and so do its errors", async (context) => {
    const source = `import os, sys, json
print(json.dumps([os.path.abspath(sys.argv[1]), sys.argv[1] + ".x", "/opt/kitbag/workshop", os.getcwd()]))
open(sys.argv[1] + "/none")`;
    const path = join(makeFolder({ "in.txt": "" }), "in.txt");

    const outcome = await callScript(context, source, { words: [path] });

    expect(outcome).toMatchObject({ status: "failed", error: { code: "script-failed" } });
    const said = (outcome.status === "failed" ? outcome.error.details : {}) as Record<string, string>;
    expect(JSON.parse(said["stdout"] ?? "")).toEqual([path, `${path}.x`, "/opt/kitbag/workshop", "."]);
    expect(said["stderr"]).toContain(`'${path}/none'`);
  });

  test("leaves files in its own folder, which are listed and kept", async (context) => {
    const source = `import os
os.makedirs("deep/er"); open("deep/er/a.txt", "w").write("kept"); open("b.bin", "wb").write(bytes([255, 0]))
os.symlink("/etc/passwd", "link"); os.mkfifo("pipe"); os.makedirs("__pycache__"); open("__pycache__/c", "w")`;
    const workspace = openWorkspace(context, source);

    const outcome = await workspace.call("script", {}, asPerson);

    const files = (outcome.files ?? []).toSorted((one, other) => (one.path < other.path ? -1 : 1));
    expect(files.map(({ path, bytes, savedTo }) => [path, bytes, savedTo])).toEqual([
      ["b.bin", 2, undefined],
      ["deep/er/a.txt", 4, undefined],
    ]);
    expect(await workspace.readOutput(files[1]?.handle ?? "")).toMatchObject({ text: "kept" });
  });

  test("leaves files in its home and in /tmp, which are kept, but no caches and no temporary files", async (context) => {
    const source = `import os, pathlib, tempfile
home = pathlib.Path.home()
for path in (home / ".notes" / "a.txt", home / ".cache" / "b", pathlib.Path("/tmp/chart.svg"), pathlib.Path(tempfile.gettempdir(), "c.txt")):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(path.name)
    print(path)
tempfile.mkstemp()
print(os.listdir("."))`;
    const workspace = openWorkspace(context, source);

    const outcomes = [await workspace.call("script", {}, asPerson), await workspace.call("script", {}, asPerson)];

    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        status: "ok",
        output: "~/.notes/a.txt\n~/.cache/b\n/tmp/chart.svg\n/tmp/c.txt\n[]",
      });
      const files = outcome.files?.map(({ path, bytes, handle }) => [path, bytes, handle !== undefined]);
      expect(files).toEqual([
        ["~/.notes/a.txt", 5, true],
        ["/tmp/chart.svg", 9, true],
        ["/tmp/c.txt", 5, true],
      ]);
    }
  });

  test("says how many files it left that are too many to be listed", async (context) => {
    const source = `for number in range(250): open(f"{number}.txt", "w").write("x")`;

    const outcome = await callScript(context, source, {});

    expect(outcome.files).toHaveLength(201);
    expect(outcome.files?.at(-1)).toEqual({ path: "(50 more files, which are not kept)", bytes: 50 });
    expect(outcome.files?.filter(({ handle }) => handle !== undefined)).toHaveLength(100);
  });

  test("sees nothing of the files of the call before, warm or cold", async (context) => {
    const source = `import os\nprint(os.listdir("."), os.listdir("/tmp"), os.path.isdir("/run/folders") and os.listdir("/run/folders") or [])\nfor path in ("left.txt", "/tmp/left.txt"): open(path, "w").write("x")`;
    const workspace = openWorkspace(context, source);
    const seen = new Set<unknown>();

    for (let call = 0; call < 4; call += 1) {
      const outcome = await workspace.call("script", {}, asPerson);
      seen.add(outcome.status === "ok" ? outcome.output : outcome.error.message);
    }

    expect([...seen]).toEqual(["[] [] []"]);
  });

  test("gets a copy of an input: what it changes in it is not saved", async (context) => {
    const source = `import os, sys
for mode in "aw":
    try: open(sys.argv[1], mode)
    except PermissionError: print("refused")
os.chmod(sys.argv[1], 0o644)
open(sys.argv[1], "w").write("changed")`;
    const folder = makeFolder({ "in.txt": "mine" });
    const name = `${basename(folder)}/in.txt`;

    const outcome = await callScript(context, source, { words: [name] });

    expect(outcome).toMatchObject({ status: "ok", output: "refused\nrefused", files: [{ path: name, bytes: 7 }] });
    expect(outcome.files?.[0]).not.toHaveProperty("savedTo");
    expect(readFileSync(join(folder, "in.txt"), "utf8")).toBe("mine");
  });

  test.for([
    ["an output", "output"],
    ["what a person names in a parameter whose name says so", "save_to"],
  ] as const)("replaces %s if it exists, of which a backup stays", async ([, parameter], context) => {
    const folder = makeFolder({ "out.txt": "old", "out.txt.bak": "older" });
    const source = `import sys\nopen(sys.argv[1], "a").write("+new")`;

    const outcome = await callScript(context, source, { [parameter]: join(folder, "out.txt") });

    const [savedTo, backup] = [join(folder, "out.txt"), join(folder, "out.txt.2.bak")];
    expect(outcome).toMatchObject({ status: "ok", files: [{ savedTo, backup }] });
    expect([savedTo, backup, join(folder, "out.txt.bak")].map((path) => readFileSync(path, "utf8"))).toEqual([
      "old+new",
      "old",
      "older",
    ]);
  });

  test("writes a folder of outputs, which is saved whole and without links", async (context) => {
    const folder = makeFolder();
    const source = `import os, sys
os.makedirs(sys.argv[1] + "/a/b"); os.makedirs(sys.argv[1] + "/empty")
open(sys.argv[1] + "/a/b/c.txt", "w").write("c")
os.symlink("/etc/shadow", sys.argv[1] + "/a/link"); os.symlink("..", sys.argv[1] + "/up")`;

    const outcome = await callScript(context, source, { output: join(folder, "new") });

    expect(outcome).toMatchObject({ status: "ok", files: [{ savedTo: join(folder, "new/a/b/c.txt") }] });
    expect(readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()).toEqual([
      "new",
      "new/a",
      "new/a/b",
      "new/a/b/c.txt",
      "new/empty",
    ]);
  });

  test("reads a folder where it is, and a file that is too large to be copied, without what is shielded", async (context) => {
    const folder = makeFolder({ "a.txt": "a", ".env": "SECRET=1" });
    mkdirSync(join(folder, ".git"));
    truncateSync(openLarge(folder), 65 * 1024 * 1024);
    const source = `import os, sys
for path in sys.argv[1:]: print(path, os.path.getsize(path) if os.path.isfile(path) else sorted(os.listdir(path)))
try: print(len(open(sys.argv[1] + "/.env").read()))
except OSError as problem: print("closed")
try: open(sys.argv[1] + "/made", "w")
except OSError as problem: print("refused")`;
    const [name, large] = [basename(folder), `${basename(folder)}/large.bin`];

    const outcome = await callScript(context, source, { words: [`./${name}`, large] });

    expect(outcome).toMatchObject({ status: "ok" });
    const lines = String(outcome.status === "ok" && outcome.output)
      .trimEnd()
      .split("\n");
    expect(lines[0]).toMatch(new RegExp(`^\\./${name} \\[.*'a\\.txt', 'large\\.bin'\\]$`, "u"));
    expect(lines.slice(1)).toEqual([`${large} ${65 * 1024 * 1024}`, expect.stringMatching(/^0$|closed/u), "refused"]);
    expect(existsSync(join(folder, "made"))).toBe(false);
  });

  test("loses no output when another call writes the same one: one wins, the other is told", async (context) => {
    const folder = makeFolder();
    const source = `import sys, time\ntime.sleep(0.3)\nopen(sys.argv[2], "w").write(sys.argv[1] * 1000)`;
    const workspace = openWorkspace(context, source);
    const output = join(folder, "out.txt");

    const outcomes = await Promise.all(
      ["a", "b", "c"].map((word) => workspace.call("script", { words: [word], output }, asPerson)),
    );

    const failed = outcomes.filter((outcome) => outcome.status === "failed");
    expect(outcomes.filter(({ status }) => status === "ok")).toHaveLength(1);
    expect(failed.map((outcome) => [outcome.error.code, outcome.files?.[0]?.bytes])).toEqual([
      ["file-denied", 1000],
      ["file-denied", 1000],
    ]);
    expect(failed.every(({ files }) => files?.[0]?.handle !== undefined)).toBe(true);
    expect(new Set(readFileSync(output, "utf8")).size).toBe(1);
    expect(readdirSync(folder)).toEqual(["out.txt"]);
  });

  test("does not write through a link that takes the place of its output, or of the folder of that", async (context) => {
    const [folder, elsewhere] = [makeFolder(), makeFolder({ "victim.txt": "mine" })];
    mkdirSync(join(folder, "sub"));
    const source = `import sys, time\nopen(sys.argv[1], "w").write("x"); print("written", flush=True)\ntime.sleep(1)`;
    const workspace = openWorkspace(context, source);
    const swap = (act: () => void): CallOptions => {
      const left = [act];
      const onEvent = ({ type }: { readonly type: string }): void => {
        if (type === "call-chunk") for (const once of left.splice(0)) once();
      };
      return { ...asPerson, onEvent };
    };

    const [one, other] = await Promise.all([
      workspace.call(
        "script",
        { output: join(folder, "out.txt") },
        swap(() => symlinkSync(join(elsewhere, "victim.txt"), join(folder, "out.txt"))),
      ),
      workspace.call(
        "script",
        { output: join(folder, "sub/victim.txt") },
        swap(() => {
          rmSync(join(folder, "sub"), { recursive: true });
          symlinkSync(elsewhere, join(folder, "sub"));
        }),
      ),
    ]);

    expect([one, other]).toMatchObject([
      { status: "failed", error: { code: "file-denied" } },
      { status: "failed", error: { code: "file-denied" } },
    ]);
    expect(readFileSync(join(elsewhere, "victim.txt"), "utf8")).toBe("mine");
    expect(readdirSync(elsewhere)).toEqual(["victim.txt"]);
  });

  test.for([
    [
      "its own folder",
      `while True:
    for number in range(10_000):
        with open(f"{number}", "wb") as file: file.write(bytes(8 << 20))`,
    ],
    [
      "it with files whose names it removes",
      `import os, time
kept = []
for number in range(6):
    kept.append(open("a", "wb"))
    os.unlink("a")
    for _ in range(60): kept[-1].write(bytes(1 << 20))
time.sleep(30)`,
    ],
  ] as const)("is ended when it fills %s", async ([, source], context) => {
    const outcome = await callScript(context, source, {});

    expect(outcome).toMatchObject({ status: "failed" });
    expect(outcome.status === "failed" && outcome.error.message).toMatch(/private folder|No space/u);
  });

  test.for([
    ["a named pipe", "pipe", "named pipe"],
    ["a device", "/dev/zero", "leave its sandbox"],
    ["a file of the kernel", "/proc/self/environ", "leave its sandbox"],
    ["a file with secrets", ".env", "shielded"],
    ["a file with secrets behind a link", "link", "shielded"],
    ["an output in a folder that is missing", "none/out.txt", "make that folder first"],
    ["an output that is a link to nothing", "nowhere", "leads nowhere"],
    ["an output that every program trusts", "/etc/kitbag-test.conf", "leave its sandbox"],
    ["an output in Kitbag's own folder", "../.home/trust.json", "shielded"],
  ] as const)("is not given %s", async ([, name, reason], context) => {
    const folder = makeFolder({ ".env": "SECRET=1" });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    symlinkSync(".env", join(folder, "link"));
    symlinkSync("none/none", join(folder, "nowhere"));
    mkdirSync(join(directory, ".home"), { recursive: true });
    const path = name.startsWith("/") ? name : `${basename(folder)}/${name}`;

    const outcome = await callScript(context, `print("ran")`, { output: path });

    expect(outcome).toMatchObject({ status: "failed", error: { code: "file-denied", details: { file: path } } });
    expect(outcome.status === "failed" && outcome.error.message).toContain(reason);
  });

  test("of a skill with a folder of the project gets words as they are, and names that look like paths", async (context) => {
    const [granted, folder] = [makeFolder({ "own.txt": "own" }), makeFolder({ "in.txt": "text", word: "w" })];
    const source = `import os, sys\nprint(sys.argv[1:4], open(sys.argv[4]).read(), open(sys.argv[5]).read())`;
    const tool = { ...toTool(source), permissions: { read: [granted] } };
    openWorkspace(context, source);
    const workspace = createWorkspace({ tools: [tool], runtimes: runtimes ?? [] });
    writeFileSync(join(directory, "word"), "w");
    const words = ["word", "model-4.1", "en", join(granted, "own.txt"), `${basename(folder)}/in.txt`];

    const outcome = await workspace.call("script", { words }, asPerson);

    expect(outcome).toMatchObject({ status: "ok", output: "['word', 'model-4.1', 'en'] own text" });
  });

  test("saves nothing that git, editors or Kitbag obey in a folder that it makes as its output", async (context) => {
    const folder = makeFolder();
    const output = join(folder, "new");
    const source = `import os, sys
for path in (".git/config", "sub/.Claude/settings.json", "kitbag.config.json", "sub/a.txt", ".gitignore"):
    path = os.path.join(sys.argv[1], path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write("x")`;

    const outcome = await callScript(context, source, { output });

    expect(outcome.status).toBe("ok");
    expect((readdirSync(output, { recursive: true }) as string[]).toSorted()).toEqual([
      ".gitignore",
      "sub",
      "sub/a.txt",
    ]);
    const kept = outcome.files?.flatMap(({ path, savedTo }) => (savedTo === undefined ? [basename(path)] : []));
    expect(kept?.toSorted()).toEqual(["config", "kitbag.config.json", "settings.json"]);
  });

  test("is given nothing of a person's text that is no file: streams, addresses, words", async (context) => {
    const words = ["-", "/dev/stdin", "https://a.example/in.txt", "plain words", "/none/of/this", "a\nb", ""];

    const outcome = await callScript(context, "import sys, json\nprint(json.dumps(sys.argv[1:]))", { words });

    expect(outcome.status === "ok" && JSON.parse(String(outcome.output))).toEqual(words);
  });

  test("of a model reads ordinary files of the project in parameters for files, and no others", async (context) => {
    const folder = makeFolder({ "in.txt": "text", ".hidden": "h", "server.key": "k" });
    const outside = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-outside-")));
    writeFileSync(join(outside, "in.txt"), "outside");
    symlinkSync(join(outside, "in.txt"), join(folder, "link.txt"));
    const workspace = openWorkspace(context, `import sys\nprint(open(sys.argv[1]).read())`);
    const call = (path: string): Promise<ToolOutcome> => workspace.call("script", { input: path });
    const names = [".hidden", "server.key", "link.txt", `../../${basename(outside)}/in.txt`];

    const read = await call(`${basename(folder)}/in.txt`);
    const denied = await Promise.all([...names.map((name) => call(join(basename(folder), name))), call("/etc/passwd")]);
    const unlisted = await workspace.call("script", { words: [`${basename(folder)}/in.txt`] });
    rmSync(outside, { recursive: true });

    expect(read).toMatchObject({ status: "ok", output: "text" });
    expect(denied.map((outcome) => outcome.status === "failed" && outcome.error.code)).toEqual(
      Array.from({ length: 5 }, () => "file-denied"),
    );
    expect(unlisted).toMatchObject({ status: "failed", error: { code: "script-failed" } });
  });

  test("of another user is given what is kept for them, and their outputs are only kept", async (context) => {
    const folder = makeFolder({ "in.txt": "of the server" });
    const workspace = openWorkspace(context, `${copies}\nprint(open(source).read())`);
    const ada: CallOptions = { user: "ada", namedBy: "person" };
    const made = await workspace.call("script", { words: ["/skill/a.py"], output: "one.txt" }, ada);
    const { handle = "" } = made.files?.[0] ?? {};

    const [own, stolen, server] = await Promise.all([
      workspace.call("script", { input: handle, output: "two.txt" }, ada),
      workspace.call("script", { input: handle, output: "two.txt" }, { user: "bob" }),
      workspace.call("script", { input: `${basename(folder)}/in.txt`, output: "two.txt" }, ada),
    ]);

    expect(made.files).toMatchObject([{ path: "one.txt", handle: expect.stringMatching(/^output:/u) as string }]);
    expect(own).toMatchObject({ status: "ok", files: [{ path: "two.txt" }] });
    expect(own.status === "ok" && own.output).toContain("IMPORT SYS");
    expect(stolen).toMatchObject({ status: "failed", error: { code: "output-missing" } });
    expect(server).toMatchObject({ status: "failed", error: { code: "script-failed" } });
    expect(existsSync(join(directory, "two.txt"))).toBe(false);
  });

  test.for([
    ["its time is over", "time.sleep(60)", "call-timeout"],
    ["its caller gives up", 'print("ready", flush=True); time.sleep(60)', "call-cancelled"],
    ["it says too much", 'print("x" * 20_000_000)', "output-flooded"],
  ] as const)(
    "loses no file that it wrote before it was ended because %s, and saves none half done",
    async ([, ends, code], context) => {
      const folder = makeFolder({ "out.txt": "old" });
      const output = `${basename(folder)}/out.txt`;
      const source = `import sys, time
open(sys.argv[1], "w").write("half"); open("beside.txt", "w").write("beside")
${ends}`;
      const workspace = openWorkspace(context, source);

      for (let count = 0; count < 2; count++) {
        const caller = new AbortController();
        const options: CallOptions = {
          ...asPerson,
          ...(code === "call-timeout" && { limitMs: 1500 }),
          ...(code === "call-cancelled" && { signal: caller.signal }),
          onEvent: ({ type }) => void (type === "call-chunk" && code === "call-cancelled" && caller.abort()),
        };
        const outcome = await workspace.call("script", { output }, options);
        expect(outcome).toMatchObject({ status: "failed", error: { code } });
        const [beside, made] = (outcome.files ?? []).toSorted((one, other) => one.bytes - other.bytes).toReversed();
        expect([beside?.path, made?.path]).toEqual(["beside.txt", output]);
        expect(await workspace.readOutput(made?.handle ?? "")).toMatchObject({ text: "half" });
        expect(readFileSync(join(folder, "out.txt"), "utf8")).toBe("old");
      }
    },
  );

  test("cannot hide files from Kitbag by taking rights away", async (context) => {
    const source = `import os
os.mkdir("closed"); open("closed/a.txt", "w").write("a"); os.chmod("closed", 0); open("b.txt", "w").write("b"); os.chmod("b.txt", 0); os.chmod(".", 0)`;

    const outcome = await callScript(context, source, {});

    expect(outcome.files?.map(({ path }) => path).toSorted()).toEqual(["b.txt", "closed/a.txt"]);
  });
});

const asPerson: CallOptions = { namedBy: "person" };

interface TestInput {
  readonly words?: readonly string[];
  readonly input?: string;
  readonly output?: string;
  readonly save_to?: string;
}

/** A script whose arguments are what its input says. */
function toTool(source: string): Tool {
  const tool = createScriptTool({ "a.py": source });
  const toCommand: ScriptCode["toCommand"] = ({ words = [], input, output, save_to }) => ({
    argv: [...(words as string[]), ...([input, output, save_to] as string[]).filter((word) => word !== undefined)],
    env: {},
  });
  return { ...tool, files: { input: "read", output: "write" }, code: { ...tool.code, toCommand } as ScriptCode };
}

function openLarge(folder: string): string {
  const path = join(folder, "large.bin");
  writeFileSync(path, "");
  chmodSync(path, 0o644);
  return path;
}
