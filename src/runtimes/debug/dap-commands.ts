import { shortenText } from "../../core/cut-text.ts";
import { KitbagError } from "../../core/errors.ts";
import { fail, type Ask } from "./adapter.ts";
import type { Stops } from "./dap-stops.ts";
import { getList, getNumber, getString } from "./debug-messages.ts";
import type { Breakpoint, BreakpointRequest, DebugCommands, Evaluation, Scope, Variable } from "./debug-session.ts";
import { toInsideFile, type DebugTarget } from "./debug-target.ts";

/** The longest value that is shown. */
const longest = 2000;

/** Makes the commands of a script that speaks the Debug Adapter Protocol. */
export function toDapCommands(target: DebugTarget, ask: Ask, stops: Stops): DebugCommands {
  const stopped = (): NonNullable<Stops["now"]> => {
    if (stops.now === undefined) throw fail(target, "the script is running; pause it first");
    return stops.now;
  };
  const go = async (command: string): Promise<void> => {
    await ask(command, { threadId: stopped().thread });
  };

  async function findWrong({ condition }: BreakpointRequest): Promise<string | undefined> {
    if (condition === undefined || stops.now === undefined) return undefined;
    const read = await evaluate(`compile(${JSON.stringify(condition)}, "condition", "eval")`);
    return read.ok ? undefined : `the condition cannot be read: ${read.message}`;
  }

  async function evaluate(expression: string, frame?: number): Promise<Evaluation> {
    const frameId = frame ?? stopped().stack[0]?.id ?? 0;
    stopped();
    try {
      const answer = await ask("evaluate", { expression, frameId, context: "repl" });
      const { name: _, ...value } = toVariable({ ...answer, value: answer["result"] });
      return { ok: true, ...value };
    } catch (cause) {
      // A script that ended, or goes on, is no answer to the expression.
      if (stops.now === undefined || !(cause instanceof KitbagError)) throw cause;
      return { ok: false, message: toMessage(cause) };
    }
  }

  return {
    setBreakpoints: (file, list) => setBreakpoints({ target, ask, findWrong }, file, list),
    continue: () => go("continue"),
    stepOver: () => go("next"),
    stepInto: () => go("stepIn"),
    stepOut: () => go("stepOut"),
    async pause() {
      if (stops.now !== undefined) return;
      const threads = getList(await ask("threads"), "threads");
      await ask("pause", { threadId: getNumber(threads[0], "id") ?? 1 });
    },
    stack: async () => stopped().stack,
    async scopes(frameId) {
      stopped();
      return toScopes(await ask("scopes", { frameId }));
    },
    async variables(variablesReference) {
      stopped();
      return getList(await ask("variables", { variablesReference }), "variables").map(toVariable);
    },
    evaluate,
  };
}

function toScopes(answer: unknown): readonly Scope[] {
  return getList(answer, "scopes")
    .map((scope) => ({
      name: (getString(scope, "name") ?? "").toLowerCase(),
      reference: getNumber(scope, "variablesReference") ?? 0,
    }))
    .filter(({ reference }) => reference > 0);
}

interface Setting {
  readonly target: DebugTarget;
  readonly ask: Ask;
  readonly findWrong: (request: BreakpointRequest) => Promise<string | undefined>;
}

async function setBreakpoints(
  { target, ask, findWrong }: Setting,
  file: string,
  list: readonly BreakpointRequest[],
): Promise<readonly Breakpoint[]> {
  const wrong = await Promise.all(list.map(findWrong));
  const good = list.filter((_, index) => wrong[index] === undefined);
  const answer = await ask("setBreakpoints", {
    source: { path: toInsideFile(target, file) },
    breakpoints: good.map(({ line, condition }) => ({ line, ...(condition !== undefined && { condition }) })),
  });
  const set = getList(answer, "breakpoints");
  return list.map((request, index) => {
    const message = wrong[index];
    if (message !== undefined) return unverified(file, request, message);
    return toBreakpoint(file, request, set[good.indexOf(request)]);
  });
}

function toBreakpoint(file: string, request: BreakpointRequest, set: unknown): Breakpoint {
  const line = getNumber(set, "line");
  const isVerified = (set as { verified?: unknown } | undefined)?.verified === true;
  if (!isVerified || line === undefined)
    return unverified(file, request, getString(set, "message") ?? "there is no code");
  const { line: requestedLine, condition } = request;
  return { file, line, requestedLine, ...(condition !== undefined && { condition }), verified: true };
}

function unverified(file: string, { line, condition }: BreakpointRequest, message: string): Breakpoint {
  return { file, line, requestedLine: line, ...(condition !== undefined && { condition }), verified: false, message };
}

function toVariable(given: unknown): Variable {
  const value = getString(given, "value") ?? "";
  const type = getString(given, "type");
  const reference = getNumber(given, "variablesReference") ?? 0;
  return {
    name: getString(given, "name") ?? "",
    value: shortenText(value, longest),
    ...(type !== undefined && type !== "" && { type }),
    ...(reference > 0 && { reference }),
  };
}

/** The last line of a traceback says what is wrong. */
function toMessage(cause: KitbagError): string {
  const { reason } = cause.details as { readonly reason: string };
  return reason.trim().split("\n").at(-1) ?? reason;
}
