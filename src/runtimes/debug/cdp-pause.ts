import { shortenText } from "../../core/cut-text.ts";
import { type Ask, type DebugTarget, toShownFile } from "./debug-target.ts";
import { getList, getPart, getString, type Message } from "./debug-messages.ts";
import type { Evaluation, Scope, StackFrame, Variable } from "./debug-session.ts";

/** A moment at which a script of Node is stopped. */
export interface Pause {
  readonly place: { readonly file: string; readonly line: number };
  readonly isBreakpoint: boolean;
  readonly isException: boolean;
  /** Of the exception. */
  readonly text: string;
  /** Whether no code catches the exception. */
  isUncaught(): Promise<boolean>;
  stack(): readonly StackFrame[];
  scopes(frame: number): readonly Scope[];
  variables(reference: number): Promise<readonly Variable[]>;
  evaluate(expression: string, frame: number): Promise<Evaluation>;
}

/** What a pause works with. */
export interface PauseHost {
  readonly target: DebugTarget;
  readonly ask: Ask;
  /** The file of a location. */
  readonly pathOf: (location: unknown) => string;
}

/** More variables of one object are not listed. */
const mostVariables = 300;
const evaluationMs = 10_000;

/** Reads what V8 says when it stops. */
export function createPause(params: Message, host: PauseHost): Pause {
  const { ask } = host;
  const frames = getList(params, "callFrames");
  const [top] = frames;
  const data = getPart(params, "data");
  const references: string[] = [];
  const refer = (object: Message): number | undefined => {
    const id = getString(object, "objectId");
    return id === undefined ? undefined : references.push(id);
  };
  const toVariable = (name: string, remote: Message): Variable => toNamed(name, remote, refer(remote));
  const stack = frames.map((frame, index) => toFrame(frame, index, host));

  return {
    place: { file: stack[0]?.file ?? "", line: stack[0]?.line ?? 0 },
    isBreakpoint: getList(params, "hitBreakpoints").length > 0,
    isException: /^(?:exception|promiseRejection)$/u.test(getString(params, "reason") ?? ""),
    text: (getString(data, "description") ?? renderRemote(data)).split("\n")[0] ?? "",
    isUncaught: () => isUncaught(params, host),
    stack: () => stack,
    scopes(frame) {
      const chain = getList(frames[frame], "scopeChain").filter((scope) => getString(scope, "type") !== "global");
      return chain.flatMap((scope) => {
        const reference = refer(getPart(scope, "object"));
        return reference === undefined ? [] : [{ name: getString(scope, "type") ?? "", reference }];
      });
    },
    async variables(reference) {
      const objectId = references[reference - 1];
      if (objectId === undefined) return [];
      const answer = await ask("Runtime.getProperties", { objectId, ownProperties: true, generatePreview: true });
      return toVariables(answer, toVariable);
    },
    async evaluate(expression, frame) {
      const callFrameId = getString(frames[frame] ?? top, "callFrameId") ?? "";
      const answer = await ask("Debugger.evaluateOnCallFrame", {
        ...{ callFrameId, expression, generatePreview: true, timeout: evaluationMs },
      });
      const wrong = getPart(answer, "exceptionDetails");
      if (Object.keys(wrong).length > 0) return { ok: false, message: toMessage(wrong) };
      const { name: _, ...value } = toVariable("", getPart(answer, "result"));
      return { ok: true, ...value };
    },
  };
}

function toFrame(frame: unknown, id: number, { target, pathOf }: PauseHost): StackFrame {
  const location = getPart(frame, "location");
  const line = Number(location["lineNumber"] ?? 0) + 1;
  return {
    id,
    name: getString(frame, "functionName") || "(top level)",
    ...toShownFile(target, pathOf(location)),
    line,
  };
}

function toNamed(name: string, remote: Message, reference: number | undefined): Variable {
  const type = getString(remote, "className") ?? getString(remote, "subtype") ?? getString(remote, "type");
  return {
    name,
    value: renderRemote(remote),
    ...(type !== undefined && { type }),
    ...(reference !== undefined && { reference }),
  };
}

function toVariables(answer: Message, toVariable: (name: string, remote: Message) => Variable): Variable[] {
  const own = getList(answer, "result");
  const internal = getList(answer, "internalProperties").filter((each) => getString(each, "name") !== "[[Prototype]]");
  const all = [...own, ...internal];
  const shown = all.slice(0, mostVariables).map((property) => {
    const name = getString(property, "name") ?? "";
    const isAccessor = Object.keys(getPart(property, "get")).length > 0;
    return isAccessor ? { name, value: "(getter)" } : toVariable(name, getPart(property, "value"));
  });
  return all.length > shown.length ? [...shown, { name: "…", value: `${all.length - shown.length} more` }] : shown;
}

function toMessage(wrong: Message): string {
  const exception = getPart(wrong, "exception");
  const text = getString(exception, "description") ?? getString(wrong, "text");
  return (text ?? renderRemote(exception)).split("\n")[0] ?? "";
}

/**
 * V8 takes an exception that leaves a module for one that Node catches. So one that V8 takes for caught counts as uncaught as well
 * if no file on the stack, but for Node itself, has a handler for any exception.
 */
async function isUncaught(params: Message, { target, ask, pathOf }: PauseHost): Promise<boolean> {
  if (getPart(params, "data")["uncaught"] === true) return true;
  const behind = getList(getPart(params, "asyncStackTrace"), "callFrames");
  const frames = [...getList(params, "callFrames").map((frame) => getPart(frame, "location")), ...behind];
  const paths = frames.map((frame) => pathOf(frame));
  // Exceptions of Node's own modules are their business.
  if (!toShownFile(target, paths[0] ?? "").isOwn) return false;
  const ids = new Set(
    frames.filter((_, index) => !paths[index]?.startsWith("node:")).map((frame) => getString(frame, "scriptId")),
  );
  const sources = await Promise.all([...ids].map((scriptId) => ask("Debugger.getScriptSource", { scriptId })));
  return sources.every(
    (source) => !/\bcatch\b|\bthen\s*\(|\ballSettled\b/u.test(getString(source, "scriptSource") ?? ""),
  );
}

/** The longest value that is shown. */
const longest = 2000;

/** A value of V8 as text. */
function renderRemote(remote: Message): string {
  const { type, value } = remote;
  const description = getString(remote, "description");
  if (type === "string") return cut(JSON.stringify(value));
  if (type === "undefined") return "undefined";
  if (getString(remote, "subtype") === "null") return "null";
  if (type === "object" && getString(remote, "subtype") !== "error") {
    const preview = getPart(remote, "preview");
    if (Object.keys(preview).length > 0) return cut(renderPreview(preview, description ?? ""));
  }
  if (type === "function") return cut((description ?? "function").split("\n")[0] ?? "");
  return cut(description ?? getString(remote, "unserializableValue") ?? JSON.stringify(value) ?? String(type));
}

function renderPreview(preview: Message, description: string): string {
  const isList = getString(preview, "subtype") === "array";
  const properties = getList(preview, "properties").map((property) => {
    const value = renderShort(property as Message);
    return isList ? value : `${getString(property, "name") ?? ""}: ${value}`;
  });
  const entries = getList(preview, "entries").map((entry) => {
    const value = renderShort(getPart(entry, "value"));
    const key = getPart(entry, "key");
    return Object.keys(key).length === 0 ? value : `${renderShort(key)} => ${value}`;
  });
  const all = [...entries, ...(entries.length > 0 ? [] : properties), ...(preview["overflow"] === true ? ["…"] : [])];
  const name = description === "Object" || isList ? "" : `${description} `;
  if (all.length === 0) return name === "" ? (isList ? "[]" : "{}") : name.trim();
  return isList ? `[${all.join(", ")}]` : `${name}{${all.join(", ")}}`;
}

function renderShort(part: Message): string {
  const text = getString(part, "value") ?? getString(part, "description") ?? getString(part, "type") ?? "";
  return getString(part, "type") === "string" ? JSON.stringify(text) : text;
}

function cut(text: string): string {
  return shortenText(text, longest);
}
