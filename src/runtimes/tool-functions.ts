import { showValue, type JsonObject, type JsonValue } from "../core/json.ts";
import type { RuntimeContext } from "../core/runtime.ts";
import type { StateExpectation, StateListOptions, StateOptions, ToolState } from "../core/tool-state.ts";
import type { Secrets } from "./script/load-secrets.ts";

/** Makes the error for a parameter that cannot be used, in the protocol of the caller. */
export type RefuseParameter = (name: string, found: string, expected: string) => Error;

/** Something that code of a tool can ask for. */
export type ToolFunction = (params: JsonObject) => unknown;

/** What the functions of one call work with. */
export interface ToolFunctionOptions {
  readonly context: Pick<RuntimeContext, "state" | "skillState" | "progress" | "log" | "spend" | "user">;
  readonly secrets: Pick<Secrets, "show" | "showMessage">;
  readonly refuse: RefuseParameter;
}

/** How much of a message is told: a script may tell thousands. */
const longestProgress = 1000;

/** The functions that all code has which is not in this process, by name. */
export function createToolFunctions(options: ToolFunctionOptions): readonly (readonly [string, ToolFunction])[] {
  const { context, secrets, refuse } = options;
  const { show, showMessage } = secrets;
  return [
    ...createStateFunctions(options),
    [
      "progress",
      ({ message, ...numbers }) =>
        context.progress({
          ...numbers,
          ...(typeof message === "string" && { message: showMessage(message).slice(0, longestProgress) }),
        }),
    ],
    [
      "log",
      (params) => context.log(showMessage(readText(params, "message", refuse)), show(params["data"] ?? undefined)),
    ],
    // A shell has no numbers, only texts.
    ["spend", ({ costUsd }) => context.spend(Number(costUsd))],
    ["user", () => context.user],
  ];
}

/** The text of a parameter. */
export function readText(params: JsonObject, name: string, refuse: RefuseParameter): string {
  const found = params[name];
  if (typeof found === "string") return found;
  throw refuse(name, showValue(found), "a text");
}

/**
 * The functions with which code reaches the state of its tool. What has another type than it should is refused, and never taken for
 * something else: a write that expects a version must not become one that expects nothing.
 */
function createStateFunctions(
  options: ToolFunctionOptions,
): readonly (readonly [string, (params: JsonObject) => Promise<unknown>])[] {
  const use =
    (run: (parameters: StateParameters) => unknown) =>
    async (params: JsonObject): Promise<unknown> =>
      run(new StateParameters(params, options));
  return [
    ["state.get", use((given) => given.state().get(given.text("key")))],
    ["state.read", use((given) => given.state().read(given.text("key")))],
    ["state.set", use((given) => given.state().set(given.text("key"), given.value(), given.expiry()))],
    ["state.delete", use((given) => given.state().delete(given.text("key")))],
    ["state.list", use((given) => given.state().list(given.prefix(), given.part()))],
    [
      "state.keys",
      use(async (given) => (await given.state().list(given.prefix(), given.part())).map(({ key }) => key)),
    ],
    [
      "state.compareAndSet",
      use((given) => given.state().compareAndSet(given.text("key"), given.expected(), given.value(), given.expiry())),
    ],
  ];
}

/** Reads the parameters of one function of the state. Helpers write null for what is not given. */
class StateParameters {
  readonly #params: JsonObject;
  readonly #options: ToolFunctionOptions;

  constructor(params: JsonObject, options: ToolFunctionOptions) {
    this.#params = params;
    this.#options = options;
  }

  text(name: string): string {
    return readText(this.#params, name, this.#options.refuse);
  }

  state(): ToolState {
    const { state, skillState } = this.#options.context;
    const { scope = null } = this.#params;
    if (scope !== null && scope !== "tool" && scope !== "skill") throw this.#wrong("scope", '"tool" or "skill"');
    return scope === "skill" ? skillState : state;
  }

  value(): JsonValue {
    if (Object.hasOwn(this.#params, "value")) return this.#params["value"] ?? null;
    throw this.#wrong("value", "what shall be kept");
  }

  expiry(): StateOptions {
    return this.#isGiven("expiresInMs") ? { expiresInMs: this.#number("expiresInMs") } : {};
  }

  part(): StateListOptions {
    return {
      ...(this.#isGiven("after") && { after: this.text("after") }),
      ...(this.#isGiven("limit") && { limit: this.#number("limit") }),
    };
  }

  prefix(): string | undefined {
    return this.#isGiven("prefix") ? this.text("prefix") : undefined;
  }

  expected(): StateExpectation {
    const { version } = this.#params;
    if (version === undefined && Object.hasOwn(this.#params, "expected")) {
      return { value: this.#params["expected"] ?? null };
    }
    if (Number.isSafeInteger(version)) return { version: version as number };
    throw this.#wrong("version", 'a whole number (0: nothing is there), or "expected" in its place');
  }

  #isGiven(name: string): boolean {
    return (this.#params[name] ?? null) !== null;
  }

  #number(name: string): number {
    const found = this.#params[name];
    if (typeof found === "number") return found;
    throw this.#wrong(name, "a number");
  }

  #wrong(name: string, expected: string): Error {
    return this.#options.refuse(name, showValue(this.#params[name]), expected);
  }
}
