import { join } from "node:path";

import { sqliteStore } from "kitbag/store";
import { expect, test, vi } from "vitest";

import {
  createProject,
  runKitbag,
  type KitbagRun,
  type Project,
  type RunKitbagOptions,
} from "../../../test/run-kitbag.ts";
import { keepLetter, type DeadLetter } from "../../workspace/failures/dead-letters.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag dead list and show tell what failed, with all that is needed to make it again", async () => {
  const { project, id } = await createFailed();

  const list = await dead(project, ["list"]);
  const shown = await dead(project, ["show", id]);

  expect(list.stdout).toMatch(/^ID +FAILED +TOOL +TRIED +CODE +ERROR\n/u);
  expect(list.stdout).toContain(`${id}  `);
  expect(shown.stdout).toContain(String.raw`"to": "Ada\u001b[2J"`);
  expect(shown.stdout).toContain(`To make it again:\n  kitbag dead retry ${id}`);
  expect(shown.stdout).not.toContain("\u001B");
});

test("kitbag dead list begins with the newest, and says how many there are beside", async () => {
  const project = createProject();
  project.write(".kitbag/.gitignore", "*\n");
  const store = await sqliteStore({ file: join(project.folder, ".kitbag/kitbag.db") });
  for (const index of [1, 2, 3]) await keepLetter(store.kv, { ...letter, id: `c${index}`, time: 1000 - index });
  await store.close();

  const list = await dead(project, ["list", "--limit", "2"]);
  const json = await dead(project, ["list", "--limit", "2", "--json"]);

  const none = await dead(project, ["list", "--user", "nobody"]);

  expect(none.stdout).not.toMatch(/^c\d/mu);
  expect(list.stdout.match(/^c\d/gmu)).toEqual(["c1", "c2"]);
  expect(list.stdout).toContain("\n… and 1 older: kitbag dead list --limit 3\n");
  expect(JSON.parse(json.stdout)).toMatchObject({ letters: [{ id: "c1" }, { id: "c2" }], total: 3 });
});

test("kitbag dead drop --older and --all drop many at once, of one user if one is named", async () => {
  const project = createProject();
  project.write(".kitbag/.gitignore", "*\n");
  const store = await sqliteStore({ file: join(project.folder, ".kitbag/kitbag.db") });
  const day = 24 * 60 * 60 * 1000;
  for (const [index, user] of ["ann", "bob", "ann", "bob"].entries())
    await keepLetter(store.kv, { ...letter, id: `c${index}`, user, time: Date.now() - index * 20 * day });
  await store.close();

  const older = await dead(project, ["drop", "--older", "30d", "--user", "ann"]);
  const left = await letters(project);
  const wrong = await Promise.all(
    [["drop"], ["drop", "c1", "--all"], ["drop", "--older", "soon"]].map((words) => dead(project, words)),
  );
  const all = await dead(project, ["drop", "--all", "--json"]);

  expect(older.stdout).toBe("Dropped 1 failed call\n");
  expect(left.map(({ id }) => id)).toEqual(["c0", "c1", "c3"]);
  expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2]);
  expect(JSON.parse(all.stdout)).toEqual({ dropped: 3 });
  expect(await letters(project)).toEqual([]);
});

test("kitbag dead retry makes the call again, and takes it off the list when it is done", async () => {
  const { project, id } = await createFailed();
  project.write("line-is-up", "");

  const retried = await dead(project, ["retry", id, "--module", "tools.mjs"]);
  const left = await letters(project);

  expect(retried).toMatchObject({ code: 0, stdout: "sent to Ada\u001B[2J\n" });
  expect(left).toEqual([]);
});

test("kitbag dead retry keeps what fails again, and says under which id", async () => {
  const { project, id } = await createFailed();

  const retried = await dead(project, ["retry", id, "--module", "tools.mjs"]);
  const [left, ...others] = await letters(project);

  expect(retried.code).toBe(1);
  expect(retried.stderr).toContain("the line is down");
  expect(retried.stderr).toContain(`It is kept as ${left?.id ?? "nothing"}`);
  expect(others).toEqual([]);
});

test("kitbag dead retry --input makes it with another input", async () => {
  const { project, id } = await createFailed();
  project.write("line-is-up", "");

  const words = ["retry", id, "--module", "tools.mjs", "--input", "-", "--json"];
  const retried = await dead(project, words, { stdin: '{"to": "Bob"}' });

  expect(JSON.parse(retried.stdout)).toEqual({ status: "ok", output: "sent to Bob" });
});

test("kitbag dead drop takes calls off the list, all that were named or none", async () => {
  const { project, id } = await createFailed();

  const mistyped = await dead(project, ["drop", id, "no-such-id"]);
  const before = await letters(project);
  const dropped = await dead(project, ["drop", id]);
  const after = await dead(project, ["list"]);

  expect([mistyped.code, before.length]).toEqual([1, 1]);
  expect(mistyped.stderr).toContain('Cannot find the failed call "no-such-id"');
  expect([dropped.stdout, after.stdout]).toEqual([`Dropped ${id}\n`, "No failed calls are waiting to be retried.\n"]);
});

test("kitbag dead retry makes a call of another user only as that user's token allows", async () => {
  const { project } = await createFailed();
  const store = await sqliteStore({ file: join(project.home, "kitbag.db") });
  for (const user of ["alice", "bob"]) await keepLetter(store.kv, { ...letter, id: user, user, input: { to: user } });
  await store.close();
  project.write("line-is-up", "");
  project.write("tokens", "a-token-of-alice alice\nanother-token carol\n");
  const words = ["--module", "tools.mjs"];

  const unknown = await dead(project, ["retry", "alice", ...words]);
  const gone = await dead(project, ["retry", "bob", ...words], { env: { KITBAG_TOKEN: "@tokens" } });
  const known = await dead(project, ["retry", "alice", ...words], { env: { KITBAG_TOKEN: "@tokens" } });

  expect(unknown).toMatchObject({ code: 1, stdout: "" });
  expect(unknown.stderr).toContain(
    'Cannot act for the user "alice": the current scopes of this user are not known here',
  );
  expect(gone.stderr).toContain("none of the scopes tools:of:global:send");
  expect(known).toMatchObject({ code: 0, stdout: "sent to alice\n" });
  expect((await letters(project)).map(({ id }) => id)).toContain("bob");
});

test.for([
  [["show"], 2, "it takes the id of a call, as kitbag dead list has it"],
  [["show", "a", "b"], 2, "it takes 1 more word"],
  [["show", "__proto__"], 1, "no failed call has this id"],
  [["retry", "x", "--store", "none", "--module", "tools.mjs"], 2, "nothing is kept there"],
  [["resurrect"], 2, "there is no such action"],
] as const)("kitbag dead %j ends with %i and says why", async ([words, code, reason]) => {
  const run = await dead(createProject({ "tools.mjs": tools }), words);

  expect(run).toMatchObject({ code, stdout: "" });
  expect(run.stderr).toContain(reason);
});

function dead(project: Project, words: readonly string[], options: RunKitbagOptions = {}): Promise<KitbagRun> {
  return runKitbag(["dead", ...words], { project, ...options });
}

async function letters(project: Project): Promise<readonly DeadLetter[]> {
  const { stdout } = await dead(project, ["list", "--json"]);
  return (JSON.parse(stdout) as { letters: DeadLetter[] }).letters;
}

/** A project in which one call failed. */
async function createFailed(): Promise<{ project: Project; id: string }> {
  const project = createProject({ "tools.mjs": tools });
  await runKitbag(["call", "send", "--module", "tools.mjs", "--to", "Ada\u001B[2J"], { project });
  const [letter] = await letters(project);
  return { project, id: letter?.id ?? "" };
}

const letter: DeadLetter = {
  id: "c",
  tool: "send",
  digest: "sha256:0",
  input: {},
  isRedacted: false,
  error: { code: "tool-failed", message: "the line is down", details: { tool: "send", reason: "the line is down" } },
  attempts: 1,
  time: 0,
};

const tools = `
import { existsSync } from "node:fs";
import { defineTool } from "kitbag";

export default defineTool({
  name: "send",
  description: "Sends a message",
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  run({ to }) {
    if (!existsSync("line-is-up")) throw new Error("the line is down");
    return "sent to " + to;
  },
});
`;
