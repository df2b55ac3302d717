import type { ReadResourceResult, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";

import type { ServedClient } from "../client.ts";
import type { KitbagUri } from "./kitbag-uri.ts";

/** How long a client may use what it read. */
export interface CacheHint {
  readonly ttlMs: number;
  readonly cacheScope: "private" | "public";
}

/** What was read, and for how long it holds. */
export interface ReadPart {
  readonly contents: ReadResourceResult["contents"];
  /** @default not at all */
  readonly ttlMs?: number;
}

/** One kind of resources: all URIs `kitbag://<kind>`. */
export interface ResourcePart {
  readonly kind: string;
  /** Whether this client has any of them. */
  isFor(client: ServedClient): boolean;
  /** In a fixed order; the same array while it would be the same. */
  list(client: ServedClient): readonly Resource[];
  readonly templates: readonly ResourceTemplateType[];
  /** Answers `undefined` if there is no such thing. Throws a `KitbagError` that says why it cannot be read. */
  read(uri: KitbagUri, client: ServedClient): Promise<ReadPart | undefined> | ReadPart | undefined;
}
