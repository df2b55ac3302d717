import { describeCause, KitbagError } from "../../core/errors.ts";

const wrongAccess = "check the user, the password and the database in the address";
const serverAway = "check that the server runs and can be reached; each call tries it anew";

/** What to do about what a server says, by its code; the first that fits. */
const cures: readonly (readonly [codes: RegExp, cure: string])[] = [
  [/^(?:28|3D)/u, wrongAccess],
  [/^42501$/u, "give the user the right to create a schema, or tables in it"],
  [/^53[12]00$/u, "give the server more room"],
  [/^53300$/u, "raise max_connections, or run fewer processes"],
  [/^(?:55P03|40001|40P01|57014)$/u, "try again; somebody else was writing for long"],
];

/** Says that a server cannot be used now, and why. */
export function toUnavailable(store: string, cause: unknown, mayBeWritten: boolean): KitbagError<"store-unavailable"> {
  const code = codeOf(cause);
  const text = describeCause(cause);
  // Trying several addresses of one host fails with an error that has no text of its own.
  const reason = text === "" || text === "AggregateError" ? `it cannot be reached (${code})` : text;
  const cure = cures.find(([codes]) => codes.test(code))?.[1] ?? serverAway;
  return new KitbagError("store-unavailable", { store, reason, cure, mayBeWritten }, { cause });
}

/** The code that a server, or the machine, gave an error; empty if there is none. */
export function codeOf(cause: unknown): string {
  const code = (cause as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : "";
}

/**
 * Tells whether an error is what the server answered: nothing was done, and it is there. When it ends a connection it says so,
 * too; what it was doing may then be done.
 */
export function isReported(cause: unknown): boolean {
  const { severity } = (cause ?? {}) as { severity?: unknown };
  return typeof severity === "string" && !/^(?:08|57P|25P03)/u.test(codeOf(cause));
}
