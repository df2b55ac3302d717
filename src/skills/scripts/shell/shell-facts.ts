import type { JsonValue } from "../../../core/json.ts";
import type { ArgvFacts } from "../hand/argv-facts.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { literalOf } from "./shell-words.ts";

/** Tells whether a pattern of a `case` asks for help, or is for flags that nobody knows. */
export function isHelp(pattern: string): boolean {
  return /^(?:-h|--help|-\?|-\*|--version|-V|-\*\)?|--\*|-h\*|help)$/u.test(pattern);
}

/** The default in `NAME="${NAME:-default}"`. */
export function ownDefault(name: string, value: string): JsonValue | undefined {
  const [, own, text] = /^"?\$\{([A-Za-z_]\w*):?-([^{}$]*)\}"?$/u.exec(value) ?? [];
  return own === name && text !== undefined ? literalOf(text) : undefined;
}

/** The facts of a sub-command, seen from after its name. */
export function afterCommand(facts: ArgvFacts): ArgvFacts {
  const positions = [...facts.positions]
    .filter(([place]) => place > 0)
    .map(([place, fact]) => [place - 1, fact] as const);
  return withoutUndefined<ArgvFacts>({
    ...facts,
    positions: new Map(positions),
    rest: facts.rest === undefined ? undefined : { ...facts.rest, from: Math.max(0, facts.rest.from - 1) },
    minimum: facts.minimum === undefined ? undefined : Math.max(0, facts.minimum - 1),
  });
}
