import { KitbagError, toFailure } from "../core/errors.ts";
import type { CallEvent } from "../core/events.ts";
import { isName, nameRule } from "../core/names.ts";
import type { ToolOutcome } from "../core/outcome.ts";
import { createRedactor } from "../core/redactor.ts";
import type { Runtime } from "../core/runtime.ts";
import { functionRuntime } from "../runtimes/function-runtime.ts";
import { pipelineRuntime } from "../runtimes/pipeline/pipeline-runtime.ts";
import { Call } from "./call/call.ts";
import { createChain } from "./call/chain.ts";
import type { CallRequest } from "./call/call-request.ts";
import type { CallHost } from "./call/host.ts";
import { refuseOptions } from "./call/refuse-options.ts";
import { createSlots } from "./call/slots.ts";
import { createListeners } from "./listeners.ts";
import { createOutputKeeper } from "./output-keeper.ts";
import { createRegistry, type Owner } from "./registry.ts";
import { createInFlight } from "./skills/in-flight.ts";
import { createSkillMethods } from "./skills/create-skill-methods.ts";
import { createSkillSet } from "./skills/skill-set.ts";
import { resolveRequest } from "./resolve-request.ts";
import type { AddOptions, Workspace, WorkspaceOptions } from "./workspace.ts";
import type { WorkspaceChange } from "./registered-tool.ts";
import { checkOptions } from "./check-options.ts";
import { toLimits } from "./limits.ts";
import { asTool } from "./as-tool.ts";

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
 *   description: "Greets somebody by name",
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
  let changeCount = 0;
  const registry = createRegistry((change) => {
    changeCount += 1;
    changes.tell(change);
  });
  const chain = createChain();
  const inFlight = createInFlight();
  const set = createSkillSet(registry, inFlight);
  const host = createHost();

  function createHost(): CallHost {
    const limits = toLimits(options.limits ?? {});
    const prefix = crypto.randomUUID().slice(0, 8);
    let count = 0;
    return {
      registry,
      runtimes: toRuntimes(options.runtimes ?? []),
      limits,
      injected: options.injected,
      approve: options.approve,
      redactor: createRedactor(options.secrets ?? {}),
      store: options.store,
      outputs: createOutputKeeper(options.store),
      slots: createSlots(limits.maxConcurrent),
      inFlight,
      skills: set,
      nextId: () => `${prefix}-${(count += 1)}`,
      isHeard: events.isHeard,
      tell: events.tell,
      tellOne: events.tellOne,
    };
  }

  async function start(request: CallRequest, parent?: Call): Promise<ToolOutcome> {
    const refused = refuseOptions(request.options);
    if (refused !== undefined) return refused;
    const resolution = resolveRequest(registry, request, parent);
    const call = new Call(host, resolution, { request, parent, callInside: start });
    const { signal } = request.options;
    const cancel = (): void => call.stop(toFailure("call-cancelled", { tool: call.address, reason: "by the caller" }));
    if (signal?.aborted === true) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      return await chain.run(call);
    } catch (cause) {
      return call.fail("call-crashed", { tool: call.address, reason: String(cause) });
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  const workspace: Workspace = {
    ...createSkillMethods({ registry, set, inFlight, changes: () => changeCount }),
    add: (tool, { component, injected }: AddOptions = {}) => registry.add(asTool(tool), toOwner(component), injected),
    addComponent({ name, tools }) {
      if (!isName(name))
        throw new KitbagError("owner-invalid", { owner: String(name), reason: `a name is ${nameRule}` });
      registry.change(() => {
        for (const tool of tools) registry.add(asTool(tool), toOwner(name));
      });
    },
    replace: (tool, { component, injected }: AddOptions = {}) =>
      registry.replace(asTool(tool), toOwner(component), injected),
    remove: (address) => registry.remove(address),
    removeComponent(name) {
      const owned = [...registry.entries()].filter((entry) => entry.source === "component" && entry.owner === name);
      registry.change(() => {
        for (const entry of owned) registry.remove(entry.address);
      });
      return owned.length > 0;
    },
    change: (make) => registry.change(make),
    getTool(address) {
      const resolution = registry.resolve(address);
      return resolution.ok ? resolution.entry : undefined;
    },
    isToolAvailable(address) {
      const resolution = registry.resolve(address);
      return resolution.ok && registry.isAvailable(resolution.entry);
    },
    getAvailableTools: () => [...registry.entries()].filter(registry.isAvailable),
    getToolSource(address) {
      const resolution = registry.resolve(address);
      return resolution.ok ? { source: resolution.entry.source, owner: resolution.entry.owner } : undefined;
    },
    onChange: changes.add,
    onEvent: events.add,
    use: (middleware, { before = "resolve" } = {}) => chain.use(middleware, before),
    call: (tool: unknown, input?: unknown, callOptions = {}) =>
      start({ tool, input, options: callOptions }) as Promise<never>,
    readOutput: (handle, page) => host.outputs.read(handle, page),
  };

  registry.change(() => {
    for (const tool of options.tools ?? []) workspace.add(tool);
    for (const component of options.components ?? []) workspace.addComponent(component);
    for (const skill of options.skills ?? []) workspace.addSkill(skill);
  });
  return workspace;
}

function toOwner(component: string | undefined): Owner {
  return component === undefined ? { source: "global" } : { source: "component", name: component };
}

/** Runtimes by kind; one that the user gives goes before ours of the same kind. */
function toRuntimes(given: Iterable<Runtime>): ReadonlyMap<string, Runtime> {
  const runtimes = [functionRuntime(), pipelineRuntime(), ...given];
  return new Map(runtimes.map((runtime) => [runtime.kind, runtime]));
}
