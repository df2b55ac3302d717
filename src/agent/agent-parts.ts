import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import type { KeyValueStore, Store } from "../core/store.ts";
import type { Runs } from "../records/runs/create-runs.ts";
import type { RunEntry } from "../records/runs/run-records.ts";
import type { Session } from "../workspace/workspace.ts";
import type { AgentOptions } from "./agent-options.ts";
import type { UsageCounter } from "./cost/usage-counter.ts";
import type { ModelSource } from "./model-source.ts";
import type { AgentTelemetry } from "./telemetry/agent-telemetry.ts";

/** What all runs of an agent share. */
export interface AgentParts {
  readonly options: AgentOptions;
  readonly models: ModelSource;
  readonly runs: Runs | undefined;
  /** Where answers are kept that may be given again, if they are. */
  readonly answers: KeyValueStore | undefined;
  /** Of all runs together. */
  readonly total: UsageCounter;
  readonly telemetry: AgentTelemetry;
  /** Narrows what its runs see. @default they see the whole workspace */
  readonly limit?: (session: Session) => Session;
}

const ofAgents = new WeakMap<object, AgentParts>();

/** Remembers what an agent is made of: other agents call it, and hand over to it. */
export function keepParts<Agent extends object>(agent: Agent, parts: AgentParts): Agent {
  ofAgents.set(agent, parts);
  return agent;
}

/** What an agent is made of, if `createAgent` made it. */
export function partsOf(agent: object): AgentParts | undefined {
  return ofAgents.get(agent);
}

/** @throws {KitbagError} `option-invalid` if nothing is kept. */
export function needRuns(runs: Runs | undefined): Runs {
  return runs ?? refuse();
}

/** @throws {KitbagError} `option-invalid` if nothing is kept. */
export function needStore({ options: { store } }: Pick<AgentParts, "options">): Store {
  return store ?? refuse();
}

function refuse(): never {
  const expected = "a store, such as sqliteStore(), because only runs that are kept can be gone on with";
  throw new KitbagError("option-invalid", { option: "store", found: showValue(undefined), expected });
}

/** The whole journal of a run. @throws {KitbagError} `option-invalid` if the agent keeps nothing. */
export async function readJournal({ runs }: Pick<AgentParts, "runs">, id: string): Promise<readonly RunEntry[]> {
  return needRuns(runs).read(id, { limit: 1_000_000 });
}
