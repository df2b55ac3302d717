import { expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { toFailure } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { codeRuntime } from "../../runtimes/code/code-runtime.ts";
import { createCodeTool } from "../../runtimes/code/create-code-tool.ts";
import { pipeline } from "../../runtimes/pipeline/pipeline.ts";
import { definePipeline } from "../../runtimes/pipeline/define-pipeline.ts";
import { createWorkspace } from "../create-workspace.ts";
import { createDispatchTools } from "../dispatch/create-dispatch-tools.ts";
import type { Workspace } from "../workspace.ts";
import type { CallOptions } from "./call-options.ts";

type Refuse = NonNullable<CallOptions["refuse"]>;

test("call() asks refuse about every call inside the call, whoever makes it", async () => {
  const { workspace, ran } = setUp();
  const refuse = refusing("wipe");
  const code = "return await tools.wipe({ disk: 1 })";

  const direct = await workspace.call("wipe", { disk: 1 }, { refuse });
  const byFunction = await workspace.call("caller", {}, { refuse });
  const bySteps = await workspace.call("steps", {}, { refuse });
  const byComposed = await workspace.call("composed", {}, { refuse });
  const byProgram = await workspace.call("execute_code", { code }, { refuse });
  const deeper = await workspace.call("outer", {}, { refuse });

  expect(codeOf(direct)).toBe("scope-missing");
  for (const outcome of [byFunction, bySteps, byComposed, byProgram, deeper]) {
    expect(JSON.stringify(outcome)).toContain('Cannot call \\"wipe\\"');
  }
  expect(ran).toEqual([]);
  expect(await workspace.call("outer")).toMatchObject({ output: "wiped" });
});

test("call() refuses before it looks at the input: nobody learns what a tool takes by trying", async () => {
  const { workspace } = setUp();

  const outcome = await workspace.call("wipe", { dsik: 1 }, { refuse: refusing("wipe") });

  expect(codeOf(outcome)).toBe("scope-missing");
});

test("call() refuses when refuse throws", async () => {
  const { workspace, ran } = setUp();
  const refuse = (): never => {
    throw new Error("nobody knows");
  };

  expect(codeOf(await workspace.call("wipe", { disk: 1 }, { refuse }))).toBe("call-crashed");
  expect(ran).toEqual([]);
});

test("call() takes a part that is in the workspace only as that for the composed tool", async () => {
  const part = defineTool({ name: "part", description: "A part", run: () => ({}) });
  const whole = pipeline({ name: "whole", description: "Whole", steps: [part, part] });
  const workspace = createWorkspace({ tools: [whole] });
  const asked: string[] = [];
  const refuse: Refuse = ({ address }) => void asked.push(address);

  expect(await workspace.call("whole", {}, { refuse })).toMatchObject({ output: {} });
  expect(asked).toEqual(["whole", "whole", "whole"]);
});

test("a tool sees only the tools that whoever asks may call", async () => {
  const { workspace } = setUp();

  const all = await workspace.call("look");
  const few = await workspace.call("look", {}, { refuse: refusing("wipe", "steps") });

  const names = ["wipe", "caller", "outer", "steps", "composed", "execute_code", "look"];
  expect(all).toMatchObject({ output: names });
  expect(few).toMatchObject({ output: names.filter((name) => name !== "wipe" && name !== "steps") });
});

test("activate_skill runs no command of a skill's text that whoever asks may not run", async () => {
  let ran = 0;
  const wipe = defineTool({ name: "wipe", description: "Wipes", run: () => (ran += 1) });
  const skill: Skill = {
    ...defineSkill({ name: "diary", description: "Keeps a diary" }),
    commands: () => [{ ok: true, tool: wipe, input: {} }],
    render: (_text, parts) => JSON.stringify(parts?.answers),
  };
  const tools = createDispatchTools(createWorkspace({ skills: [skill] }).openSession());
  const activate = tools.find(({ name }) => name === "activate_skill");

  const outcomes = [
    await activate?.run({ name: "diary" }, { refuse: refusing("diary/wipe") }),
    await activate?.run({ name: "diary" }, { scopes: new Set(["tools:read"]) }),
  ];

  for (const outcome of outcomes) expect(JSON.stringify(outcome)).toContain("not-run");
  expect(ran).toBe(0);
});

test("a call that others wait for does not fail for them because of who makes it", async () => {
  const go = Promise.withResolvers<void>();
  const slow = defineTool({
    name: "slow",
    description: "Waits and wipes",
    annotations: { idempotent: true },
    cache: { ttlMs: 1000, scope: "everybody" },
    async run(_input, { call }) {
      await go.promise;
      const outcome = await call("wipe", { disk: 1 });
      if (outcome.status === "failed") throw new Error(outcome.error.message);
      return outcome.output;
    },
  });
  const { workspace } = setUp([slow]);

  const restricted = workspace.call("slow", {}, { refuse: refusing("wipe") });
  await new Promise(setImmediate);
  const free = workspace.call("slow");
  await new Promise(setImmediate);
  go.resolve();

  expect(codeOf(await restricted)).toBe("tool-failed");
  expect(await free).toMatchObject({ output: "wiped" });
});

function refusing(...addresses: string[]): Refuse {
  return ({ address }) =>
    addresses.includes(address) ? toFailure("scope-missing", { tool: address, scopes: ["tools"] }) : undefined;
}

function setUp(more: readonly Tool[] = []): { workspace: Workspace; ran: unknown[] } {
  const ran: unknown[] = [];
  const wipe = defineTool({
    name: "wipe",
    description: "Wipes",
    input: { type: "object", properties: { disk: { type: "integer" } }, required: ["disk"] },
    run: ({ disk }) => {
      ran.push(disk);
      return "wiped";
    },
  });
  const give = defineTool({ name: "give", description: "Gives an input", run: () => ({ disk: 1 }) });
  const steps = [{ id: "wiped", tool: "wipe", args: { disk: 1 } }] as const;
  const runtime = codeRuntime();
  onTestFinished(() => runtime.close());
  const tools = [
    wipe,
    caller("caller", "wipe", { disk: 1 }),
    caller("outer", "caller", {}),
    definePipeline({ name: "steps", description: "Wipes in steps", steps }),
    pipeline({ name: "composed", description: "Wipes with parts", steps: [give, wipe] }),
    createCodeTool(),
    defineTool({
      name: "look",
      description: "Looks around",
      run: (_input, { availableTools }) => availableTools().map(({ address }) => address),
    }),
    ...more,
  ];
  return { workspace: createWorkspace({ tools, runtimes: [runtime] }), ran };
}

/** A tool that calls another one, and gives what it gave or says why it did not. */
function caller(name: string, address: string, input: object): Tool {
  return defineTool({
    name,
    description: "Calls another",
    async run(_input, { call }) {
      const outcome = await call(address, input);
      return outcome.status === "ok" ? outcome.output : outcome.error.message;
    },
  });
}

function codeOf(outcome: ToolOutcome): string {
  return outcome.status === "ok" ? "ok" : outcome.error.code;
}
