import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { beforeEach, expect, test, vi } from "vitest";

import { needProgram } from "../../../../test/support/need-program.ts";
import {
  countInstalled,
  leftovers,
  openDependencies,
  openTestIndex,
  problemOf,
  pythonRequest,
  readInstalled,
  runPython,
} from "../../../../test/support/dependency-bench.ts";
import { makeTarball, makeWheel, type PackageFile } from "../../../../test/support/make-packages.ts";
import { createFolder } from "../../../../test/support/temporary-folder.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";

// Installers take seconds, and much longer beside other tests.
vi.setConfig({ testTimeout: 120_000 });

beforeEach((context) => needProgram(context, "/usr/bin/python3"));

test("prepare() installs packages and those they need, for scripts to import", async () => {
  const { index } = await openTestIndex({
    wheels: [
      makeWheel({
        name: "hello",
        version: "1.0",
        requires: ["Friend>=1; python_version > '3'", "never; extra == 'x'"],
      }),
      makeWheel({ name: "friend", version: "1.5" }),
      makeWheel({ name: "friend", version: "2.0" }),
    ],
  });
  const dependencies = await openDependencies({ index });

  const prepared = await dependencies.prepare({
    ...pythonRequest("hello"),
    constraints: pythonRequest("friend<2").requirements,
  });

  expect(prepared.environment).toEqual({ PYTHONPATH: "/opt/packages/python" });
  expect(prepared.mounts).toEqual([{ source: expect.any(String) as string, target: "/opt/packages/python" }]);
  expect(prepared.lock?.packages.map(({ name, version }) => `${name} ${version}`)).toEqual(["friend 1.5", "hello 1.0"]);
  expect(
    await runPython(prepared, "import hello, friend; print(hello.version, friend.version, hello.__cached__)"),
  ).toMatch(/^1\.0 1\.5 \/opt\/packages\/python\/__pycache__\/hello\.cpython-\d+\.pyc$/u);
  expect(await runPython(prepared, "open('/opt/packages/python/hello.py', 'w')")).toContain("Read-only file system");
  expect(leftovers(dependencies.home)).toEqual([]);
});

test("prepare() installs nothing where all that is asked for is for other systems", async () => {
  const dependencies = await openDependencies({ index: (await openTestIndex({})).index });

  const prepared = await dependencies.prepare(pythonRequest("hello; sys_platform == 'win32'"));

  expect(prepared.lock?.packages).toEqual([]);
  expect(readInstalled(prepared).size).toBe(0);
});

test("prepare() asks the index only once, and not at all with packages that are there", async () => {
  const { index, asked } = await openTestIndex({ wheels: [makeWheel({ name: "hello" })] });
  const first = await openDependencies({ index });

  const prepared = await first.prepare(pythonRequest("hello"));
  const before = asked.length;
  const again = await first.prepare(pythonRequest("hello"));
  const offline = await openDependencies({ home: first.home, index, offline: true });
  const later = await offline.prepare(pythonRequest("hello"));

  expect([again, later]).toEqual([prepared, prepared]);
  expect(asked).toHaveLength(before);
});

test("prepare() starts no program for packages that are installed", async () => {
  const { index } = await openTestIndex({ wheels: [makeWheel({ name: "hello" })] });
  const first = await openDependencies({ index });
  const prepared = await first.prepare(pythonRequest("hello"));
  const sandbox: Sandbox = {
    name: "bubblewrap",
    enforces: new Set(),
    start: () => Promise.reject(new Error("nothing shall start")),
    close: () => Promise.resolve(),
  };
  const later = await openDependencies({ sandbox, home: first.home, index });

  expect(await later.prepare(pythonRequest("hello"))).toEqual(prepared);
  await expect(later.prepare(pythonRequest("other"))).rejects.toThrow("nothing shall start");
});

test("prepare() gives the same bytes for the same lock, whatever the index has by now", async () => {
  const wheels = [makeWheel({ name: "hello", version: "1.0" })];
  const { index } = await openTestIndex({ wheels });
  const [here, there] = [await openDependencies({ index }), await openDependencies({ index })];
  const one = await here.prepare(pythonRequest("hello>=1"));
  wheels.push(makeWheel({ name: "hello", version: "2.0" }));
  cpSync(join(here.home, "locks"), join(there.home, "locks"), { recursive: true });

  const other = await there.prepare(pythonRequest("hello>=1"));

  expect(readInstalled(other)).toEqual(readInstalled(one));
  expect(other.lock?.packages).toEqual(one.lock?.packages);
});

test("prepare() refuses a file that is not the one that was locked", async () => {
  const wheels = [makeWheel({ name: "hello" })];
  const { index } = await openTestIndex({ wheels });
  const [here, there] = [await openDependencies({ index }), await openDependencies({ index })];
  await here.prepare(pythonRequest("hello"));
  wheels.splice(0, 1, makeWheel({ name: "hello", files: { "hello.py": "evil = True\n" } }));
  cpSync(join(here.home, "locks"), join(there.home, "locks"), { recursive: true });

  const attempt = there.prepare(pythonRequest("hello"));

  await expect(attempt).rejects.toThrow(
    /"hello": the file on the index is not the one that was locked: its hash is [0-9a-f]{64}/u,
  );
  expect(countInstalled(there.home)).toBe(0);
  expect(leftovers(there.home)).toEqual([]);
});

test("prepare() refuses a file that does not have the hash that a skill gives", async () => {
  const { index } = await openTestIndex({ wheels: [makeWheel({ name: "hello" })] });
  const dependencies = await openDependencies({ index });
  const request = pythonRequest("hello==1.0");
  const requirements = request.requirements.map((one) => ({ ...one, hashes: [`sha256:${"0".repeat(64)}`] }));

  expect(await problemOf(dependencies.prepare({ ...request, requirements }))).toMatchObject({
    problem: "hash",
    package: "hello",
  });
});

test("prepare() never runs the code of a package that is not a wheel", async () => {
  const { index, asked, url } = await openTestIndex({ wheels: [evilSource("evil")] });
  const dependencies = await openDependencies({ index });

  const problem = await problemOf(dependencies.prepare(pythonRequest("evil")));

  expect(problem).toMatchObject({ problem: "no-wheel", package: "evil" });
  expect(problem.reason).toContain("there is no wheel of it for Python 3.");
  expect(problem.cure).toContain("grant it install scripts");
  expect(asked.filter((path) => path.startsWith("/ran"))).toEqual([]);
  expect(url).toContain("127.0.0.1");
});

test("prepare() builds a package that was granted it, with nothing of the machine in reach", async () => {
  const other = await openTestIndex({});
  const secret = createFolder({ "secret.txt": "secret" });
  const { index } = await openTestIndex({
    wheels: [curiousSource([join(secret, "secret.txt"), "/etc/shadow"], other.url)],
  });
  const dependencies = await openDependencies({ index, allowInstallScripts: ["curious"] });

  const prepared = await dependencies.prepare(pythonRequest("curious"));

  const seen = JSON.parse(await runPython(prepared, "import curious; print(curious.seen)")) as Record<string, string>;
  expect(Object.values(seen)).toEqual(["FileNotFoundError", "FileNotFoundError", "OSError", "HTTPError"]);
  expect(other.asked).toEqual([]);
});

test("prepare() refuses a wheel that writes outside of its place", async () => {
  const files = { "../../../../escaped.py": "evil = True\n", "hello.py": "" };
  const { index } = await openTestIndex({ wheels: [makeWheel({ name: "hello", files })] });
  const dependencies = await openDependencies({ index });

  const problem = await problemOf(dependencies.prepare(pythonRequest("hello")));

  expect(problem).toMatchObject({
    problem: "broken",
    package: "hello",
    reason: "it wants to write outside of its own directory",
  });
  expect(
    readdirSync(dependencies.home, { recursive: true }).filter((name) => String(name).includes("escaped")),
  ).toEqual([]);
});

test("prepare() refuses a wheel that is no archive", async () => {
  const wheel: PackageFile = { file: "hello-1.0-py3-none-any.whl", bytes: Buffer.from("what is this") };
  const dependencies = await openDependencies({ index: (await openTestIndex({ wheels: [wheel] })).index });

  expect(await problemOf(dependencies.prepare(pythonRequest("hello")))).toMatchObject({
    problem: "broken",
    package: "hello",
  });
});

test.for([
  {
    what: "is not on the index",
    wheels: [],
    asks: ["hello"],
    problem: "not-found",
    reason: "it is not on the package index",
  },
  {
    what: "is not there in this version",
    wheels: [makeWheel({ name: "hello", version: "1.0" })],
    asks: ["hello>=2"],
    problem: "not-found",
    reason: "this version is not on the package index as a wheel, only 1.0",
  },
  {
    what: "is there only for another machine",
    wheels: [makeWheel({ name: "hello", tags: "cp39-cp39-win_arm64" })],
    asks: ["hello"],
    problem: "no-wheel",
    reason: "there is no wheel of it for Python 3.",
  },
  {
    what: "does not fit another one",
    wheels: [makeWheel({ name: "hello", requires: ["friend<2"] }), makeWheel({ name: "friend", version: "2.0" })],
    asks: ["hello", "friend>=2"],
    problem: "conflict",
    reason: "no versions fit together",
  },
])("prepare() says that a package $what", async ({ wheels, asks, problem, reason }) => {
  const dependencies = await openDependencies({ index: (await openTestIndex({ wheels })).index });

  const found = await problemOf(dependencies.prepare(pythonRequest(...asks)));

  expect(found.problem).toBe(problem);
  expect(found.reason).toContain(reason);
});

test("prepare() says that a package needs a newer Python", async () => {
  const { index } = await openTestIndex({
    wheels: [makeWheel({ name: "hello", requiresPython: ">=4" })],
    attributes: 'data-requires-python="&gt;=4"',
  });
  const dependencies = await openDependencies({ index });

  const found = await problemOf(dependencies.prepare(pythonRequest("hello")));

  expect(found).toMatchObject({ problem: "no-wheel", package: "hello" });
  expect(found.reason).toMatch(/^it needs Python >=4, and this is 3\./u);
});

test("prepare() refuses a Python that a script does not run with", async () => {
  const dependencies = await openDependencies({ offline: true });

  const attempt = dependencies.prepare({ ...pythonRequest("hello"), requiresPython: ">=4" });

  await expect(attempt).rejects.toThrow("the script needs Python >=4, and /usr/bin/python3 is 3.");
});

test("prepare() says how to get pip where there is none", async () => {
  const folder = createFolder();
  execFileSync("/usr/bin/python3", ["-m", "venv", "--copies", "--without-pip", join(folder, "bare")]);
  const python = join(folder, "bare", "bin", "python3");
  const dependencies = await openDependencies({ offline: true });

  const found = await problemOf(dependencies.prepare({ ...pythonRequest("hello"), python }));

  expect(found).toMatchObject({ problem: "installer-missing", reason: `${python} has no pip` });
  expect(found.cure).toContain("apt install python3-pip");
});

test("prepare() installs from a folder of wheels without any network", async () => {
  const wheels = [makeWheel({ name: "hello", requires: ["friend"] }), makeWheel({ name: "friend" })];
  const wheelhouse = createFolder(Object.fromEntries(wheels.map(({ file, bytes }) => [file, bytes])));
  const { index, asked } = await openTestIndex({ wheels });
  const dependencies = await openDependencies({ index, wheelhouse });

  const prepared = await dependencies.prepare(pythonRequest("hello"));
  const missing = await problemOf(dependencies.prepare(pythonRequest("stranger")));

  expect(await runPython(prepared, "import hello, friend; print(hello.version)")).toBe("1.0");
  expect(missing).toMatchObject({
    problem: "not-found",
    package: "stranger",
    reason: "it is not in the folder of packages",
  });
  expect(missing.cure).toContain(`pip download --only-binary :all: --dest ${wheelhouse} stranger`);
  expect(asked).toEqual([]);
});

test("prepare() installs the same on another machine with the lock and the index", async () => {
  const { index } = await openTestIndex({ wheels: [makeWheel({ name: "hello" })] });
  const [here, there] = [await openDependencies({ index }), await openDependencies({ index })];
  const one = await here.prepare(pythonRequest("hello"));
  cpSync(join(here.home, "locks"), join(there.home, "locks"), { recursive: true });

  const other = await there.prepare(pythonRequest("hello"));

  expect(readInstalled(other)).toEqual(readInstalled(one));
});

test("prepare() refuses a lock that is broken, and says which file it is", async () => {
  const { index } = await openTestIndex({ wheels: [makeWheel({ name: "hello" })] });
  const dependencies = await openDependencies({ index });
  const { lock } = await dependencies.prepare(pythonRequest("hello"));
  writeFileSync(lock?.file ?? "", "{");

  const found = await problemOf(dependencies.prepare(pythonRequest("hello")));

  expect(found).toMatchObject({ problem: "lock", reason: `the lock ${lock?.file} cannot be read` });
  expect(existsSync(lock?.file ?? "")).toBe(true);
});

/** A source package that tells the index when it is run. */
function evilSource(name: string): PackageFile {
  const setup = [
    "import urllib.request, os",
    "urllib.request.urlopen(os.environ['PIP_INDEX_URL'].replace('/simple', '/ran'))",
    `from setuptools import setup; setup(name="${name}", version="1.0")`,
  ];
  return { file: `${name}-1.0.tar.gz`, bytes: makeTarball({ [`${name}-1.0/setup.py`]: setup.join("\n") }) };
}

/** A source package that builds itself, and writes down what it could see of the machine. */
function curiousSource(files: readonly string[], url: string): PackageFile {
  const backend = `
import io, json, urllib.request, zipfile
def attempt(read):
    try:
        read()
        return "reached"
    except Exception as cause:
        return type(cause).__name__
def build_wheel(directory, config_settings=None, metadata_directory=None):
    seen = {name: attempt(lambda: open(name).read()) for name in ${JSON.stringify(files)}}
    seen["orders"] = attempt(lambda: open("/opt/told/locked.txt", "w"))
    seen["network"] = attempt(lambda: urllib.request.urlopen("${url}/secrets", timeout=5))
    name = "curious-1.0-py3-none-any.whl"
    info = "curious-1.0.dist-info/"
    with zipfile.ZipFile(directory + "/" + name, "w") as wheel:
        wheel.writestr("curious.py", "seen = " + repr(json.dumps(seen)))
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: curious\\nVersion: 1.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return name
`;
  const project = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n';
  const archive = makeTarball({
    "curious-1.0/pyproject.toml": `${project}[project]\nname = "curious"\nversion = "1.0"\n`,
    "curious-1.0/backend.py": backend,
    "curious-1.0/PKG-INFO": "Metadata-Version: 2.1\nName: curious\nVersion: 1.0\n",
  });
  return { file: "curious-1.0.tar.gz", bytes: archive };
}
