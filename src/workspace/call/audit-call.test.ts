import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { createTool, defineTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { LogEntry, Store } from "../../core/store.ts";
import type { AuditLine } from "../../records/audit/audit-entry.ts";
import { exportAudit, readAudit } from "../../records/audit/export-audit.ts";
import { openAudit, type Audit } from "../../records/audit/open-audit.ts";
import { verifyAudit } from "../../records/audit/verify-audit.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { WorkspaceOptions } from "../workspace.ts";

test("call() is in the audit with who, what, under which permissions, where and how it ended", async () => {
  const { workspace, audit, lines } = await setUp();

  const outcome = await workspace.call("box/echo", { text: "hi" }, { user: "kim" });

  const [begin, end] = await lines();
  expect(begin).toEqual({
    type: "begin",
    call: expect.any(String),
    user: "kim",
    userDigest: audit.digest("kim"),
    tool: "box/echo",
    version: "1.2.0",
    toolDigest: expect.stringMatching(/^sha256:[\da-f]{64}$/u),
    inputDigest: audit.digest({ text: "hi" }),
    permissions: { network: ["api.example"] },
    sandbox: "none",
    time: expect.any(Number),
    position: 1,
    previous: expect.any(String),
    hash: expect.any(String),
  });
  expect(end).toEqual({
    type: "end",
    call: begin !== undefined && "call" in begin && begin.call,
    status: "ok",
    ran: true,
    durationMs: expect.any(Number),
    outputDigest: audit.digest(outcome.status === "ok" ? outcome.output : null),
    time: expect.any(Number),
    position: 2,
    previous: begin?.hash,
    hash: expect.any(String),
  });
});

test("calls inside calls are in the audit with their parent", async () => {
  const { workspace, lines } = await setUp();

  await workspace.call("outer");

  const all = await lines();
  expect(all.map(({ type }) => type)).toEqual(["begin", "begin", "end", "end"]);
  const [outer, inner] = all;
  expect(inner).toMatchObject({ parent: outer?.type === "begin" && outer.call, tool: "box/echo" });
});

test.for<[what: string, call: string, input: unknown, code: string]>([
  ["is no tool", "nothing", {}, "tool-not-found"],
  ["has a wrong input", "box/echo", { text: [] }, "input-invalid"],
  ["was denied", "ask", {}, "approval-denied"],
  ["has an input that is no JSON", "box/echo", { text: 1n }, "input-invalid"],
])("call() that %s is in the audit, and did not run", async ([, tool, input, code]) => {
  const { workspace, lines } = await setUp({
    approve: ({ tool: { name } }) => (name === "ask" ? { decision: "deny", reason: "no" } : { decision: "approve" }),
  });

  const outcome = await workspace.call(tool, input);

  expect(outcome).toMatchObject({ status: "failed", error: { code } });
  expect(await lines()).toMatchObject([
    { type: "begin", tool },
    { type: "end", status: "failed", code, ran: false },
  ]);
});

test("call() of a tool in a sandbox names it", async () => {
  const boxed = createTool({ name: "boxed", description: "Boxed", code: { kind: "boxed" } });
  const runtime: Runtime = { kind: "boxed", run: () => 1, describe: async () => ({ sandbox: "bubblewrap" }) };
  const { workspace, lines } = await setUp({ tools: [boxed], runtimes: [runtime] });

  await workspace.call("boxed");

  expect((await lines())[0]).toMatchObject({ sandbox: "bubblewrap" });
});

test("call() of a tool whose runtime cannot start is in the audit without a sandbox", async () => {
  const boxed = createTool({ name: "boxed", description: "Boxed", code: { kind: "boxed" } });
  const broken = (): never => {
    throw new KitbagError("sandbox-missing", { tried: [] });
  };
  const { workspace, lines } = await setUp({
    tools: [boxed],
    runtimes: [{ kind: "boxed", run: broken, describe: broken }],
  });

  await workspace.call("boxed");

  const [begin, end] = await lines();
  expect(begin).not.toHaveProperty("sandbox");
  expect(end).toMatchObject({ code: "sandbox-missing" });
});

test("call() of a tool that is not available starts nothing to name its sandbox", async () => {
  const boxed = createTool({ name: "boxed", description: "Boxed", code: { kind: "boxed" } });
  let described = 0;
  const describe = (): { sandbox: string } => ({ sandbox: `${(described += 1)}` });
  const { workspace, lines } = await setUp({ runtimes: [{ kind: "boxed", run: () => 1, describe }] });
  workspace.addSkill(defineSkill({ name: "closed", description: "Closed", tools: [boxed] }));

  await workspace.call("closed/boxed");

  expect(described).toBe(0);
  expect(await lines()).toMatchObject([{ tool: "closed/boxed" }, { code: "tool-unavailable" }]);
});

test.each([false, true])("what cannot be audited does not run, if it only reads: %s", async (readOnly) => {
  let ran = 0;
  const count = defineTool({
    name: "count",
    description: "Counts",
    annotations: { readOnly },
    run: () => (ran += 1),
  });
  const { audit } = await setUp();
  const broken: Audit = { ...audit, append: () => Promise.reject(new Error("disk full")) };
  const workspace = createWorkspace({ tools: [count], audit: broken });

  const outcome = await workspace.call("count");

  expect(outcome).toMatchObject({ error: { code: "store-failed", details: { reason: "disk full", ran: false } } });
  expect(ran).toBe(0);
});

test("a call whose end cannot be audited fails, and says that it ran", async () => {
  const { audit } = await setUp();
  const broken: Audit = {
    ...audit,
    append: (entry) => (entry.type === "end" ? Promise.reject(new Error("disk full")) : audit.append(entry)),
  };
  const workspace = createWorkspace({ tools: [echo], audit: broken });

  const outcome = await workspace.call("echo", { text: "hi" });

  expect(outcome).toMatchObject({ error: { code: "store-failed", details: { ran: true } } });
});

test("call() is audited also without a store, and the output that a cache gave is marked", async () => {
  const cached = defineTool({
    name: "cached",
    description: "Cached",
    annotations: { readOnly: true },
    cache: { ttlMs: 60_000 },
    run: () => 1,
  });
  const { audit, lines } = await setUp();
  const workspace = createWorkspace({ tools: [cached], audit });

  await workspace.call("cached");
  await workspace.call("cached");

  const ends = (await lines()).filter(({ type }) => type === "end");
  expect(ends[0]).not.toHaveProperty("recalled");
  expect(ends[1]).toMatchObject({ recalled: "cache", ran: false });
});

test("call() that was tried again says how often", async () => {
  let runs = 0;
  const flaky = defineTool({
    name: "flaky",
    description: "Fails once",
    annotations: { readOnly: true },
    run() {
      runs += 1;
      if (runs === 1) throw new Error("not yet");
      return runs;
    },
  });
  const { workspace, lines } = await setUp({ tools: [flaky], retries: { times: 1, minMs: 1 } });

  await workspace.call("flaky");

  expect((await lines()).at(-1)).toMatchObject({ type: "end", status: "ok", attempts: 2 });
});

test("the digest of a tool changes with what it is, and not with where its files are", async () => {
  const code = { kind: "boxed", digest: "sha256:1", directory: "/a", toCommand: () => [] };
  const make = (changes: object): ReturnType<typeof createTool> =>
    createTool({ name: "boxed", description: "Boxed", code: { ...code, ...changes } });
  const digestOf = async (changes: object): Promise<string | undefined> => {
    const { workspace, lines } = await setUp({ tools: [make(changes)] });
    await workspace.call("boxed");
    const [begin] = await lines();
    return begin?.type === "begin" ? begin.toolDigest : undefined;
  };

  const first = await digestOf({});

  expect(await digestOf({ directory: "/b" })).toBe(first);
  expect(await digestOf({ digest: "sha256:2" })).not.toBe(first);
});

/** Each is put together here: nobody must take them for real ones. */
function canaries(): Readonly<Record<string, string>> {
  let seed = 0;
  const take = (alphabet: string, length: number): string => {
    seed += 1;
    return Array.from(
      { length },
      (_, index) => alphabet[(index * index * 3 + index * seed + seed * 5) % alphabet.length],
    ).join("");
  };
  const body = (length: number): string => take("aB3dE5gH1jK7mN9pQ2rS4tU6vW8xY0z", length);
  const hex = (length: number): string => take("0a1b2c3d4e5f6789", length);
  const base64 = (text: string): string => Buffer.from(text).toString("base64url");
  const from = (prefix: string, rest: string): string => prefix.replace("|", "") + rest;
  return {
    aws: from("AK|IA", "Q7X2".repeat(4)),
    awsSecret: from("aws_secret_access|_key=", body(40)),
    anthropic: from("sk-|ant-", body(90)),
    openai: from("sk-|proj-", body(60)),
    google: from("AI|za", body(35)),
    github: from("gh|p_", body(36)),
    githubFine: from("github|_pat_", body(60)),
    gitlab: from("gl|pat-", body(20)),
    slack: from("xo|xb-", `123456789012-${body(24)}`),
    slackHook: from("hooks.slack|.com/services/", `T0000/B0000/${body(24)}`),
    stripe: from("sk_|live_", body(24)),
    stripeHook: from("wh|sec_", body(32)),
    npm: from("np|m_", body(36)),
    pypi: from("py|pi-", body(100)),
    huggingface: from("h|f_", body(34)),
    digitalocean: from("dop|_v1_", hex(64)),
    sendgrid: from("S|G.", `${body(22)}.${body(43)}`),
    twilio: from("S|K", hex(32)),
    mailgun: from("ke|y-", hex(32)),
    shopify: from("shp|at_", hex(32)),
    databricks: from("da|pi", hex(32)),
    vault: from("client_|secret=", body(30)),
    linear: from("lin_|api_", body(40)),
    notion: from("nt|n_", body(46)),
    jwt: [base64('{"alg":"HS256"}'), base64('{"sub":"1234567890"}'), body(43)].join("."),
    pem: `-----BEGIN PRIVATE KEY-----\n${body(64)}\n${body(64)}\n-----END PRIVATE KEY-----`,
    basicUrl: "https://user:correct-horse-9@host.example/",
    bearer: `Bearer ${hex(40)}`,
    basic: `Basic ${Buffer.from("user:correct-horse-9").toString("base64")}`,
    email: "ada.lovelace@example.com",
    phone: "+49 30 90182000",
    card: "4111 1111 1111 1111",
    iban: "DE89 3704 0044 0532 0130 00",
  };
}

test("R19: no canary of 33 formats gets into an outcome, an event, an error, a log, a record or the audit", async () => {
  const values = canaries();
  const say = defineTool({
    name: "say",
    description: "Says it everywhere",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    async *run({ text }, { log }) {
      const given = String(text);
      log(given, { [given]: given });
      yield given.slice(0, 7);
      yield given.slice(7);
      if (given.startsWith("fail")) throw new Error(given);
      return { given, list: [given] };
    },
  });
  const { workspace, store, lines } = await setUp({ tools: [say], redaction: { output: true } });
  const sinks: unknown[] = [];
  workspace.onEvent((event) => sinks.push(event));

  for (const value of Object.values(values)) {
    sinks.push(
      await workspace.call("say", { text: value }, { user: value }),
      await workspace.call("say", { text: `fail ${value}` }),
      await workspace.call("say", { wrong: value }),
      await workspace.call(value),
    );
  }
  sinks.push(await store.log.read("calls", { limit: 10_000 }), await lines());

  const text = JSON.stringify(sinks);
  const found = Object.entries(values).filter(([, value]) =>
    text.includes(JSON.stringify(value.slice(-16)).slice(1, -1)),
  );
  expect(Object.keys(values).length).toBe(33);
  expect(found.map(([name]) => name)).toEqual([]);
  expect(text).not.toContain("correct-horse-9");
});

test("R19: records and audit hold no canary by default, while the caller gets what the tool gave", async () => {
  const { workspace, store, lines } = await setUp();

  for (const value of Object.values(canaries())) {
    const outcome = await workspace.call("box/echo", { text: value }, { user: value });

    expect(outcome).toEqual({ status: "ok", output: value });
  }

  const text = JSON.stringify([await store.log.read("calls", { limit: 1000 }), await lines()]);
  const found = Object.values(canaries()).filter((value) => text.includes(JSON.stringify(value).slice(1, -1)));
  expect(found).toEqual([]);
  expect(text).not.toContain("correct-horse-9");
});

test("R19: declared secrets are in no user and no address of the audit", async () => {
  const { workspace, lines } = await setUp({ secrets: { WORD: "swordfish" } });

  await workspace.call("swordfish", {}, { user: "swordfish" });

  expect(await lines()).toMatchObject([{ tool: "[WORD]", user: "[WORD]" }, {}]);
});

test("R19: redaction is for the kinds that were chosen", async () => {
  const text = `ada@example.com ${canaries()["github"]}`;
  const recorded = async (redaction: NonNullable<WorkspaceOptions["redaction"]>): Promise<[JsonValue, JsonValue]> => {
    const { workspace, store } = await setUp({ redaction });
    const outcome = await workspace.call("box/echo", { text });
    const [start] = await store.log.read("calls");
    const { input } = (start as LogEntry).value as { readonly input: { readonly text: string } };
    return [input.text, outcome.status === "ok" ? outcome.output : null];
  };

  expect(await recorded({ records: false })).toEqual([text, text]);
  expect(await recorded({ records: ["personal"] })).toEqual([text.replace("ada@example.com", "[email]"), text]);
  expect(await recorded({ output: ["credentials"] })).toEqual([
    "[email] [github-token]",
    "ada@example.com [github-token]",
  ]);
  expect(await recorded({ output: true, records: [] })).toEqual(["[email] [github-token]", "[email] [github-token]"]);
});

test("what a caller takes for the name of a tool is recorded without personal data", async () => {
  const store = memoryStore();
  await createWorkspace({ store }).call("ask ada@example.com");

  const records = JSON.stringify((await store.log.read("calls")).map(({ value }) => (value as JsonObject)["tool"]));

  expect(records).toBe('["ask [email]","ask [email]"]');
});

test("R20: whatever the fields hold, the audit has one line for each entry", async () => {
  const { workspace, store, files, lines } = await setUp();
  const nasty = 'x\r\n{"type":"begin","level":60}\u001b[2J\u2028\u0000';

  await workspace.call(nasty, { text: nasty }, { user: nasty });
  await workspace.call("box/echo", { text: nasty });

  const text = (await collect(exportAudit(store))).join("");
  expect(text.split("\n").length - 1).toBe((await lines()).length);
  expect(text).not.toMatch(/[\u001b\r\u0000]/u);
  expect(await verifyAudit(store, files)).toMatchObject({ ok: true, count: 4 });
});

test("createWorkspace() refuses what is no audit, and redaction that it does not know", () => {
  expect(() => createWorkspace({ audit: {} as Audit })).toThrow('"audit"');
  expect(() => createWorkspace({ redaction: { output: ["all"] as never } })).toThrow('"redaction.output"');
  expect(() => createWorkspace({ redaction: { records: 1 as never } })).toThrow('"redaction.records"');
  expect(() => createWorkspace({ redaction: { outputs: true } as never })).toThrow('"output"');
});

const echo = defineTool({
  name: "echo",
  description: "Says it again",
  version: "1.2.0",
  permissions: { network: ["api.example"] },
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: ({ text }) => text,
});

async function setUp(options: WorkspaceOptions = {}): Promise<{
  workspace: ReturnType<typeof createWorkspace>;
  audit: Audit;
  store: Store;
  files: { keyFile: string; anchorFile: string };
  lines: () => Promise<AuditLine[]>;
}> {
  const home = await mkdtemp(join(tmpdir(), "kitbag-audit-"));
  const files = { keyFile: join(home, "audit.key"), anchorFile: join(home, "audit.head") };
  const store = memoryStore();
  const audit = await openAudit({ store, ...files });
  onTestFinished(async () => {
    await audit.close();
    await rm(home, { recursive: true });
  });
  const outer = defineTool({
    name: "outer",
    description: "Calls another",
    run: (_, { call }) => call("box/echo", { text: "x" }),
  });
  const ask = defineTool({ name: "ask", description: "Needs a yes", needsApproval: true, run: () => 1 });
  const workspace = createWorkspace({
    components: [{ name: "box", tools: [echo] }],
    store,
    audit,
    ...options,
    tools: [outer, ask, ...(options.tools ?? [])],
  });
  return { workspace, audit, store, files, lines: () => collect(readAudit(store)) };
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
