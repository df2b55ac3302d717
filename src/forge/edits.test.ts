import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { createWorkspace } from "../workspace/create-workspace.ts";
import {
  countWords,
  expectLive,
  expectRefused,
  openTestForge,
  openTestRuntimes,
  outputOf,
  sayTool,
} from "../../test/support/open-test-forge.ts";
import type { WaitingTool } from "./forge-interface.ts";
import { openForge } from "./open-forge.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

test("updateTool() keeps every version: A, B, C, D and E can all be called, and each is what it was", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));

  for (const text of ["B", "C", "D", "E"]) {
    const { code, examples } = sayTool("say", text);
    expectLive(await forge.updateTool("say", { code, examples }));
  }

  const labels = (await forge.listVersions("say")).map(({ version }) => version);
  expect(labels).toEqual(["1.0.0", "1.0.1", "1.0.2", "1.0.3", "1.0.4"]);
  const said = [];
  for (const label of labels) said.push(String(await outputOf(workspace, `say@${label}`)).trim());
  expect(said).toEqual(["A", "B", "C", "D", "E"]);
  expect(String(await outputOf(workspace, "say")).trim()).toBe("E");
  expect(readdirSync(join(directory, ".kitbag/tools/say/versions")).toSorted()).toEqual(labels);
  expect(workspace.getAvailableTools()).toHaveLength(1);
});

test("updateTool() counts a version up by how far it is from the one before", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool(countWords);

  const patch = expectLive(await forge.updateTool("count-words", { description: "Counts all words of a text" }));
  const minor = expectLive(
    await forge.updateTool("count-words", {
      input: {
        type: "object",
        properties: { text: { type: "string" }, language: { type: "string" } },
        required: ["text"],
      },
    }),
  );
  const major = expectLive(
    await forge.updateTool("count-words", {
      input: { type: "object", properties: { text: { type: "string", maxLength: 100 } }, required: ["text"] },
    }),
  );

  expect([patch, minor, major].map(({ version, change }) => [version, change?.step])).toEqual([
    ["1.0.1", "patch"],
    ["1.1.0", "minor"],
    ["2.0.0", "major"],
  ]);
  expect(major.change?.reasons).toEqual(["input: text has a stricter maxLength", "input: language is gone"]);
  expect((await forge.listVersions("count-words")).at(-1)).toMatchObject({
    version: "2.0.0",
    step: "major",
    reasons: major.change?.reasons,
  });
});

test("updateTool() leaves the live version alone when the new one does not pass, and keeps nothing of it", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(countWords);

  const answer = expectRefused(await forge.updateTool("count-words", { code: "console.log('{}');\n" }));

  expect(answer.examples).toMatchObject([{ passed: false }]);
  expect(await outputOf(workspace, "count-words", { text: "a b" })).toEqual({ words: 2 });
  expect(await forge.listVersions("count-words")).toHaveLength(1);
  expect(await forge.history("count-words")).toMatchObject([{ type: "create", version: "1.0.0" }]);
});

test("updateTool() takes a part away that is null, and makes no version when nothing changes", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool({ ...countWords, title: "Words", files: { "notes.md": "x" } });

  const taken = expectLive(await forge.updateTool("count-words", { title: null, files: null }));
  const same = expectLive(await forge.updateTool("count-words", { description: countWords.description }));

  expect(await forge.readDraft("count-words")).toEqual(countWords);
  expect([taken.version, same.version]).toEqual(["1.0.1", "1.0.1"]);
  expect(same.diagnostics).toMatchObject([{ code: "draft-same" }]);
});

test("updateTool() refuses an editor who saw another version, and says what changed since", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool(countWords);
  await forge.updateTool("count-words", { description: "Counts words", title: "Words" });

  const answer = expectRefused(await forge.updateTool("count-words", { title: "Mine" }, { expectedVersion: "1.0.0" }));

  expect(answer.error).toMatchObject({
    code: "version-conflict",
    details: { expected: "1.0.0", current: "1.0.1", changed: ["description", "title"] },
  });
  expect(answer.error.message).toContain("read it again, then repeat the change");
});

test("updateTool() lets one of two editors at once win, and the other hears of it", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(countWords);

  const answers = await Promise.all(
    ["first", "second", "third"].map((title) => forge.updateTool("count-words", { title })),
  );

  expect(answers.map(({ status }) => status).toSorted()).toEqual(["live", "refused", "refused"]);
  const codes = answers.flatMap((answer) => (answer.status === "refused" ? [answer.error.code] : []));
  expect(codes).toEqual(["version-conflict", "version-conflict"]);
  const winner = ["first", "second", "third"][answers.findIndex(({ status }) => status === "live")];
  expect(workspace.getTool("count-words")?.tool.title).toBe(winner);
  expect(await forge.listVersions("count-words")).toHaveLength(2);
});

test("createTool() lets one of two makers of one name win", async () => {
  const { forge } = await openTestForge(runtimes);

  const answers = await Promise.all([forge.createTool(sayTool("say", "A")), forge.createTool(sayTool("say", "B"))]);

  expect(answers.map(({ status }) => status).toSorted()).toEqual(["live", "refused"]);
});

test("updateTool() makes recorded calls again and tells what comes out differently", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(countWords);
  for (const text of ["a b", "a  b", "a-b", "a b"]) await workspace.call("count-words", { text });
  await workspace.call("count-words", { text: "mail [email] to me" });
  await workspace.call("count-words", { text: 7 as never });

  const code = countWords.code.replace("text.match", 'text.replaceAll("-", " ").match');
  const { replay } = expectLive(await forge.updateTool("count-words", { code }));

  expect(replay).toMatchObject({ calls: 4, same: 3 });
  expect(replay?.differences).toEqual([{ input: { text: "a-b" }, before: { words: 1 }, after: { words: 2 } }]);
});

test("updateTool() makes calls of earlier versions again, as far as the live one takes the same", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(countWords);
  for (const text of ["a b", "a-b", "c"]) await workspace.call("count-words", { text });
  const code = countWords.code.replace("text.match", 'text.replaceAll("-", " ").match');

  const title = expectLive(await forge.updateTool("count-words", { title: "Words" }));
  const dashes = expectLive(await forge.updateTool("count-words", { code }));
  const same = expectLive(await forge.updateTool("count-words", { title: "All words" }));
  const major = expectLive(
    await forge.updateTool("count-words", {
      input: { type: "object", properties: { text: { type: "string", maxLength: 99 } }, required: ["text"] },
    }),
  );
  const after = expectLive(await forge.updateTool("count-words", { title: null }));

  expect(title.replay).toMatchObject({ calls: 3, same: 3 });
  expect(dashes.replay?.differences).toEqual([{ input: { text: "a-b" }, before: { words: 1 }, after: { words: 2 } }]);
  expect([same.replay, major.replay]).toMatchObject([
    { calls: 3, same: 3 },
    { calls: 3, same: 3 },
  ]);
  expect(after.replay).toMatchObject({ calls: 0, skipped: expect.stringContaining("no calls") as string });
});

test("updateTool() makes the calls again that were made while the version was live that was rolled back to", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(countWords);
  for (const text of ["a b", "a-b"]) await workspace.call("count-words", { text });
  const input = { type: "object", properties: { words: { type: "string" } }, required: ["words"] };
  const code = countWords.code.replace(").text", ").words");
  const examples = [{ input: { words: "a" } }];
  expectLive(await forge.updateTool("count-words", { input, code, examples }));
  await workspace.call("count-words", { words: "x" });
  await forge.rollbackTool("count-words", "1.0.0");

  const dashes = countWords.code.replace("text.match", 'text.replaceAll("-", " ").match');
  const answer = expectLive(await forge.updateTool("count-words", { code: dashes }));

  expect(answer.replay).toMatchObject({ calls: 2, same: 1, differences: [{ input: { text: "a-b" } }] });
});

test("updateTool() does not take calls of an earlier version for calls of the live one", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(countWords);
  const code = countWords.code.replace("words.length", "text.length");
  const input = { type: "object", properties: { text: { type: "string", maxLength: 99 } }, required: ["text"] };
  const examples = [{ input: { text: "abc" }, output: { words: 3 } }];
  expectLive(await forge.updateTool("count-words", { input, code, examples }));
  await workspace.call("count-words@1.0.0", { text: "a b" });
  await workspace.call("count-words", { text: "ab" });

  const { replay } = expectLive(await forge.updateTool("count-words", { title: "Letters" }));

  expect(replay).toMatchObject({ calls: 1, same: 1 });
});

test("updateTool() says that the tool was deleted meanwhile", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool(countWords);

  const update = forge.updateTool("count-words", { title: "Words" });
  await forge.deleteTool("count-words");

  expect(expectRefused(await update).error).toMatchObject({ code: "tool-deleted" });
});

test("updateTool() makes no calls again of tools that may not be run twice, nor more than the policy says", async () => {
  const first = await openTestForge(runtimes);
  await first.forge.createTool(sayTool("say", "A"));
  await first.workspace.call("say", {});
  const second = await openTestForge(runtimes, { policy: { maxReplays: 2 } });
  await second.forge.createTool(countWords);
  for (const text of ["a", "b", "c"]) await second.workspace.call("count-words", { text });

  const never = expectLive(await first.forge.updateTool("say", { title: "Say" }));
  const few = expectLive(await second.forge.updateTool("count-words", { title: "Words" }));

  expect(never.replay).toMatchObject({ calls: 0, skipped: "the tool is neither read-only nor idempotent" });
  expect(few.replay).toMatchObject({ calls: 2, same: 2 });
});

test("rollbackTool() makes an earlier version live in one call, and keeps that it happened", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));
  const { code, examples } = sayTool("say", "B");
  await forge.updateTool("say", { code, examples }, { author: "ada" });

  const answer = expectLive(await forge.rollbackTool("say", "1.0.0", { author: "bob" }));

  expect(answer.version).toBe("1.0.0");
  expect(String(await outputOf(workspace, "say")).trim()).toBe("A");
  expect(String(await outputOf(workspace, "say@1.0.1")).trim()).toBe("B");
  expect(await forge.history("say")).toMatchObject([
    { type: "create", version: "1.0.0" },
    { type: "update", version: "1.0.1", from: "1.0.0", author: "ada" },
    { type: "rollback", version: "1.0.0", from: "1.0.1", author: "bob" },
  ]);
  expect((await forge.listVersions("say")).map(({ version, current }) => [version, current])).toEqual([
    ["1.0.0", true],
    ["1.0.1", false],
  ]);
});

test("updateTool() gives an edit after a rollback a version of its own, behind the newest", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool(countWords);
  await forge.updateTool("count-words", {
    input: { type: "object", properties: { text: { type: "string", maxLength: 9 } }, required: ["text"] },
    examples: [{ input: { text: "a" } }],
  });
  await forge.rollbackTool("count-words", "1.0.0");

  const answer = expectLive(await forge.updateTool("count-words", { title: "Words" }));

  expect(answer).toMatchObject({ version: "2.1.0", change: { from: "1.0.0", step: "patch" } });
});

test("rollbackTool() and its like say what there is, for a version and a tool that there is not", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool(countWords);

  await expect(forge.rollbackTool("count-words", "9.9.9")).rejects.toMatchObject({
    code: "version-not-found",
    details: { known: ["1.0.0"] },
  });
  await expect(forge.rollbackTool("count-words", "../../x")).rejects.toMatchObject({ code: "version-not-found" });
  for (const work of [
    () => forge.rollbackTool("nobody", "1.0.0"),
    () => forge.updateTool("../nobody", {}),
    () => forge.deleteTool("../nobody"),
    () => forge.listVersions("nobody"),
    () => forge.restoreTool("nobody"),
    () => forge.testTool("nobody"),
  ])
    await expect(work()).rejects.toMatchObject({ code: "tool-not-found" });
});

test("deleteTool() takes a tool out, restoreTool() brings it back with all its versions", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));
  const { code, examples } = sayTool("say", "B");
  await forge.updateTool("say", { code, examples });

  await forge.deleteTool("say");
  const gone = [await outputOf(workspace, "say"), await outputOf(workspace, "say@1.0.0")];
  const listed = forge.listTools();
  const restored = expectLive(await forge.restoreTool("say"));

  expect(gone).toEqual(["tool-not-found", "tool-not-found"]);
  expect(listed).toMatchObject([{ name: "say", status: "deleted" }]);
  expect(restored.version).toBe("1.0.1");
  expect(String(await outputOf(workspace, "say")).trim()).toBe("B");
  expect(String(await outputOf(workspace, "say@1.0.0")).trim()).toBe("A");
});

test("createTool() goes on with the versions of a tool that was deleted", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));
  await forge.deleteTool("say");

  const answer = expectLive(await forge.createTool(sayTool("say", "B")));

  expect(answer.version).toBe("1.0.1");
  expect(String(await outputOf(workspace, "say@1.0.0")).trim()).toBe("A");
  expect((await forge.history("say")).map(({ type }) => type)).toEqual(["create", "delete", "create"]);
});

test("testTool() runs the examples of the live version, or of another one", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));
  const { code, examples } = sayTool("say", "B");
  await forge.updateTool("say", { code, examples });

  const live = await forge.testTool("say");
  const earlier = await forge.testTool("say", { version: "1.0.0" });

  expect(live).toMatchObject({ version: "1.0.1", passed: true, examples: [{ got: "B" }] });
  expect(earlier).toMatchObject({ version: "1.0.0", passed: true, examples: [{ got: "A" }] });
});

test("createTool() lets permissions beyond the policy wait for a person, and runs nothing before", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  const ran = join(directory, "out/ran.txt");
  mkdirSync(join(directory, "out"));
  const draft = {
    ...sayTool("writer", "done"),
    code: `cat > /dev/null\necho yes > ${ran}\necho done\n`,
    permissions: { write: [join(directory, "out")] },
  };

  const answer = (await forge.createTool(draft, { author: "model" })) as WaitingTool;
  const before = { tool: workspace.getTool("writer"), files: readdirSync(join(directory, "out")) };
  const listed = forge.listWaiting();
  const approved = expectLive(await forge.approve(answer.id));

  expect(answer).toMatchObject({ status: "waiting", name: "writer", asks: draft.permissions, author: "model" });
  expect(before).toEqual({ tool: undefined, files: [] });
  expect(listed).toEqual([answer]);
  expect(approved.permissions).toEqual(draft.permissions);
  expect(readFileSync(ran, "utf8")).toBe("yes\n");
  expect(forge.listWaiting()).toEqual([]);
});

test("deny() throws a draft away, and nobody can approve it any more", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  const { id } = (await forge.createTool({
    ...sayTool("fetch", "x"),
    permissions: { network: ["api.example.com"] },
  })) as WaitingTool;

  await forge.deny(id);

  await expect(forge.approve(id)).rejects.toMatchObject({ code: "draft-not-found" });
  await expect(forge.approve("../../x")).rejects.toMatchObject({ code: "draft-not-found" });
  expect(workspace.getTool("fetch")).toBeUndefined();
});

test("approve() approves exactly what waited: a draft that was changed on disk is another one", async () => {
  const { forge, directory } = await openTestForge(runtimes);
  const { id } = (await forge.createTool({
    ...sayTool("fetch", "x"),
    permissions: { network: ["api.example.com"] },
  })) as WaitingTool;
  const path = join(directory, `.kitbag/tools/.waiting/${id}.json`);
  writeFileSync(path, readFileSync(path, "utf8").replaceAll("api.example.com", "evil.example.com"));

  await expect(forge.approve(id)).rejects.toMatchObject({ code: "draft-not-found" });
  expect(forge.listWaiting()).toEqual([]);
});

test("createTool() grants what the policy grants without asking, and asks whoever can be asked", async () => {
  const asked: unknown[] = [];
  const { forge } = await openTestForge(runtimes, {
    policy: { permissions: { network: ["*.example.com"] } },
    approve(waiting) {
      asked.push(waiting.asks);
      return waiting.name === "yes";
    },
  });
  const draft = (name: string, host: string) => ({ ...sayTool(name, "x"), permissions: { network: [host] } });

  const granted = await forge.createTool(draft("granted", "api.example.com"));
  const yes = await forge.createTool(draft("yes", "api.example.org"));
  const no = expectRefused(await forge.createTool(draft("no", "api.example.org")));

  expect([granted.status, yes.status, no.diagnostics[0]?.code]).toEqual(["live", "live", "approval-denied"]);
  expect(asked).toEqual([{ network: ["api.example.org"] }, { network: ["api.example.org"] }]);
  expect(forge.listWaiting()).toEqual([]);
});

test("updateTool() asks again when the code of a tool changes that a person has let do more", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  const first = (await forge.createTool({
    ...sayTool("fetch", "A"),
    permissions: { network: ["api.example.com"] },
  })) as WaitingTool;
  await forge.approve(first.id);

  const { code, examples } = sayTool("fetch", "B");
  const second = (await forge.updateTool("fetch", { code, examples })) as WaitingTool;
  const before = String(await outputOf(workspace, "fetch")).trim();
  const approved = expectLive(await forge.approve(second.id));

  expect(second).toMatchObject({ status: "waiting", from: "1.0.0" });
  expect(before).toBe("A");
  expect(approved.version).toBe("1.0.1");
});

test("approve() refuses an edit of a version that is no longer the live one", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));
  const { id } = (await forge.updateTool("say", { permissions: { network: ["api.example.com"] } })) as WaitingTool;
  await forge.updateTool("say", { title: "Say" });

  const answer = expectRefused(await forge.approve(id));

  expect(answer.error.code).toBe("version-conflict");
});

test("openForge() shares a folder with another process: each sees what the other does", async () => {
  const one = await openTestForge(runtimes);
  const workspace = createWorkspace({ runtimes });
  const other = await openForge({ ...one, workspace, runtimes, watch: false });

  await one.forge.createTool(sayTool("say", "A"));
  const { code, examples } = sayTool("say", "B");
  const answer = expectLive(await other.updateTool("say", { code, examples }, { expectedVersion: "1.0.0" }));
  const stale = expectRefused(await one.forge.updateTool("say", { title: "x" }, { expectedVersion: "1.0.0" }));
  await other.close();

  expect(answer.version).toBe("1.0.1");
  expect(stale.error.code).toBe("version-conflict");
  expect(String(await outputOf(one.workspace, "say")).trim()).toBe("B");
});
