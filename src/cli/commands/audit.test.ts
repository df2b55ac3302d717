import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag, type KitbagRun, type Project } from "../../../test/run-kitbag.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag audit verify is ok before, and points at the entry after one byte of the file was flipped", async () => {
  const project = await createAudited();
  const before = await audit(project, "verify");
  flip(join(project.home, "kitbag.db"), '"sandbox":"none"');

  const after = await audit(project, "verify");
  const asJson = await audit(project, "verify", "--json");

  expect(before).toEqual({ code: 0, stdout: "ok: 4 entries, none changed, removed or reordered\n", stderr: "" });
  expect(after).toMatchObject({ code: 1, stdout: "" });
  expect(after.stderr).toMatch(/^Entry [13]: something in it was changed\. [02] entries before it are good\.\n/u);
  expect(after.stderr).toContain("\nIf you know why, go on behind it: kitbag store accept --new-audit\n");
  expect(JSON.parse(asJson.stdout)).toMatchObject({ ok: false, problem: "changed" });
});

test("kitbag audit verify of a folder where nothing was called says so, and makes nothing", async () => {
  const project = createProject();

  const run = await audit(project, "verify");

  expect(run).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Nothing is audited in .*: the calls that /u) as string,
  });
  expect(existsSync(project.home)).toBe(false);
});

test("kitbag audit verify says how to turn the audit on where the store of a configuration has none", async () => {
  const project = createProject({
    "kitbag.config.mjs": 'import { memoryStore } from "kitbag";\nexport default { store: memoryStore() };\n',
  });
  await runKitbag(["trust", "."], { project });

  const run = await runKitbag(["audit", "verify"], { project });

  expect(run.code).toBe(0);
  expect(run.stdout).toBe(
    "Nothing is audited in the store of the configuration: the configuration has a store and no audit; give it one: audit: await openAudit({ store, keyFile, anchorFile }) of kitbag/store\n",
  );
});

test("kitbag audit show lists calls with who, what, where and how they ended", async () => {
  const project = await createAudited();

  const shown = await audit(project, "show");
  const json = await audit(project, "show", "--tool", "fail", "--limit", "1", "--json");
  const nobody = await audit(project, "show", "--user", "nobody-else");
  const usual = await audit(project);

  const [heading, ...rows] = shown.stdout.trimEnd().split("\n");
  expect(heading).toMatch(/^TIME +CALL +TOOL +USER +SANDBOX +TOOK +OUTCOME$/u);
  expect(rows.map((row) => row.split(/ {2,}/u).at(-1))).toEqual(["ok", "tool-failed"]);
  const { calls } = JSON.parse(json.stdout) as { calls: unknown[] };
  expect(calls).toMatchObject([{ begin: { type: "begin", tool: "fail" }, end: { status: "failed", ran: true } }]);
  expect(json.stdout).not.toContain("hunter2");
  expect(nobody.stdout).toBe("The audit has no such calls.\n");
  expect(usual).toEqual(shown);
});

test("kitbag audit export writes lines that can be verified without the store, and shows what was changed in them", async () => {
  const project = await createAudited();
  const exported = await audit(project, "export", "audit.jsonl");
  const file = join(project.folder, "audit.jsonl");

  const good = await audit(project, "verify", "audit.jsonl");
  const lines = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, [lines[0], ...lines.slice(2)].join("\n"));
  const removed = await audit(project, "verify", "audit.jsonl");
  writeFileSync(file, lines.slice(0, 3).join("\n"));
  const cut = await audit(project, "verify", "audit.jsonl");

  expect(exported.stdout).toBe("Wrote 4 entries to audit.jsonl\n");
  expect(good).toMatchObject({ code: 0, stdout: "ok: 4 entries, none changed, removed or reordered\n" });
  expect(removed).toMatchObject({ code: 1 });
  expect(removed.stderr).toBe("Entry 2: one or more entries before it were removed. 1 entry before it is good.\n");
  expect([cut.code, cut.stderr]).toEqual([1, expect.stringMatching(/^Entry 4: .* the end was cut off/u)]);
});

test.for([
  [["verify", "missing.jsonl"], 2, "there is no such file"],
  [["show", "--limit", "0"], 2, "expected a whole number"],
  [["export", "a", "b"], 2, "too many arguments"],
  [["export", "--json"], 2, "name a file"],
  [["verifi"], 2, "did you mean verify?"],
] as const)("kitbag audit %j ends with %i and says why", async ([words, code, reason]) => {
  const run = await runKitbag(["audit", ...words]);

  expect(run.code).toBe(code);
  expect(run.stderr).toContain(reason);
});

function audit(project: Project, ...words: string[]): Promise<KitbagRun> {
  return runKitbag(["audit", ...words], { project });
}

/** A project outside of any repository, in which two calls were made. */
async function createAudited(): Promise<Project> {
  const project = createProject({ "tools.mjs": tools });
  await runKitbag(["call", "say", "--module", "tools.mjs", "--text", "hunter2"], { project });
  await runKitbag(["call", "fail", "--module", "tools.mjs"], { project });
  return project;
}

/** Flips one bit in every place where the text is: old copies of a row may still be in the file. */
function flip(file: string, text: string): void {
  const bytes = readFileSync(file);
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    const place = at + text.length - 2;
    bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
  }
  writeFileSync(file, bytes);
}

const tools = `
import { defineTool } from "kitbag";

export default [
  defineTool({
    name: "say",
    description: "Says a text",
    input: { type: "object", properties: { text: { type: "string" } } },
    run: ({ text }) => text,
  }),
  defineTool({ name: "fail", description: "Fails", run: () => { throw new Error("the line is down"); } }),
];
`;
