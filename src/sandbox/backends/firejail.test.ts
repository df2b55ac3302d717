import { execFile, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { afterAll, expect, onTestFinished, test, type TestContext } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { runScript } from "../../../test/support/run-script.ts";
import { findSandbox, type FoundSandbox } from "../find-sandbox.ts";
import { openEgress } from "../egress/open-egress.ts";
import { defaultLimits, nothing, type Profile, type Sandbox } from "../sandbox.ts";
import { testSandbox } from "../self-test.ts";
import { toFirejailWords } from "./firejail.ts";

const profile: Profile = { mounts: [], environment: {}, programs: [], limits: defaultLimits };

let opened: Promise<FoundSandbox> | undefined;
afterAll(async () => (await opened)?.close());

test("toFirejailWords() hides everything but the system and what is mounted", () => {
  const mounts = [
    { source: "/usr/lib", target: "/usr/lib" },
    { source: "/tmp/kitbag-work-0/kept/programs-1", target: "/usr/bin" },
    { source: "/tmp/kitbag-work-0/run-1/skill (1)", target: "/skill" },
    { source: "/data/out", target: "/data/out", write: true },
  ];
  const layout = { mounts, links: [], environment: {}, directory: "/skill" };

  const hidden = { source: nothing, target: "/data/out/home" };
  const words = toFirejailWords({ ...profile, mounts: [hidden] }, layout, {
    top: ["bin", "data", "etc", "home", "lost+found", "opt", "root", "tmp", "usr", "var"],
    services: ["dbus", "firejail"],
    home: "/home/ada",
  });

  expect(words).toEqual([
    "--noprofile",
    "--quiet",
    "--net=none",
    "--caps.drop=all",
    "--nonewprivs",
    "--nogroups",
    "--seccomp",
    "--seccomp.block-secondary",
    "--private-dev",
    "--hostname=tool",
    "--ipc-namespace",
    "--machine-id",
    "--keep-fd=3,4,5",
    "--deterministic-exit-code",
    "--deterministic-shutdown",
    "--private-cwd=/tmp/kitbag-work-0/run-1/skill (1)",
    "--private",
    "--private-etc=alternatives,ld.so.cache,localtime,ssl,ca-certificates,pki,fonts,perl,php,R,mime.types",
    "--private-bin=sh,dash,bash,env",
    "--blacklist=/lost+found",
    "--blacklist=/opt",
    "--blacklist=/root",
    "--blacklist=/var",
    "--blacklist=/run/dbus",
    "--blacklist=/usr/local/etc",
    "--blacklist=/usr/local/src",
    "--blacklist=/usr/games",
    "--blacklist=/usr/src",
    "--blacklist=/dev/ptmx",
    "--blacklist=/dev/pts",
    "--blacklist=/dev/tty",
    "--whitelist=/tmp/kitbag-work-0/kept/programs-1",
    "--read-only=/tmp/kitbag-work-0/kept/programs-1",
    "--whitelist=/tmp/kitbag-work-0/run-1/skill (1)",
    "--read-only=/tmp/kitbag-work-0/run-1/skill (1)",
    "--whitelist=/data/out",
    "--blacklist=/data/out/home",
  ]);
});

test("firejailSandbox() holds all that it promises, and does not promise the size of /tmp", async (context) => {
  const sandbox = await open(context);

  const result = await testSandbox(sandbox, sandbox.area);

  expect(result.broken).toEqual([]);
  expect(result.enforced).toEqual([...sandbox.enforces]);
  expect(sandbox.enforces.has("disk")).toBe(false);
});

test("firejailSandbox() gives a program its words, its input and its environment, and nothing else", async (context) => {
  const sandbox = await open(context);
  const folder = makeFolder({ "a.txt": "skill" });
  const mounts = [{ source: folder, target: "/skill" }];
  const environment = { SECRET: "a 'b' \"c\"\n$(id)" };
  const script = 'compgen -e | sort | tr "\\n" " "; printf "%s|" "$SECRET" "$@"; cat - "$1"';

  const run = await runIn(sandbox, { ...profile, mounts, environment }, [
    "bash",
    "-c",
    script,
    "x",
    "/skill/a.txt",
    "$(id)",
  ]);

  expect(run.stderr).toBe("");
  expect(run.stdout).toBe(
    `HOME LANG PATH PWD SECRET SHLVL TMPDIR ${environment.SECRET}|${folder}/a.txt|$(id)|inputskill`,
  );
});

test("firejailSandbox() tells how a program ended", async (context) => {
  const sandbox = await open(context);

  const failed = await runIn(sandbox, profile, ["sh", "-c", "exit 3"]);
  const killed = await runIn(sandbox, profile, ["bash", "-c", "kill -SEGV $$"]);

  expect([failed.exit, killed.exit]).toEqual([{ code: 3 }, { signal: "SIGSEGV" }]);
});

test("firejailSandbox() lets a program read and write what was granted, as its owner", async (context) => {
  const sandbox = await open(context);
  const folder = makeFolder({ "in/a.txt": "granted", "out/old.txt": "" });
  const mounts = [
    { source: join(folder, "in"), target: join(folder, "in"), granted: true },
    { source: join(folder, "out"), target: join(folder, "out"), granted: true, write: true },
  ];
  const script = `cd "${folder}"; cp in/a.txt out/b.txt; touch in/x || touch c.txt || echo refused`;

  const run = await runIn(sandbox, { ...profile, mounts }, ["sh", "-c", script]);

  expect(run.stdout).toBe("refused\n");
  expect(readFileSync(join(folder, "out/b.txt"), "utf8")).toBe("granted");
});

test("firejailSandbox() ends all that a program started when it ends, and when it is killed", async (context) => {
  const sandbox = await open(context);
  const daemon = "(trap '' TERM HUP; exec setsid nohup sleep 4711) >/dev/null 2>&1 &";

  await runIn(sandbox, profile, ["bash", "-c", `${daemon} sleep 0.1`]);
  const afterEnd = await countSleepers("4711");
  const started = await sandbox.start(profile, ["bash", "-c", `${daemon} echo; sleep 4711`]);
  await once(started.stdout, "data");
  const before = await countSleepers("4711");
  started.kill();
  await started.exit;
  await sleep(100);

  expect({ afterEnd, before: before > 0, after: await countSleepers("4711") }).toEqual({
    afterEnd: 0,
    before: true,
    after: 0,
  });
});

test("firejailSandbox() ends programs when the process that started them dies", async (context) => {
  needProgram(context, "firejail");
  const module = join(import.meta.dirname, "..", "find-sandbox.ts");
  const program = `
    const { findSandbox } = await import(${JSON.stringify(module)});
    const sandbox = await findSandbox({ name: "firejail" });
    const { mounts, ...rest } = { mounts: [], environment: {}, programs: [], limits: ${JSON.stringify(defaultLimits)} };
    const started = await sandbox.start({ mounts, ...rest }, ["bash", "-c", "echo; sleep 4712"]);
    started.stdout.once("data", () => process.kill(process.pid, "SIGKILL"));`;

  const child = spawn(process.execPath, ["--conditions=@kitbag/source", "--input-type=module", "-e", program]);
  await once(child, "exit");
  await sleep(500);

  expect(await countSleepers("4712")).toBe(0);
});

test("firejailSandbox() refuses by name what it cannot do", async (context) => {
  const sandbox = await open(context);
  const odd = join(makeFolder({ "a.txt": "" }), "a,b");
  mkdirSync(odd);
  const refused = (changes: Partial<Profile>): Promise<unknown> =>
    sandbox.start({ ...profile, ...changes }, ["true"]).catch((cause: unknown) => cause);

  expect(await refused({ filter: "fork-server" })).toMatchObject({ code: "sandbox-weak" });
  expect(await refused({ mounts: [{ source: odd, target: "/skill" }] })).toMatchObject({
    code: "sandbox-weak",
    details: { sandbox: "firejail", lacks: [`paths such as ${JSON.stringify(odd)}`] },
  });
  for (const path of ["/etc/hosts", "/etc", "/usr/bin/mount", "/usr"]) {
    expect(await refused({ mounts: [{ source: path, target: path, granted: true }] })).toMatchObject({
      code: "sandbox-weak",
      details: { lacks: [`${path}, which is of the system, of which it shows a part of its own`] },
    });
  }
});

test("firejailSandbox() refuses a path below a folder that another tool may write, since it could become a link", async (context) => {
  const sandbox = await open(context);
  const out = join(makeFolder({ "out/data/a.txt": "a" }), "out");
  const grant = (path: string, write: boolean): Partial<Profile> => ({
    mounts: [{ source: path, target: path, granted: true, ...(write && { write }) }],
  });
  const before = await runIn(sandbox, { ...profile, ...grant(join(out, "data"), false) }, ["true"]);
  const writer = await runIn(sandbox, { ...profile, ...grant(out, true) }, ["true"]);

  const reader = sandbox.start({ ...profile, ...grant(join(out, "data"), false) }, ["true"]);

  expect([before.exit, writer.exit]).toEqual([{ code: 0 }, { code: 0 }]);
  await expect(reader).rejects.toMatchObject({
    code: "sandbox-weak",
    details: { lacks: [`that ${out}/data stays what it is while another tool may write ${out}, and put a link there`] },
  });
});

test("firejailSandbox() refuses more places than firejail takes words for", async (context) => {
  const sandbox = await open(context);
  const folder = makeFolder(Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`${index}/a.txt`, ""])));
  const mounts = Array.from({ length: 80 }, (_, index) => join(folder, String(index)));

  const started = sandbox.start({ ...profile, mounts: mounts.map((path) => ({ source: path, target: path })) }, [
    "true",
  ]);

  await expect(started).rejects.toMatchObject({ code: "sandbox-weak" });
});

test("firejailSandbox() shows what was granted of the system where it is", async (context) => {
  const sandbox = await open(context);
  const path = realpathSync("/usr/share/perl");
  const mounts = [{ source: path, target: path, granted: true }];

  const run = await runIn(sandbox, { ...profile, mounts }, ["ls", path]);

  expect(run.exit).toEqual({ code: 0 });
});

test("firejailSandbox() runs scripts that import their neighbours and speak with Kitbag", async (context) => {
  const sandbox = await open(context);
  const files = { "a.py": "import b, kitbag\nkitbag.log('said')\nprint(b.text)", "b.py": "text = 'from b'" };

  const { outcome, log } = await runScript(sandbox, { files });

  expect({ outcome, log }).toEqual({ outcome: { status: "ok", output: "from b" }, log: ["said"] });
});

test("firejailSandbox() runs modules and TypeScript with Node", async (context) => {
  const sandbox = await open(context);
  const files = {
    "a.ts": `import { text } from "./b.ts";\nconsole.log(text satisfies string);`,
    "b.ts": "export const text: string = 'from b';",
  };

  const { outcome } = await runScript(sandbox, { files });

  expect(outcome).toEqual({ status: "ok", output: "from b" });
});

test("firejailSandbox() has a way out through the proxy alone", async (context) => {
  const sandbox = await open(context);
  const seen: string[] = [];
  const egress = await openEgress({
    rules: [],
    directory: sandbox.area.own,
    onConnection: ({ host }) => void seen.push(host),
  });
  onTestFinished(() => egress.close());
  const request =
    "exec 9<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT a.example:443 HTTP/1.1\\r\\nHost: a.example\\r\\n\\r\\n' >&9; head -n 1 <&9";

  const run = await runIn(sandbox, { ...profile, egress: egress.socket }, ["bash", "-c", request]);

  expect(run.stdout).toContain("403");
  expect(seen).toEqual(["a.example"]);
});

function open(context: TestContext): Promise<FoundSandbox> {
  needProgram(context, "firejail");
  return (opened ??= findSandbox({ name: "firejail" }));
}

async function runIn(sandbox: Sandbox, asked: Profile, command: readonly string[]) {
  const started = await sandbox.start(asked, command, "input");
  const [stdout, stderr, exit] = await Promise.all([text(started.stdout), text(started.stderr), started.exit]);
  return { stdout, stderr, exit };
}

function makeFolder(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-firejail-")));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, content);
  }
  return folder;
}

async function countSleepers(seconds: string): Promise<number> {
  const { stdout } = await promisify(execFile)("sh", ["-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"]);
  return stdout.split(`sleep ${seconds}`).length - 1;
}
