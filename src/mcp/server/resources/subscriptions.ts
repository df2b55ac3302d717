import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { parseKitbagUri, toKitbagUri } from "./kitbag-uri.ts";
import { parseSkillUri } from "../skills/skill-uri.ts";

/** What a client of the 2025 generation wants to hear of. */
export interface Subscriptions {
  /** @throws {ProtocolError} `InvalidParams` if there are too many already. */
  add(uri: string): void;
  delete(uri: string): void;
  /** The URIs that the client gave for this resource: there may be several ways to write one. */
  find(uri: string): readonly string[];
}

const mostSubscriptions = 1000;

/** Makes an empty set of subscriptions. */
export function createSubscriptions(): Subscriptions {
  const given = new Map<string, string>();

  return {
    add(uri) {
      if (given.size >= mostSubscriptions && !given.has(uri)) {
        const message = `Cannot subscribe to more than ${mostSubscriptions} resources: unsubscribe from some first`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      }
      given.set(uri, toOneForm(uri));
    },
    delete: (uri) => void given.delete(uri),
    find(uri) {
      if (given.size === 0) return [];
      const wanted = toOneForm(uri);
      return [...given].filter(([, form]) => form === wanted).map(([one]) => one);
    },
  };
}

/** Two URIs of one resource have the same form. */
function toOneForm(uri: string): string {
  const own = parseKitbagUri(uri);
  return own === undefined ? (parseSkillUri(uri) ?? uri) : toKitbagUri(own.kind, own.name);
}
