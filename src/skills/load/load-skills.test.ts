import { execFileSync, spawn } from "node:child_process";
import {
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { skillCode } from "../../../test/support/skill-code.ts";
import { createFolder, writeFiles } from "../../../test/support/temporary-folder.ts";
import { createFolderTrust, toDigests } from "../trust/folder-trust.ts";
import { openLock } from "../trust/lock-file.ts";
import { lockSkills } from "../trust/lock-skills.ts";
import { trustPath, updateTrust } from "../trust/trust-file.ts";
import { openFactsCache, type FactsCache } from "./facts-cache.ts";
import { loadSkills, type LoadSkillsOptions } from "./load-skills.ts";
import { createSkillMemory } from "./skill-memory.ts";
import type { SkillReport } from "./skill-report.ts";

test("loadSkills() makes a skill of a folder, with exactly the bytes it was read from", async () => {
  const folder = createFolder({ "pdf/SKILL.md": skill("pdf"), "pdf/references/a.md": "more" });

  const { reports, diagnostics } = await loadSkills({ directories: [folder] });

  const directory = join(realpathSync(folder), "pdf");
  expect(diagnostics).toEqual([]);
  expect(reports).toMatchObject([{ path: join(folder, "pdf"), directory, name: "pdf", status: "ok", tools: [] }]);
  expect(reports[0]?.skill).toMatchObject({
    name: "pdf",
    description: "Does pdf things",
    instructions: "# pdf\n",
    folder: { directory, scope: "given", trust: { status: "trusted" } },
  });
  expect(reports[0]?.skill?.folder?.files.map((file) => file.path)).toEqual(["SKILL.md", "references/a.md"]);
});

test("loadSkills() lists what it cannot use as skipped, with the reason", async () => {
  const folder = createFolder({
    "empty/SKILL.md": "",
    "good/SKILL.md": skill("good"),
    "manifest/kitbag.toml": "what is this",
    "manifest/SKILL.md": skill("manifest"),
    "reserved/SKILL.md": skill("global"),
  });
  symlinkSync("/etc", join(folder, "good/out"));

  const { reports } = await loadSkills({ directories: [folder] });

  expect(reports.map(({ path, status, skill: made }) => [relative(folder, path), status, made])).toEqual(
    ["empty", "good", "manifest", "reserved"].map((name) => [name, "skipped", undefined]),
  );
  expect(codesOf(reports[1])).toEqual(["link-outside"]);
  expect(codesOf(reports[2])).toEqual(["manifest-invalid"]);
  expect(codesOf(reports[3])).toContain("skill-unusable");
  expect(reports.every((report) => report.diagnostics.some((one) => one.severity === "error"))).toBe(true);
});

test("loadSkills() uses the first of two skills of one name, and names it in the report of the other", async () => {
  const folder = createFolder({
    "project/.git/HEAD": "",
    "project/.agents/skills/pdf/SKILL.md": skill("pdf"),
    "home/.agents/skills/pdf/SKILL.md": skill("pdf"),
    "given/pdf/SKILL.md": `${skill("pdf")}More.\n`,
  });

  const { reports } = await loadSkills({
    directories: [join(folder, "given")],
    workingDirectory: join(folder, "project"),
    homeDirectory: join(folder, "home"),
  });

  expect(reports.map((report) => [relative(folder, report.path), report.status])).toEqual([
    ["given/pdf", "ok"],
    ["project/.agents/skills/pdf", "skipped"],
    ["home/.agents/skills/pdf", "skipped"],
  ]);
  expect(reports[1]?.diagnostics.at(-1)).toEqual({
    severity: "error",
    code: "skill-shadowed",
    message: `Skipped, because ${join(folder, "given/pdf")} has a skill of the same name and goes before it`,
    file: "SKILL.md",
  });
});

test.for([
  ["a translation", "docs/ja-JP/skills/pdf", "skills/pdf"],
  ["a translation", "docs/zh/skills/pdf", "plugins/office/skills/pdf"],
  ["a backup", "backups/pdf", "team/tools/skills/pdf"],
  ["a backup", "a.bak/pdf", "skills/pdf"],
  ["a plan", "planned-skills/generated/pdf", "skills/pdf"],
  ["the copy of a client", ".cursor/skills/pdf", "skills/pdf"],
  ["a test", "a/fixtures/pdf", "skills/pdf"],
] as const)("loadSkills() never uses %s, %s, in place of the original", async ([, copy, original]) => {
  const folder = createFolder({
    [`${copy}/SKILL.md`]: `${skill("pdf")}Copy.\n`,
    [`${original}/SKILL.md`]: skill("pdf"),
  });

  const { reports } = await loadSkills({ directories: [folder] });

  const used = reports.filter((report) => report.skill !== undefined);
  expect(used.map((report) => relative(folder, report.path))).toEqual([original]);
  const other = reports.find((report) => report.skill === undefined);
  expect(other?.diagnostics.at(-1)).toMatchObject({ severity: "info", code: "skill-shadowed" });
});

test("loadSkills() uses the nearest of two originals of one name, whatever the alphabet says", async () => {
  const folder = createFolder({ "a/b/c/pdf/SKILL.md": `${skill("pdf")}Far.\n`, "z/pdf/SKILL.md": skill("pdf") });

  const { reports } = await loadSkills({ directories: [folder] });

  expect(reports.map(({ status, diagnostics }) => [status, diagnostics.at(-1)?.severity])).toEqual([
    ["skipped", "error"],
    ["ok", undefined],
  ]);
});

test("loadSkills() says of a copy that is the same file by file that it is not used, and that is no error", async () => {
  const folder = createFolder({ "a/pdf/SKILL.md": skill("pdf"), "b/pdf/SKILL.md": skill("pdf") });

  const { reports } = await loadSkills({ directories: [folder] });

  expect(reports[1]?.diagnostics).toEqual([
    {
      severity: "info",
      code: "skill-shadowed",
      message: `Not used, because ${join(folder, "a/pdf")} is the same skill, file by file`,
      file: "SKILL.md",
    },
  ]);
});

test("loadSkills() compares the name with that of the folder, also in a plugin, and calls a nameless skill after it", async () => {
  const folder = createFolder({
    "office/.claude-plugin/plugin.json": "{}",
    "office/skills/pdf/SKILL.md": skill("pdf"),
    "office/skills/word/SKILL.md": "---\ndescription: Writes letters\n---\nWrite.\n",
  });

  const { reports } = await loadSkills({ directories: [folder] });

  expect(reports.map(({ name, diagnostics }) => [name, diagnostics.map(({ code }) => code)])).toEqual([
    ["pdf", []],
    ["word", ["name-missing"]],
  ]);
});

test("loadSkills() calls a skill by the longer name of its folder that tells it from another one", async () => {
  const folder = createFolder({
    "figma.review/SKILL.md": skill("review"),
    "team.review/SKILL.md": `${skill("review")}Other.\n`,
    "a.b/SKILL.md": skill("c"),
  });

  const { reports } = await loadSkills({ directories: [folder] });

  expect(reports.map(({ name, diagnostics }) => [name, diagnostics.map(({ code }) => code)])).toEqual([
    ["c", ["name-mismatch"]],
    ["figma.review", []],
    ["team.review", []],
  ]);
});

test("loadSkills() says of a SKILL.md that is a broken link what is wrong with it", async () => {
  const folder = createFolder({ "pdf/x": "" });
  symlinkSync("nowhere", join(folder, "pdf/SKILL.md"));

  const { reports } = await loadSkills({ directories: [folder] });

  expect(reports[0]?.diagnostics.find(({ code }) => code === "file-missing")?.message).toContain("leads nowhere");
});

test("loadSkills() takes a broken skill for no reason to hide a good one of its name", async () => {
  const folder = createFolder({ "a/pdf/SKILL.md": "", "b/pdf/SKILL.md": skill("pdf") });

  const { reports } = await loadSkills({ directories: [join(folder, "a"), join(folder, "b")] });

  expect(reports.map((report) => report.status)).toEqual(["skipped", "ok"]);
});

test("loadSkills() trusts nothing of a project by itself, and says so", async () => {
  const project = createProject();

  const { reports } = await loadSkills({ workingDirectory: project });

  expect(reports[0]).toMatchObject({
    status: "ok",
    skill: { folder: { trust: { status: "untrusted", changed: [] } } },
  });
  expect(reports[0]?.diagnostics).toEqual([
    {
      severity: "info",
      code: "skill-untrusted",
      message: "Runs nothing until it is trusted: it came with the project",
      file: "SKILL.md",
      cure: `read it, then run: kitbag trust ${reports[0]?.directory}`,
    },
  ]);
});

test("loadSkills() trusts what this person trusted, and says which files changed since", async () => {
  const project = createProject();
  const home = createFolder();
  const options = { workingDirectory: project, trust: createFolderTrust({ home }) };
  await trustAll(options, home);

  const trusted = await loadSkills(options);
  writeFiles(project, { ".agents/skills/pdf/new.py": "", ".agents/skills/pdf/SKILL.md": skill("pdf", "Other words") });
  const changed = await loadSkills(options);

  expect(trusted.reports[1]?.skill?.folder?.trust).toEqual({ status: "trusted" });
  expect(trusted.reports[1]?.diagnostics).toEqual([]);
  expect(changed.reports[1]?.skill?.folder?.trust).toEqual({
    status: "untrusted",
    changed: ["SKILL.md (changed)", "new.py (added)"],
  });
  expect(changed.reports[1]).toMatchObject({
    status: "warning",
    diagnostics: [
      {
        severity: "warning",
        code: "skill-untrusted",
        message: "Runs nothing until it is trusted again: SKILL.md (changed), new.py (added)",
      },
    ],
  });
});

test("R16: loadSkills() trusts nothing while the list is corrupt, and tells why once", async () => {
  const project = createProject();
  const home = createFolder();
  const options = { directories: [createFolder({ "SKILL.md": skill("given") })], workingDirectory: project };
  const trust = createFolderTrust({ home });
  await trustAll({ ...options, trust }, home);
  writeFileSync(trustPath(home), "{", { mode: 0o600 });

  const { reports, diagnostics } = await loadSkills({ ...options, trust });

  expect(reports.map((report) => report.skill?.folder?.trust.status)).toEqual(["untrusted", "untrusted", "untrusted"]);
  expect(diagnostics).toMatchObject([{ severity: "error", code: "trust-invalid" }]);
  expect(diagnostics[0]?.message).toContain("nothing is trusted until you have looked at it");
});

test("R16: a lock never makes a skill of a project trusted", async () => {
  const project = createProject();
  const lock = openLock(join(project, "kitbag.lock"));
  const { reports: before } = await loadSkills({ workingDirectory: project });
  await lockSkills(before, lock.path);

  const { reports } = await loadSkills({
    workingDirectory: project,
    lock,
    trust: createFolderTrust({ home: createFolder() }),
  });

  expect(reports.map((report) => report.skill?.folder?.trust.status)).toEqual(["untrusted", "untrusted"]);
  expect(reports.flatMap(codesOf)).not.toContain("lock-changed");
});

test("loadSkills() says what is not as the lock pins it", async () => {
  const project = createProject();
  const lock = openLock(join(project, "kitbag.lock"));
  const { reports: before } = await loadSkills({ workingDirectory: project });
  await lockSkills(before, lock.path);
  writeFiles(project, { ".agents/skills/pdf/SKILL.md": skill("pdf", "Other words") });

  const { reports } = await loadSkills({ workingDirectory: project, lock });

  expect(reports.map((report) => [report.name, report.status])).toEqual([
    ["csv", "ok"],
    ["pdf", "warning"],
  ]);
  expect(reports[1]?.diagnostics.at(-1)).toMatchObject({
    code: "lock-changed",
    message: "Is not what kitbag.lock pins: SKILL.md (changed)",
  });
});

test("R16: loadSkills() holds a folder that is named to the lock, and to nothing without a pin", async () => {
  const project = createFolder({
    "skills/pdf/SKILL.md": skill("pdf"),
    "skills/pdf/kitbag.toml": "[permissions]\n",
    "skills/csv/SKILL.md": skill("csv"),
  });
  const home = createFolder();
  const options = {
    directories: [join(project, "skills")],
    lock: openLock(join(project, "kitbag.lock")),
    trust: createFolderTrust({ home }),
  };
  const { reports: before } = await loadSkills(options);
  await lockSkills(
    before.filter(({ name }) => name === "pdf"),
    options.lock.path,
  );
  writeFiles(project, {
    "skills/pdf/kitbag.toml": '[permissions]\nenv = ["SECRET"]\n',
    "skills/csv/kitbag.toml": '[permissions]\nenv = ["SECRET"]\n',
  });

  const changed = await loadSkills(options);
  await trustAll(options, home);
  const agreed = await loadSkills(options);

  expect(changed.reports.map(({ skill }) => skill?.folder?.trust)).toEqual([
    { status: "trusted" },
    { status: "untrusted", changed: ["new: env SECRET", "kitbag.toml (changed)"] },
  ]);
  expect(agreed.reports.map(({ skill }) => skill?.folder?.trust.status)).toEqual(["trusted", "trusted"]);
});

test("R16: loadSkills() runs nothing of a folder whose lock pins other permissions", async () => {
  const project = createFolder({
    "skills/pdf/SKILL.md": skill("pdf"),
    "skills/pdf/kitbag.toml": '[permissions]\nenv = ["SECRET"]\n',
  });
  const lock = openLock(join(project, "kitbag.lock"));
  const options = { directories: [join(project, "skills")], lock };
  await lockSkills((await loadSkills(options)).reports, lock.path);
  writeFileSync(lock.path, readFileSync(lock.path, "utf8").replace("SECRET", "OTHER"));

  const { reports } = await loadSkills(options);

  expect(reports[0]?.skill?.folder?.trust).toEqual({ status: "untrusted", changed: ["permissions (changed)"] });
});

test.for([
  ["cannot be parsed", "{", "JSON"],
  [
    "has conflict markers",
    "<<<<<<< ours\n",
    "it has the conflict marker of a merge on line 1; resolve the merge first",
  ],
] as const)("R16: loadSkills() lets nothing of the project run while the lock %s", async ([, content, reason]) => {
  const project = createProject({ "kitbag.lock": content });
  const given = createFolder({ "SKILL.md": skill("given") });
  const user = createFolder({ ".agents/skills/mine/SKILL.md": skill("mine") });
  const home = createFolder();
  const options = { directories: [given], workingDirectory: project, homeDirectory: user };
  const trust = createFolderTrust({ home });
  await trustAll({ ...options, trust }, home);

  const { reports, diagnostics } = await loadSkills({
    ...options,
    trust,
    lock: openLock(join(project, "kitbag.lock")),
  });

  expect(reports.map((report) => [report.name, report.skill?.folder?.trust.status])).toEqual([
    ["given", "untrusted"],
    ["csv", "untrusted"],
    ["pdf", "untrusted"],
    ["mine", "trusted"],
  ]);
  expect(diagnostics).toMatchObject([{ severity: "error", code: "lock-invalid" }]);
  expect(diagnostics[0]?.message).toContain(reason);
});

test("D7: loadSkills() reads facts from the cache, and again when a file changed", async () => {
  const folder = createFolder({ "pdf/SKILL.md": skill("pdf"), "csv/SKILL.md": skill("csv") });
  const cacheFolder = join(createFolder(), "facts");
  const cold = await loadSkills({ directories: [folder], cacheFolder });
  const known = recordReads(openFactsCache(cacheFolder));

  const warm = await loadSkills({ directories: [folder], cache: known.cache });
  const readWarm = known.missed();
  writeFiles(folder, { "pdf/SKILL.md": skill("pdf", "Other words") });
  const changed = await loadSkills({ directories: [folder], cache: known.cache });

  expect(readWarm).toBe(0);
  expect(plain(warm.reports)).toEqual(plain(cold.reports));
  expect(known.missed()).toBe(1);
  expect(changed.reports.map((report) => report.skill?.description)).toEqual(["Does csv things", "Other words"]);
});

test("D7: loadSkills() does not mix up what the disk did with what the files say", async () => {
  const folder = createFolder({ "pdf/SKILL.md": skill("pdf") });
  const cacheFolder = join(createFolder(), "facts");
  symlinkSync("nowhere", join(folder, "pdf/broken"));

  const first = await loadSkills({ directories: [folder], cacheFolder });
  const second = await loadSkills({ directories: [folder], cacheFolder });
  rmSync(join(folder, "pdf/broken"));
  const third = await loadSkills({ directories: [folder], cacheFolder });

  expect([first, second, third].map(({ reports }) => codesOf(reports[0]))).toEqual([
    ["link-broken"],
    ["link-broken"],
    [],
  ]);
});

test("loadSkills() with spec never takes what was read leniently", async () => {
  const folder = createFolder({ "pdf/SKILL.md": skill("Pdf") });
  const cache = openFactsCache(undefined);

  const lenient = await loadSkills({ directories: [folder], cache });
  const strict = await loadSkills({ directories: [folder], cache, spec: true });

  expect([lenient, strict].map(({ reports }) => reports[0]?.status)).toEqual(["warning", "skipped"]);
});

test("loadSkills() with a memory reads only what was forgotten, and keeps the objects of the rest", async () => {
  const folder = createFolder({ "pdf/SKILL.md": skill("pdf"), "csv/SKILL.md": skill("csv") });
  const memory = createSkillMemory();
  const first = await loadSkills({ directories: [folder], memory });
  memory.settle(first.reports.map((report) => report.directory));
  writeFiles(folder, { "pdf/SKILL.md": skill("pdf", "New"), "csv/SKILL.md": skill("csv", "Not noticed") });

  memory.forget([join(realpathSync(folder), "pdf/SKILL.md")]);
  const second = await loadSkills({ directories: [folder], memory });

  expect(second.reports.map((report) => report.skill?.description)).toEqual(["Does csv things", "New"]);
  expect(second.reports[0]).toBe(first.reports[0]);
});

test.for([["project"], ["user"]] as const)(
  "loadSkills() runs no code of a %s's folder that nobody trusted, and says what to do",
  async ([scope]) => {
    const folder = createFolder({ ".agents/skills/dice/skill.ts": diceCode(), ".git/HEAD": "" });
    const place = scope === "project" ? { workingDirectory: folder } : { homeDirectory: folder };

    const { reports } = await loadSkills(place);
    const listed = await loadSkills({ ...place, trust: createFolderTrust({ home: createFolder() }) });

    expect(ranOf(folder)).toEqual([]);
    expect(listed.reports).toMatchObject(reports.map(({ name, diagnostics }) => ({ name, diagnostics })));
    expect(reports).toMatchObject([{ name: "dice", status: "ok", tools: [] }]);
    expect(reports[0]?.skill).toMatchObject({
      modelInvocable: false,
      tools: [],
      folder: { code: "skill.ts", trust: { status: "untrusted", changed: [] } },
    });
    expect(reports[0]?.diagnostics).toEqual([
      {
        severity: "info",
        code: "skill-untrusted",
        message: "Runs nothing until it is trusted: its skill.ts runs in this process, with all your rights",
        file: "skill.ts",
        cure: `read it, then run: kitbag trust ${reports[0]?.directory}`,
      },
    ]);
  },
);

test("loadSkills() loads the code of a folder that was trusted, and no changed byte of it", async () => {
  const files = { ".agents/skills/dice/skill.ts": diceCode('import "./lib.ts";'), ".agents/skills/dice/lib.ts": "" };
  const project = createFolder({ ...files, ".git/HEAD": "" });
  const home = createFolder();
  const options = { workingDirectory: project, trust: createFolderTrust({ home }) };
  await trustAll(options, home);

  const trusted = await loadSkills(options);
  writeFiles(project, { ".agents/skills/dice/lib.ts": ran("lib") });
  const changed = await loadSkills(options);

  expect(trusted.reports).toMatchObject([
    { name: "games", status: "ok", tools: [{ address: "games/roll", kind: "function", source: "code" }] },
  ]);
  expect(changed.reports).toMatchObject([
    {
      name: "dice",
      status: "warning",
      tools: [],
      diagnostics: [
        {
          severity: "warning",
          code: "skill-untrusted",
          message: expect.stringContaining("lib.ts (changed)") as string,
        },
      ],
    },
  ]);
  expect(ranOf(project)).toEqual(["skill"]);
});

test("loadSkills() loads the code of a folder that a program names; a file that is not meant for it is just a file", async () => {
  const folder = createFolder({
    "dice/skill.js": diceCode(),
    "notes/SKILL.md": skill("notes"),
    "notes/skill.js": `${ran("notes")} export default 1;`,
  });

  const { reports } = await loadSkills({ directories: [folder] });

  expect(reports.map(({ name, status }) => [name, status])).toEqual([
    ["games", "ok"],
    ["notes", "ok"],
  ]);
  expect(ranOf(folder)).toEqual(["skill"]);
});

test("loadSkills() runs nothing of a folder that cannot be used anyway", async () => {
  const folder = createFolder({
    "dice/skill.ts": diceCode(),
    "dice/SKILL.md": "---\n: [\n---\n",
    "dice/kitbag.toml": "[",
  });

  const { reports } = await loadSkills({ directories: [folder] });

  expect(reports[0]?.status).toBe("skipped");
  expect(ranOf(folder)).toEqual([]);
});

test("loadSkills() skips a skill whose code fails or hangs, and loads the others meanwhile", async () => {
  const folder = createFolder({
    "a/skill.ts": `// defineSkill\nthrow new Error("broken");`,
    "b/SKILL.md": skill("b"),
    "b/skill.ts": "// defineSkill\nawait new Promise(() => {});",
    "c/skill.ts": diceCode(),
  });

  const { reports } = await loadSkills({ directories: [folder], codeLimitMs: 300 });

  expect(reports.map(({ name, status, diagnostics }) => [name, status, diagnostics[0]?.code])).toEqual([
    ["a", "skipped", "code-failed"],
    ["b", "skipped", "code-failed"],
    ["games", "ok", undefined],
  ]);
});

test("loadSkills() tells its progress", async () => {
  const folder = createFolder({ "a/SKILL.md": skill("a"), "b/SKILL.md": skill("b") });
  const told: string[] = [];

  await loadSkills({ directories: [folder], onProgress: (done, total) => told.push(`${done}/${total}`) });

  expect(told).toEqual(["1/4", "2/4", "3/4", "4/4"]);
});

test("R16: loadSkills() makes a skill of the bytes that it hashed, whatever is written meanwhile", async () => {
  const folder = createFolder({ "pdf/SKILL.md": skill("pdf", "0000000000") });
  const program = `
    const { renameSync, writeFileSync } = require("node:fs");
    const [file] = process.argv.slice(1);
    for (let round = 0; ; round++) {
      const digit = String(round % 10);
      writeFileSync(file + "~", "---\\nname: pdf\\ndescription: " + digit.repeat(10) + "\\n---\\n# " + digit.repeat(10) + "\\n");
      renameSync(file + "~", file);
    }`;
  const writer = spawn(process.execPath, ["-e", program, join(folder, "pdf/SKILL.md")], { stdio: "ignore" });
  onTestFinished(() => void writer.kill("SIGKILL"));
  const digests = new Map<string, string>();

  for (const end = performance.now() + 1500; performance.now() < end;) {
    const { reports } = await loadSkills({ directories: [folder] });
    const { description = "", instructions, folder: place } = reports[0]?.skill ?? {};
    const digest = place?.files[0]?.digest ?? "";
    expect(instructions).toContain(description === "0000000000" ? "#" : description);
    // One digest never stands for two texts.
    expect(digests.get(digest) ?? description).toBe(description);
    digests.set(digest, description);
  }

  expect(digests.size).toBeGreaterThan(3);
});

test("loadSkills() survives a tree that is deleted, renamed and written while it is read", async () => {
  const parent = createFolder();
  const tree = join(parent, "tree");
  const program = `
    const { mkdirSync, rmSync, renameSync, writeFileSync } = require("node:fs");
    const [tree] = process.argv.slice(1);
    for (let round = 0; ; round++) {
      for (let i = 0; i < 10; i++) {
        mkdirSync(tree + "/s" + i + "/scripts", { recursive: true });
        writeFileSync(tree + "/s" + i + "/SKILL.md", "---\\nname: s" + i + "\\ndescription: x\\n---\\n");
        writeFileSync(tree + "/s" + i + "/scripts/a.sh", "echo " + round);
      }
      renameSync(tree + "/s1", tree + "/renamed");
      rmSync(tree, { recursive: true, force: true });
    }`;
  const child = spawn(process.execPath, ["-e", program, tree], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  let most = 0;

  for (const end = performance.now() + 1500; performance.now() < end;) {
    const { reports } = await loadSkills({ directories: [parent] });
    most = Math.max(most, reports.length);
    for (const report of reports) expect(report.skill === undefined).toBe(report.status === "skipped");
  }

  expect(most).toBeGreaterThan(0);
});

test("loadSkills() reads hostile folders in bounded time, and runs nothing", async () => {
  const folder = createFolder({ "loop/a/SKILL.md": skill("deep"), "pipe/SKILL.md": skill("pipe") });
  symlinkSync("..", join(folder, "loop/a/up"));
  symlinkSync(folder, join(folder, "loop/again"));
  symlinkSync("self", join(folder, "self"));
  execFileSync("mkfifo", [join(folder, "pipe/fifo"), join(folder, "SKILL.fifo")]);
  mkdirSync(join(folder, "fifo-skill"));
  execFileSync("mkfifo", [join(folder, "fifo-skill/SKILL.md")]);
  writeFiles(folder, { "odd\nname\u202E/SKILL.md": skill("odd"), "__proto__/SKILL.md": skill("__proto__") });

  const { reports } = await loadSkills({ directories: [folder] });

  const found = reports.map(({ path, status }) => [relative(folder, path), status] as const);
  expect(Object.fromEntries(found.filter(([path]) => path !== "__proto__"))).toMatchObject({
    "fifo-skill": "skipped",
    "loop/a": "skipped",
    "odd\nname\u202E": "warning",
    pipe: "warning",
  });
  expect(found.map(([path]) => path)).toContain("__proto__");
});

test("loadSkills() follows a skill that was moved to another place", async () => {
  const folder = createFolder({ "old/SKILL.md": skill("pdf") });
  const memory = createSkillMemory();
  await loadSkills({ directories: [folder], memory });
  renameSync(join(folder, "old"), join(folder, "new"));

  const { reports } = await loadSkills({ directories: [folder], memory });

  expect(reports.map((report) => relative(folder, report.path))).toEqual(["new"]);
  expect(statSync(reports[0]?.directory ?? "").isDirectory()).toBe(true);
});

function skill(name: string, description = `Does ${name} things`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n`;
}

/** A repository with two skills. */
function createProject(files: Readonly<Record<string, string>> = {}): string {
  return createFolder({
    ".git/HEAD": "",
    ".agents/skills/csv/SKILL.md": skill("csv"),
    ".agents/skills/pdf/SKILL.md": skill("pdf"),
    ...files,
  });
}

async function trustAll(options: LoadSkillsOptions, home: string): Promise<void> {
  const { reports } = await loadSkills(options);
  await updateTrust(home, ({ folders }) => {
    for (const { skill: made } of reports) {
      if (made?.folder !== undefined) folders.set(made.folder.directory, toDigests(made.folder.files));
    }
  });
}

function codesOf(report: SkillReport | undefined): string[] {
  return (report?.diagnostics ?? []).map((one) => one.code);
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Counts what had to be read because a cache did not have it. */
function recordReads(cache: FactsCache): { readonly cache: FactsCache; missed(): number } {
  let missed = 0;
  return {
    cache: {
      ...cache,
      set(key, facts) {
        missed += 1;
        cache.set(key, facts);
      },
    },
    missed: () => missed,
  };
}

/** Code that defines the skill "games", and tells that it ran. */
function diceCode(more = ""): string {
  return skillCode(`
${more}
${ran("skill")}
const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => 4 });
export default defineSkill({ name: "games", description: "Games of chance", tools: [roll] });
`);
}

/** A statement that notes, in the process, that it ran, and where. */
function ran(what: string): string {
  return `(globalThis.kitbagRan ??= []).push([import.meta.dirname, ${JSON.stringify(what)}]);`;
}

/** What ran below a folder. */
function ranOf(folder: string): string[] {
  const all = (Reflect.get(globalThis, "kitbagRan") ?? []) as [place: string, what: string][];
  return all.filter(([place]) => place.startsWith(realpathSync(folder))).map(([, what]) => what);
}
