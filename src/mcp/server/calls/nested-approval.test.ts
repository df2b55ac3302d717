import { expect, onTestFinished, test } from "vitest";

import { connectHttp, connectStdio, listen, textOf, type ClientKind } from "../../../../test/support/mcp-clients.ts";
import { post2026, readAnswer } from "../../../../test/support/mcp-raw.ts";
import { defineTool } from "../../../core/define-tool.ts";
import type { Guard } from "../../../core/guards.ts";
import type { Tool } from "../../../core/tool.ts";
import { codeRuntime } from "../../../runtimes/code/code-runtime.ts";
import { createCodeTool } from "../../../runtimes/code/create-code-tool.ts";
import { definePipeline } from "../../../runtimes/pipeline/define-pipeline.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import type { Workspace, WorkspaceOptions } from "../../../workspace/workspace.ts";
import { maxRounds } from "./pausable-call.ts";

const generations: readonly ClientKind[] = ["legacy", "pinned"];
const yes = { action: "accept", content: { approve: true } };
const no = { action: "accept", content: { approve: false, reason: "not that one" } };

test.for(generations)(
  "a tool that calls one that needs it makes a %s client ask, and on whose behalf",
  async (kind) => {
    const { client, questions, log } = await connectPerson(kind, () => yes);

    const result = await client.callTool({ name: "nightly", arguments: { disks: ["a"] } });

    expect(textOf(result)).toBe('["wiped a"]');
    expect(questions).toHaveLength(1);
    expect(questions[0]).toMatch(/^Allow the tool wipe to run\?\nWipes a disk\nOn behalf of: nightly → tidy\n/u);
    expect(questions[0]).toContain('"disk": "a"');
    expect(log).toEqual(["nightly", "tidy a", "wiped a"]);
  },
);

test.for(generations)("a %s client is told why it is asked, before the input", async (kind) => {
  const reason = "it asks to overwrite report.md\u202E";
  const guard: Guard = { name: "careful", at: ["tool-input"], check: () => ({ ask: reason }) };
  const { client, questions } = await connectPerson(kind, () => yes, { guards: [guard] });

  await client.callTool({ name: "wipe", arguments: { disk: "a" } });

  expect(questions[0]).toMatch(/\nWhy you are asked: it asks to overwrite report\.md\n\nInput:\n/u);
});

test.for(
  generations.flatMap(
    (kind) =>
      [
        [kind, "decline", "the person at the client said no"],
        [kind, "cancel", "the client gave no answer"],
      ] as const,
  ),
)("a call that a %s client does not allow (%s) says what the question was", async ([kind, action, why]) => {
  const guard: Guard = {
    name: "careful",
    at: ["tool-input"],
    check: () => ({ ask: "it asks to write a.md (run: x)" }),
  };
  const { client } = await connectPerson(kind, () => ({ action }), { guards: [guard] });

  const result = await client.callTool({ name: "wipe", arguments: { disk: "a" } });

  expect(textOf(result)).toContain(`${why}; the question was: `);
  expect(textOf(result)).toContain("it asks to write a.md (run: x)");
});

test.for(generations)("a tool hears what the person at a %s client said of what it called", async (kind) => {
  const { client, log } = await connectPerson(kind, () => no);

  const result = await client.callTool({ name: "nightly", arguments: { disks: ["a"] } });

  expect(textOf(result)).toContain("not that one");
  expect(log).toEqual(["nightly", "tidy a"]);
});

test.for(generations)(
  "what was done before a question is done once, however often a %s client is asked",
  async (kind) => {
    const { client, questions, log } = await connectPerson(kind, () => yes);

    const result = await client.callTool({ name: "nightly", arguments: { disks: ["a", "b", "c"] } });

    expect(textOf(result)).toBe('["wiped a","wiped b","wiped c"]');
    expect(questions).toHaveLength(3);
    expect(log).toEqual(["nightly", "tidy a", "wiped a", "tidy b", "wiped b", "tidy c", "wiped c"]);
  },
);

test.for(generations)("a pipeline makes a %s client ask for its step", async (kind) => {
  const { client, questions, log } = await connectPerson(kind, () => yes);

  const result = await client.callTool({ name: "pipe", arguments: { disk: "a" } });

  expect(textOf(result)).toBe("wiped a");
  expect(questions).toEqual([expect.stringContaining("On behalf of: pipe\n")]);
  expect(log).toEqual(["tidy-only a", "wiped a"]);
});

test.for(generations)("a program makes a %s client ask for what it calls, and waits", async (kind) => {
  const { client, questions, log } = await connectPerson(kind, () => yes);
  const code = `const one = await tools.wipe({ disk: "a" });\nconst two = await tools.wipe({ disk: "b" });\nreturn [one, two];`;

  const result = await client.callTool({ name: "execute_code", arguments: { code } });

  expect(textOf(result)).toContain('["wiped a","wiped b"]');
  expect(questions).toEqual(
    Array.from({ length: 2 }, () => expect.stringContaining("On behalf of: execute_code\n") as string),
  );
  expect(log).toEqual(["wiped a", "wiped b"]);
});

test.for(generations)("call_tools makes a %s client ask for each of its calls that needs it", async (kind) => {
  const { client, questions, log } = await connectPerson(kind, (question) => (question.includes('"b"') ? no : yes));
  const calls = ["a", "b", "c"].map((disk) => ({ name: "wipe", input: { disk } }));

  const first = await client.callTool({ name: "call_tools", arguments: { calls: [...calls, { name: "free" }] } });

  expect(first.structuredContent).toMatchObject({
    results: [
      { output: "wiped a" },
      { code: "approval-denied", message: expect.stringContaining("not that one") as string },
      { output: "wiped c" },
      { output: "free" },
    ],
    failed: 1,
  });
  expect(questions).toHaveLength(3);
  expect(log.toSorted()).toEqual(["free", "wiped a", "wiped c"]);
});

test.for(generations)("a %s client that cannot ask gets a failure that is clear, and nothing runs", async (kind) => {
  const { workspace, log } = setUp();
  const { url } = await listen({ workspace });
  const client = await connectHttp(url, { kind });

  const nested = await client.callTool({ name: "nightly", arguments: { disks: ["a"] } });
  const batch = await client.callTool({
    name: "call_tools",
    arguments: { calls: [{ name: "wipe", input: { disk: "a" } }] },
  });

  for (const refused of [nested, batch])
    expect(textOf(refused)).toMatch(/wipe.*needs an approval, and there is no approval function/u);
  expect(log).toEqual(["nightly", "tidy a"]);
});

test.for(generations)("a %s client is not asked in the place of somebody where Kitbag runs", async (kind) => {
  const approve: WorkspaceOptions["approve"] = ({ tool }) =>
    tool.needsApproval ? { decision: "deny", reason: "the operator said no" } : { decision: "approve" };
  const { client, questions, log } = await connectPerson(kind, () => yes, { approve });

  const result = await client.callTool({ name: "nightly", arguments: { disks: ["a"] } });

  expect(textOf(result)).toContain("the operator said no");
  expect(questions).toEqual([]);
  expect(log).toEqual(["nightly", "tidy a"]);
});

test.for(generations)("no time passes for a tool while the person at a %s client thinks", async (kind) => {
  const { client } = await connectPerson(kind, async () => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return yes;
  });

  const result = await client.callTool({ name: "hasty", arguments: {} });

  expect(textOf(result)).toBe("wiped a");
});

test("a client of 2026 is asked 10 times in one call, and the call ends by itself then", async () => {
  const { client, questions, log } = await connectPerson("pinned", () => yes);
  const disks = Array.from({ length: 13 }, (_, index) => `d${index}`);

  const result = await client.callTool({ name: "nightly", arguments: { disks } });

  const answers = JSON.parse(textOf(result)) as string[];
  expect(questions).toHaveLength(maxRounds["2026"]);
  expect(answers.filter((answer) => answer.startsWith("wiped"))).toHaveLength(maxRounds["2026"]);
  expect(answers.at(-1)).toContain("is not asked again; make several calls of it");
  expect(log.filter((line) => line.startsWith("wiped"))).toHaveLength(maxRounds["2026"]);
});

test("a client of 2025 is asked as often as a batch is long, one question at a time", async () => {
  let open = 0;
  let most = 0;
  const { client, questions } = await connectPerson("legacy", async () => {
    open += 1;
    most = Math.max(most, open);
    await new Promise(setImmediate);
    open -= 1;
    return yes;
  });
  const calls = Array.from({ length: 100 }, (_, index) => ({ name: "wipe", input: { disk: `d${index}` } }));

  const { structuredContent } = await client.callTool({ name: "call_tools", arguments: { calls } });

  expect(structuredContent).toMatchObject({ failed: 0 });
  expect([questions.length, most]).toEqual([100, 1]);
});

test("a client of 2026 is asked about all calls of a batch at once", async () => {
  const { client, questions } = await connectPerson("pinned", () => yes);
  const calls = Array.from({ length: 40 }, (_, index) => ({ name: "wipe", input: { disk: `d${index}` } }));

  const { structuredContent } = await client.callTool({ name: "call_tools", arguments: { calls } });

  expect(structuredContent).toMatchObject({ failed: 0 });
  expect(questions).toHaveLength(40);
});

test("what a client of 2026 answers in part is asked again for the rest", async () => {
  const { workspace, log } = setUp();
  const { url } = await listen({ workspace });
  const _meta = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
  const calls = ["a", "b"].map((disk) => ({ name: "wipe", input: { disk } }));
  const params = { name: "call_tools", arguments: { calls }, _meta };
  const send = async (more: object): Promise<Asked> =>
    (await readAnswer(await post2026(url, "tools/call", { ...params, ...more }))) as unknown as Asked;

  const begun = await send({});
  const part = await send({
    requestState: begun.result.requestState,
    inputResponses: { "approval-2": yes, __proto__: yes, other: 7 },
  });
  const rest = await send({ requestState: part.result.requestState, inputResponses: { approval: yes } });
  const twice = await send({ requestState: part.result.requestState, inputResponses: { approval: yes } });

  expect(Object.keys(begun.result.inputRequests)).toEqual(["approval", "approval-2"]);
  expect(Object.keys(part.result.inputRequests)).toEqual(["approval"]);
  expect(rest).toMatchObject({ result: { structuredContent: { failed: 0 } } });
  expect(twice).toMatchObject({ error: { code: -32_602 } });
  expect(log).toEqual(["wiped b", "wiped a"]);
});

test.for(generations)("a question that nobody waits for any more is not put to a %s client", async (kind) => {
  const { client, questions, log } = await connectPerson(kind, () => yes);

  const result = await client.callTool({ name: "forgetful", arguments: {} });

  expect(textOf(result)).toBe("gone");
  expect([questions, log]).toEqual([[], []]);
});

test.for(generations)("a %s client on stdio is asked about calls inside calls", async (kind) => {
  const client = await connectStdio("mcp-stdio-program.ts", { kind, capabilities: { elicitation: { form: {} } } });
  const questions: string[] = [];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    questions.push(params.message);
    return yes as { action: "accept" };
  });

  const result = await client.callTool({ name: "sweep", arguments: {} });

  expect(textOf(result)).toBe("swept, 1 begun");
  expect(questions).toEqual([expect.stringContaining("On behalf of: sweep\n")]);
});

interface Asked {
  readonly result: { readonly requestState: string; readonly inputRequests: Readonly<Record<string, unknown>> };
}

function setUp(options: WorkspaceOptions = {}): { workspace: Workspace; log: string[] } {
  const log: string[] = [];
  const runtime = codeRuntime({ tools: () => [{ address: "wipe", tool: createTools(log)[0] as Tool }] });
  onTestFinished(() => runtime.close());
  const tools = [...createTools(log), ...callingTools(log), createCodeTool({ languages: ["javascript"] })];
  return { workspace: createWorkspace({ ...options, tools, runtimes: [runtime] }), log };
}

const ofDisk = { type: "object", properties: { disk: { type: "string" } }, required: ["disk"] };

function createTools(log: string[]): Tool[] {
  return [
    defineTool({
      name: "wipe",
      description: "Wipes a disk",
      input: ofDisk,
      needsApproval: true,
      run({ disk }) {
        log.push(`wiped ${String(disk)}`);
        return `wiped ${String(disk)}`;
      },
    }),
    defineTool({
      name: "free",
      description: "Needs no approval",
      run() {
        log.push("free");
        return "free";
      },
    }),
    defineTool({
      name: "tidy-only",
      description: "Tidies a disk",
      input: ofDisk,
      run({ disk }) {
        log.push(`tidy-only ${String(disk)}`);
        return disk;
      },
    }),
  ];
}

function callingTools(log: string[]): Tool[] {
  const step = (id: string, tool: string, disk: string): object => ({ id, tool, args: { disk } });
  const steps = [step("tidied", "tidy-only", "$input.disk"), step("wiped", "wipe", "$tidied")];
  return [
    defineTool({
      name: "tidy",
      description: "Tidies a disk and wipes it",
      input: ofDisk,
      async run({ disk }, { call }) {
        log.push(`tidy ${String(disk)}`);
        const outcome = await call("wipe", { disk });
        return outcome.status === "ok" ? outcome.output : outcome.error.message;
      },
    }),
    defineTool({
      name: "nightly",
      description: "Tidies disks, one after the other",
      input: { type: "object", properties: { disks: { type: "array", items: { type: "string" } } } },
      async run({ disks }, { call }) {
        log.push("nightly");
        const answers: unknown[] = [];
        for (const disk of disks as string[]) {
          const outcome = await call("tidy", { disk });
          answers.push(outcome.status === "ok" ? outcome.output : outcome.error.message);
        }
        return answers as string[];
      },
    }),
    defineTool({
      name: "hasty",
      description: "Has little time",
      limits: { limitMs: 1000 },
      async run(_input, { call }) {
        const outcome = await call("wipe", { disk: "a" });
        return outcome.status === "ok" ? outcome.output : outcome.error.message;
      },
    }),
    defineTool({
      name: "forgetful",
      description: "Calls another and does not wait",
      run(_input, { call }) {
        void call("wipe", { disk: "a" });
        return "gone";
      },
    }),
    definePipeline({ name: "pipe", description: "Tidies and wipes", steps } as never),
  ];
}

interface Person {
  readonly client: Awaited<ReturnType<typeof connectHttp>>;
  /** What the person was asked. */
  readonly questions: string[];
  /** What was done. */
  readonly log: string[];
}

async function connectPerson(
  kind: ClientKind,
  answer: (question: string) => object | Promise<object>,
  options: WorkspaceOptions = {},
): Promise<Person> {
  const { workspace, log } = setUp(options);
  const { url } = await listen({ workspace });
  const client = await connectHttp(url, { kind, capabilities: { elicitation: { form: {} } } });
  const questions: string[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    questions.push(params.message);
    return (await answer(params.message)) as { action: "accept" };
  });
  return { client, questions, log };
}
