import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { createTool, defineTool, toMetaTool, type ToolParts } from "../../core/define-tool.ts";
import { isRecord } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Runtime, RuntimeContext } from "../../core/runtime.ts";
import type { Tool, ToolCode } from "../../core/tool.ts";
import { codeRuntime } from "../../runtimes/code/code-runtime.ts";
import { createCodeTool } from "../../runtimes/code/create-code-tool.ts";
import { parallel } from "../../runtimes/pipeline/parallel.ts";
import { definePipeline } from "../../runtimes/pipeline/define-pipeline.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { Workspace, WorkspaceOptions } from "../workspace.ts";

test("call() lets a script call its own skill's tools and what its skill declares, and nothing else", async () => {
  const workspace = await open({ uses: ["net/fetch", "deploy"] });

  expect(await reach(workspace, "quiet/go", "quiet/own")).toBe("ok");
  expect(await reach(workspace, "quiet/go", "own")).toBe("ok");
  expect(await reach(workspace, "quiet/go", "net/fetch")).toBe("ok");
  expect(await reach(workspace, "quiet/go", "deploy")).toBe("ok");
  expect(await reach(workspace, "quiet/go", "net/post")).toBe("tool-undeclared");
  expect(await reach(workspace, "quiet/go", "lone")).toBe("tool-undeclared");
});

test("call() refuses an undeclared function of the host program, and prints the line to add", async () => {
  const workspace = await open({});

  const outcome = await workspace.call("quiet/go", { tool: "deploy" });

  expect(outcome).toMatchObject({
    output: {
      message:
        'Cannot call "deploy" from "quiet/go": the skill "quiet" does not declare it; add uses = ["deploy"] to [skill] in its kitbag.toml, or "uses" in defineSkill',
    },
  });
});

test("call() keeps programs, and tools that change tools, away from scripts and from what they call", async () => {
  const workspace = await open({ uses: ["execute_code", "make", "deploy", "relay"] });
  const code = 'return await tools["net/fetch"]({})';

  expect(await reach(workspace, "quiet/go", "execute_code", { code })).toBe("tool-reserved");
  expect(await reach(workspace, "quiet/go", "make")).toBe("tool-reserved");
  // Through a function of the host program, too.
  expect(await reach(workspace, "quiet/go", "relay", { tool: "make" })).toBe("tool-reserved");
  expect(await reach(workspace, "quiet/go", "relay", { tool: "execute_code", input: { code } })).toBe("tool-reserved");
});

test.for(["execute_code", "call_tool", "create_tool", "read_output"])(
  "call() refuses %s to a script for the same reason where the workspace does not have it",
  async (tool) => {
    const workspace = await open({ uses: ["relay"], hasCodeTool: false });

    expect(await reach(workspace, "quiet/go", tool)).toBe("tool-reserved");
    expect(await reach(workspace, "quiet/go", "relay", { tool })).toBe("tool-reserved");
    expect(await reach(workspace, "quiet/go", "no_such_tool")).toBe("tool-not-found");
    expect(await toCode(workspace.call(tool))).toBe("tool-not-found");
    expect(await reach(workspace, "relay", tool)).toBe("tool-not-found");
  },
);

test("call() lets people, models and host functions run programs and make tools", async () => {
  const workspace = await open({});
  const code = 'return await tools["net/fetch"]({})';

  expect(await workspace.call("execute_code", { code })).toMatchObject({ output: { result: "fetched" } });
  expect(await reach(workspace, "relay", "make")).toBe("ok");
  expect(await reach(workspace, "relay", "net/post")).toBe("ok");
  expect(await reach(workspace, "relay", "execute_code", { code })).toBe("ok");
});

test("call() judges what a called tool calls by the called tool's own declaration", async () => {
  const workspace = await open({ uses: ["net/relay"] });

  // net/relay declares deploy; quiet does not.
  expect(await reach(workspace, "quiet/go", "net/relay", { tool: "deploy" })).toBe("ok");
  expect(await reach(workspace, "quiet/go", "net/relay", { tool: "lone" })).toBe("tool-undeclared");
});

test("call() holds a tool outside skills to its own uses, and a made pipeline to its steps", async () => {
  const made = { scopes: "all" } as const;
  const steps = definePipeline({ name: "steps", description: "d", steps: [{ tool: "net/fetch" }] });
  const workspace = await open({
    tools: [
      script("loose", { uses: ["net/fetch", "gone"] }),
      { ...steps, author: made },
      { ...steps, name: "forged", uses: [], author: made },
    ],
  });

  expect(await reach(workspace, "loose", "net/fetch")).toBe("ok");
  expect(await reach(workspace, "loose", "net/post")).toBe("tool-undeclared");
  expect(await reach(workspace, "loose", "loose", { tool: "net/post" })).toBe("tool-undeclared");
  expect(await workspace.call("steps")).toMatchObject({ output: "fetched" });
  expect(await workspace.call("forged")).toMatchObject({ error: { details: { code: "tool-undeclared" } } });
});

test("call() tells a made tool to declare what it calls", async () => {
  const workspace = await open({ tools: [script("loose", {})] });

  expect(await workspace.call("loose", { tool: "deploy" })).toMatchObject({
    output: {
      message: 'Cannot call "deploy" from "loose": the tool does not declare it; make it again with "uses": ["deploy"]',
    },
  });
});

test("call() needs a declaration of a skill's pipeline, and none of one of the host program", async () => {
  const toSteps = (tool: string): Tool => definePipeline({ name: "steps", description: "d", steps: [{ tool }] });
  const workspace = await open({ tools: [toSteps("net/post")], skillTools: [toSteps("deploy")] });

  expect(await workspace.call("steps")).toMatchObject({ status: "ok" });
  expect(await workspace.call("quiet/steps")).toMatchObject({ error: { details: { code: "tool-undeclared" } } });
});

test("call() lets a read-only tool call read-only tools only", async () => {
  const reader = { annotations: { readOnly: true } };
  const workspace = await open({
    uses: ["deploy", "look"],
    tools: [relay("glance", reader), defineTool({ name: "look", description: "d", ...reader, run: () => 1 })],
    skillTools: [script("peek", reader)],
  });

  expect(await reach(workspace, "quiet/peek", "look")).toBe("ok");
  expect(await reach(workspace, "quiet/peek", "deploy")).toBe("caller-read-only");
  expect(await reach(workspace, "quiet/peek", "quiet/go")).toBe("caller-read-only");
  expect(await reach(workspace, "glance", "deploy")).toBe("caller-read-only");
  expect(await reach(workspace, "glance", "look")).toBe("ok");
});

test("call() lets the parts of a composed tool be called by it alone", async () => {
  const secret = defineTool({ name: "secret", description: "d", run: () => "kept" });
  const both = parallel({ name: "both", description: "d", tools: { secret } });
  const workspace = await open({ uses: ["both"], tools: [both] });

  expect(await workspace.call("both", {}, { scopes: new Set(["tools:of:global:both"]) })).toMatchObject({
    status: "ok",
  });
  expect(await reach(workspace, "quiet/go", "both")).toBe("ok");
  expect(await reach(workspace, "quiet/go", "secret")).toBe("tool-not-found");
});

test("call() holds every call inside a call to the scopes of the outermost caller", async () => {
  const workspace = await open({ uses: ["net/fetch", "net/post"] });
  const scopes = new Set(["tools:of:quiet", "tools:of:net:fetch", "tools:of:global:execute_code"]);
  const tell = (name: string, input: object): Promise<string> => toCode(workspace.call(name, input, { scopes }));

  expect(await tell("quiet/go", { tool: "net/fetch" })).toBe("ok");
  expect(await tell("quiet/go", { tool: "net/post" })).toBe("scope-missing");
  expect(await tell("deploy", {})).toBe("scope-missing");
  expect(
    await workspace.call("execute_code", { code: 'return await tools["net/post"]({})' }, { scopes }),
  ).toMatchObject({
    error: { code: "code-failed" },
  });
});

test("call() holds a made tool to what its author could call then, and can call now", async () => {
  const now = new Map<string, ReadonlySet<string>>([["writer", new Set(["tools"])]]);
  const make = (name: string, user: string, scopes: "all" | readonly string[]): Tool => ({
    ...script(name, { uses: ["deploy", "net/fetch", "inner"] }),
    author: { user, scopes },
  });
  const workspace = await open({
    scopesOf: (user) => now.get(user),
    tools: [
      make("narrow", "writer", ["tools:of:net"]),
      make("wide", "writer", "all"),
      make("inner", "stranger", "all"),
      make("gone", "left", "all"),
      { ...script("unnamed", { uses: ["deploy"] }), author: { scopes: [] } },
    ],
  });
  now.set("left", new Set());

  expect(await reach(workspace, "narrow", "net/fetch")).toBe("ok");
  expect(await reach(workspace, "narrow", "deploy")).toBe("author-denied");
  expect(await reach(workspace, "wide", "deploy")).toBe("ok");
  expect(await reach(workspace, "gone", "deploy")).toBe("author-denied");
  expect(await reach(workspace, "unnamed", "deploy")).toBe("author-denied");
  // Nothing is known of the scopes that this author has now: those of then count.
  expect(await reach(workspace, "inner", "deploy")).toBe("ok");
  // The narrow author's tool gains nothing by going through another author's tool.
  expect(await reach(workspace, "wide", "inner", { tool: "deploy" })).toBe("ok");
  now.set("writer", new Set(["tools:of:global:inner"]));
  expect(await reach(workspace, "wide", "inner", { tool: "deploy" })).toBe("author-denied");
  expect(await workspace.call("wide", { tool: "deploy" })).toMatchObject({
    output: {
      message:
        'Cannot call "deploy" from "wide": "writer", who made "wide", has none of the scopes tools:of:global:deploy, tools:write; let a user who has one make the tool again',
    },
  });
});

test("call() looks at the authority again when an approval was given", async () => {
  const now = new Map([["writer", new Set(["tools"])]]);
  const asks = defineTool({ name: "asks", description: "d", needsApproval: true, run: () => "ran" });
  const workspace = await open({
    scopesOf: (user) => now.get(user),
    tools: [asks, { ...script("made", { uses: ["asks"] }), author: { user: "writer", scopes: "all" } }],
    approve: ({ address }) => {
      if (address === "asks") now.set("writer", new Set());
      return { decision: "approve" };
    },
  });

  expect(await reach(workspace, "made", "asks")).toBe("author-denied");
});

test("call() takes what a skill takes over from others for the skill's own code, and for its target alone", async () => {
  const reuses = [
    { name: "program", uses: "execute_code", locked: { code: "return await tools.deploy({})" } },
    { name: "fixed", uses: "net/post", locked: {} },
  ];
  const workspace = await open({});
  workspace.addSkill(defineSkill({ name: "sly", description: "d", tools: [script("go", {})], reuses }));
  expect(await workspace.activateSkill("sly")).toMatchObject({ status: "ok" });

  expect(await workspace.call("sly/program")).toMatchObject({ error: { details: { code: "tool-reserved" } } });
  expect(await workspace.call("sly/fixed")).toMatchObject({ output: "posted" });
  expect(await reach(workspace, "sly/go", "sly/fixed")).toBe("ok");
  // Under its own name it has no fixed arguments.
  expect(await reach(workspace, "sly/go", "net/post")).toBe("tool-undeclared");
});

test("call() refuses the calls of a script whose skill was removed", async () => {
  const removed = Promise.withResolvers<void>();
  const runtime: Runtime = {
    kind: "slow",
    async run(_tool, input, context) {
      await removed.promise;
      return callTold(input as Told, context);
    },
  };
  const slow = createTool({ name: "slow", description: "d", input: callerInput, code: { kind: "slow" } });
  const workspace = await open({ uses: ["deploy"], skillTools: [slow], runtimes: [runtime] });
  const made = workspace.call("quiet/slow", { tool: "deploy" });
  const gone = workspace.removeSkill("quiet");
  await new Promise(setImmediate);
  expect(workspace.getSkill("quiet")).toBeUndefined();
  removed.resolve();

  expect(await toCode(made)).toBe("tool-undeclared");
  await gone;
});

/** What a test puts into the workspace beside what is always there. */
interface Setting extends WorkspaceOptions {
  readonly tools?: readonly Tool[];
  readonly skillTools?: readonly Tool[];
  /** Of the skill `quiet`. */
  readonly uses?: readonly string[];
  /** Whether the workspace has `execute_code`. @default true */
  readonly hasCodeTool?: boolean;
}

/** A script `quiet/go` that calls what it is told; a skill `net`; functions of the host program; a tool that works on tools. */
async function open({
  tools = [],
  skillTools = [],
  uses = [],
  runtimes = [],
  hasCodeTool = true,
  ...options
}: Setting): Promise<Workspace> {
  const own = defineTool({ name: "own", description: "d", run: () => 1 });
  const fetch = defineTool({ name: "fetch", description: "d", run: () => "fetched" });
  const post = defineTool({ name: "post", description: "d", run: () => "posted" });
  const workspace = createWorkspace({
    ...options,
    runtimes: [scriptRuntime, codeRuntime({ tools: ({ availableTools }) => availableTools() }), ...runtimes],
    tools: [
      defineTool({ name: "deploy", description: "d", run: () => "deployed" }),
      defineTool({ name: "lone", description: "d", run: () => 1 }),
      toMetaTool(defineTool({ name: "make", description: "d", run: () => "made" })),
      relay("relay"),
      ...(hasCodeTool ? [createCodeTool()] : []),
      ...tools,
    ],
    skills: [
      defineSkill({ name: "net", description: "d", tools: [fetch, post, script("relay", {})], uses: ["deploy"] }),
      defineSkill({ name: "quiet", description: "d", tools: [own, script("go", {}), ...skillTools], uses }),
    ],
  });
  await workspace.activateSkill("net");
  const opened = await workspace.activateSkill("quiet");
  if (opened.status === "failed") throw new Error(opened.error.message);
  return workspace;
}

/** The code of how a call ends that one tool makes of another; its own failures come through. */
async function reach(workspace: Workspace, from: string, tool: string, input: object = {}): Promise<string> {
  return toCode(workspace.call(from, { tool, input }));
}

async function toCode(made: Promise<ToolOutcome>): Promise<string> {
  const outcome = await made;
  if (outcome.status === "failed") return outcome.error.code;
  const { output } = outcome;
  return isRecord(output) && typeof output["refused"] === "string" ? output["refused"] : "ok";
}

const callerInput = { type: "object", properties: { tool: { type: "string" } }, additionalProperties: true };

interface Told {
  readonly tool: string;
  readonly input?: object;
}

async function callTold({ tool, input = {} }: Told, { call }: Pick<RuntimeContext, "call">): Promise<unknown> {
  const outcome = await call(tool, input);
  if (outcome.status === "ok") return outcome.output;
  const { code, message } = outcome.error;
  return { refused: code, message };
}

/** Stands for code in a sandbox. */
function script(name: string, parts: Partial<ToolParts>): Tool {
  const code: ToolCode = { kind: "script" };
  return createTool({ name, description: "d", input: callerInput, ...parts, code });
}

/** A function of the host program that calls what it is told. */
function relay(name: string, parts: Partial<ToolParts> = {}): Tool {
  const code = { kind: "function", run: callTold } as ToolCode;
  return createTool({ name, description: "d", input: callerInput, ...parts, code });
}

const scriptRuntime: Runtime = {
  kind: "script",
  run: (_tool, input, context) => callTold(input as Told, context),
};

test("a tool that a user made and has not shared does not exist for other users", async () => {
  const author = { user: "ada", scopes: "all", owner: "ada" } as const;
  const secret = defineTool({ name: "payroll", description: "Counts", run: () => 1 });
  const list = defineTool({
    name: "list",
    description: "Lists",
    run: (_input, { availableTools }) => availableTools().map(({ address }) => address),
  });
  const workspace = createWorkspace({ tools: [{ ...secret, author }, list] });
  const code = async (tool: string, user?: string): Promise<unknown> => {
    const outcome = await workspace.call(tool, {}, user === undefined ? {} : { user });
    return outcome.status === "ok" ? outcome.output : outcome.error;
  };

  expect(await code("payroll", "ada")).toBe(1);
  expect(await code("payroll")).toBe(1);
  const missing = { code: "tool-not-found", details: { nearest: [], count: 1 } };
  expect(await code("payroll", "bob")).toMatchObject(missing);
  expect(await code("payrol", "bob")).toMatchObject(missing);
  expect(await code("payrol", "ada")).toMatchObject({ details: { nearest: ["payroll"], count: 2 } });
  expect(await code("list", "bob")).toEqual(["list"]);
  expect(await code("list", "ada")).toEqual(["payroll", "list"]);
});
