import type { StoreLife } from "../store-life.ts";
import {
  type Answers,
  isReported,
  type LinkOptions,
  type PostgresLink,
  type Row,
  type Statement,
  toUnavailable,
} from "./postgres-link.ts";

/** Asks the server what does not have to keep an order. */
export interface PostgresReader {
  /** Answers with the rows. Asks once more if the connection breaks. */
  read(statement: Statement): Promise<readonly Row[]>;
  /** Writes all in one transaction, and answers with the rows of each. */
  write(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]>;
  close(): Promise<void>;
}

/** Makes a reader on these connections: each request takes the one that has the least to do. */
export function createPostgresReader(links: readonly [PostgresLink, ...PostgresLink[]], shown: string): PostgresReader {
  function send(statements: readonly Statement[]): Promise<Answers> {
    const idlest = links.reduce((best, link) => (link.pending < best.pending ? link : best));
    return idlest.send(statements);
  }

  return {
    async read(statement) {
      let answers = await send([statement]);
      // Its connection may have been closed long before, by a server that was restarted. Silence is not worth another try.
      if (!answers.ok && answers.unanswered && answers.isSilent !== true) answers = await send([statement]);
      if (!answers.ok) throw toUnavailable(shown, answers.cause, false);
      return answers.rows[0] ?? [];
    },
    async write(statements) {
      const answers = await send([begin, ...statements, commit]);
      if (answers.ok) return answers.rows.slice(1, -1);
      throw toUnavailable(shown, answers.cause, answers.unanswered && !isReported(answers.cause));
    },
    async close() {
      await Promise.all(links.map((link) => link.close()));
    },
  };
}

const begin: Statement = { name: "begin", text: "BEGIN", values: [] };
const commit: Statement = { name: "commit", text: "COMMIT", values: [] };

/** What the parts of one Postgres store share. */
export interface PostgresParts {
  readonly life: StoreLife;
  /** A name that needs no quotes. */
  readonly schema: string;
  /** The name of the store, for messages. */
  readonly shown: string;
  readonly reader: PostgresReader;
  readonly linkOptions: LinkOptions;
  /** Makes a connection of its own for a part; it is ended with the store. */
  openLink(): PostgresLink;
  /** Called and waited for when the store is closed, before the connections end. */
  onDrain(drain: () => Promise<void>): void;
}
