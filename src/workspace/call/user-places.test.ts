import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { Workspace } from "../workspace.ts";

test("a user who has taken all their places waits, and another user does not", async () => {
  const { workspace, running, end } = setUp(2);

  const ada = [1, 2, 3].map(() => workspace.call("wait", {}, { user: "ada" }));
  const bob = workspace.call("wait", {}, { user: "bob" });
  await expect.poll(running).toEqual(["ada", "ada", "bob"]);
  end();

  const outcomes = await Promise.all([...ada, bob]);
  expect(outcomes.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok"]);
});

test("a user without a free place is told which limit is reached, if the call must not wait, and at its deadline", async () => {
  const { workspace, running, end } = setUp(1);
  const first = workspace.call("wait", {}, { user: "ada" });
  await expect.poll(running).toEqual(["ada"]);

  const full = { error: { code: "limit-reached", details: { rate: "1 call at once per user" } } };
  expect(await workspace.call("wait", {}, { user: "ada", onLimit: "fail" })).toMatchObject(full);
  expect(await workspace.call("wait", {}, { user: "ada", limitMs: 20 })).toMatchObject(full);
  end();

  expect(await first).toMatchObject({ status: "ok" });
  expect(await workspace.call("wait", {}, { user: "ada", onLimit: "fail" })).toMatchObject({ status: "ok" });
});

test("calls inside a call, and calls without a user, need no place of a user", async () => {
  const { workspace, end } = setUp(1);
  end();
  const outer = defineTool({
    name: "outer",
    description: "Calls",
    run: async (_input, { call }) => (await call("wait")).status,
  });
  workspace.add(outer);

  const outcomes = await Promise.all([
    workspace.call("outer", {}, { user: "ada" }),
    ...[1, 2, 3].map(() => workspace.call("wait")),
  ]);

  expect(outcomes.map((outcome) => outcome.status === "ok" && outcome.output)).toEqual(["ok", "done", "done", "done"]);
});

interface Waiting {
  readonly workspace: Workspace;
  /** The users whose calls run. */
  running(): readonly string[];
  end(): void;
}

/** A workspace with a tool that waits until the end. */
function setUp(maxPerUser: number): Waiting {
  const begun: string[] = [];
  const { promise, resolve } = Promise.withResolvers<string>();
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    run(_input, { user = "" }) {
      begun.push(user);
      return promise;
    },
  });
  const workspace = createWorkspace({ tools: [wait], limits: { maxPerUser } });
  return { workspace, running: () => begun.toSorted(), end: () => resolve("done") };
}
