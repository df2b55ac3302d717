import { findClearFacts } from "../../../core/clear-facts.ts";
import { KitbagError } from "../../../core/errors.ts";
import { showValue } from "../../../core/json.ts";
import { isName } from "../../../core/names.ts";
import { localUser } from "../../../core/scopes.ts";
import { toEmbedder } from "../../../models/embed/to-embedder.ts";
import { exactVectors } from "../../../store/vectors/exact-vectors.ts";
import { toOwnerKey } from "../../../workspace/users.ts";
import { duringRun } from "./current-run.ts";
import type { Vectors } from "./fused-search.ts";
import type {
  FactProposal,
  LongTermMemory,
  LongTermMemoryOptions,
  MemoryOwner,
  UserMemory,
} from "./long-term-memory.ts";
import { defaultMemoryLimits } from "./memory-rows.ts";
import type { Turn } from "./turns.ts";
import { KeptMemory } from "./user-memory.ts";
import { toWorkingSchema } from "./working-memory.ts";

/**
 * Opens a memory that lasts across conversations: what was said, and facts with where they come from. Give it to
 * `createAgent({ memory: { longTerm } })`, and `createMemorySkill(longTerm)` to the workspace.
 *
 * @throws {KitbagError} `option-invalid`
 *
 * @example
 * ```ts
 * import { memoryStore } from "kitbag";
 * import { openLongTermMemory } from "kitbag/agent";
 *
 * const ada = openLongTermMemory({ store: memoryStore() }).of({ user: "ada" });
 * await ada.addTurns({ run: "r1" }, [{ who: "user", text: "The invoice of March has the number 4711" }]);
 * await ada.remember({ key: "favourite colour", value: "green", trust: "user" });
 *
 * const { facts, turns } = await ada.recall("Which colour do I like?");
 * console.assert(facts[0]?.value === "green" && turns.length === 0);
 * console.assert((await ada.recall("the number of the invoice")).turns[0]?.text.includes("4711") === true);
 * ```
 */
export function openLongTermMemory(options: LongTermMemoryOptions): LongTermMemory {
  const { store, working, embedder, vectors: vectorStore, now = Date.now } = options;
  if (typeof store?.kv?.get !== "function") {
    throw new KitbagError("option-invalid", { option: "store", found: showValue(store), expected: "a store" });
  }
  const limits = { ...defaultMemoryLimits, ...options.limits };
  const workingSchema = working === undefined ? undefined : toWorkingSchema(working);
  const vectors: Vectors | undefined = embedder && {
    embedder: toEmbedder(embedder),
    store: vectorStore ?? exactVectors(store.kv),
  };
  const opened = new Map<string, UserMemory>();

  return {
    workingSchema,
    during: duringRun,
    extract: options.extract === false ? undefined : (options.extract ?? extractClearFacts),
    of(owner = {}) {
      const prefix = toPrefix(owner.user === options.localUser ? { ...owner, user: localUser } : owner);
      let memory = opened.get(prefix);
      if (memory === undefined) {
        memory = new KeptMemory({ store, prefix, limits, now, vectors, workingSchema });
        opened.set(prefix, memory);
        // What is not used any more can be opened again.
        if (opened.size > mostOpened) opened.delete(opened.keys().next().value as string);
      }
      return memory;
    },
  };
}

const mostOpened = 1000;

/** What the keys of one memory begin with. @throws {KitbagError} `option-invalid` */
function toPrefix({ user = localUser, skill }: MemoryOwner): string {
  if (typeof user !== "string")
    throw new KitbagError("option-invalid", { option: "user", found: showValue(user), expected: "a text" });
  if (skill !== undefined && !isName(skill)) {
    throw new KitbagError("option-invalid", {
      option: "skill",
      found: showValue(skill),
      expected: "the name of a skill",
    });
  }
  return `memory:${toOwnerKey(user)}:${skill === undefined ? "own" : `skill:${skill}`}:`;
}

/** What a user clearly says, without a model. */
function extractClearFacts(turns: readonly Turn[]): readonly FactProposal[] {
  return turns.flatMap(({ who, text }) => (who === "user" ? findClearFacts(text) : []));
}
