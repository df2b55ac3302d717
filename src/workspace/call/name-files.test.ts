import { expect, test, vi } from "vitest";

import {
  createWorkspace,
  defineSkill,
  defineTool,
  KitbagError,
  type ApprovalRequest,
  type CallOptions,
  type FileNamer,
  type Guard,
  type NamedFile,
  type Tool,
  type ToolOutcome,
  type Workspace,
  type WorkspaceOptions,
} from "../../index.ts";
import type { Runtime, RuntimeContext } from "../../core/runtime.ts";
import { memoryStore } from "../../store/memory-store.ts";

test("call() takes only the local user with all scopes for a person", async () => {
  const { workspace, namers } = open();
  const cases: readonly (readonly [CallOptions, FileNamer])[] = [
    [{}, "model"],
    [{ namedBy: "person" }, "person"],
    [{ namedBy: "person", user: "local" }, "person"],
    [{ namedBy: "person", user: "me" }, "person"],
    [{ namedBy: "person", scopes: "all" }, "person"],
    [{ namedBy: "person", scopes: new Set(["tools:read", "tools:write"]) }, "model"],
    [{ namedBy: "person", refuse: () => undefined }, "model"],
    [{ namedBy: "person", user: "ada" }, "remote"],
    [{ namedBy: "model", user: "ada" }, "remote"],
    [{ namedBy: "remote" }, "remote"],
  ];

  for (const [options] of cases) await workspace.call("read", { path: "a.txt" }, options);

  expect(namers).toEqual(cases.map(([, namer]) => namer));
});

test("call() takes the calls inside a person's call for those of a model, and none for more than its caller", async () => {
  const outer = defineTool({
    name: "outer",
    description: "Calls the tool that reads",
    run: (_input, context) => context.call("read", { path: "a.txt" }) as Promise<never>,
  });
  const { workspace, namers } = open({}, [outer]);

  await workspace.call("outer", {}, { namedBy: "person" });
  await workspace.call("outer", {}, { namedBy: "person", user: "ada" });

  expect(namers).toEqual(["model", "remote"]);
});

test.for([
  ["reads a file", {}, "a.txt", undefined],
  ["reads a file and has a network", { permissions: { network: ["a.example"] } }, "a.txt", "read a.txt"],
  ["reads a file and calls other tools", { uses: ["other"] }, "a.txt", "read a.txt"],
  ["reads a folder", {}, "folder", "asks to read the folder folder ("],
  ["writes a file", { files: { path: "write" } }, "a.txt", "asks to overwrite a.txt ("],
  ["makes a file", { files: { path: "write" } }, "new file.txt", 'asks to write "new file.txt" ('],
  ["writes many files", { files: { path: "write" } }, "many", "overwrite 9.txt, use 2 more ("],
  ["writes into a folder", { files: { path: "write" } }, "folder", "asks to write into the folder folder ("],
] as const)("call() of a model asks first where the tool %s, if it must", async ([, parts, path, asked]) => {
  const questions: (string | undefined)[] = [];
  const approve = ({ reason, tool }: ApprovalRequest) => {
    if (tool.needsApproval) questions.push(reason);
    return { decision: "approve" } as const;
  };
  const { workspace, runs } = open({ approve }, [], parts);

  const outcome = await workspace.call("read", { path });

  expect(outcome.status, JSON.stringify(outcome)).toBe("ok");
  expect(runs).toHaveLength(1);
  expect(questions).toHaveLength(asked === undefined ? 0 : 1);
  if (asked !== undefined) expect(questions[0]).toContain(asked);
});

test("call() asks first where another tool of the same skill has a network", async () => {
  const reader = toTool({});
  const sender = {
    ...defineTool({ name: "send", description: "Sends", run: () => null }),
    permissions: { network: ["a.example"] },
  };
  const skill = defineSkill({
    name: "notes",
    description: "Works with notes. Use it for notes.",
    workDirection: "Read.",
    tools: [reader, sender],
  });
  const { runtime, runs } = createRuntime();
  const workspace = createWorkspace({ skills: [skill], runtimes: [runtime] });
  await workspace.activateSkill("notes");

  const outcome = await workspace.call("notes/read", { path: "a b.txt" });

  expect(runs).toEqual([]);
  expect(outcome).toMatchObject({ status: "failed", error: { code: "file-denied", details: { file: "a b.txt" } } });
  expect(outcome.status === "failed" && outcome.error.message).toContain('kitbag grant notes --read "a b.txt"');
});

test.for([{}, { path: null }, { other: "x" }])(
  "call() names no file by the default of a parameter: %j",
  async (input) => {
    const inputSchema = { type: "object", properties: { path: { type: "string", default: "secret.txt" } } } as const;
    const { workspace, runs } = open({}, [], { inputSchema });

    await workspace.call("read", input, { namedBy: "person" });
    await workspace.call("read", { path: "secret.txt" }, { namedBy: "person" });

    expect(runs.map(({ files }) => files?.named.map(({ name }) => name))).toEqual([["undefined"], ["secret.txt"]]);
  },
);

test("call() asks first where a tool around it has a network, which reads the file by way of it", async () => {
  const { runtime, runs } = createRuntime();
  const sender = {
    ...defineTool({ name: "send", description: "Sends", run: (_input, { call }) => call("read", { path: "a.txt" }) }),
    permissions: { network: ["a.example"] },
  };
  const workspace = createWorkspace({ tools: [toTool({}), sender], runtimes: [runtime] });

  const outcome = await workspace.call("send", {});

  expect(JSON.stringify(outcome)).toContain("file-denied");
  expect(runs).toEqual([]);
});

test("call() of a model that cannot be asked about is refused, with the policy that would allow it", async () => {
  const { workspace, runs } = open({}, [], { files: { path: "write" } });

  const outcome = await workspace.call("read", { path: "a.txt" });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "file-denied" } });
  expect(outcome.status === "failed" && outcome.error.message).toContain('files = "allow"');
  expect(runs).toEqual([]);
});

test.for([
  ["allow", "model", "ok"],
  ["deny", "model", "failed"],
  ["deny", "person", "ok"],
  ["ask", "person", "ok"],
] as const)("call() with files = %s of a %s is %s", async ([files, namedBy, status]) => {
  const { workspace } = open({ files }, [], { files: { path: "write" } });

  expect((await workspace.call("read", { path: "a.txt" }, { namedBy })).status).toBe(status);
});

test("call() with files = deny refuses a model that reads one file", async () => {
  const { workspace } = open({ files: "deny" });

  const outcome = await workspace.call("read", { path: "a.txt" });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "file-denied" } });
});

test("call() gives the tool the files of the input that was approved instead", async () => {
  const approve = () => ({ decision: "approve", input: { path: "b.txt" } }) as const;
  const { workspace, runs } = open({ approve });

  await workspace.call("read", { path: "a.txt" });
  const denied = await open({ approve: () => ({ decision: "approve", input: { path: "refused" } }) }).workspace.call(
    "read",
    {
      path: "a.txt",
    },
  );

  expect(runs.map(({ files }) => files?.named.map(({ name }) => name))).toEqual([["b.txt"]]);
  expect(denied).toMatchObject({ status: "failed", error: { code: "file-denied" } });
});

test("call() does not answer from the cache when the input names files: they may have changed", async () => {
  const { workspace, runs } = open({}, [], { cache: { ttlMs: 60_000 } });

  await workspace.call("read", { path: "a.txt" });
  await workspace.call("read", { path: "a.txt" });

  expect(runs).toHaveLength(2);
});

test("call() lists what the tool wrote, also when it failed, and keeps it for its user without secrets", async () => {
  const { workspace } = open({ secrets: { TOKEN: "secret-token-1" } }, [], {}, async ({ files }, input) => {
    await files?.add({ path: "a.txt", bytes: 14 }, Buffer.from("secret-token-1"));
    await files?.add({ path: "secret-token-1.txt", bytes: 1, savedTo: "/x" });
    if (input["path"] === "fail") throw new Error("failed");
  });
  const call = (path: string): Promise<ToolOutcome> => workspace.call("read", { path }, { user: "ada" });

  const [ok, failed] = [await call("a.txt"), await call("fail")];

  expect(failed.files).toEqual(ok.files);
  const handle = ok.files?.[0]?.handle ?? "";
  expect(ok.files?.[1]?.path).not.toContain("secret-token-1");
  expect((await workspace.readOutput(handle, { user: "ada" })).text).not.toContain("secret-token-1");
  await expect(workspace.readOutput(handle, { user: "bob" })).rejects.toMatchObject({ code: "output-missing" });
});

test("call() lists of a tool that is tried again what its last try wrote", async () => {
  let tries = 0;
  const parts = { annotations: { idempotent: true }, limits: { retries: 1 } };
  const { workspace } = open({ retries: { minMs: 1 } }, [], parts, async ({ files }) => {
    tries += 1;
    await files?.add({ path: `${tries}.txt`, bytes: 1 });
    if (tries === 1) throw new Error("failed");
  });

  const outcome = await workspace.call("read", { path: "a.txt" });

  expect(outcome).toMatchObject({ status: "ok", files: [{ path: "2.txt" }] });
});

type Run = (context: RuntimeContext, input: Record<string, unknown>) => Promise<void>;

/** A runtime that finds a file in `path`, and knows who named it. */
test.for([
  ["a call that took too long", "call-timeout", { limitMs: 20 }],
  ["a call that its caller cancelled", "call-cancelled", {}],
] as const)("%s tells what the tool wrote before it was ended", async ([, code, options]) => {
  const caller = new AbortController();
  const { workspace } = open({}, [], {}, async ({ signal, files }) => {
    if (code === "call-cancelled") caller.abort();
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await new Promise(setImmediate);
    await files?.add({ path: "half.txt", bytes: 4 }, Buffer.from("half"));
    signal.throwIfAborted();
  });

  const outcome = await workspace.call("read", { path: "a.txt" }, { ...options, signal: caller.signal });

  expect(outcome).toMatchObject({ status: "failed", error: { code }, files: [{ path: "half.txt", bytes: 4 }] });
  expect(await workspace.readOutput(outcome.files?.[0]?.handle ?? "")).toMatchObject({ text: "half" });
});

test("a call that took too long waits only a moment for a tool that does not end", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { workspace } = open({}, [], {}, () => {
      begin();
      return new Promise(() => {});
    });

    const outcome = workspace.call("read", { path: "a.txt" }, { limitMs: 20 });
    await begun;
    await vi.advanceTimersByTimeAsync(6000);

    expect(await outcome).toMatchObject({ status: "failed", error: { code: "call-timeout" } });
  } finally {
    vi.useRealTimers();
  }
});

test("call() fails in words when a runtime cannot tell which files are named", async () => {
  const broken: Runtime = {
    kind: "files",
    findFiles: () => {
      throw new Error("no such folder");
    },
    run: () => Promise.resolve(null),
  };
  const workspace = createWorkspace({ tools: [toTool({})], runtimes: [broken] });

  expect(await workspace.call("read", { path: "a.txt" })).toMatchObject({
    status: "failed",
    error: { code: "file-denied", details: { file: "its input", reason: "no such folder" } },
  });
});

test("call() keeps the first 100 files, none of a call that has ended, and none there is no room for", async () => {
  let late: (() => Promise<void>) | undefined;
  const { workspace } = open({ limits: { maxOutputBytes: 1000 } }, [], {}, async ({ files }) => {
    for (let index = 0; index < 101; index++) await files?.add({ path: `f${index}`, bytes: 1 }, Buffer.from([index]));
    late = async () => files?.add({ path: "late", bytes: 1 }, Buffer.from("x"));
  });

  const { files = [] } = await workspace.call("read", { path: "a.txt" });
  await late?.();

  expect(files).toHaveLength(101);
  expect(files.filter(({ handle }) => handle !== undefined)).toHaveLength(100);
});

test("call() lists a file without a handle if its bytes cannot be kept", async () => {
  const store = memoryStore();
  const put = (): Promise<never> => Promise.reject(new Error("no space left"));
  const { workspace } = open({ store: { ...store, blobs: { ...store.blobs, put } } }, [], {}, async ({ files }) => {
    await files?.add({ path: "a.txt", bytes: 1 }, Buffer.from("x"));
  });

  expect(await workspace.call("read", { path: "a.txt" })).toMatchObject({ files: [{ path: "a.txt", bytes: 1 }] });
});

test("call() with an input that was approved instead needs no files of a tool whose runtime gives none", async () => {
  const tool = Object.freeze({
    ...defineTool({
      name: "plain",
      description: "Is a function",
      input: { type: "object", properties: { path: { type: "string" } } },
      needsApproval: true,
      run: (input) => input as never,
    }),
    files: { path: "read" as const },
  });
  const approve = () => ({ decision: "approve", input: { path: "b.txt" } }) as const;
  const workspace = createWorkspace({ tools: [tool], approve });

  expect(await workspace.call("plain", { path: "a.txt" })).toMatchObject({ output: { path: "b.txt" } });
});

test.for([
  ["a b.txt", 'kitbag grant s --write "a b.txt"'],
  ["a.txt", "kitbag grant s --write a.txt"],
] as const)("call() refuses %j with a command that can be typed", async ([path, command]) => {
  const skill = defineSkill({ name: "s", description: "Writes", tools: [toTool({ files: { path: "write" } })] });
  const { runtime } = createRuntime();
  const workspace = createWorkspace({ skills: [skill], runtimes: [runtime] });
  await workspace.activateSkill("s");

  const outcome = await workspace.call("s/read", { path });

  expect(outcome).toMatchObject({ error: { message: expect.stringContaining(command) } });
});

test("call() takes an input that is no object as it is", async () => {
  const { workspace, runs } = open({}, [], { inputSchema: { type: "string" } });

  await workspace.call("read", "a.txt");

  expect(runs).toHaveLength(1);
});

test("call() asks once where a guard has a question, too", async () => {
  const questions: (string | undefined)[] = [];
  const approve = ({ reason }: ApprovalRequest) => {
    questions.push(reason);
    return { decision: "approve" } as const;
  };
  const careful: Guard = { name: "careful", at: ["tool-input"], check: () => ({ ask: "is that meant?" }) };
  const { workspace } = open({ approve, guards: [careful] }, [], { files: { path: "write" } });

  await workspace.call("read", { path: "a.txt" });

  expect(questions).toEqual([expect.stringMatching(/is that meant\?.*; it asks to overwrite a\.txt/u)]);
});

function createRuntime(run: Run = async () => {}): {
  readonly runtime: Runtime;
  readonly namers: FileNamer[];
  readonly runs: RuntimeContext[];
} {
  const namers: FileNamer[] = [];
  const runs: RuntimeContext[] = [];
  const runtime: Runtime = {
    kind: "files",
    findFiles(tool, input, by): readonly NamedFile[] {
      namers.push(by);
      const name = String((input as Record<string, unknown>)["path"]);
      if (name === "refused") throw new KitbagError("file-denied", { tool: tool.name, file: name, reason: "a test" });
      const use = tool.files?.["path"] ?? "read";
      const kind = name === "folder" ? "folder" : name.startsWith("new") ? "nothing" : "file";
      const names = name === "many" ? Array.from({ length: 12 }, (_, index) => `${index}.txt`) : [name];
      return names.map((one) => ({ at: ["path"], name: one, path: `/project/${one}`, use, kind }));
    },
    async run(_tool, input, context) {
      runs.push(context);
      await run(context, input as Record<string, unknown>);
      return null;
    },
  };
  return { runtime, namers, runs };
}

function toTool(parts: Partial<Tool>): Tool {
  return {
    ...defineTool({ name: "read", description: "Reads a file", run: () => null }),
    inputSchema: { type: "object" },
    files: { path: "read" },
    code: { kind: "files" },
    ...parts,
  };
}

function open(
  options: WorkspaceOptions = {},
  tools: readonly Tool[] = [],
  parts: Partial<Tool> = {},
  run?: Run,
): Omit<ReturnType<typeof createRuntime>, "runtime"> & { readonly workspace: Workspace } {
  const { runtime, ...seen } = createRuntime(run);
  const workspace = createWorkspace({
    localUser: "me",
    ...options,
    tools: [toTool(parts), ...tools],
    runtimes: [runtime],
  });
  return { workspace, ...seen };
}
