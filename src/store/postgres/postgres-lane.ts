import {
  type Answers,
  codeOf,
  isReported,
  type PostgresLink,
  type Row,
  type Statement,
  toUnavailable,
} from "./postgres-link.ts";

/** A write, and how its answer is read. */
export interface Write<Answer> {
  readonly statement: Statement;
  /** The name of the lock to hold during the write; `undefined` if the statement itself locks. */
  readonly lock: string | undefined;
  /** The stream that it appends to, for appends. */
  readonly stream?: string | undefined;
  /** Throws what is wrong with this write alone; the others of its transaction are done. */
  read(rows: readonly Row[]): Answer;
}

/** A line in which writes are done in the order of the calls. */
export interface PostgresLane {
  write<Answer>(write: Write<Answer>): Promise<Answer>;
  /** Waits until everything is written. */
  drain(): Promise<void>;
}

/** What a lane needs. */
export interface LaneOptions {
  /** The connection, used only by this lane. */
  readonly link: PostgresLink;
  /** The name of the store, for messages. */
  readonly shown: string;
  /** What else to do with the writes, at the end of their transaction. */
  readonly finish?: (writes: readonly Write<unknown>[]) => readonly Statement[];
}

interface Waiting {
  readonly write: Write<unknown>;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** More in one transaction would not be faster, and the server has room for a few thousand locks only. */
const maxWrites = 100;

/** How often a transaction is tried that the server has undone because of another one. */
const maxTries = 4;

const begin: Statement = { name: "begin", text: "BEGIN", values: [] };
const commit: Statement = { name: "commit", text: "COMMIT", values: [] };
const lockAll = `SELECT pg_advisory_xact_lock(lock)
  FROM (SELECT DISTINCT hashtextextended(name, 0) AS lock FROM unnest($1::text[]) AS name ORDER BY lock) AS locks`;

/**
 * Makes a lane. All writes that are called in one turn, or while a transaction is under way, share the next transaction, which is
 * sent in one piece; a promise is resolved when it is known to be committed. One write that is refused does not touch the others.
 *
 * When the server is unreachable, all waiting writes are rejected at once: no write waits longer than one timeout.
 */
export function createPostgresLane({ link, shown, finish = () => [] }: LaneOptions): PostgresLane {
  const waiting: Waiting[] = [];
  let running: Promise<void> | undefined;

  async function transact(statements: readonly Statement[]): Promise<Answers> {
    for (let tries = 1; ; tries++) {
      const answers = await link.send(statements);
      // The server has undone everything, so it can be done again; it was not the fault of these writes.
      if (answers.ok || !/^(?:40001|40P01)$/u.test(codeOf(answers.cause)) || tries === maxTries) return answers;
    }
  }

  async function runBatch(): Promise<void> {
    // Statements that lock by themselves come last: they hold their locks for the shortest time, and take no other locks afterwards.
    const [locked, others] = partition(waiting.splice(0, maxWrites));
    const batch = [...locked, ...others];
    const writes = batch.map(({ write }) => write);
    const before = [begin, ...toLock(writes)];
    const statements = writes.map(({ statement }) => statement);
    const answers = await transact([...before, ...statements, ...finish(writes), commit]);
    if (answers.ok) return settle(batch, answers.rows.slice(before.length));
    for (const { reject } of batch) reject(toUnavailable(shown, answers.cause, answers.unanswered));
    if (isReported(answers.cause)) return;
    for (const { reject } of waiting.splice(0)) reject(toUnavailable(shown, answers.cause, false));
  }

  async function run(): Promise<void> {
    // Everything that is called in this turn is to be in the first transaction.
    await new Promise(setImmediate);
    while (waiting.length > 0) await runBatch();
    running = undefined;
  }

  return {
    write<Answer>(write: Write<Answer>) {
      return new Promise<Answer>((resolve, reject) => {
        waiting.push({ write, resolve, reject });
        running ??= run();
      });
    },
    async drain() {
      await running;
    },
  };
}

function partition(waiting: readonly Waiting[]): [locked: Waiting[], others: Waiting[]] {
  return [
    waiting.filter(({ write }) => write.lock !== undefined),
    waiting.filter(({ write }) => write.lock === undefined),
  ];
}

function toLock(writes: readonly Write<unknown>[]): Statement[] {
  const names = writes.flatMap(({ lock }) => lock ?? []);
  return names.length > 0 ? [{ name: "lock", text: lockAll, values: [names] }] : [];
}

function settle(batch: readonly Waiting[], rows: readonly (readonly Row[])[]): void {
  for (const [index, { write, resolve, reject }] of batch.entries()) {
    try {
      resolve(write.read(rows[index] ?? []));
    } catch (cause) {
      reject(cause);
    }
  }
}
