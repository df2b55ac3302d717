/**
 * What runs in each machine before the program, as text: it is JavaScript of the machine, not of this process. It is an expression
 * whose value is a function of the bridge; it answers with what the bridge calls. Everything it needs later is taken now, because
 * the program may replace it.
 */
export const prelude = String.raw`(function (bridge) {
"use strict";
const { stringify, parse } = JSON;
const { defineProperty, create } = Object;
const { apply } = Reflect;
const { captureStackTrace } = Error;
const { call: sendCall, print, setTimer, clearTimer, end } = bridge;
const BuiltInError = Error, BuiltInInternalError = InternalError, BuiltInPromise = Promise, ToText = String, then = Promise.prototype.then;
const mapGet = Map.prototype.get, mapSet = Map.prototype.set, mapDelete = Map.prototype.delete;
let aliases = create(null);
const known = create(null);
const waiting = create(null), timers = new Map();
let lastId = 0;

class ToolError extends BuiltInError {
  constructor(message, code, tool, details) {
    super(message);
    this.name = "ToolError";
    this.code = code;
    this.tool = tool;
    this.details = details;
  }
}

/** Makes the function of one tool. A program may call it very often, so what can be done before is done here. */
function toCall(address) {
  const head = "," + stringify(address) + ",";
  const send = (input) => {
    let json, cause;
    try {
      json = stringify(input === undefined ? {} : input);
    } catch (thrown) {
      cause = thrown;
    }
    if (json === undefined) return refuse(address, cause);
    const id = ++lastId;
    const call = { resolve: undefined, reject: undefined, address, stack: undefined };
    // Where the program is now, for an error that comes later.
    captureStackTrace(call, send);
    waiting[id] = call;
    // One text, because each value that crosses costs.
    sendCall("[\"call\"," + id + head + json + "]");
    return new BuiltInPromise((resolve, reject) => {
      call.resolve = resolve;
      call.reject = reject;
    });
  };
  return send;
}

function refuse(address, cause) {
  const reason = cause === undefined ? "" : ": " + describe(cause);
  const message = "Cannot call \"" + address + "\": the input is no JSON" + reason;
  return new BuiltInPromise((_, reject) => reject(new ToolError(message, "input-invalid", address)));
}

function settle(text) {
  const answer = parse(text);
  const id = answer[0], value = answer[2];
  const call = waiting[id];
  delete waiting[id];
  if (answer[1]) return call.resolve(value);
  const error = new ToolError(value.message, value.code, call.address, value.details);
  // The program may say what a trace is.
  if (typeof call.stack === "string") error.stack = call.stack;
  call.reject(error);
}

function toTool(address) {
  return known[address] ??= makeTool(address);
}

function makeTool(address) {
  const target = toCall(aliases[address] ?? address);
  defineProperty(target, "name", { value: address });
  return new Proxy(target, {
    get(_, key) {
      if (typeof key !== "string" || key === "then" || key === "toJSON") return undefined;
      return address.includes("/") ? undefined : toTool(address + "/" + key);
    },
    set: () => false,
    defineProperty: () => false,
    setPrototypeOf: () => false,
  });
}

const tools = new Proxy(create(null), {
  get: (_, key) => typeof key !== "string" || key === "then" || key === "toJSON" ? undefined : toTool(key),
  has: (_, key) => typeof key === "string",
  set: () => false,
  defineProperty: () => false,
  setPrototypeOf: () => false,
});

/** Says in words what was thrown, whatever it is. */
function describe(thrown) {
  try {
    if (thrown instanceof BuiltInError) {
      const text = (thrown.name ? ToText(thrown.name) + ": " : "") + ToText(thrown.message);
      const line = /program:(\d+):/.exec(ToText(thrown.stack));
      return (line ? text + " (line " + line[1] + ")" : text).slice(0, 4000);
    }
    const text = typeof thrown === "object" && thrown !== null ? stringify(thrown) : ToText(thrown);
    return "it threw " + ToText(text).slice(0, 4000);
  } catch {
    return "it threw something that cannot be shown";
  }
}

function show(value) {
  try {
    if (typeof value === "string") return value;
    if (value instanceof BuiltInError) return describe(value);
    if (typeof value === "object" && value !== null) return stringify(value) ?? ToText(value);
    return typeof value === "bigint" ? value + "n" : ToText(value);
  } catch {
    return "[something that cannot be shown]";
  }
}

const write = (...values) => print(values.map(show).join(" "));

function finish(value) {
  if (value === undefined) return end("ok", "null");
  if (typeof value === "function" || typeof value === "symbol") return end("no-json", "a " + typeof value);
  let json;
  try {
    json = stringify(value);
  } catch (cause) {
    return end(isOutOfMemory(cause) ? "out-of-memory" : "no-json", describe(cause));
  }
  if (json === undefined) return end("no-json", "an object whose toJSON answers with nothing");
  end("ok", json);
}

function isOutOfMemory(cause) {
  try {
    return cause instanceof BuiltInInternalError && cause.message === "out of memory";
  } catch {
    return false;
  }
}

const fail = (cause) => end(isOutOfMemory(cause) ? "out-of-memory" : "failed", describe(cause));

/** Waits for the program. One that is written as a function is called. */
function watch(promise, isCompletion) {
  const run = (async () => {
    const value = isCompletion ? (await promise).value : await promise;
    return isCompletion && typeof value === "function" ? value() : value;
  })();
  apply(then, run, [finish, fail]);
}

function fire(id) {
  const task = apply(mapGet, timers, [id]);
  apply(mapDelete, timers, [id]);
  if (task !== undefined) task();
}

function addGlobal(name, value) {
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

addGlobal("tools", tools);
addGlobal("ToolError", ToolError);
addGlobal("console", { log: write, info: write, warn: write, error: write, debug: write, table: write, trace: write });
addGlobal("setTimeout", (task, ms, ...args) => {
  if (typeof task !== "function") throw new TypeError("setTimeout takes a function");
  const id = ++lastId;
  apply(mapSet, timers, [id, () => task(...args)]);
  setTimer(id, Number(ms) || 0);
  return id;
});
addGlobal("clearTimeout", (id) => {
  apply(mapDelete, timers, [id]);
  clearTimer(Number(id) || 0);
});

function name(json) {
  const { aliases: paths, globals } = parse(json);
  aliases = Object.assign(create(null), paths);
  for (const [name, address] of Object.entries(globals)) {
    if (!(name in globalThis)) addGlobal(name, toCall(address));
  }
}

return { name, settle, fire, watch };
})`;
