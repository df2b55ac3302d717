import { describeCause, KitbagError } from "../../core/errors.ts";

const serverAway = "check that the server runs and can be reached; each call tries it anew";

/** What to do about what a server says, by the first word; the first that fits. */
const cures: readonly (readonly [word: RegExp, cure: string])[] = [
  [/^(?:NOAUTH|WRONGPASS|NOPERM)\b/u, "check the user and the password in the address, and what the user may do"],
  [/^OOM\b/u, "give the server more memory, or let more of what it holds expire"],
  [/^MISCONF\b/u, "look into the server's log: it cannot write to its disk"],
  [/^READONLY\b/u, "use the address of the primary"],
  [/^LOADING\b/u, "wait until the server has read its data"],
];

/** Says that a Redis server cannot be used now, and why. */
export function toRedisUnavailable(
  store: string,
  cause: unknown,
  mayBeWritten: boolean,
): KitbagError<"store-unavailable"> {
  const reason = describeCause(cause) || "it cannot be reached";
  const cure = cures.find(([word]) => word.test(reason))?.[1] ?? serverAway;
  return new KitbagError("store-unavailable", { store, reason, cure, mayBeWritten }, { cause });
}
