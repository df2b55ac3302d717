import { KitbagError, quote } from "../core/errors.ts";
import type { Tool } from "../core/tool.ts";
import type { CallEvent } from "../core/events.ts";
import { isObject, showValue } from "../core/json.ts";
import { createRedactor } from "../core/redactor.ts";
import type { Runtime } from "../core/runtime.ts";
import type { Skill } from "../core/skill.ts";
import type { KeyValueStore } from "../core/store.ts";
import type { LiveStats } from "../records/stats/call-stats.ts";
import { createCallRecorder } from "../records/stats/call-records.ts";
import { agentRuntime } from "../runtimes/agent-runtime.ts";
import { functionRuntime } from "../runtimes/function-runtime.ts";
import { pipelineRuntime } from "../runtimes/pipeline/pipeline-runtime.ts";
import { memoryStore } from "../store/memory-store.ts";
import { findCaller } from "./call/authority.ts";
import { noOptions } from "./call/call-options.ts";
import { createChain } from "./call/chain.ts";
import type { CallHost } from "./call/host.ts";
import { createSlots } from "./call/slots.ts";
import { createQuotaPlaces, createUserPlaces } from "./call/user-places.ts";
import { checkOptions } from "./options/check-options.ts";
import { createToolMethods, createToolQueries } from "./registry/tool-methods.ts";
import { createBreakers, toRetryPolicy } from "./failures/retry-policy.ts";
import { type Expectations, findWrongOption, isFunction } from "./options/find-wrong-option.ts";
import { toLimits } from "./options/limits.ts";
import { createListeners, type Listeners } from "./listeners.ts";
import { createOutputKeeper, type OutputKeeper } from "./outputs/output-keeper.ts";
import { createOutputOwners, createRecentBlobs } from "./outputs/kept-outputs.ts";
import { createQuotas, findCountedKv } from "./quotas/quotas.ts";
import { createRates } from "./rates/rates.ts";
import { createSharedPermits } from "./rates/shared-permits.ts";
import { createOutputCache, type ForgetOptions, type OutputCache } from "./recall/output-cache.ts";
import { toRedaction } from "./options/redaction.ts";
import type { WorkspaceChange } from "./registry/registered-tool.ts";
import { createRegistry, type Registry } from "./registry/registry.ts";
import { createSharedSearch, createSkillUses, type SkillUseParts } from "./skills/skill-uses.ts";
import type { Session, SessionOptions, Workspace, WorkspaceOptions } from "./workspace.ts";
import { createRunningCalls } from "./skills/running-calls.ts";
import type { SkillMethods, SkillToolState } from "./skills/skill-methods.ts";
import { createSkillSet, type SkillSet } from "./skills/skill-set.ts";
import { createStartCall } from "./call/start-call.ts";
import { createStates } from "./state/create-states.ts";
import { createMeter } from "./telemetry/meter.ts";
import { traceAudit, traceCalls, traceStore } from "./telemetry/trace-store.ts";
import { createTelemetry } from "./telemetry/tracing.ts";
import { createUsers } from "./users.ts";

/**
 * Makes a workspace.
 *
 * @throws {KitbagError} `option-invalid` if an option is wrong; `tool-duplicate` if two tools of one owner have the same name.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool } from "kitbag";
 *
 * const greet = defineTool({
 *   name: "greet",
 *   description: "Greets a person by name",
 *   input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
 *   run: ({ name }) => `Hello ${String(name)}`,
 * });
 * const workspace = createWorkspace({ tools: [greet] });
 *
 * const outcome = await workspace.call("greet", { nmae: "Ada" });
 * console.assert(outcome.status === "failed" && outcome.error.code === "input-invalid");
 * ```
 */
export function createWorkspace(options: WorkspaceOptions = {}): Workspace {
  checkOptions(options);
  const changes = createListeners<WorkspaceChange>();
  const events = createListeners<CallEvent>();
  const opened = createListeners<Skill>();
  const skillChanges = createListeners<readonly string[]>();
  const registry = createRegistry(changes.tell, options.embedder === undefined ? refuseSimilar : undefined);
  const host = createHost(options, registry, { events, opened, skillChanges });
  const chain = createChain(host.guards.length > 0);
  const { runningCalls, outputs, skills: set } = host;
  const start = createStartCall(host, chain);
  const search = createSharedSearch(registry, set);
  const parts: SessionParts = { registry, set, runningCalls, outputs, start, search };

  const workspace: Workspace = {
    ...createSkillMethods(registry, set),
    ...createSkillUses(parts, registry.own),
    ...createToolMethods(registry, (name) => set.skills.has(name)),
    onChange: changes.add,
    onEvent: events.add,
    onOpen: opened.add,
    onSkillsChange: skillChanges.add,
    use: chain.use,
    openSession: (sessionOptions) => createSession(parts, sessionOptions),
    call: (tool: unknown, input?: unknown, callOptions = noOptions) =>
      start({ tool, input, options: callOptions }) as Promise<never>,
    readOutput: outputs.read,
    readOutputBytes: (handle, { user } = {}) => outputs.readBytes(handle, user),
    keepFile: (bytes, { user } = {}) => outputs.keep(bytes, user),
    searchOutput: outputs.search,
    sliceOutput: outputs.slice,
    openState(address, { user } = {}) {
      const found = registry.resolve(address);
      if (!found.ok) throw new KitbagError(found.failure.code, found.failure.details);
      const owner = host.users.ownerOf(user);
      return host.states.open({ scope: `tool:${found.entry.address}`, owner }, () => {});
    },
    quotas: host.quotas,
    ownerOf: host.users.ownerOf,
    forgetOutputs: (which) => forgetOutputs(host.cache, which),
    stats: (wanted) => ({ ...host.meter.stats(wanted), ...countOpen(host) }),
  };

  registry.change(() => {
    for (const tool of options.tools ?? []) workspace.add(tool);
    for (const component of options.components ?? []) workspace.addComponent(component);
    for (const skill of options.skills ?? []) workspace.addSkill(skill);
  });
  return workspace;
}

function countOpen({ meter, waiting }: CallHost): Pick<LiveStats, "running" | "waiting"> {
  return { running: meter.open - waiting, waiting };
}

/** @throws {KitbagError} `embedder-missing` if the outputs of a tool are to be found by what the input says. */
function refuseSimilar({ name, cache }: Tool): void {
  if (cache?.similar === undefined) return;
  const cure = 'pass "embedder" to createWorkspace, as in toEmbedder("local"), or take "similar" out of the cache';
  throw new KitbagError("embedder-missing", { what: `the cache of the tool ${quote(name)}`, cure });
}

/** How much of large outputs is kept in memory when there is no store. */
const maxMemoryBytes = 256 * 1024 * 1024;

/** Those who listen to a workspace. */
interface Heard {
  readonly events: Listeners<CallEvent>;
  readonly opened: Listeners<Skill>;
  readonly skillChanges: Listeners<readonly string[]>;
}

function createHost(options: WorkspaceOptions, registry: Registry, { events, opened, skillChanges }: Heard): CallHost {
  const { injected, approve, embedder, secrets = {} } = options;
  const store = options.store && traceStore(options.store);
  const limits = toLimits(options.limits ?? {});
  const runningCalls = createRunningCalls();
  const kept = store ?? memoryStore();
  const { kv, counters = kv } = kept;
  const users = createUsers(options.localUser);
  const quotas = createQuotas({ options: options.quotas, store: kept, users });
  const openPermits = createSharedPermits(counters);
  const prefix = crypto.randomUUID().slice(0, 8);
  let count = 0;
  return {
    registry,
    runtimes: toRuntimes(options.runtimes ?? []),
    limits,
    ...{ injected, approve, embedder },
    guards: options.guards ?? [],
    ...toRedaction(createRedactor(secrets), options.redaction ?? {}),
    store,
    calls: options.store && traceCalls(createCallRecorder(options.store)),
    audit: options.audit && traceAudit(options.audit),
    outputs: createOutputKeeper(
      store?.blobs ?? createRecentBlobs(maxMemoryBytes),
      createOutputOwners(kv, users),
      quotas,
    ),
    kv,
    cache: createOutputCache(counters),
    sharedRuns: new Map(),
    states: createStates(kv, undefined, (owner) => findCountedKv(quotas, owner) ?? kv),
    users,
    slots: createSlots({ maxTotal: limits.maxConcurrent, maxTogether: limits.maxTogether, openPermits }),
    userPlaces: createUserPlaces(limits.maxPerUser, openPermits),
    quotas,
    quotaPlaces: createQuotaPlaces(openPermits),
    waiting: 0,
    isStoreWorking: false,
    ...createGuards(options, registry, counters),
    runningCalls,
    scopesOf: options.scopesOf,
    skills: createSkillSet(registry, runningCalls, { tellOpened: opened.tell, tellChanged: skillChanges.tell }),
    telemetry: createTelemetry(options.telemetry ?? {}),
    meter: createMeter(),
    nextId: () => `${prefix}-${(count += 1)}`,
    isHeard: events.isHeard,
    tell: events.tell,
  };
}

/** What protects tools, files and those who call them: limits, retries, breakers and the policy for files. */
function createGuards(
  { rates = [], retries = {}, breaker, keepFailed = false, files = "ask" }: WorkspaceOptions,
  registry: Registry,
  counters: KeyValueStore,
): Pick<CallHost, "files" | "rates" | "retries" | "breakers" | "keepsFailed" | "paidTools"> {
  return {
    paidTools: new WeakSet(),
    rates: createRates([...rates], counters),
    retries: toRetryPolicy(retries),
    breakers: breaker && createBreakers(breaker, registry),
    keepsFailed: keepFailed,
    files,
  };
}

/** Runtimes by kind; one that the user gives goes before ours of the same kind. */
function toRuntimes(given: Iterable<Runtime>): ReadonlyMap<string, Runtime> {
  const runtimes = new Map(
    [functionRuntime(), pipelineRuntime(), agentRuntime()].map((runtime) => [runtime.kind, runtime]),
  );
  for (const [index, runtime] of [...given].entries()) {
    if (!isObject(runtime) || typeof runtime.kind !== "string" || !isFunction(runtime.run)) {
      const found = showValue(runtime);
      const expected = "a runtime, with a kind and run";
      throw new KitbagError("option-invalid", { option: `runtimes[${index}]`, found, expected });
    }
    runtimes.set(runtime.kind, runtime);
  }
  return runtimes;
}

/** The methods that only the workspace has: they are about what all have in common. */
type SharedMethods = Pick<SkillMethods, "addSkill" | "replaceSkill" | "removeSkill" | "getAllSkillToolStates">;

/** Makes what a workspace can do with skills, beside what each of its sessions can. */
function createSkillMethods(registry: Registry, set: SkillSet): SharedMethods {
  return {
    addSkill: set.add,
    replaceSkill: set.replace,
    removeSkill: (names, options = {}) => set.remove(typeof names === "string" ? [names] : [...names], options),
    getAllSkillToolStates: () => [...set.skills.values()].map((skill) => toToolState(skill, registry)),
  };
}

function toToolState(skill: Skill, registry: Registry): SkillToolState {
  const own = [...registry.entries()].filter((entry) => entry.source === "skill" && entry.owner === skill.name);
  const active = registry.own.open.has(skill.name);
  return { skill: skill.name, tools: skill.tools, active, available: active ? own.map((entry) => entry.address) : [] };
}

const expectations: Expectations<ForgetOptions> = {
  tool: [isText, "the address of a tool"],
  version: [isText, "the version of a tool"],
  tag: [isText, "a tag"],
};

/**
 * Forgets outputs that are kept to be used again.
 *
 * @throws {KitbagError} `option-invalid` for an unknown option: it would forget everything instead.
 */
async function forgetOutputs(cache: OutputCache, which: ForgetOptions = {}): Promise<number> {
  const wrong = findWrongOption(which, expectations);
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
  return cache.forget(which);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** What sessions stand on. */
interface SessionParts extends SkillUseParts {
  readonly outputs: OutputKeeper;
}

/** Makes a session that begins with what the workspace has open. */
function createSession(parts: SessionParts, { inside, isAgent = false }: SessionOptions = {}): Session {
  const { registry, set, start, outputs } = parts;
  const parent = inside && findCaller(inside);
  const changes = createListeners<WorkspaceChange>();
  const holder = set.openHolder(changes, { isAgent });
  let closing: Promise<void> | undefined;

  return {
    ...createToolQueries(registry.viewOf(holder)),
    ...createSkillUses(parts, holder),
    call: (tool: unknown, input?: unknown, options = noOptions) =>
      start({ tool, input, options }, parent, undefined, holder) as Promise<never>,
    readOutput: outputs.read,
    readOutputBytes: (handle, { user } = {}) => outputs.readBytes(handle, user),
    keepFile: (bytes, { user } = {}) => outputs.keep(bytes, user),
    searchOutput: outputs.search,
    sliceOutput: outputs.slice,
    onChange: changes.add,
    close: () => (closing ??= set.closeHolder(holder)),
  };
}
