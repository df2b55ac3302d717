import type { MemoryLimits, MemorySource, MemoryTrust } from "./memory-rows.ts";
import type { VectorStore } from "../../../core/embedder.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { JsonSchema } from "../../../core/schema/json-schema.ts";
import type { SchemaSource } from "../../../core/schema/to-schema.ts";
import type { Store } from "../../../core/store.ts";
import type { CurrentRun } from "./current-run.ts";
import type { EmbedderSource } from "../../../models/embed/to-embedder.ts";
import type { FactQuery, NewFact } from "./facts.ts";
import type { MemoryFile, MemoryFiles } from "./memory-files.ts";
import type { Turn, TurnSource } from "./turns.ts";
import type { WorkingMemory } from "./working-memory.ts";

/** A fact that is remembered. */
export interface Fact {
  /** `f12` */
  readonly id: string;
  readonly subject: string;
  readonly key: string;
  readonly value: string;
  readonly trust: MemoryTrust;
  readonly source: MemorySource;
  /** From when until when it holds, in milliseconds since 1970; one without `to` holds. */
  readonly from: number;
  readonly to?: number;
  /** The id of the fact that it took the place of. */
  readonly before?: string;
}

/** Something that was said. */
export interface RecalledTurn {
  /** `t12` */
  readonly id: string;
  readonly who: string;
  readonly text: string;
  readonly trust: MemoryTrust;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly source: MemorySource;
}

/** What fits a query, the best first. */
export interface Recollection {
  readonly facts: readonly Fact[];
  readonly turns: readonly RecalledTurn[];
}

/** How much to recall. */
export interface RecallOptions {
  /** How many facts. @default 5 */
  readonly facts?: number;
  /** How many turns. @default 10 */
  readonly turns?: number;
  /** Only what was said from then on, or until then, in milliseconds since 1970. */
  readonly since?: number;
  readonly until?: number;
}

/** What came of a fact: one that is known already is not kept twice. */
export interface Remembered {
  readonly fact: Fact;
  readonly isNew: boolean;
  /** Facts that do not hold any more. */
  readonly closed: readonly Fact[];
}

/** What to forget: a fact or a turn by its id, or what is known of a subject under a key. */
export type ForgetRequest =
  | { readonly id: string; readonly by?: string }
  | { readonly subject?: string; readonly key: string; readonly by?: string };

/** What was forgotten, without what it said. */
export interface Forgotten {
  readonly facts: readonly string[];
  readonly turns: readonly string[];
  /** Runs whose logs, and conversations whose messages, still have what was said: these are deleted on their own. */
  readonly runs: readonly string[];
  readonly conversations: readonly string[];
  /** Files of the memory that have it, too. */
  readonly files: readonly string[];
}

/** One thing that is exported. */
export type MemoryRecord =
  | ({ readonly type: "fact" } & Fact)
  | ({ readonly type: "turn" } & RecalledTurn)
  | ({ readonly type: "file" } & MemoryFile)
  | { readonly type: "working"; readonly value: JsonObject };

/**
 * What is remembered of one user, or by one skill of one user.
 *
 * **Contract**: nothing is overwritten, only closed or forgotten. What is forgotten is found by nothing here any more, and the log of
 * the memory has that it was forgotten. Rejects with what the store rejects with.
 */
export interface UserMemory {
  /** Keeps what was said. Turns that are added again under the same run are kept once. */
  addTurns(source: TurnSource, turns: readonly Turn[]): Promise<readonly string[]>;
  /** @throws {KitbagError} `memory-invalid`, `memory-full` */
  remember(fact: NewFact): Promise<Remembered>;
  recall(query: string, options?: RecallOptions): Promise<Recollection>;
  /** @throws {KitbagError} `name-not-found` if there is nothing of this id or key. */
  forget(what: ForgetRequest): Promise<Forgotten>;
  facts(query?: FactQuery): AsyncGenerator<Fact>;
  /** A fact or a turn. */
  get(id: string): Promise<Fact | RecalledTurn | undefined>;
  readonly files: MemoryFiles;
  /** Only if there is a schema for it. */
  readonly working?: WorkingMemory;
  export(): AsyncGenerator<MemoryRecord>;
  /** How much there is. */
  count(): Promise<{ readonly facts: number; readonly turns: number; readonly files: number }>;
}

/** Whose memory it is. */
export interface MemoryOwner {
  /** @default the local user */
  readonly user?: string | undefined;
  /** The memory that this skill has of the user, instead of that of the agent. */
  readonly skill?: string | undefined;
}

/** What remembers across conversations. */
export interface LongTermMemory {
  of(owner?: MemoryOwner): UserMemory;
  /** Does `work`, which is part of a run, so that what is remembered in it has its source, and the trust that its text deserves. */
  during<Result>(run: CurrentRun, work: () => Result): Result;
  readonly extract: FactExtractor | undefined;
  /** What a working memory must be like. */
  readonly workingSchema: JsonSchema | undefined;
}

/** A fact that an extractor proposes. */
export interface FactProposal extends Pick<NewFact, "subject" | "key" | "value"> {}

/**
 * Finds facts in what was said. What it proposes is checked by rule, and dropped if the user did not say it in one message with the same
 * words; so it cannot make anything up, or take over what a tool or a model said.
 */
export type FactExtractor = (turns: readonly Turn[]) => readonly FactProposal[] | Promise<readonly FactProposal[]>;

/** Options of {@link openLongTermMemory}. */
export interface LongTermMemoryOptions {
  readonly store: Store;
  /** Finds facts in what the user says. @default clear sentences in English: "remember that …", "my … is …", "I prefer …" */
  readonly extract?: FactExtractor | false;
  /** The schema of an object that is shown in every run, and that the model changes. @default none */
  readonly working?: SchemaSource;
  /** Finds what says the same in other words. @default words alone */
  readonly embedder?: EmbedderSource;
  /** Where vectors are kept. @default in the store, searched one by one */
  readonly vectors?: VectorStore;
  readonly limits?: Partial<MemoryLimits>;
  /** Another name of the local user, beside `"local"`. @default none */
  readonly localUser?: string;
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}
