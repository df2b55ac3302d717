import type { Client } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test, vi } from "vitest";

import {
  clientKinds,
  connectHttp,
  listen,
  textOf,
  toolNames,
  type ListeningServer,
} from "../../../test/support/mcp-clients.ts";
import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Caller } from "../gate.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { createUserSessions, readSessionName, type UserSessions } from "./user-sessions.ts";

const tokens = [
  { id: "ann", token: "token-of-ann-1234567890" },
  { id: "bob", token: "token-of-bob-1234567890" },
];

test.for(clientKinds)("a %s client that is shown tools directly opens a skill and calls its tools", async (kind) => {
  const { url } = await listen({ workspace: createWorkspace({ skills: [pdf] }), exposure: "direct" });
  const client = await connectHttp(url, { kind });

  const before = await toolNames(client);
  const listed = await client.callTool({ name: "list_skills", arguments: {} });
  await client.callTool({ name: "activate_skill", arguments: { name: "pdf" } });

  expect(before).toEqual(["list_skills", "read_skill", "read_skill_file", "activate_skill", "deactivate_skill"]);
  expect(textOf(listed)).toContain('"pdf"');
  expect(await toolNames(client)).toEqual([...before, "pdf__extract"]);
  expect(textOf(await call(client))).toBe("text");
});

test.for(clientKinds)("a %s client over HTTP sees and calls the tools of a skill that it opened", async (kind) => {
  const { url } = await serve();
  const client = await connectHttp(url, { kind, ...ann });

  const before = await toolNames(client);
  const opened = await client.callTool({ name: "activate_skill", arguments: { name: "pdf" } });
  const after = await toolNames(client);

  expect(textOf(opened)).toContain("pdf__extract");
  expect([before.includes("pdf__extract"), after.includes("pdf__extract")]).toEqual([false, true]);
  expect(textOf(await call(client))).toBe("text");
  await client.callTool({ name: "deactivate_skill", arguments: { name: "pdf" } });
  expect(await toolNames(client)).toEqual(before);
  expect((await call(client)).isError).toBe(true);
});

test("an open skill belongs to the user and the session of the URL, whichever client and generation asks", async () => {
  const { url } = await serve();
  const first = await connectHttp(url, { kind: "pinned", ...ann });
  await first.callTool({ name: "activate_skill", arguments: { name: "pdf" } });

  const same = [await connectHttp(url, { kind: "pinned", ...ann }), await connectHttp(url, { kind: "legacy", ...ann })];
  const others = [
    await connectHttp(`${url}?session=other`, { kind: "pinned", ...ann }),
    await connectHttp(`${url}?session=other`, { kind: "legacy", ...ann }),
    await connectHttp(url, { kind: "pinned", ...bob }),
    await connectHttp(url, { kind: "legacy", ...bob }),
  ];

  for (const client of same) expect([await isListed(client), textOf(await call(client))]).toEqual([true, "text"]);
  for (const client of others) {
    const refused = await call(client);
    expect([await isListed(client), refused.isError]).toEqual([false, true]);
    expect(textOf(refused)).toContain('belongs to the skill "pdf"');
  }
});

test.for(["legacy", "pinned"] as const)(
  "a %s client hears that a skill was opened in its session, and no other client hears it",
  async (kind) => {
    const { url } = await serve();
    const heard = { own: vi.fn<() => void>(), session: vi.fn<() => void>(), user: vi.fn<() => void>() };
    const own = await connectHttp(url, { kind, ...ann, onToolsChanged: heard.own });
    await connectHttp(`${url}?session=other`, { kind, ...ann, onToolsChanged: heard.session });
    await connectHttp(url, { kind, ...bob, onToolsChanged: heard.user });
    await new Promise((resolve) => setTimeout(resolve, 200));

    await own.callTool({ name: "activate_skill", arguments: { name: "pdf" } });

    await vi.waitFor(() => expect(heard.own).toHaveBeenCalled(), { timeout: 10_000 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([heard.session, heard.user].map((listener) => listener.mock.calls.length)).toEqual([0, 0]);
  },
);

test("lists of 2026 may not be kept, and are private", async () => {
  const { url } = await serve();
  const client = await connectHttp(url, { kind: "pinned", ...ann });

  const lists = [await client.listTools(), await client.listResources(), await client.listPrompts()];

  for (const list of lists) expect(list).toMatchObject({ ttlMs: 0, cacheScope: "private" });
});

test.for(["a b", "x".repeat(65), "../../etc", "é", "a\0b"])("the session %j in the URL is refused", async (name) => {
  const { url } = await serve();
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    authorization: `Bearer ${ann.token}`,
  };

  const answer = await fetch(`${url}?session=${encodeURIComponent(name)}`, {
    method: "POST",
    headers,
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });

  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("as the name of a session")]);
});

test("readSessionName() reads the query before the header, and neither is the default session", () => {
  expect(readSessionName("session=one&x=1", { "kitbag-session": "two" })).toBe("one");
  expect(readSessionName("x=1", { "kitbag-session": "two" })).toBe("two");
  expect(readSessionName("", {})).toBe("");
  expect(readSessionName("", { "kitbag-session": ["one", "two"] })).toBeUndefined();
});

test("a session that nothing used for a while is closed, whatever the clock of the machine says", async () => {
  const users = open({ idleMs: 60_000 });
  const first = users.use(annCaller, "");
  first?.end();
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + 24 * 60 * 60 * 1000);
  expect(users.use(annCaller, "")?.session).toBe(first?.session);

  const short = open({ idleMs: 20 });
  const used = short.use(annCaller, "used");
  const unused = short.use(annCaller, "unused");
  unused?.end();

  await vi.waitFor(async () => expect(await isClosed(unused)).toBe(true), { timeout: 10_000 });
  expect(await isClosed(used)).toBe(false);
  expect(short.use(annCaller, "unused")?.session).not.toBe(unused?.session);
});

test("the names of the local user are one user, and two users never share a session", () => {
  const users = open({});

  const local = ["local", "me"].map((id) => users.use({ id, scopes: "all" }, "one")?.session);
  const others = ["ann", "Ann", "ANN"].map((id) => users.use({ id, scopes: "all" }, "one")?.session);

  expect(local[0]).toBe(local[1]);
  expect(new Set([...local, ...others]).size).toBe(4);
});

test("use() makes room from the user who has the most, and refuses when all are in use", async () => {
  const users = open({ maxUserSessions: 3, maxSessionsPerUser: 2 });
  const one = users.use(annCaller, "1");
  const two = users.use(annCaller, "2");

  expect(users.use(annCaller, "3")).toBeUndefined();
  one?.end();
  expect(users.use(annCaller, "3")).toBeDefined();
  expect(await isClosed(one)).toBe(true);
  users.use(bobCaller, "1");
  expect(users.use(bobCaller, "2")).toBeUndefined();
  two?.end();
  expect(users.use(bobCaller, "2")).toBeDefined();
  expect(await isClosed(two)).toBe(true);
});

const annCaller: Caller = { id: "ann", scopes: "all" };
const bobCaller: Caller = { id: "bob", scopes: "all" };
const ann = { token: "token-of-ann-1234567890" };
const bob = { token: "token-of-bob-1234567890" };

const pdf = defineSkill({
  name: "pdf",
  description: "Works with PDF files",
  workDirection: "Extract first.",
  tools: [defineTool({ name: "extract", description: "Extracts the text", run: () => "text" })],
});

function serve(): Promise<ListeningServer> {
  return listen({ workspace: createWorkspace({ skills: [pdf] }) }, { tokens });
}

function call(client: Client): ReturnType<Client["callTool"]> {
  return client.callTool({ name: "pdf__extract", arguments: {} });
}

async function isListed(client: Client): Promise<boolean> {
  return (await toolNames(client)).includes("pdf__extract");
}

function open(limits: Partial<Parameters<typeof createUserSessions>[1]>): UserSessions {
  const workspace = createWorkspace({ localUser: "me" });
  const users = createUserSessions(workspace, {
    idleMs: 60_000,
    maxUserSessions: 100,
    maxSessionsPerUser: 100,
    ...limits,
  });
  onTestFinished(() => users.closeAll());
  return users;
}

/** A session that is closed answers nothing but that. */
async function isClosed(use: ReturnType<UserSessions["use"]>): Promise<boolean> {
  const outcome = await use?.session.call("none");
  return outcome?.status === "failed" && outcome.error.code === "session-closed";
}
