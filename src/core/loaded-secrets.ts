import { isSecretName } from "./redaction/match-secrets.ts";
import { createRedactor, type Redactor } from "./redactor.ts";

/** A shorter value is hidden only where its own tool shows it: in the outputs of others it would be found by chance. */
const shortestLoaded = 8;
/** Old values of secrets that change are forgotten: each one costs time for every text that is shown. */
const mostLoaded = 200;

/** What is no secret unless its name says so: one word, a path, a locale, an address without a password or a query. */
const plainValue = /^(?:[A-Za-z]+|[.~]{0,2}\/[\w./-]*|[a-z]{2}_[A-Z]{2}(?:\.[\w-]+)?|\w+:\/\/[^@?#\s]*)$/u;

/** By the name that is shown in place of each. */
const loaded = new Map<string, string>();
/** Made when it is needed; `undefined` if no secrets were loaded, or more since it was made. */
let ofLoaded: Redactor | undefined;
let joined = new WeakMap<Redactor, Redactor>();

/**
 * Notes secrets that were loaded for a tool. From now on they are hidden in everything that any call of this process shows or records:
 * a tool may hand them to another one, which knows nothing of them.
 */
export function addLoadedSecrets(secrets: Readonly<Record<string, string>>): void {
  const known = new Set(loaded.values());
  for (const [name, value] of Object.entries(secrets)) {
    if (value.length < shortestLoaded || known.has(value)) continue;
    if (plainValue.test(value) && !isSecretName(name)) continue;
    loaded.set(toFreeName(name), value);
    known.add(value);
    if (loaded.size > mostLoaded) loaded.delete(loaded.keys().next().value as string);
    ofLoaded = undefined;
    joined = new WeakMap();
  }
}

function toFreeName(name: string): string {
  let free = name;
  for (let count = 2; loaded.has(free); count++) free = `${name} ${count}`;
  return free;
}

/** A redactor of `own` and of all secrets that were loaded so far; `undefined` if there is nothing to hide. */
export function withLoadedSecrets(own: Redactor | undefined): Redactor | undefined {
  if (loaded.size === 0) return own;
  if (own === undefined) return (ofLoaded ??= createRedactor(Object.fromEntries(loaded)));
  const known = joined.get(own) ?? own.with(Object.fromEntries(loaded));
  joined.set(own, known);
  return known;
}
