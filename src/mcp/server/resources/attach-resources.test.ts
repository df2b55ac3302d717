import type { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";

import { connect2025, connect2026, type ServedParts } from "../../../../test/support/mcp-client.ts";
import { defineSkill } from "../../../core/define-skill.ts";
import { defineTool } from "../../../core/define-tool.ts";
import type { Skill } from "../../../core/skill.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { createRuns } from "../../../records/runs/create-runs.ts";
import { limitSession } from "../../../gate/sessions/limit-session.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";

const connects = [
  ["2025", connect2025],
  ["2026", connect2026],
] as const;

test.for(connects)(
  "resources/list of a %s client is in a fixed order: guide, runs, skills, tools, others",
  async ([, connect]) => {
    const workspace = createWorkspace({
      tools: [toolNamed("zip"), toolNamed("clock")],
      skills: [skillWith("pdf", "extract")],
    });
    const other = { list: () => [{ uri: "test://a", name: "a" }], read: async () => undefined };
    const { client } = await connect(workspace, { store: memoryStore(), resources: [other] });

    const { resources } = await client.listResources();

    expect(resources.map(({ uri, mimeType }) => [uri, mimeType])).toEqual([
      ["kitbag://guide", "text/markdown"],
      ["kitbag://runs", "application/json"],
      ["skill://kitbag/pdf/SKILL.md", "text/markdown"],
      ["kitbag://tools/clock", "application/json"],
      ["kitbag://tools/zip", "application/json"],
      ["test://a", undefined],
    ]);
  },
);

test("resources/list gives 1,000 tools page by page, each once, also if some come and go meanwhile", async () => {
  const names = Array.from({ length: 1000 }, (_, index) => `tool-${String(index).padStart(4, "0")}`);
  const workspace = createWorkspace({ tools: names.map((name) => toolNamed(name)) });
  const { client } = await connect2025(workspace);
  const seen: string[] = [];

  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await client.request({ method: "resources/list", params: cursor === undefined ? {} : { cursor } });
    seen.push(...page.resources.map(({ uri }) => uri));
    cursor = page.nextCursor;
    // What is gone was on a page before, what is new comes on one before too.
    workspace.remove("tool-0000");
    if (workspace.getTool("a-new-one") === undefined) workspace.add(toolNamed("a-new-one"));
  }

  expect(seen).toEqual(["kitbag://guide", ...names.map((name) => `kitbag://tools/${name}`)]);
});

test("resources/list refuses a cursor that is not ours with -32602", async () => {
  const { client } = await connect2025(createWorkspace());

  for (const cursor of ["nonsense", "", "YWZ0ZXI", "é", "x".repeat(100_000)]) {
    const failure = client.request({ method: "resources/list", params: { cursor } });

    await expect(failure).rejects.toMatchObject({ code: -32602 });
  }
});

test("resources/templates/list names the templates of this client only", async () => {
  const scopes = { id: "token-1", scopes: new Set(["tools"]) };
  const all = await connect2025(createWorkspace(), { store: memoryStore() });
  const few = await connect2025(createWorkspace(), { store: memoryStore(), caller: scopes });

  const templates = await Promise.all([all, few].map(({ client }) => client.listResourceTemplates()));

  expect(templates.map(({ resourceTemplates }) => resourceTemplates.map(({ uriTemplate }) => uriTemplate))).toEqual([
    [
      "kitbag://runs/{id}{?after}",
      "kitbag://tools/{address}",
      "kitbag://skills/{name}",
      "kitbag://outputs/{handle}{?offset}",
      "kitbag://files/{handle}{?name,offset}",
      "kitbag://values/{tool}/{argument}{?value}",
      "skill://kitbag/{+path}",
    ],
    [
      "kitbag://tools/{address}",
      "kitbag://skills/{name}",
      "kitbag://outputs/{handle}{?offset}",
      "kitbag://files/{handle}{?name,offset}",
      "kitbag://values/{tool}/{argument}{?value}",
      "skill://kitbag/{+path}",
    ],
  ]);
});

test.for(["kitbag://tools/pdf/extract", "kitbag://tools/pdf%2Fextract", "kitbag://tools/pdf__extract"])(
  "%s tells all about a tool, also before its skill is open",
  async (uri) => {
    const { client, session } = await connect2025(createWorkspace({ skills: [skillWith("pdf", "extract")] }));

    const before = await readJson(client, uri);
    await session.activateSkill("pdf");
    const after = await readJson(client, uri);

    expect(before).toEqual({
      name: "pdf__extract",
      address: "pdf/extract",
      description: "Does extract",
      available: false,
      skill: "pdf",
      annotations: {},
      inputSchema: { type: "object", properties: {}, additionalProperties: false },
      examples: [],
      howToCall: 'Open the skill "pdf" first with activate_skill({ "name": "pdf" })',
    });
    expect(after).toMatchObject({
      available: true,
      howToCall: 'Call pdf__extract, or call_tool({ "name": "pdf__extract", "input": { … } })',
    });
  },
);

test("a tool of a skill that only people open is not there", async () => {
  const skill = defineSkill({
    name: "deploy",
    description: "Deploys",
    modelInvocable: false,
    tools: [toolNamed("go")],
  });
  const { client } = await connect2025(createWorkspace({ skills: [skill] }));

  const codes = await Promise.all(
    ["kitbag://tools/deploy/go", "kitbag://skills/deploy"].map((uri) => codeOf(client, uri)),
  );

  expect(codes).toEqual([-32602, -32602]);
});

test("kitbag://skills/{name} gives instructions, tools and files, and runs nothing", async () => {
  const tool = toolNamed("extract");
  const skill = defineSkill({
    name: "pdf",
    description: "Reads PDF",
    tools: [tool],
    workDirection: "Use plugin:pdf/extract. !`rm -rf /`",
  });
  const { client } = await connect2025(createWorkspace({ skills: [skill] }));

  const text = await readText(client, "kitbag://skills/pdf");

  expect(text).toBe(
    '# pdf\n\nReads PDF\n\nThis skill is not open. Open it with activate_skill({ "name": "pdf" }).\n\n## Tools\n\n- pdf__extract: Does extract\n\n## Instructions\n\nUse pdf__extract. !`rm -rf /`',
  );
});

test("kitbag://skills/{name} of a skill that nobody trusts says so, and nothing of its text", async () => {
  const trust = { status: "untrusted" as const, changed: [] };
  const skill: Skill = {
    ...skillWith("pdf", "extract"),
    instructions: "Do evil",
    folder: { directory: "/skills/pdf", files: [], digest: "sha256:0", scope: "project", trust },
  };
  const { client } = await connect2025(createWorkspace({ skills: [skill] }));

  const failure = client.readResource({ uri: "kitbag://skills/pdf" });

  await expect(failure).rejects.toMatchObject({ code: -32602, message: expect.stringContaining("trust") });
  await expect(failure).rejects.not.toMatchObject({ message: expect.stringContaining("evil") });
});

test("kitbag://outputs/{handle} gives a large output page by page, with the URI of the next one", async () => {
  const output = "añ日🎒\n".repeat(20_000);
  const large = defineTool({ name: "large", description: "Gives much", run: () => output });
  const workspace = createWorkspace({ tools: [large], limits: { maxOutputBytes: 1000 } });
  const outcome = await workspace.call("large");
  const handle = outcome.status === "ok" ? outcome.capped?.handle : undefined;
  const { client } = await connect2025(workspace);
  const pages: string[] = [];

  let uri: string | undefined = `kitbag://outputs/${handle}`;
  while (uri !== undefined) {
    const { contents } = await client.readResource({ uri });
    const [content] = contents as { text: string; uri: string; _meta: Record<string, unknown> }[];
    expect(content).toMatchObject({
      uri,
      mimeType: "text/plain",
      _meta: { "kitbag/bytes": Buffer.byteLength(output) },
    });
    pages.push(content?.text ?? "");
    uri = content?._meta["kitbag/next"] as string | undefined;
  }

  expect(pages.length).toBeGreaterThan(2);
  expect(pages.join("")).toBe(output);
});

test("kitbag://runs tells of the runs, and kitbag://runs/{id} of one of them, page by page", async () => {
  const store = memoryStore();
  const run = await createRuns({ store }).open("report-1");
  for (let index = 0; index < 30; index++) await run.append([{ type: "noted", index, text: "x".repeat(20_000) }]);
  await run.end({ status: "ok", output: 42 });
  const { client } = await connect2025(createWorkspace({ store }), { store });

  const { runs } = await readJson(client, "kitbag://runs");
  const pages: { events: { position: number }[]; next?: string }[] = [];
  for (let uri: string | undefined = "kitbag://runs/report-1"; uri !== undefined; uri = pages.at(-1)?.next) {
    pages.push((await readJson(client, uri)) as never);
  }

  expect(runs).toEqual([
    { id: "report-1", status: "ok", events: 32, changed: expect.any(String), uri: "kitbag://runs/report-1" },
  ]);
  expect(pages.length).toBe(3);
  expect(pages.flatMap(({ events }) => events.map(({ position }) => position))).toEqual(
    Array.from({ length: 32 }, (_, index) => index + 1),
  );
});

test("runs are there for callers with the scope only", async () => {
  const store = memoryStore();
  await (await createRuns({ store }).open("report-1")).end({ status: "ok", output: 42 });
  const scopes = (...names: string[]): ServedParts => ({ store, caller: { id: "local", scopes: new Set(names) } });
  const [few, some] = [
    await connect2025(createWorkspace(), scopes("tools")),
    await connect2025(createWorkspace(), scopes("runs")),
  ];

  expect(await codeOf(few.client, "kitbag://runs")).toBe(-32602);
  expect(await codeOf(few.client, "kitbag://runs/report-1")).toBe(-32602);
  expect(await codeOf(some.client, "kitbag://runs/report-1")).toBe("ok");
});

test("runs are there for the user who began them, and without a user for the local user", async () => {
  const store = memoryStore();
  const runs = createRuns({ store });
  await (await runs.open("old")).end({ status: "ok", output: 1 });
  for (const user of ["ada", "bob"]) {
    const run = await runs.open(`of-${user}`);
    await run.append([{ type: "task-start", user }]);
    await run.end({ status: "ok", output: 1 });
  }
  const asSeen = async (id: string): Promise<unknown> => {
    const { client } = await connect2025(createWorkspace(), { store, caller: { id, scopes: "all" } });
    const { runs: listed } = await readJson(client, "kitbag://runs");
    const read = ["old", "of-ada", "of-bob"].map((run) => codeOf(client, `kitbag://runs/${run}`));
    return { listed: (listed as { id: string }[]).map((run) => run.id), read: await Promise.all(read) };
  };

  expect(await asSeen("ada")).toEqual({ listed: ["of-ada"], read: [-32602, "ok", -32602] });
  expect(await asSeen("bob")).toEqual({ listed: ["of-bob"], read: [-32602, -32602, "ok"] });
  expect(await asSeen("local")).toEqual({ listed: ["old"], read: ["ok", -32602, -32602] });
});

test("kitbag://outputs gives a large output to its owner, if they may call read_output", async () => {
  const large = defineTool({ name: "large", description: "Says much", run: () => "x".repeat(5000) });
  const workspace = createWorkspace({ tools: [large], limits: { maxOutputBytes: 1000 } });
  const outcome = await workspace.call("large", {}, { user: "ada" });
  const handle = outcome.status === "ok" ? outcome.capped?.handle : "";
  const read = async (id: string, ...scopes: readonly string[]): Promise<unknown> => {
    const { client } = await connect2025(workspace, { caller: { id, scopes: new Set(scopes) } });
    return codeOf(client, `kitbag://outputs/${handle}`);
  };

  expect(await read("ada", "tools")).toBe("ok");
  expect(await read("ada", "tools:read")).toBe("ok");
  expect(await read("ada", "tools:of:pdf")).toBe(-32602);
  expect(await read("bob", "tools")).toBe(-32602);
});

test("kitbag://files/{handle} gives a file to the user whose call wrote it: text as text, bytes and long files in base64", async () => {
  const large = defineTool({ name: "large", description: "Says much", run: () => "é".repeat(800_000) });
  const small = defineTool({ name: "small", description: "Says little", run: () => "é".repeat(800) });
  const workspace = createWorkspace({ tools: [large, small], limits: { maxOutputBytes: 1000 } });
  const handleOf = async (tool: string): Promise<string> => {
    const outcome = await workspace.call(tool, {}, { user: "ada" });
    return (outcome.status === "ok" && outcome.capped?.handle) || "";
  };
  const { client } = await connect2025(workspace, { caller: { id: "ada", scopes: "all" } });
  const other = await connect2025(workspace, { caller: { id: "bob", scopes: "all" } });
  const [long, short] = [await handleOf("large"), await handleOf("small")];

  const [text] = (await client.readResource({ uri: `kitbag://files/${short}?name=a.csv` })).contents;
  const [first] = (await client.readResource({ uri: `kitbag://files/${long}?name=a.zip` })).contents;
  const next = first?._meta?.["kitbag/next"] as string;
  const [second] = (await client.readResource({ uri: next })).contents;

  expect(text).toMatchObject({ text: "é".repeat(800), mimeType: "text/csv" });
  expect(first).toMatchObject({ mimeType: "application/zip", _meta: { "kitbag/bytes": 1_600_000 } });
  const blobs = [first, second].map((part) => Buffer.from((part as { blob: string }).blob, "base64"));
  expect(Buffer.concat(blobs).toString("utf8")).toBe("é".repeat(800_000));
  expect(second?._meta?.["kitbag/next"]).toBeUndefined();
  expect(await codeOf(other.client, `kitbag://files/${short}`)).toBe(-32602);
  expect(await codeOf(client, `kitbag://files/${short}?offset=x`)).toBe(-32602);
  expect(await codeOf(client, "kitbag://files/../../etc/passwd")).toBe(-32602);
});

test("a caller with few scopes finds only the tools and skills that they may use", async () => {
  const workspace = createWorkspace({
    tools: [toolNamed("clock")],
    skills: [skillWith("pdf", "extract"), skillWith("csv", "sum"), skillWith("words")],
  });
  const caller = { id: "token-1", scopes: new Set(["tools:of:csv"]) };
  const session = limitSession(workspace.openSession(), caller, workspace);
  const { client } = await connect2025(workspace, { caller, session });

  const { resources } = await client.listResources();
  const uris = [
    "kitbag://tools/clock",
    "kitbag://tools/pdf/extract",
    "kitbag://skills/pdf",
    "skill://kitbag/pdf/SKILL.md",
  ];
  const codes = await Promise.all(uris.map((uri) => codeOf(client, uri)));
  const guide = await readText(client, "kitbag://guide");

  expect(resources.map(({ uri }) => uri)).toEqual([
    "kitbag://guide",
    "skill://kitbag/csv/SKILL.md",
    "skill://kitbag/words/SKILL.md",
  ]);
  expect(codes).toEqual([-32602, -32602, -32602, -32602]);
  expect(await codeOf(client, "kitbag://tools/csv/sum")).toBe("ok");
  expect(guide).not.toMatch(/pdf|clock/u);
});

const unknown = [
  "kitbag://",
  "kitbag://nothing",
  "kitbag://guide/more",
  "kitbag://tools",
  "kitbag://tools/",
  "kitbag://tools/nothing",
  "kitbag://tools/../guide",
  "kitbag://tools/%",
  "kitbag://tools/__proto__",
  "kitbag://tools/constructor",
  "kitbag://skills/__proto__",
  "kitbag://skills/",
  "kitbag://runs/nothing",
  "kitbag://runs/%00",
  `kitbag://runs/${"é".repeat(1500)}`,
  "kitbag://runs/report?after=-1",
  "kitbag://runs/report?after=1e9",
  "kitbag://outputs/",
  "kitbag://outputs/output:sha256:..%2f..%2fetc",
  `kitbag://outputs/output:sha256:${"0".repeat(64)}`,
  `kitbag://outputs/output:sha256:${"0".repeat(64)}?offset=-1`,
  `kitbag://outputs/output:sha256:${"0".repeat(64)}?offset=NaN`,
  "kitbag://values/nothing/x",
  "kitbag://values/clock",
  "KITBAG://guide",
  " kitbag://guide",
  "kitbag://guide#top",
  "kitbag:guide",
  `kitbag://tools/${"x".repeat(100_000)}`,
];

test.for(connects)("resources/read of a %s client answers -32602 for what is not there", async ([, connect]) => {
  const store = memoryStore();
  const { client } = await connect(createWorkspace({ tools: [toolNamed("clock")], store }), { store });

  const codes = await Promise.all(unknown.map((uri) => codeOf(client, uri)));

  expect(codes).toEqual(unknown.map(() => -32602));
});

test("resources/read repeats no more than the beginning of a URI in its message", async () => {
  const { client } = await connect2025(createWorkspace());

  const failure = client.readResource({ uri: `kitbag://tools/${"x".repeat(1_000_000)}` });

  await expect(failure).rejects.toSatisfy((cause: Error) => cause.message.length < 400);
});

test("resources/read asks the sources beside Kitbag's own, one after the other, for what is not ours", async () => {
  const asked: string[] = [];
  const source = (scheme: string) => ({
    async read(uri: string) {
      asked.push(`${scheme} ${uri}`);
      return uri.startsWith(scheme) ? { contents: [{ uri, text: scheme }] } : undefined;
    },
  });
  const { client } = await connect2025(createWorkspace(), { resources: [source("a:"), source("b:")] });

  const { contents } = await client.readResource({ uri: "b://x" });
  await codeOf(client, "kitbag://tools/nothing");

  expect(contents).toEqual([{ uri: "b://x", text: "b:" }]);
  expect(asked).toEqual(["a: b://x", "b: b://x"]);
});

test("2026 answers say how long they hold, and 2025 answers do not", async () => {
  const workspace = createWorkspace({ tools: [toolNamed("clock")] });
  const [old, modern] = [await connect2025(workspace), await connect2026(workspace)];

  const answers = await Promise.all(
    [old, modern].map(({ client }) => client.readResource({ uri: "kitbag://tools/clock" })),
  );

  expect(answers[0]).not.toHaveProperty("ttlMs");
  expect(answers[1]).toMatchObject({ ttlMs: 5000, cacheScope: "private" });
});

test("resources/subscribe tells of changes of what was subscribed to, under the URI that was given, until it ends", async () => {
  const workspace = createWorkspace({
    tools: [toolNamed("clock"), toolNamed("other")],
    skills: [skillWith("pdf", "extract")],
  });
  const { client, session } = await connect2025(workspace);
  const updated = hearUpdated(client);
  for (const uri of ["kitbag://tools/clock", "kitbag://tools/pdf%2Fextract", "skill://kitbag/pdf/SKILL.md"]) {
    await client.subscribeResource({ uri });
  }

  workspace.replace(toolNamed("other"));
  workspace.replace(toolNamed("clock"));
  await session.activateSkill("pdf");
  workspace.replaceSkill(defineSkill({ name: "pdf", description: "Other", tools: [toolNamed("extract")] }));
  await settle(client);
  await client.unsubscribeResource({ uri: "kitbag://tools/clock" });
  workspace.replace(toolNamed("clock"));
  await settle(client);

  expect(updated).toEqual([
    "kitbag://tools/clock",
    "kitbag://tools/pdf%2Fextract",
    "kitbag://tools/pdf%2Fextract",
    "skill://kitbag/pdf/SKILL.md",
  ]);
});

test("resources/subscribe refuses what is not there, and more than 1,000", async () => {
  const { client } = await connect2025(createWorkspace());

  await expect(client.subscribeResource({ uri: "kitbag://tools/nothing" })).rejects.toMatchObject({ code: -32602 });
  for (let index = 0; index < 1000; index++) await client.subscribeResource({ uri: `kitbag://guide?${index}` });
  await expect(client.subscribeResource({ uri: "kitbag://guide" })).rejects.toMatchObject({ code: -32602 });
});

test("a 2026 client that listens hears of changes of the list and of resources", async () => {
  const workspace = createWorkspace();
  const { client } = await connect2026(workspace);
  const updated = hearUpdated(client);
  const changed = new Promise<void>((resolve) =>
    client.setNotificationHandler("notifications/resources/list_changed", () => resolve()),
  );
  const listening = await client.listen({ resourcesListChanged: true, resourceSubscriptions: ["kitbag://guide"] });

  workspace.add(toolNamed("clock"));
  await changed;
  await settle(client);
  await listening.close();

  expect(updated).toEqual(["kitbag://guide"]);
});

test("many changes at once are one notification", async () => {
  const workspace = createWorkspace();
  const { client } = await connect2025(workspace);
  let changes = 0;
  client.setNotificationHandler("notifications/resources/list_changed", () => void (changes += 1));

  for (let index = 0; index < 100; index++) workspace.add(toolNamed(`tool-${index}`));
  await settle(client);

  expect(changes).toBe(1);
});

async function settle(client: Client): Promise<void> {
  // What was sent before this answer has arrived.
  await client.listResourceTemplates();
  await new Promise((resolve) => setTimeout(resolve, 20));
}

function hearUpdated(client: Client): string[] {
  const updated: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updated.push(params.uri));
  return updated;
}

async function readText(client: Client, uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  return (contents[0] as { readonly text: string }).text;
}

async function readJson(client: Client, uri: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readText(client, uri)) as Record<string, unknown>;
}

function codeOf(client: Client, uri: string): Promise<unknown> {
  return client.readResource({ uri }).then(
    () => "ok",
    (cause: unknown) => (cause as { readonly code?: unknown }).code ?? cause,
  );
}

function toolNamed(name: string): ReturnType<typeof defineTool<string>> {
  return defineTool({ name, description: `Does ${name}`, run: () => name });
}

function skillWith(name: string, ...tools: string[]): Skill {
  return defineSkill({ name, description: `About ${name}`, tools: tools.map((tool) => toolNamed(tool)) });
}
