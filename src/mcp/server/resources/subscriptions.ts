import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { parseKitbagUri, toKitbagUri } from "./kitbag-uri.ts";
import { toRunId, type RunWatch } from "./run-watch.ts";
import { parseSkillUri } from "../skills/skill-uri.ts";

/** What a client of the 2025 generation wants to hear of. */
export interface Subscriptions {
  /** @throws {ProtocolError} `InvalidParams` if there are too many already, or too many runs are followed. */
  add(uri: string): void;
  delete(uri: string): void;
  /** The URIs that the client gave for this resource: there may be several ways to write one. */
  find(uri: string): readonly string[];
  /** Ends all of them: the client is gone. */
  close(): void;
}

const mostSubscriptions = 1000;

/** Makes an empty set of subscriptions. `follow` follows those of them that are runs. */
export function createSubscriptions(follow: (uri: string) => ReturnType<RunWatch["follow"]>): Subscriptions {
  const given = new Map<string, string>();
  const ends = new Map<string, () => void>();

  function followRun(uri: string): void {
    const end = follow(uri);
    if (end === undefined) throw refuse("Cannot follow more runs now: too many are followed; try again later");
    ends.set(uri, end);
  }

  function drop(uri: string): void {
    given.delete(uri);
    ends.get(uri)?.();
    ends.delete(uri);
  }

  return {
    add(uri) {
      if (given.size >= mostSubscriptions && !given.has(uri)) {
        throw refuse(`Cannot subscribe to more than ${mostSubscriptions} resources: unsubscribe from some first`);
      }
      if (toRunId(uri) !== undefined && !ends.has(uri)) followRun(uri);
      given.set(uri, toOneForm(uri));
    },
    delete: drop,
    find(uri) {
      if (given.size === 0) return [];
      const wanted = toOneForm(uri);
      return [...given].filter(([, form]) => form === wanted).map(([one]) => one);
    },
    close() {
      for (const uri of [...given.keys()]) drop(uri);
    },
  };
}

function refuse(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Two URIs of one resource have the same form. */
function toOneForm(uri: string): string {
  const own = parseKitbagUri(uri);
  return own === undefined ? (parseSkillUri(uri) ?? uri) : toKitbagUri(own.kind, own.name);
}
