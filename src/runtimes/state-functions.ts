import { showValue, type JsonObject, type JsonValue } from "../core/json.ts";
import type { RuntimeContext } from "../core/runtime.ts";
import type { StateExpectation, StateListOptions, StateOptions, ToolState } from "../core/tool-state.ts";

/** Makes the error for a parameter that cannot be used, in the protocol of the caller. */
export type RefuseParameter = (name: string, found: string, expected: string) => Error;

type StateFunction = (params: JsonObject) => Promise<unknown>;

/**
 * The functions with which code that is not in this process reaches the state of its tool, by name. What has another type than it
 * should is refused, and never taken for something else: a write that expects a version must not become one that expects nothing.
 */
export function createStateFunctions(
  context: Pick<RuntimeContext, "state" | "skillState">,
  refuse: RefuseParameter,
): readonly (readonly [name: string, run: StateFunction])[] {
  const { text, stateOf, value, expiry, part, prefix, expected } = createReader(context, refuse);
  return [
    ["state.get", async (params) => stateOf(params).get(text(params, "key"))],
    ["state.read", async (params) => stateOf(params).read(text(params, "key"))],
    ["state.set", async (params) => stateOf(params).set(text(params, "key"), value(params), expiry(params))],
    ["state.delete", async (params) => stateOf(params).delete(text(params, "key"))],
    ["state.list", async (params) => stateOf(params).list(prefix(params), part(params))],
    ["state.keys", async (params) => (await stateOf(params).list(prefix(params), part(params))).map(({ key }) => key)],
    [
      "state.compareAndSet",
      async (params) =>
        stateOf(params).compareAndSet(text(params, "key"), expected(params), value(params), expiry(params)),
    ],
  ];
}

interface Reader {
  text(params: JsonObject, name: string): string;
  stateOf(params: JsonObject): ToolState;
  value(params: JsonObject): JsonValue;
  expiry(params: JsonObject): StateOptions;
  part(params: JsonObject): StateListOptions;
  prefix(params: JsonObject): string | undefined;
  expected(params: JsonObject): StateExpectation;
}

function createReader(context: Pick<RuntimeContext, "state" | "skillState">, refuse: RefuseParameter): Reader {
  const wrong = (params: JsonObject, name: string, expected: string): Error =>
    refuse(name, showValue(params[name]), expected);
  // Helpers write null for what is not given.
  const isGiven = (params: JsonObject, name: string): boolean => (params[name] ?? null) !== null;
  const text = (params: JsonObject, name: string): string => {
    const found = params[name];
    if (typeof found === "string") return found;
    throw wrong(params, name, "a text");
  };
  const number = (params: JsonObject, name: string): number => {
    const found = params[name];
    if (typeof found === "number") return found;
    throw wrong(params, name, "a number");
  };
  return {
    text,
    stateOf(params) {
      const { scope = null } = params;
      if (scope !== null && scope !== "tool" && scope !== "skill") throw wrong(params, "scope", '"tool" or "skill"');
      return scope === "skill" ? context.skillState : context.state;
    },
    value(params) {
      if (Object.hasOwn(params, "value")) return params["value"] ?? null;
      throw wrong(params, "value", "what shall be kept");
    },
    expiry: (params) => (isGiven(params, "expiresInMs") ? { expiresInMs: number(params, "expiresInMs") } : {}),
    part: (params) => ({
      ...(isGiven(params, "after") && { after: text(params, "after") }),
      ...(isGiven(params, "limit") && { limit: number(params, "limit") }),
    }),
    prefix: (params) => (isGiven(params, "prefix") ? text(params, "prefix") : undefined),
    expected(params) {
      if (!Object.hasOwn(params, "version") && Object.hasOwn(params, "expected")) {
        return { value: params["expected"] ?? null };
      }
      const { version } = params;
      if (Number.isSafeInteger(version)) return { version: version as number };
      throw wrong(params, "version", 'a whole number (0: nothing is there), or "expected" in its place');
    },
  };
}
