import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag, type KitbagRun, type Project } from "../../../test/run-kitbag.ts";
import { readLines, toToolModule } from "../../../test/support/tool-modules.ts";
import { startWireModel, toCall } from "../../../test/support/wire-model.ts";
import type { JsonObject } from "../../core/json.ts";
import { sqliteStore } from "../../store/sqlite/sqlite-store.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag runs lists what agents did, and show tells it step by step", async () => {
  const project = createToolProject();
  await kitbag(project, ["run", "add 19 and 23"]);
  await kitbag(project, ["run", "hello \u001B[2J"]);

  const list = await kitbag(project, ["runs"]);
  const id = await newestOf(project, "add 19 and 23");
  const shown = await kitbag(project, ["runs", "show", id.slice(0, 8)]);

  expect(list.stdout).toMatch(/^ID +STATUS +STEPS +TOKENS +COST +WHEN +TASK\n/u);
  expect(list.stdout).toMatch(/^[\da-f]{8} +ok +2 +\d[\d,]* +\$0 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +add 19 and 23$/mu);
  expect(list.stdout).toContain(String.raw`hello \u001b[2J`);
  expect(list.stdout).not.toContain("\u001B");
  expect(shown.stdout).toContain(`Run          ${id}\nStatus       ok\nModel        kitbag/local\n`);
  expect(shown.stdout).toMatch(
    /── step 1 · [\d,]+ tokens · .*\n✓ 1\.0 add a: 19, b: 23\n {2}→ 42\n\n── step 2 .*\n42\n$/u,
  );
});

test("kitbag runs show --json prints the journal", async () => {
  const project = createToolProject();
  await kitbag(project, ["run", "add 19 and 23"]);
  const id = await newestOf(project, "add 19 and 23");

  const { stdout } = await kitbag(project, ["runs", "show", id, "--json"]);

  const { journal } = JSON.parse(stdout) as { journal: { value: { type: string } }[] };
  expect(journal.map(({ value }) => value.type)).toEqual([
    "lease-start",
    "task-start",
    "model-answer",
    "step-intent",
    "step-outcome",
    "model-answer",
    "run-end",
  ]);
});

test.for([
  [["runs", "show", "none"], 1, 'Cannot find the run "none"'],
  [["runs", "show", ""], 1, 'Cannot find the run ""'],
  [["runs", "show", "__proto__"], 1, 'Cannot find the run "__proto__"'],
  [["runs", "show"], 2, "it takes 1 more word"],
  [["runs", "fork", "x", "--step", "-1"], 2, "Cannot use --step -1"],
  [["runs", "rerun", "x"], 2, "there is no such action"],
  [["runs", "resume", "x", "--store", "none"], 2, "nothing is kept with --store none"],
  [["runs", "debug", "x", "--json"], 2, "Cannot use --json with kitbag runs debug"],
  [["approvals", "approve", "x"], 1, 'Cannot find the approval "x"'],
] as const)("kitbag %j ends with %i and says why", async ([words, code, reason]) => {
  const run = await kitbag(createToolProject(), words);

  expect(run.stderr).toContain(reason);
  expect(run.code).toBe(code);
});

test("kitbag runs resume goes on with a run whose process was killed, and does nothing again that was done", async () => {
  const reached = Promise.withResolvers<void>();
  const { env } = await startWireModel(({ results }) => {
    if (results.length === 0) return toCall("note", { text: "first" });
    if (results.length === 1) {
      reached.resolve();
      return { ...toCall("note", { text: "second" }, "call_2"), fault: { kind: "slow", until: killed.promise } };
    }
    return { text: "Both are noted." };
  });
  const killed = Promise.withResolvers<void>();
  const project = createToolProject();

  const child = startKitbag(project, ["run", "note two things"], env);
  await reached.promise;
  child.kill("SIGKILL");
  await once(child, "close");
  killed.resolve();
  const id = await newestOf(project, "note two things");
  const resumed = await kitbag(project, ["runs", "resume", id.slice(0, 6), "--json"], env);

  expect(resumed.stderr).toContain("Another process has this run; if it has died, the run is free within 10 seconds");
  expect(resumed.code).toBe(0);
  const events = resumed.stdout.trimEnd().split("\n");
  const ends = events.map((line) => JSON.parse(line) as { type: string }).filter(({ type }) => type === "task-end");
  expect(ends).toMatchObject([{ result: { status: "ok", text: "Both are noted." } }]);
  expect(readLines(project, "noted")).toEqual(["first", "second"]);
});

test("kitbag runs says which line of a journal is damaged, lists the other runs, and goes on from what is sound", async () => {
  const project = createToolProject();
  await kitbag(project, ["run", "add 19 and 23"]);
  await kitbag(project, ["run", "add 1 and 2"]);
  const id = await newestOf(project, "add 19 and 23");
  await append(project, id, { type: "model-answer", step: 3 });
  const problem = `Cannot read the run "${id}": line 8 of its journal is damaged (model-answer: `;

  const list = await kitbag(project, ["runs"]);
  const shown = await kitbag(project, ["runs", "--json"]);
  const approvals = await kitbag(project, ["approvals"]);
  const refused: KitbagRun[] = [];
  for (const action of ["show", "resume", "replay", "fork", "debug"]) {
    refused.push(await kitbag(project, ["runs", action, id.slice(0, 8)]));
  }
  const forked = await kitbag(project, ["runs", "fork", id, "--step", "1"]);

  expect(list.stdout).toMatch(/^[\da-f]{8} +ok .* add 1 and 2$/mu);
  expect(list.stdout).toMatch(new RegExp(`^${id.slice(0, 8)} +damaged .*Cannot read the run`, "mu"));
  expect(JSON.parse(shown.stdout)).toMatchObject({ runs: [{ id, status: "damaged" }, { status: "ok" }] });
  expect(approvals.code).toBe(0);
  for (const { stderr, code } of refused) {
    expect(stderr).toContain(problem);
    expect(stderr).toContain(`kitbag runs fork ${id} --step 2`);
    expect(stderr).not.toContain("    at ");
    expect(code).toBe(1);
  }
  expect(forked).toMatchObject({ stdout: "42\n", code: 0 });
});

test("kitbag runs resume of a run that has ended says so", async () => {
  const project = createToolProject();
  await kitbag(project, ["run", "add 19 and 23"]);
  const id = await newestOf(project, "add 19 and 23");

  const { code, stderr } = await kitbag(project, ["runs", "resume", id]);

  expect(stderr).toContain("has ended");
  expect(code).toBe(1);
});

test("kitbag runs replay says that a run is the same, or where it is not any more", async () => {
  const project = createToolProject();
  await kitbag(project, ["run", "add 19 and 23"]);
  const id = await newestOf(project, "add 19 and 23");

  const same = await kitbag(project, ["runs", "replay", id]);
  project.write("tools.mjs", tools.replace("Adds two numbers", "Adds two numbers, and says the sum"));
  const other = await kitbag(project, ["runs", "replay", id]);

  expect(same).toMatchObject({ code: 0, stdout: "The same: 2 steps\n" });
  expect(other.code).toBe(1);
  expect(other.stdout).toContain(
    "Not the same at step 1: the model is shown other tools: add is described otherwise\n",
  );
});

test("kitbag runs fork goes another way from the middle of a run", async () => {
  const { env, server } = await startWireModel([
    toCall("note", { text: "first" }),
    { text: "Noted." },
    { text: "Again." },
  ]);
  const project = createToolProject();
  await kitbag(project, ["run", "note it"], env);
  const id = await newestOf(project, "note it");

  const forked = await kitbag(project, ["runs", "fork", id, "--step", "1", "--say", "Speak louder"], env);
  const list = await kitbag(project, ["runs"]);

  expect(forked).toMatchObject({ code: 0, stdout: "Again.\n" });
  expect(forked.stderr).toContain(`goes on behind step 1 of ${id}`);
  expect(JSON.stringify(server.requests[2]?.body)).toContain("Speak louder");
  expect(readLines(project, "noted")).toEqual(["first"]);
  expect(list.stdout.trimEnd().split("\n")).toHaveLength(3);
});

test("kitbag runs debug goes through a recorded run, and what is changed there is a run of its own", async () => {
  const { env, server } = await startWireModel([
    toCall("note", { text: "first" }),
    { text: "One." },
    { text: "Other." },
  ]);
  const project = createToolProject();
  await kitbag(project, ["run", "note it"], env);
  const id = await newestOf(project, "note it");

  const commands = ["n", "", 'args {"text": "changed"}'];
  const debugged = await runKitbag(["runs", "debug", id, "--module", "tools.mjs"], {
    project,
    env,
    stdin: `${commands.join("\n")}\n`,
  });

  expect(debugged.stderr).toContain("▸ Step 1, before the model is asked: 1 message");
  expect(debugged.stderr).toContain("▸ Step 1, before the call: note text: first");
  expect(debugged.stderr).toContain(`goes on from here; ${id} stays as it is`);
  expect(debugged).toMatchObject({ code: 0, stdout: "Other.\n" });
  expect(readLines(project, "noted")).toEqual(["first", "changed"]);
  expect(server.requests[2]?.results).toMatchObject([{ text: expect.stringContaining("noted changed") }]);
  const [, fork = ""] = /([\da-f-]{36}) goes on from here/u.exec(debugged.stderr) ?? [];
  expect((await kitbag(project, ["runs", "show", fork])).stdout).toContain(
    "1.0 note text: first (made with text: changed)",
  );
});

test("kitbag runs debug makes a call again with what it was made with", async () => {
  const { env } = await startWireModel([
    toCall("note", { text: "first" }),
    { text: "One." },
    { text: "Two." },
    { text: "Three." },
  ]);
  const project = createToolProject();
  await kitbag(project, ["run", "note it"], env);
  const forkIn = async (id: string, stdin: string): Promise<string> => {
    const { stderr } = await runKitbag(["runs", "debug", id, "--module", "tools.mjs"], { project, env, stdin });
    return /([\da-f-]{36}) goes on from here/u.exec(stderr)?.[1] ?? "";
  };
  const changed = await forkIn(await newestOf(project, "note it"), 'n\nn\nargs {"text": "changed"}\n');

  const again = await forkIn(changed, "n\nn\nn\nretry\n");

  expect(readLines(project, "noted")).toEqual(["first", "changed", "changed"]);
  expect((await kitbag(project, ["runs", "show", again])).stdout).toContain("(made with text: changed)");
});

test("kitbag runs debug does not make a call again whose input it does not know, because it looked like a secret", async () => {
  const { env } = await startWireModel([toCall("note", { text: "first" }), { text: "One." }, { text: "Two." }]);
  const project = createToolProject();
  await kitbag(project, ["run", "note it"], env);
  const debug = async (id: string, stdin: string): Promise<KitbagRun> =>
    runKitbag(["runs", "debug", id, "--module", "tools.mjs"], { project, env, stdin });
  const token = `ghp_${"a1B2".repeat(9)}`;
  const { stderr } = await debug(await newestOf(project, "note it"), `n\nn\nargs {"text": "${token}"}\n`);
  const [, changed = ""] = /([\da-f-]{36}) goes on from here/u.exec(stderr) ?? [];

  const again = await debug(changed, "n\nn\nn\nretry\n");

  expect(again.stderr).toContain("Cannot make the call 1.0 again: what it was made with looked like a secret");
  expect(again.code).toBe(2);
  expect(readLines(project, "noted")).toEqual(["first", token]);
});

test("kitbag runs debug puts another result in the place of the recorded one, and makes no call", async () => {
  const { env, server } = await startWireModel([
    toCall("note", { text: "first" }),
    { text: "One." },
    { text: "Other." },
  ]);
  const project = createToolProject();
  await kitbag(project, ["run", "note it"], env);
  const id = await newestOf(project, "note it");

  const stdin = ["n", "n", "n", 'result {"made": "up"}', ""].join("\n");
  const debugged = await runKitbag(["runs", "debug", id, "--module", "tools.mjs"], { project, env, stdin });

  expect(debugged).toMatchObject({ code: 0, stdout: "Other.\n" });
  expect(readLines(project, "noted")).toEqual(["first"]);
  expect(JSON.stringify(server.requests[2]?.results)).toContain("made");
});

test("kitbag runs debug stops at breakpoints that were named before, or are set on the way", async () => {
  const { env } = await startWireModel([toCall("note", { text: "first" }), { text: "One." }]);
  const project = createToolProject();
  await kitbag(project, ["run", "note it"], env);
  const id = await newestOf(project, "note it");

  const words = ["runs", "debug", id, "--module", "tools.mjs", "--break", "has:noted first"];
  const { code, stdout, stderr } = await runKitbag(words, { project, env, stdin: "b step:2\nc\nc\n" });

  expect(stderr.match(/^.*▸ .*$/gmu)?.map((line) => line.replace(/^.*▸ /u, ""))).toEqual([
    "Step 1, after the call of note: noted first",
    expect.stringMatching(/^Step 2, before the model is asked: 3 messages/u),
  ]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "The run is at its end: ok\n" });
});

test("kitbag runs debug asks the model again with retry, and shows the rest with c", async () => {
  const { env, server } = await startWireModel([{ text: "One." }, { text: "Other." }]);
  const project = createToolProject();
  await kitbag(project, ["run", "speak"], env);
  const id = await newestOf(project, "speak");

  const words = ["runs", "debug", id, "--module", "tools.mjs"];
  const seen = await runKitbag(words, { project, env, stdin: "c\n" });
  const retried = await runKitbag(words, { project, env, stdin: "n\nretry\n" });

  expect(seen.stdout).toBe("The run is at its end: ok\n");
  expect(retried.stdout).toBe("Other.\n");
  expect(server.requests).toHaveLength(2);
});

function kitbag(
  project: Project,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<KitbagRun> {
  const isShort = words[0] === "approvals";
  return runKitbag([...words, ...(isShort ? [] : ["--module", "tools.mjs"])], { project, env });
}

function startKitbag(
  project: Project,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): ReturnType<typeof spawn> {
  const main = join(import.meta.dirname, "../main.ts");
  return spawn(process.execPath, ["--conditions=@kitbag/source", main, ...words, "--module", "tools.mjs"], {
    cwd: project.folder,
    env: { PATH: process.env["PATH"], HOME: dirname(project.folder), KITBAG_HOME: project.home, ...env },
    stdio: "ignore",
  });
}

async function newestOf(project: Project, task: string): Promise<string> {
  const { stdout } = await kitbag(project, ["runs", "--json"]);
  const { runs } = JSON.parse(stdout) as { runs: { id: string; task: string }[] };
  return runs.find((run) => run.task === task)?.id ?? "";
}

/** Writes a line behind the journal of a run. */
async function append(project: Project, id: string, line: JsonObject): Promise<void> {
  const store = await sqliteStore({ file: join(project.home, "kitbag.db") });
  await store.log.append(`run:${id}`, [line]);
  await store.close();
}

function createToolProject(): Project {
  return createProject({ "tools.mjs": tools, noted: "" });
}

const tools = toToolModule({ name: "note", description: "Notes a text", parameter: "text", done: "noted" });
