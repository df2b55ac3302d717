import type { StoreLife } from "../store-life.ts";
import type { LinkOptions, PostgresLink } from "./postgres-link.ts";
import type { PostgresReader } from "./postgres-reader.ts";

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
