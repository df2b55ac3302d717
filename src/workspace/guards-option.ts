import { guardPlaces, type Guard, type GuardPlace } from "../core/guards.ts";
import { isFunction, isObject } from "./find-wrong-option.ts";

/** What the option `guards` must be, for a workspace and for an agent. */
export const guardsExpectation: readonly [(value: unknown) => boolean, string] = [
  (value) => Array.isArray(value) && value.every(isGuard),
  "a list of guards, each with a name, a check and the places it looks at",
];

function isGuard(guard: unknown): boolean {
  if (!isObject(guard)) return false;
  const { name, at = guardPlaces, check } = guard as Partial<Guard>;
  return (
    typeof name === "string" &&
    isFunction(check) &&
    Array.isArray(at) &&
    at.every((place) => guardPlaces.includes(place as GuardPlace))
  );
}
