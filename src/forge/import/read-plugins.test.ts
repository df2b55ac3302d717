import { symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRepository, serveGit } from "../../../test/support/git-server.ts";
import { createImportProject, skillText } from "../../../test/support/import-project.ts";
import { makeTarball } from "../../../test/support/make-packages.ts";
import { startIndex } from "../../../test/support/package-index.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { importSkills } from "./import-skills.ts";
import { parsePluginSource, readPlugins } from "./read-plugins.ts";
import { updateSkills } from "./update-skills.ts";

const digest = "ab".repeat(32);

test("importSkills() lists what is in a marketplace of Claude Code, and takes a plugin that is picked", async () => {
  const project = createImportProject();
  const source = createFolder({
    ".claude-plugin/marketplace.json": JSON.stringify({
      name: "team",
      owner: { name: "Team" },
      metadata: { pluginRoot: "./plugins" },
      plugins: [
        { name: "docs", source: "./docs", description: "Documents", version: "1.2.0" },
        { name: "data", source: "data" },
        { name: "far", source: { source: "github", repo: "owner/repo", ref: "v1" } },
        { name: "odd", source: { source: "command", command: "rm -rf /" } },
      ],
    }),
    "plugins/docs/.claude-plugin/plugin.json": JSON.stringify({ name: "docs", hooks: "./hooks.json", mcpServers: {} }),
    "plugins/docs/skills/pdf/SKILL.md": skillText("pdf"),
    "plugins/docs/skills/word/SKILL.md": skillText("word"),
    "plugins/docs/templates/extra/SKILL.md": skillText("extra"),
    "plugins/data/skills/csv/SKILL.md": skillText("csv"),
    "unlisted/SKILL.md": skillText("unlisted"),
  });

  const listed = await importSkills(source, project);
  const taken = await importSkills(source, { ...project, plugins: ["docs"], skills: "all" });

  expect(listed.marketplace).toBe("team");
  expect(listed.skills.map(({ name, plugin }) => `${plugin}/${name}`)).toEqual(["docs/pdf", "docs/word", "data/csv"]);
  expect(listed.plugins).toEqual([
    { name: "docs", description: "Documents", version: "1.2.0", from: "here" },
    { name: "data", from: "here" },
    { name: "far", from: "https://github.com/owner/repo.git#v1" },
    { name: "odd", from: 'nowhere: its source is of a kind that is not fetched: "command"' },
  ]);
  expect(taken.skills.map(({ name, source: { folder } }) => `${name} ${folder}`)).toEqual([
    "pdf plugins/docs/skills/pdf",
    "word plugins/docs/skills/word",
  ]);
  expect(await project.listSkills()).toEqual(["pdf untrusted", "word untrusted"]);
});

test("importSkills() fetches no plugin that is elsewhere unless it is picked, and never from a private host", async () => {
  const project = createImportProject();
  const repository = createRepository();
  const commit = repository.commit({
    "plugin/.claude-plugin/plugin.json": JSON.stringify({ name: "far" }),
    "plugin/skills/far-skill/SKILL.md": skillText("far-skill"),
  });
  const { url, asked } = await serveGit(repository);
  const port = new URL(url).port;
  const far = { source: "git-subdir", url: `https://far.test:${port}/skills.git`, path: "plugin", sha: commit };
  const market = createFolder({
    ".agents/plugins/marketplace.json": JSON.stringify({
      name: "codex",
      plugins: [
        { name: "here", source: { source: "local", path: "./here" }, policy: { installation: "AVAILABLE" } },
        { name: "far", source: far },
      ],
    }),
    "here/.codex-plugin/plugin.json": JSON.stringify({ name: "here", version: "1.0.0", skills: "./skills/" }),
    "here/skills/near/SKILL.md": skillText("near"),
  });

  const listed = await importSkills(market, project);
  const lookup = (): Promise<string[]> => Promise.resolve(["127.0.0.1"]);
  const refused = importSkills(market, { ...project, lookup, plugins: ["far"] });

  expect(listed).toMatchObject({ status: "listed", skills: [{ name: "near", plugin: "here" }] });
  await expect(refused).rejects.toMatchObject({ code: "network-refused" });
  expect(asked).toEqual([]);
});

test("importSkills() takes a plugin that is elsewhere, and pins where it really is", async () => {
  const project = createImportProject();
  const manifest = { name: "far-skills", version: "1.0.0" };
  const bytes = makeTarball({
    "package/package.json": JSON.stringify(manifest),
    "package/.claude-plugin/plugin.json": JSON.stringify({ name: "far" }),
    "package/skills/pdf/SKILL.md": skillText("pdf"),
  });
  const index = await startIndex({ npm: [{ file: "far-skills-1.0.0.tgz", bytes, manifest }] });
  onTestFinished(() => index.close());
  const plugins = [{ name: "far", source: { source: "npm", package: "far-skills" } }];
  const market = createFolder({ ".claude-plugin/marketplace.json": JSON.stringify({ name: "team", plugins }) });

  const report = await importSkills(market, { ...project, registry: index.url, plugins: ["far"] });

  expect(report).toMatchObject({ status: "disabled", skills: [{ name: "pdf", plugin: "far" }] });
  expect(project.lock().get(".kitbag/skills/pdf")?.source).toMatchObject({
    kind: "npm",
    address: "far-skills",
    version: "1.0.0",
  });
});

test("importSkills() takes only what a marketplace names where it says that this is all", async () => {
  const project = createImportProject();
  const source = createFolder({
    ".claude-plugin/marketplace.json": JSON.stringify({
      name: "many",
      plugins: [
        { name: "office", source: "./", strict: false, skills: ["./skills/pdf", "./skills/word"] },
        { name: "data", source: "./", strict: false, skills: ["./skills/csv"] },
      ],
    }),
    "skills/pdf/SKILL.md": skillText("pdf"),
    "skills/word/SKILL.md": skillText("word"),
    "skills/csv/SKILL.md": skillText("csv"),
    "skills/hidden/SKILL.md": skillText("hidden"),
  });

  const { skills } = await importSkills(source, { ...project, plugins: ["office"], skills: "all" });

  expect(skills.map(({ name }) => name)).toEqual(["pdf", "word"]);
});

test.for([
  ["the folder of a plugin", "l", { name: "l", source: "./l" }],
  ["the skills of a plugin", "p/skills", { name: "p", source: "./p" }],
  ["a skill that is named", "p/a", { name: "p", source: "./p", strict: false, skills: ["./a"] }],
  ["a folder above a skill", "up", { name: "p", source: "./up/inner" }],
] as const)("R15: importSkills() follows no link out of a local marketplace: %s", async ([, link, plugin]) => {
  const project = createImportProject();
  const outside = createFolder({ "SKILL.md": skillText("outside"), "inner/SKILL.md": skillText("inner") });
  const market = createFolder({
    ".claude-plugin/marketplace.json": JSON.stringify({ name: "team", plugins: [plugin] }),
    "p/README.md": "a plugin",
  });
  symlinkSync(outside, join(market, link));

  const importing = importSkills(market, { ...project, skills: "all" });

  await expect(importing).rejects.toMatchObject({
    code: "import-refused",
    message: expect.stringContaining("leads out of the source") as string,
  });
  expect(await project.listSkills()).toEqual([]);
});

test("importSkills() lists what is beside a link that leads out, and says why that one is left out", async () => {
  const outside = createFolder({ "SKILL.md": skillText("outside") });
  const source = createFolder({ "pdf/SKILL.md": skillText("pdf") });
  symlinkSync(outside, join(source, "link"));

  const { skills, skipped } = await importSkills(source, createImportProject());

  expect(skills.map(({ name }) => name)).toEqual(["pdf"]);
  expect(skipped).toEqual([
    { name: "link", path: "link", reason: expect.stringContaining("leads out of the source") as string },
  ]);
});

test.for([
  ["names its pluginRoot in each source once more", { metadata: { pluginRoot: "./plugins" } }, "./plugins/a", []],
  ["names its sources below its pluginRoot", { metadata: { pluginRoot: "./plugins/" } }, "a", []],
  ["leads nowhere", {}, "./gone", ["its marketplace leads to no skill, so all of its folders were searched"]],
] as const)("importSkills() lists the skills of a marketplace that %s", async ([, head, source, notes]) => {
  const market = createFolder({
    ".claude-plugin/marketplace.json": JSON.stringify({ name: "m", ...head, plugins: [{ name: "a", source }] }),
    "plugins/a/skills/pdf/SKILL.md": skillText("pdf"),
  });

  const report = await importSkills(market, createImportProject());

  expect(report.skills.map(({ name }) => name)).toEqual(["pdf"]);
  expect(report.notes).toEqual(notes);
});

test("importSkills() lists the skills of a source whose marketplace or plugin cannot be read, and says so", async () => {
  const broken = createFolder({ ".claude-plugin/marketplace.json": "{", "pdf/SKILL.md": skillText("pdf") });
  const half = createFolder({
    ".claude-plugin/marketplace.json": JSON.stringify({
      name: "m",
      plugins: ["a", "b"].map((name) => ({ name, source: `./${name}` })),
    }),
    "a/.claude-plugin/plugin.json": "{",
    "b/skills/csv/SKILL.md": skillText("csv"),
  });

  const [first, second] = [
    await importSkills(broken, createImportProject()),
    await importSkills(half, createImportProject()),
  ];

  expect(first.skills.map(({ name }) => name)).toEqual(["pdf"]);
  expect(first.notes).toEqual([".claude-plugin/marketplace.json is no JSON"]);
  expect(second.skills.map(({ name }) => name)).toEqual(["csv"]);
  expect(second.notes).toEqual([".claude-plugin/plugin.json is no JSON"]);
});

test("importSkills() accounts for every SKILL.md: parts of skills one by one, those of no plugin by their number", async () => {
  const whole = createFolder({ "SKILL.md": skillText("suite"), "qa/SKILL.md": skillText("qa") });
  const market = createFolder({
    ".claude-plugin/marketplace.json": JSON.stringify({ name: "m", plugins: [{ name: "a", source: "./a" }] }),
    "a/skills/pdf/SKILL.md": skillText("pdf"),
    "more/csv/SKILL.md": skillText("csv"),
  });

  const first = await importSkills(whole, createImportProject());
  const second = await importSkills(market, createImportProject());

  expect(first.skipped).toMatchObject([
    { path: "qa", reason: expect.stringContaining("is a part of the skill") as string },
  ]);
  expect(second.notes).toContain(
    `1 skill is in no plugin of it: more/csv; to add one, name it with --skill, or its folder: ${second.source}#:more/csv`,
  );
});

test("importSkills() finds a skill by its name that no plugin lists", async () => {
  const market = createFolder({
    ".claude-plugin/marketplace.json": JSON.stringify({ name: "m", plugins: [{ name: "a", source: "./a" }] }),
    "a/skills/pdf/SKILL.md": skillText("pdf"),
    "more/csv/SKILL.md": skillText("csv"),
    "more/xml/SKILL.md": skillText("xml"),
  });

  const project = createImportProject();

  const { status, skills, notes } = await importSkills(market, { ...project, skills: ["csv", "pdf"] });
  const updates = await updateSkills(["csv"], project);

  expect([status, skills.map(({ name, plugin }) => [name, plugin])]).toEqual([
    "disabled",
    [
      ["csv", undefined],
      ["pdf", "a"],
    ],
  ]);
  expect(notes).toEqual([expect.stringContaining("1 skill is in no plugin of it: more/xml")]);
  expect(updates).toMatchObject([{ name: "csv", status: "same" }]);
});

test("importSkills() follows a link within a local marketplace", async () => {
  const project = createImportProject();
  const plugins = [{ name: "l", source: "./l" }];
  const market = createFolder({
    ".claude-plugin/marketplace.json": JSON.stringify({ name: "team", plugins }),
    "shared/SKILL.md": skillText("shared"),
  });
  symlinkSync("shared", join(market, "l"));

  const { skills } = await importSkills(market, { ...project, skills: "all" });

  expect(skills.map(({ name }) => name)).toEqual(["shared"]);
});

test("importSkills() takes the skills of a plugin, and says what else it has", async () => {
  const project = createImportProject();
  const source = createFolder({
    ".claude-plugin/plugin.json": JSON.stringify({
      name: "kit",
      hooks: {},
      skills: ["./more"],
      commands: "./commands",
    }),
    "skills/a/SKILL.md": skillText("a"),
    "more/b/SKILL.md": skillText("b"),
    "hooks/hooks.json": "{}",
  });

  const report = await importSkills(source, { ...project, skills: "all" });

  expect(report.skills.map(({ name }) => name).toSorted()).toEqual(["a", "b"]);
  expect(report.notes).toEqual(['the plugin "kit" also has commands, hooks: only skills are imported']);
});

test("importSkills() says which plugins there are", async () => {
  const project = createImportProject();
  const source = createFolder({
    ".claude-plugin/marketplace.json": JSON.stringify({
      name: "team",
      plugins: [
        { name: "docs", source: "./docs" },
        { name: "odd", source: "../../etc" },
      ],
    }),
    "docs/SKILL.md": skillText("docs"),
  });

  await expect(importSkills(source, { ...project, plugins: ["dosc"] })).rejects.toThrow(
    'it has no plugin "dosc"; it has "docs"',
  );
  await expect(importSkills(source, { ...project, plugins: ["odd"] })).rejects.toThrow(
    'its path "../../etc" leads out',
  );
});

test.for([
  ["{", "is no JSON"],
  ["[]", "is not an object"],
  ["null", "is not an object"],
  ["{}", "lists no plugins"],
  ['{"plugins": {}}', "lists no plugins"],
] as const)("readPlugins() refuses a marketplace that says %s", ([text, reason]) => {
  const folder = createFolder({ ".claude-plugin/marketplace.json": text });

  expect(() => readPlugins(folder, "it")).toThrow(reason);
});

test.for([
  ["{", "is no JSON"],
  ['{"version": "1"}', "names no plugin"],
  ['{"name": "x", "skills": "../out"}', "which is no path in it"],
  ['{"name": "x", "skills": ["/etc"]}', "which is no path in it"],
  ['{"name": "x", "skills": [5]}', "which is no path in it"],
] as const)("readPlugins() refuses a plugin that says %s", ([text, reason]) => {
  const folder = createFolder({ ".codex-plugin/plugin.json": text });

  expect(() => readPlugins(folder, "it")).toThrow(reason);
});

test("readPlugins() leaves out entries without a name, and takes names as they are", () => {
  const plugins = [null, 5, {}, { name: "" }, { name: "__proto__", source: "./x" }];
  const folder = createFolder({ ".claude-plugin/marketplace.json": JSON.stringify({ name: "x", plugins }) });

  expect(readPlugins(folder, "it").plugins).toMatchObject([{ name: "__proto__", place: { folder: "x" } }]);
});

test.for([
  ["./a/b/", { folder: "a/b" }],
  [".", { folder: "" }],
  ["./", { folder: "" }],
  [{ source: "local", path: "./x" }, { folder: "x" }],
  [
    { source: "github", repo: "o/r", ref: "main", sha: "a".repeat(40) },
    { source: { kind: "git", address: "https://github.com/o/r.git", ref: "a".repeat(40) } },
  ],
  [
    { source: "url", url: "https://example.com/x.git" },
    { source: { kind: "git", address: "https://example.com/x.git" } },
  ],
  [
    { source: "git-subdir", url: "o/r", path: "a/b" },
    { source: { kind: "git", address: "https://github.com/o/r.git", folder: "a/b" } },
  ],
  [{ source: "npm", package: "@a/b", version: "^1" }, { source: { kind: "npm", address: "@a/b", ref: "^1" } }],
  [
    { source: "archive", url: "https://example.com/x.zip", sha256: digest },
    {
      source: {
        kind: "archive",
        address: "https://example.com/x.zip",
        integrity: `sha256-${Buffer.from(digest, "hex").toString("base64")}`,
      },
    },
  ],
] as const)("parsePluginSource() reads %j", ([source, expected]) => {
  expect(parsePluginSource(source)).toEqual(expected);
});

test.for([
  undefined,
  null,
  5,
  "",
  "..",
  "/etc",
  "a\\b",
  {},
  { source: "local" },
  { source: "local", path: "../.." },
  { source: "github" },
  { source: "github", repo: "../x" },
  { source: "github", repo: "o/r", ref: "--evil" },
  { source: "url", url: "file:///etc" },
  { source: "url", url: "http://127.0.0.1/x" },
  { source: "url", url: "/etc" },
  { source: "git-subdir", url: "https://example.com/x.git", path: "../.." },
  { source: "npm" },
  { source: "npm", package: "../x" },
  { source: "archive", url: "http://example.com/x.zip", sha256: digest },
  { source: "archive", url: "https://example.com/x.zip" },
  { source: "command", command: "x" },
])("parsePluginSource() says why %j is no source", (source) => {
  expect(parsePluginSource(source)).toEqual({ problem: expect.any(String) as string });
});

test("importSkills() finds the marketplace by its file", async () => {
  const project = createImportProject();
  const source = createFolder({
    ".claude-plugin/marketplace.json": JSON.stringify({ name: "team", plugins: [{ name: "docs", source: "./docs" }] }),
    "docs/skills/pdf/SKILL.md": skillText("pdf"),
  });

  const report = await importSkills(join(source, ".claude-plugin/marketplace.json"), project);

  expect(report).toMatchObject({ status: "disabled", skills: [{ name: "pdf", plugin: "docs" }] });
});
