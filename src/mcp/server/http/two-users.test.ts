import type { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";

import { connectHttp, listen, textOf, type ClientKind } from "../../../../test/support/mcp-clients.ts";
import { defineTool } from "../../../core/define-tool.ts";
import { createRuns } from "../../../records/runs/create-runs.ts";
import { readCallStats } from "../../../records/stats/read-call-stats.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { createOutputTool } from "../../../workspace/outputs/output-tool.ts";
import type { Workspace } from "../../../workspace/workspace.ts";

/** So many of each are on their way at once. */
const together = 10;

test.for<[kind: ClientKind, requests: number]>([
  ["legacy", 200],
  ["pinned", 1000],
])(
  "two users with %s clients see nothing of each other in %i interleaved requests each",
  { timeout: 180_000 },
  async ([kind, requests]) => {
    const store = memoryStore();
    const workspace = createWorkspace({ ...parts, store, limits: { maxOutputBytes: 200 } });
    workspace.add(createOutputTool(workspace));
    for (const user of ["ada", "bob"]) {
      const run = await createRuns({ store }).open(`run-canary-${user}`);
      await run.append([{ type: "task-start", user, text: `canary-${user}` }]);
      workspace.add({ ...madeTool(user), author: { user, scopes: "all", owner: user } });
    }
    const tokens = ["ada", "bob"].map((id) => ({ id, token: `${id}-has-a-token-of-32-characters` }));
    const { url } = await listen({ workspace, store }, { tokens });
    const users = await Promise.all(
      tokens.map(async ({ id, token }) => createUser(id, await connectHttp(url, { kind, token }))),
    );
    for (const user of users) await user.take(steps.indexOf("large"), users);

    for (let first = 0; first < requests; first += together) {
      const taken = Array.from({ length: together }, (_, index) => first + index);
      await Promise.all(taken.flatMap((step) => users.map((user) => user.take(step, users))));
    }

    for (const { id, seen, foreign, failed } of users) {
      expect(foreign, `what ${id} saw of the other user`).toEqual([]);
      expect(failed).toEqual([]);
      // The canary is there where it is the user's own, so the requests do look where it would be.
      expect([...seen.keys()].toSorted()).toEqual([...ownSteps].toSorted());
    }
    expect(await usersInStats(store, workspace)).toEqual({ ada: true, bob: true });
  },
);

const ownSteps = ["note", "notes", "shared", "large", "read", "search", "resource", "handles", "values", "runs", "run"];
const steps = [...ownSteps, "made", "tools", "other-output", "other-run", "other-tool"];

interface User {
  readonly id: string;
  /** How often the own canary was seen, by step. */
  readonly seen: Map<string, number>;
  /** What was seen of the other one. */
  readonly foreign: string[];
  readonly failed: string[];
  handle: string;
  take(step: number, users: readonly User[]): Promise<void>;
}

function createUser(id: string, client: Client): User {
  const user: User = {
    id,
    seen: new Map(),
    foreign: [],
    failed: [],
    handle: "",
    async take(step, users) {
      const name = steps[step % steps.length] as string;
      const other = users.find((one) => one.id !== id) as User;
      const text = await request(client, name, { user, other, step }).catch(
        (cause: unknown) => `failed: ${String(cause)}`,
      );
      if (text.includes(`canary-${other.id}`)) user.foreign.push(`${name}: ${text.slice(0, 500)}`);
      if (text.includes(`canary-${id}`)) user.seen.set(name, (user.seen.get(name) ?? 0) + 1);
      if (text.startsWith("failed:") && !name.startsWith("other-")) user.failed.push(`${name}: ${text}`);
      if (name.startsWith("other-") && !/Cannot|not found/u.test(text)) user.foreign.push(`${name}: ${text}`);
    },
  };
  return user;
}

interface Step {
  readonly user: User;
  readonly other: User;
  readonly step: number;
}

/** Makes one request, and answers with everything that came of it. */
async function request(client: Client, name: string, { user, other, step }: Step): Promise<string> {
  const canary = `canary-${user.id}-${step}`;
  const call = async (tool: string, input: Record<string, unknown> = {}): Promise<string> =>
    textOf(await client.callTool({ name: tool, arguments: input }));
  const read = async (uri: string): Promise<string> => JSON.stringify(await client.readResource({ uri }));
  const complete = async (uri: string, argument: string, others: Record<string, string> = {}): Promise<string> =>
    JSON.stringify(
      await client.complete({
        ref: { type: "ref/resource", uri },
        argument: { name: argument, value: "" },
        context: { arguments: others },
      }),
    );
  const requestsByName: Record<string, () => Promise<string>> = {
    note: () => call("note", { text: canary }),
    notes: () => call("note"),
    shared: () => call("book__add", { text: canary }),
    async large() {
      const text = await call("large", { text: canary });
      user.handle = /output:sha256:[0-9a-f]{64}/u.exec(text)?.[0] ?? "";
      return text;
    },
    read: () => call("read_output", { handle: user.handle }),
    search: () => call("read_output", { handle: user.handle, search: "canary" }),
    resource: () => read(`kitbag://outputs/${user.handle}`),
    async handles() {
      const text = await complete("kitbag://outputs/{handle}{?offset}", "handle");
      return `${text.includes(user.handle) ? `canary-${user.id}` : ""}${text.includes(other.handle) ? `canary-${other.id}` : ""}`;
    },
    values: () => complete("kitbag://values/{tool}/{argument}{?value}", "value", { tool: "note", argument: "text" }),
    runs: () => read("kitbag://runs"),
    run: () => read(`kitbag://runs/run-canary-${user.id}`),
    made: () => call(`made-by-${user.id}`),
    tools: async () => {
      const { tools } = await client.listTools();
      return tools.some((tool) => tool.name === `made-by-${other.id}`) ? `canary-${other.id}` : "";
    },
    "other-output": () => read(`kitbag://outputs/${other.handle}`),
    "other-run": () => read(`kitbag://runs/run-canary-${other.id}`).catch(() => "not found"),
    "other-tool": () => call("call_tool", { name: `made-by-${other.id}` }),
  };
  return (requestsByName[name] as () => Promise<string>)();
}

const text = { type: "object", properties: { text: { type: "string" } } } as const;

const parts = {
  tools: [
    defineTool({
      name: "note",
      description: "Keeps a text, if there is one, and tells what is kept",
      input: text,
      async run(input, { state, user = "" }) {
        const { text: said } = input as { text?: string };
        if (said !== undefined) await state.set(said, user);
        return (await state.list("", { limit: 1000 }))
          .map(({ key, value }) => `${key} of ${String(value)}`)
          .join("\n")
          .slice(-150);
      },
    }),
    defineTool({
      name: "large",
      description: "Says much",
      input: text,
      run: (input) => ({ lines: Array.from({ length: 20 }, () => (input as { text?: string }).text ?? "") }),
    }),
  ],
  components: [
    {
      name: "book",
      tools: [
        defineTool({
          name: "add",
          description: "Adds a text to those that the component keeps",
          input: text,
          run: async (input, { skillState }) =>
            skillState.update("all", (before) =>
              [...((before ?? []) as string[]), (input as { text?: string }).text ?? ""].slice(-3),
            ) as never,
        }),
      ],
    },
  ],
};

function madeTool(user: string): ReturnType<typeof defineTool> {
  return defineTool({ name: `made-by-${user}`, description: "A tool that a user made", run: () => "made" });
}

/** Whether each user has calls in the statistics, and all of them together no more than there are. */
async function usersInStats(store: ReturnType<typeof memoryStore>, workspace: Workspace): Promise<object> {
  const [ada, bob] = await Promise.all(["ada", "bob"].map((user) => readCallStats(store, { user })));
  const all = workspace.stats().total.calls;
  expect((ada?.total.calls ?? 0) + (bob?.total.calls ?? 0)).toBe(all);
  return { ada: (ada?.total.calls ?? 0) > 0, bob: (bob?.total.calls ?? 0) > 0 };
}
