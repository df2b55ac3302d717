import { expect, test, vi } from "vitest";

import { createProject, type KitbagRun, type Project, runKitbag } from "../../../test/run-kitbag.ts";
import { readLines } from "../../../test/support/tool-modules.ts";
import { startWireModel, toCall } from "../../../test/support/wire-model.ts";

vi.setConfig({ testTimeout: 180_000 });

test("kitbag approvals, runs show, resume, replay and fork go through the runs of sub-agents", async () => {
  const project = createProject({ "tools.mjs": postOffice, sent: "" });
  const { env } = await startWireModel([
    toCall("postman", { task: "Write to Ada" }),
    { text: "Done" },
    { text: "Done" },
  ]);
  const kitbag = (...words: readonly string[]): Promise<KitbagRun> =>
    runKitbag([...words], { project, env: { ...env, NO_COLOR: "1" } });

  const paused = await kitbag("run", "Write to Ada", "--module", "tools.mjs");
  const root = await newestOf(project);
  const waiting = await kitbag("approvals");
  const list = await kitbag("runs");
  const approved = await kitbag("approvals", "approve", `${root}~1.0:1.0`);
  const resumed = await kitbag("runs", "resume", `${root}~1.0`, "--module", "tools.mjs");
  const shown = await kitbag("runs", "show", root.slice(0, 8));
  const replayed = await kitbag("runs", "replay", root, "--module", "tools.mjs");

  expect(paused.stderr).toContain(`${root}~1.0:1.0`);
  expect(waiting.stdout).toMatch(new RegExp(`^${root}~1\\.0:1\\.0 +send `, "mu"));
  expect(list.stdout).toMatch(new RegExp(`^${root.slice(0, 8)} +waiting `, "mu"));
  expect(list.stdout.split("\n").filter((line) => line.includes("Write to Ada"))).toHaveLength(1);
  expect(approved.stdout).toContain(`kitbag runs resume ${root} --module tools.mjs`);
  expect(resumed.stderr).toContain(`${root}~1.0 is the run of a sub-agent: ${root} goes on with it`);
  expect(resumed.stdout).toBe("Done\n");
  expect(readLines(project, "sent")).toEqual(["Ada"]);
  expect(shown.stdout).toContain(`✓ 1.0 postman task: Write to Ada\n  → Sent it\n  │ ${root}~1.0 ok, kitbag.mock/mock`);
  expect(shown.stdout).toMatch(/^ {2}│ ✓ 1\.0 send to: Ada\n {2}│ {3}→ sent$/mu);
  expect(replayed.stdout).toBe("The same: 2 steps\n");
  expect(replayed.code).toBe(0);
});

test("kitbag run shows the calls of sub-agents below theirs, and with --json their events", async () => {
  const project = createProject({ "tools.mjs": postOffice, sent: "" });
  const { env } = await startWireModel([
    ...[toCall("postman", { task: "Write to Ada" }), { text: "Done" }],
    ...[toCall("postman", { task: "Write to Ada" }), { text: "Done" }],
  ]);
  const words = ["run", "Write to Ada", "--module", "tools.mjs", "--yes"];

  const shown = await runKitbag(words, { project, env });
  const told = await runKitbag([...words, "--json"], { project, env });

  expect(shown.stderr).toMatch(/^ {2}✓ send to: Ada → sent .*\n✓ postman task: Write to Ada → Sent it /mu);
  const events = told.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; run: string });
  const children = events.filter(({ type }) => type === "child-event");
  expect(children.length).toBeGreaterThan(4);
  expect(new Set(children.map(({ run }) => run))).toEqual(new Set([`${events[0]?.run ?? ""}~1.0`]));
});

/** An agent that sends letters, each with an approval, as a tool. */
const postOffice = `
import { appendFileSync } from "node:fs";
import { createWorkspace, defineTool } from "kitbag";
import { agentTool, createAgent } from "kitbag/agent";
import { mockModel } from "kitbag/testing";

const send = defineTool({
  name: "send",
  description: "Sends a letter",
  needsApproval: true,
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  run: ({ to }) => (appendFileSync("sent", to + "\\n"), "sent"),
});
const answer = ({ prompt }) =>
  prompt.at(-1).role === "tool" ? "Sent it" : { calls: [{ tool: "send", input: { to: "Ada" } }] };
const postman = createAgent({ model: mockModel(answer), workspace: createWorkspace({ tools: [send] }) });
export default [agentTool(postman, { name: "postman", description: "Sends letters" })];
`;

async function newestOf(project: Project): Promise<string> {
  const { stdout } = await runKitbag(["runs", "--json"], { project });
  return (JSON.parse(stdout) as { runs: { id: string }[] }).runs[0]?.id ?? "";
}
