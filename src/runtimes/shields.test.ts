/** What tools can do to shielded files in a folder that they may write: a test for each row of the table and each sandbox. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { createWorkspace, type Permissions, type ToolOutcome } from "kitbag";
import { describe, expect, onTestFinished, test, vi } from "vitest";

import { needProgram } from "../../test/support/need-program.ts";
import { createScriptTool } from "../../test/support/run-script.ts";
import { createFolder, writeFiles } from "../../test/support/temporary-folder.ts";
import type { SandboxName } from "../sandbox/sandbox.ts";
import { shieldSkills, shieldTable } from "../sandbox/shields.ts";
import { openRuntimes } from "./open-runtimes.ts";

vi.setConfig({ testTimeout: 120_000 });

const sandboxes = [
  { sandbox: "bubblewrap", program: "bwrap" },
  { sandbox: "unshare", program: "unshare" },
  { sandbox: "firejail", program: "firejail" },
] as const;

interface Row {
  readonly path: string;
  readonly hidden?: boolean;
  readonly content?: string;
}

/** An example for each name of the table. */
const readOnly = [
  ...["kitbag.lock", "kitbag.config.ts", "kitbag.config.mts", "kitbag.config.js"],
  ...["kitbag.config.mjs", "kitbag.config.json", ".git/config", ".git/hooks/pre-commit", ".gitconfig", ".husky/x"],
  ...[".github/workflows/ci.yml", ".npmrc", ".mcp.json", ".claude/settings.json", ".agents/skills/a/SKILL.md"],
  ...[".cursor/mcp.json", ".vscode/tasks.json", ".profile", ".bashrc", ".bash_profile", ".bash_login"],
  ...[".bash_logout", ".bash_aliases", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc"],
  ...[".tcshrc", "config.fish", "skills/mailer/kitbag.toml"],
  ...["packages/sub/kitbag.config.ts", "packages/sub/kitbag.lock", "packages/sub/.git/config"],
];
const hidden = [
  ...[".kitbag/kitbag.db", ".kitbag/kitbag.db-wal", "packages/sub/.kitbag/kitbag.db", ".env", ".envrc", ".env.local"],
  ...[".ssh/config", ".gnupg/a", ".aws/credentials", ".kube/config", ".netrc", ".pgpass", ".pypirc"],
  ...[
    ".git-credentials",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ed25519_sk",
    "server.key",
    "a.p12",
    "a.pfx",
  ],
  ...[
    "a.jks",
    "a.keystore",
    "packages/sub/.env",
    "prod.env",
    "deploy/App.ENV",
    ".kitbag/skills/a/SKILL.md",
    ".kitbag/tools/a/main.js",
  ],
  ...[".kitbag/skill-versions/a/1.0.0.json", "packages/sub/.kitbag/tools/a.json"],
];
const rows: readonly Row[] = [
  ...readOnly.map((path) => ({ path })),
  ...hidden.map((path) => ({ path, hidden: true })),
  { path: "server.pem", hidden: true, content: "-----BEGIN PRIVATE KEY-----\nours\n" },
  { path: "packages/.npmrc", hidden: true, content: "//registry.example.com/:_authToken=ours\n" },
];
const groupSize = 12;
const groups = Array.from({ length: Math.ceil(rows.length / groupSize) }, (_, index) =>
  rows.slice(index * groupSize, (index + 1) * groupSize),
);

test("shieldTable has an example of each exact name in these tests", () => {
  const names = shieldTable.filter(({ within }) => within === undefined).flatMap((row) => row.names);
  const shown = new Set(rows.flatMap(({ path }) => path.split("/")));

  expect(names.filter((name) => typeof name === "string" && !shown.has(name))).toEqual([]);
});

describe.for(sandboxes)("in $sandbox", ({ sandbox, program }) => {
  const attacked = new Map<readonly Row[], Promise<Attacked>>();
  const attackOnce = (group: readonly Row[]): Promise<Attacked> => {
    const known = attacked.get(group) ?? attackGroup(sandbox, group);
    attacked.set(group, known);
    return known;
  };

  test.for(rows)("a tool that may write the project cannot change $path", async (row, context) => {
    needProgram(context, program);
    const { path, content = "ours\n", hidden: isHidden = false } = row;

    const { after, read, free } = await attackOnce(groups.find((group) => group.includes(row)) ?? []);

    expect(free).toBe("free\n");
    expect(after.get(path)).toBe(content);
    expect(read.has(path)).toBe(!isHidden);
  });

  test("what a tool makes in a shielded place is put aside, for each exact name", async (context) => {
    needProgram(context, program);
    const directory = makeProject({});
    const names = shieldTable
      .filter(({ within }) => within === undefined)
      .flatMap((row) => row.names.filter((name) => typeof name === "string"));

    const outcome = await run(sandbox, { directory, script: names.map((name) => `echo evil > '${name}'`).join("\n") });

    expect(outcome).toMatchObject({ status: "failed", error: { code: "permission-refused" } });
    expect(readdirSync(directory).toSorted()).toEqual(names.map((name) => `${name}.put-aside-1`).toSorted());
  });

  test("a shielded file is opened by its exact path, and only that", async (context) => {
    needProgram(context, program);
    const directory = makeProject({
      ".env": "ours\n",
      ".npmrc": "ours\n",
      ".github/a.yml": "ours\n",
      ".vscode/a": "ours\n",
    });
    const permissions = { read: ["./.env"], write: ["./", "./.npmrc", "./.github/"] };
    const script =
      "cat .env; for f in .env .npmrc .github/a.yml .vscode/a; do echo new > $f; done 2>/dev/null; echo done";

    const outcome = await run(sandbox, { directory, script, permissions });

    expect(outcome).toEqual({ status: "ok", output: "ours\ndone" });
    expect(
      [".env", ".npmrc", ".github/a.yml", ".vscode/a"].map((path) => readFileSync(join(directory, path), "utf8")),
    ).toEqual(["ours\n", "new\n", "new\n", "ours\n"]);
  });

  test(".git granted by its exact path opens all but what git runs", async (context) => {
    needProgram(context, program);
    const closed = [
      "config",
      "config.worktree",
      "hooks/pre-commit",
      "info/attributes",
      "modules/a/config",
      "worktrees/a/b",
    ];
    const files = Object.fromEntries(["HEAD", ...closed].map((path) => [`.git/${path}`, "ours\n"]));
    const directory = makeProject(files);
    const script = [
      "exec 2>/dev/null",
      ...closed.map((path) => `echo new > .git/${path}; rm -rf .git/${path}`),
      "mv .git away; mv .git/hooks .git/away; echo new > .git/HEAD; echo new > .git/index; echo done",
    ].join("\n");

    const outcome = await run(sandbox, { directory, script, permissions: { write: ["./", "./.git"] } });

    expect(outcome).toEqual({ status: "ok", output: "done" });
    expect(closed.map((path) => readFileSync(join(directory, ".git", path), "utf8"))).toEqual(
      closed.map(() => "ours\n"),
    );
    expect(["HEAD", "index"].map((path) => readFileSync(join(directory, ".git", path), "utf8"))).toEqual([
      "new\n",
      "new\n",
    ]);
  });

  test("a repository that was opened cannot be sent to another configuration", async (context) => {
    needProgram(context, program);
    const directory = makeProject({ ".git/HEAD": "ours\n", ".git/config": "ours\n" });

    const outcome = await run(sandbox, {
      directory,
      script: "echo ../evil > .git/commondir; mkdir .git/hooks",
      permissions: { write: ["./.git"] },
    });

    expect(outcome).toMatchObject({ status: "failed", error: { code: "permission-refused" } });
    expect(readdirSync(join(directory, ".git")).toSorted()).toEqual([
      "HEAD",
      "commondir.put-aside-1",
      "config",
      "hooks.put-aside-1",
    ]);
  });

  test("a tool that may write the folder above cannot move the project away, or read the store of the next", async (context) => {
    needProgram(context, program);
    const above = makeProject({
      "project/kitbag.lock": "ours\n",
      "next/.kitbag/kitbag.db": "ours\n",
      "next/kitbag.config.json": "ours\n",
      "deep/er/next/.kitbag/kitbag.db": "ours\n",
    });
    const script = [
      "exec 2>/dev/null",
      `cd '${above}'`,
      "mv project away && mkdir project && echo evil > project/kitbag.lock",
      "mv next gone && mkdir next",
      "echo evil > next/kitbag.config.json; echo evil > deep/er/next/.kitbag/kitbag.db",
      "cat next/.kitbag/kitbag.db deep/er/next/.kitbag/kitbag.db",
      "echo free > free.txt && echo done",
    ].join("\n");

    const outcome = await run(sandbox, { directory: join(above, "project"), script, permissions: { write: [".."] } });

    expect(outcome).toEqual({ status: "ok", output: "done" });
    expect(readdirSync(above).toSorted()).toEqual(["deep", "free.txt", "next", "project"]);
    expect(readFileSync(join(above, "project/kitbag.lock"), "utf8")).toBe("ours\n");
    expect(readFileSync(join(above, "next/kitbag.config.json"), "utf8")).toBe("ours\n");
    expect(readFileSync(join(above, "deep/er/next/.kitbag/kitbag.db"), "utf8")).toBe("ours\n");
  });

  test.for(["311", "300", "444", "000"])(
    "a folder with the mode %s gives away nothing that is shielded in it",
    async (mode, context) => {
      needProgram(context, program);
      const directory = makeProject({ "sub/.env": "ours\n", "sub/.git/config": "ours\n" });
      const paths = ["sub/.env", "sub/.git/config"].map((path) => join(directory, path));
      chmodSync(join(directory, "sub"), Number.parseInt(mode, 8));

      const attempt = "cat sub/.env; echo evil >> sub/.env; echo evil >> sub/.git/config; mv sub away";
      const script = `exec 2>/dev/null; ${attempt}; chmod 755 sub; ${attempt}; echo done`;
      const outcome = await run(sandbox, { directory, script });
      chmodSync(join(directory, "sub"), 0o755);

      expect(JSON.stringify(outcome)).not.toContain("ours");
      expect(paths.map((path) => readFileSync(path, "utf8"))).toEqual(["ours\n", "ours\n"]);
    },
  );

  test("a link in a shielded place is put back", async (context) => {
    needProgram(context, program);
    const directory = makeProject({ "shared/a.json": "ours\n" });
    symlinkSync("shared", join(directory, ".claude"));

    const outcome = await run(sandbox, {
      directory,
      script: "exec 2>/dev/null; echo evil > .claude/a.json; rm .claude; mkdir .claude; echo evil > .claude/a.json",
    });

    expect(outcome).toMatchObject({ status: "failed", error: { details: { permission: 'write = ".claude"' } } });
    expect(lstatSync(join(directory, ".claude")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(directory, ".claude/a.json"), "utf8")).toBe("ours\n");
  });
});

test("a tool is refused the folder that skills are loaded from, if it names only the working directory", async (context) => {
  needProgram(context, "unshare");
  const directory = makeProject({});
  shieldSkills(directory);
  const asked = { directory, script: "echo done" };

  expect(await run("unshare", asked)).toMatchObject({ status: "failed", error: { code: "permission-refused" } });
  expect(await run("unshare", { ...asked, permissions: { read: ["."] } })).toMatchObject({ status: "ok" });
  expect(await run("unshare", { ...asked, permissions: { write: ["./out/"] } })).toMatchObject({ status: "ok" });
});

test("a folder is shielded from the first call after skills were loaded from it", async (context) => {
  needProgram(context, "unshare");
  const directory = makeProject({ "skills/a/SKILL.md": "ours\n" });
  const script = "echo new > skills/a/SKILL.md || true; mkdir -p skills/b";
  const tool = { ...createScriptTool({ "a.sh": script }), permissions: { write: ["./"] } };
  const runtimes = openRuntimes({ directory, home: join(createFolder(), "home"), sandbox: "unshare" });
  onTestFinished(() => runtimes.close());
  const workspace = createWorkspace({ tools: [tool], runtimes });

  await workspace.call(tool.name, {});
  writeFileSync(join(directory, "skills/a/SKILL.md"), "ours\n");
  shieldSkills(join(directory, "skills"));
  await workspace.call(tool.name, {});

  expect(readFileSync(join(directory, "skills/a/SKILL.md"), "utf8")).toBe("ours\n");
});

interface Attacked {
  /** What is in the files afterwards. */
  readonly after: ReadonlyMap<string, string | undefined>;
  /** Those that the tool could read. */
  readonly read: ReadonlySet<string>;
  readonly free: string;
}

/** Tries every way to change, to replace and to read the files of some rows. */
async function attackGroup(sandbox: SandboxName, group: readonly Row[]): Promise<Attacked> {
  const directory = makeProject(Object.fromEntries(group.map(({ path, content = "ours\n" }) => [path, content])));
  const paths = group.map(({ path }) => path);
  shieldSkills(join(directory, "skills"));
  const script = [
    "exec 2>/dev/null",
    ...paths.map((path) => `grep -q ours '${path}' && echo '${path}'`),
    ...paths.flatMap((path) => [
      `echo evil >> '${path}'; : > '${path}'; rm -f '${path}'; mv '${path}' moved; chmod 777 '${path}'`,
      `echo evil > evil; mv -f evil '${path}'; ln -f evil '${path}'`,
      `mv '${path.split("/")[0]}' away; mkdir -p "$(dirname '${path}')"; echo evil > '${path}'`,
    ]),
    "echo free > free.txt",
  ].join("\n");

  const outcome = await run(sandbox, { directory, script });

  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  return {
    after: new Map(paths.map((path) => [path, readFileSync(join(directory, path), "utf8")])),
    read: new Set(String(outcome.output).split("\n")),
    free: readFileSync(join(directory, "free.txt"), "utf8"),
  };
}

interface Asked {
  readonly directory: string;
  readonly script: string;
  readonly permissions?: Permissions;
}

async function run(sandbox: SandboxName, { directory, script, permissions }: Asked): Promise<ToolOutcome> {
  const tool = createScriptTool({ "a.sh": `cd '${directory}'\n${script}\n` });
  const runtimes = openRuntimes({ directory, home: join(createFolder(), "home"), sandbox, warm: false });
  onTestFinished(() => runtimes.close());
  const workspace = createWorkspace({ tools: [{ ...tool, permissions: permissions ?? { write: ["./"] } }], runtimes });
  return workspace.call(tool.name, {});
}

/** Programs may run as another user. */
function makeProject(files: Readonly<Record<string, string>>): string {
  const directory = realpathSync(createFolder());
  chmodSync(directory, 0o777);
  mkdirSync(directory, { recursive: true });
  writeFiles(directory, files);
  return directory;
}
