import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { createTool } from "../../core/define-tool.ts";
import type { Runtime, RuntimeContext } from "../../core/runtime.ts";
import type { Scopes } from "../../core/scopes.ts";
import type { Store } from "../../core/store.ts";
import type { Tool } from "../../core/tool.ts";
import { codeRuntime } from "../../runtimes/code/code-runtime.ts";
import { createCodeTool } from "../../runtimes/code/create-code-tool.ts";
import { definePipeline } from "../../runtimes/pipeline/define-pipeline.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import { createBatchTool } from "../dispatch/batch-dispatch.ts";
import { createDispatchTools } from "../dispatch/create-dispatch-tools.ts";
import { openDeadLetters } from "../failures/dead-letters.ts";
import type { Workspace } from "../workspace.ts";

// Random workspaces, callers, chains of calls and ways in. An oracle that is written for this test alone says which tools of a chain
// may run; exactly these must have run.

const code = codeRuntime({ tools: ({ availableTools }) => availableTools() });
afterAll(() => code.close());

test("no chain of calls has an effect outside the authority rule, and none inside it is refused", async () => {
  let [stopped, finished] = [0, 0];
  await fc.assert(
    fc.asyncProperty(scene, async ({ world, picks, caller, way }) => {
      const calls = toCalls(world, picks);
      fc.pre(calls !== undefined);
      const expected = expectedEffects(world, calls, caller);
      const effects: string[] = [];

      await (makeCall[way] as MakeCall)(await open(world, effects), calls, caller);

      expect(effects).toEqual(expected);
      if (expected.length === calls.filter(({ kind }) => kind !== "pipeline").length) finished += 1;
      else stopped += 1;
    }),
    { numRuns: 400 },
  );
  // Both happen often, so that neither half of the rule goes untested.
  expect(Math.min(stopped, finished)).toBeGreaterThan(40);
});

/** What a tool is. 0 to 3 are global, 4 to 7 of the skill `a`, 8 to 11 of the skill `b`. */
interface Spec {
  readonly index: number;
  readonly kind: "function" | "script" | "pipeline";
  readonly isMeta: boolean;
  readonly readOnly: boolean;
  /** Of a global tool that was made here: what its author could call then, and can call now. */
  readonly author: { readonly then: Scopes; readonly now: Scopes } | undefined;
  /** Tools that it declares, if it is global; the first is the step of a pipeline. */
  readonly uses: readonly number[];
}

interface World {
  readonly tools: readonly Spec[];
  /** What the skills declare. `b` uses only global tools: skills must not need each other in a circle. */
  readonly uses: Readonly<Record<"a" | "b", readonly number[]>>;
}

const anyTool = fc.nat(11);
const rarely = fc.nat(4).map((number) => number === 0);

const scopes: fc.Arbitrary<Scopes> = fc.oneof(
  { weight: 2, arbitrary: fc.constant("all" as const) },
  fc
    .tuple(fc.uniqueArray(anyTool, { minLength: 4, maxLength: 12 }), fc.boolean())
    .map(([indexes, reads]) => new Set([...indexes.map(toScope), ...(reads ? ["tools:read"] : [])])),
);

const spec = fc.record({
  kind: fc.constantFrom<Spec["kind"][]>("function", "script", "script", "pipeline"),
  isMeta: rarely,
  readOnly: rarely,
  author: fc.option(fc.record({ then: scopes, now: scopes }), { nil: undefined, freq: 2 }),
  uses: fc.uniqueArray(anyTool, { minLength: 1, maxLength: 9 }),
});

const world: fc.Arbitrary<World> = fc.record({
  tools: fc.array(spec, { minLength: 12, maxLength: 12 }).map((specs) => specs.map(toSpec)),
  uses: fc.record({
    a: fc.uniqueArray(anyTool, { maxLength: 10 }),
    b: fc.uniqueArray(fc.nat(3), { maxLength: 4 }),
  }),
});

const scene = fc.record({
  world,
  picks: fc.array(anyTool, { minLength: 1, maxLength: 5 }),
  caller: scopes,
  way: fc.constantFrom("direct", "program", "dispatch", "batch", "host function", "dead letter"),
});

function toSpec(made: Omit<Spec, "index">, index: number): Spec {
  const isGlobal = ownerOf(index) === "global";
  return {
    ...made,
    index,
    isMeta: made.isMeta && isGlobal && made.kind === "function",
    // A pipeline claims nothing: it may not be milder than its step.
    readOnly: made.readOnly && made.kind !== "pipeline",
    author: isGlobal && made.kind !== "function" ? made.author : undefined,
  };
}

function ownerOf(index: number): "global" | "a" | "b" {
  return index < 4 ? "global" : index < 8 ? "a" : "b";
}

function addressOf(index: number): string {
  const owner = ownerOf(index);
  return owner === "global" ? `t${index}` : `${owner}/t${index}`;
}

function toScope(index: number): string {
  return `tools:of:${ownerOf(index)}:t${index}`;
}

/** The chain that comes of it: behind a pipeline is its step, whatever was picked. Nothing if pipelines lead in a circle. */
function toCalls({ tools }: World, picks: readonly number[]): readonly Spec[] | undefined {
  const calls: Spec[] = [];
  for (let place = 0; place < picks.length || calls.at(-1)?.kind === "pipeline"; place += 1) {
    const last = calls.at(-1);
    calls.push(tools[last?.kind === "pipeline" ? stepOf(last) : (picks[place] ?? 0)] as Spec);
    if (calls.length > 6) return undefined;
  }
  return calls;
}

function stepOf({ uses }: Spec): number {
  return uses[0] ?? 0;
}

function expectedEffects(made: World, calls: readonly Spec[], caller: Scopes): readonly string[] {
  const may = calls.findIndex(
    (target, place) => !allows(caller, target) || !mayCall(made, calls.slice(0, place), target),
  );
  const reached = may === -1 ? calls : calls.slice(0, may);
  return reached.filter(({ kind }) => kind !== "pipeline").map(({ index }) => addressOf(index));
}

/** The rule, in the words of the guide: all that `around` calls each other in turn, and the last of them calls `target`. */
function mayCall({ uses }: World, around: readonly Spec[], target: Spec): boolean {
  const caller = around.at(-1);
  if (caller === undefined) return true;
  const [owner, targetOwner] = [ownerOf(caller.index), ownerOf(target.index)];
  const declared = owner === "global" ? caller.uses.slice(0, caller.kind === "pipeline" ? 1 : undefined) : uses[owner];
  const isOwn = caller.index === target.index || (owner !== "global" && owner === targetOwner);
  const isFree = !isForeign(caller) && [owner, targetOwner].includes("global");
  return (
    [isOwn, isFree, declared.includes(target.index)].includes(true) &&
    !(target.isMeta && around.some(isForeign)) &&
    (!caller.readOnly || target.readOnly) &&
    around.every(({ author }) => author === undefined || [author.then, author.now].every((had) => allows(had, target)))
  );
}

/** Whether its code is not the host program's. */
function isForeign({ kind, index, author }: Spec): boolean {
  return author !== undefined || kind === "script" || (kind === "pipeline" && ownerOf(index) !== "global");
}

function allows(had: Scopes, { index, readOnly }: Spec): boolean {
  return had === "all" || had.has(toScope(index)) || (readOnly && had.has("tools:read"));
}

/** What a tool does: leaves its effect, then makes the rest of the calls. A failure of theirs is not its own. */
interface Told {
  readonly rest: readonly string[];
}

const told = { type: "object", properties: { rest: { type: "array", items: { type: "string" } } } };

/** A workspace, and the store in which calls that failed are kept. */
interface Opened {
  readonly workspace: Workspace;
  readonly store: Store;
}

async function open({ tools, uses }: World, effects: string[]): Promise<Opened> {
  const act = async (address: string, { rest = [] }: Partial<Told>, { call }: Pick<RuntimeContext, "call">) => {
    effects.push(address);
    const [next, ...others] = rest;
    if (next !== undefined) await call(next, { rest: others });
    return null;
  };
  const script: Runtime = {
    kind: "script",
    run: (tool, input, context) => act(String((tool.code as { at?: string }).at), input as Told, context),
  };
  const toTool = (one: Spec): Tool => {
    const { index, kind, isMeta, readOnly, author } = one;
    const parts = {
      name: `t${index}`,
      description: "d",
      ...(author !== undefined && { author: { user: `${index}`, scopes: toRecorded(author.then) } }),
    };
    if (kind === "pipeline") {
      const steps = [{ tool: addressOf(stepOf(one)), args: { rest: "$input.rest" } }];
      return { ...definePipeline({ name: parts.name, description: "d", input: told, steps }), ...parts };
    }
    const address = addressOf(index);
    const run = (input: Told, context: RuntimeContext): Promise<null> => act(address, input, context);
    return createTool({
      ...parts,
      input: told,
      annotations: { readOnly },
      meta: isMeta,
      uses: one.uses.map(addressOf),
      code: { kind, ...(kind === "function" ? { run } : { at: address }) },
    });
  };
  const owned = (owner: string): Tool[] => tools.filter(({ index }) => ownerOf(index) === owner).map(toTool);
  const toSkill = (name: "a" | "b") =>
    defineSkill({ name, description: "d", tools: owned(name), uses: uses[name].map(addressOf) });
  const store = memoryStore();
  const workspace = createWorkspace({
    runtimes: [script, code],
    scopesOf: (user) => tools[Number(user)]?.author?.now,
    tools: [...owned("global"), createCodeTool(), fails, relay],
    skills: [toSkill("a"), toSkill("b")],
    store,
    keepFailed: true,
    // The same tool may be in a chain as often as there are calls.
    limits: { maxCycle: 8 },
  });
  for (const name of ["a", "b"]) expect(await workspace.activateSkill(name)).toMatchObject({ status: "ok" });
  return { workspace, store };
}

function toRecorded(had: Scopes): "all" | readonly string[] {
  return had === "all" ? had : [...had];
}

const relay = createTool({
  name: "relay",
  description: "d",
  input: told,
  code: {
    kind: "function",
    run: ({ rest: [next = "", ...rest] }: Told, { call }: RuntimeContext) => call(next, { rest }).then(() => null),
  } as Tool["code"],
});

let isDown = false;

/** Fails at first, and makes its calls when it is tried again. */
const fails = createTool({
  name: "fails",
  description: "d",
  input: told,
  code: {
    kind: "function",
    async run({ rest: [next = "", ...rest] }: Told, { call }: RuntimeContext) {
      if (isDown) throw new Error("down");
      await call(next, { rest });
      return null;
    },
  } as Tool["code"],
});

type MakeCall = (opened: Opened, calls: readonly Spec[], caller: Scopes) => Promise<unknown>;

/** The ways in. The tools of each way itself are allowed to the caller, and are host code. */
const makeCall: Readonly<Record<string, MakeCall>> = {
  direct({ workspace }, calls, caller) {
    const [first = "", ...rest] = toAddresses(calls);
    return workspace.call(first, { rest }, { scopes: caller });
  },
  program({ workspace }, calls, caller) {
    const [first, ...rest] = toAddresses(calls);
    const program = `return await tools[${JSON.stringify(first)}](${JSON.stringify({ rest })})`;
    return workspace.call("execute_code", { code: program }, { scopes: and(caller, "execute_code") });
  },
  dispatch({ workspace }, calls, caller) {
    const [name, ...rest] = toAddresses(calls);
    const tool = createDispatchTools(workspace.openSession()).find((one) => one.name === "call_tool");
    return Promise.resolve(tool?.run({ name, input: { rest } }, { scopes: caller }));
  },
  batch({ workspace }, calls, caller) {
    const [name, ...rest] = toAddresses(calls);
    return createBatchTool(workspace.openSession()).run({ calls: [{ name, input: { rest } }] }, { scopes: caller });
  },
  "host function": ({ workspace }, calls, caller) =>
    workspace.call("relay", { rest: toAddresses(calls) }, { scopes: and(caller, "relay") }),
  async "dead letter"({ workspace, store }, calls, caller) {
    isDown = true;
    await workspace.call("fails", { rest: toAddresses(calls) }, { user: "caller" });
    isDown = false;
    const dead = openDeadLetters(store);
    const [letter] = await dead.list();
    return dead.retry(workspace, letter?.id ?? "", { scopesOf: () => and(caller, "fails") });
  },
};

function toAddresses(calls: readonly Spec[]): string[] {
  // The step of a pipeline is not picked: what is behind the pipeline in the list is.
  return calls.filter((_, place) => calls[place - 1]?.kind !== "pipeline").map(({ index }) => addressOf(index));
}

function and(caller: Scopes, tool: string): Scopes {
  return caller === "all" ? caller : new Set([...caller, `tools:of:global:${tool}`]);
}
