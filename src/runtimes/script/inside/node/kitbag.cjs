/**
 * Talk to Kitbag from a Node tool: import kitbag from "kitbag", or require("kitbag").
 *
 *   kitbag.progress("reading", { done: 1, total: 10 });         // how far the work is
 *   kitbag.log("found 3 files", { files: 3 });                  // for whoever watches; the model does not see it
 *   kitbag.stream("first part\n");                              // a piece of the output, before the end
 *   kitbag.spend(0.002);                                        // this call cost so much, or so much more: US dollars
 *   const count = (await kitbag.state.get("count")) ?? 0;       // kept from one call to the next, for this tool
 *   await kitbag.state.set("count", count + 1, { expiresInMs: 3_600_000 });
 *   await kitbag.state.compareAndSet("count", { version: 3 }, 4);  // only over this version (0: nothing), or { value }
 *   await kitbag.skillState.list("user/");                      // shared by all tools of the skill
 *   const text = await kitbag.call("read-page", { url });       // another tool; rejects with a KitbagError if it fails
 *   const token = await kitbag.secret("GITHUB_TOKEN");          // undefined if nobody gave it; needs the permission env
 *   const name = await kitbag.user();                           // who made the call; undefined if it names no user
 *   kitbag.sync.state.get("count");                             // all of them also without a promise
 *
 * The result of the tool is what it prints.
 */
"use strict";

const { readSync, writeSync } = require("node:fs");
const { Socket } = require("node:net");

/** What Kitbag answered when it could not do what it was asked for. */
class KitbagError extends Error {
  constructor(message, code = "kitbag-missing", details) {
    super(message);
    this.name = "KitbagError";
    this.code = code;
    this.details = details;
  }
}

const waiting = new Map();
const nap = new Int32Array(new SharedArrayBuffer(4));
let lastId = 0;
let rest = Buffer.alloc(0);
let socket;
let isGone = false;

function available() {
  return process.env.KITBAG_FD !== undefined;
}

function descriptor() {
  if (available()) return Number(process.env.KITBAG_FD);
  throw new KitbagError(
    "This script does not run in Kitbag: KITBAG_FD is not set. Call it with: kitbag call <skill/tool>",
  );
}

function gone() {
  return new KitbagError("Kitbag does not answer any more", "kitbag-gone");
}

function write(message) {
  let data = Buffer.from(`${JSON.stringify(message)}\n`);
  const channel = descriptor();
  while (data.length > 0) {
    try {
      data = data.subarray(writeSync(channel, data));
    } catch (cause) {
      // A socket that is also read asynchronously does not wait.
      if (cause.code !== "EAGAIN") throw gone();
      Atomics.wait(nap, 0, 0, 1);
    }
  }
}

/** Takes what was read, and answers those who wait. */
function take(piece) {
  rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
  for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
    const answer = JSON.parse(rest.subarray(0, end).toString());
    rest = rest.subarray(end + 1);
    // An answer without an id is about a message that could not be read: nobody knows whose it was.
    const ids = answer.id === null ? [...waiting.keys()] : [answer.id];
    for (const id of ids) {
      waiting.get(id)?.(answer);
      waiting.delete(id);
    }
  }
  if (waiting.size === 0) socket?.unref();
}

function end() {
  isGone = true;
  for (const answer of waiting.values()) answer(undefined);
  waiting.clear();
}

function resultOf(answer) {
  if (answer === undefined) throw gone();
  if (answer.error === undefined) return answer.result;
  const { message, data = {} } = answer.error;
  throw new KitbagError(message, data.code ?? "rpc", data.details);
}

function listen() {
  if (socket !== undefined) return;
  socket = new Socket({ fd: descriptor(), readable: true, writable: true });
  socket.on("data", take);
  socket.on("error", end);
  socket.on("end", end);
  socket.unref();
}

async function request(method, params) {
  listen();
  if (isGone) throw gone();
  const id = ++lastId;
  const { promise, resolve } = Promise.withResolvers();
  waiting.set(id, resolve);
  // The program goes on while it waits for an answer, and no longer.
  socket.ref();
  write({ jsonrpc: "2.0", id, method, params });
  return resultOf(await promise);
}

function requestSync(method, params) {
  const id = ++lastId;
  const answers = [];
  waiting.set(id, (answer) => answers.push(answer));
  write({ jsonrpc: "2.0", id, method, params });
  while (answers.length === 0) readNow();
  return resultOf(answers[0]);
}

/** Waits for a piece of an answer and takes it. */
function readNow() {
  if (isGone) return end();
  const piece = Buffer.alloc(65_536);
  try {
    const count = readSync(descriptor(), piece);
    if (count === 0) end();
    else take(piece.subarray(0, count));
  } catch (cause) {
    if (cause.code === "EAGAIN") Atomics.wait(nap, 0, 0, 0.2);
    else end();
  }
}

function notify(method, params) {
  write({ jsonrpc: "2.0", method, params });
}

/** What must be there: a version (0: nothing), `{ version }`, or `{ value }`, which is undefined for nothing. */
function toExpectation(expected) {
  if (typeof expected !== "object" || expected === null || "version" in expected) {
    return { version: expected?.version ?? expected };
  }
  if (!("value" in expected)) return { version: expected };
  return expected.value === undefined ? { version: 0 } : { expected: expected.value };
}

/** The methods that ask; `ask` is one of the two ways to do so, and `then` goes on with what it answers. */
function createState(ask, then, scope) {
  const state = (method, params) => ask(`state.${method}`, { scope, ...params });
  return {
    get: (key) => then(state("read", { key }), (entry) => entry?.value),
    read: (key) => then(state("read", { key }), (entry) => entry ?? undefined),
    set: (key, value, options) => state("set", { key, value, ...options }),
    delete: (key) => state("delete", { key }),
    list: (prefix = "", options = {}) => state("list", { prefix, ...options }),
    compareAndSet: (key, expected, value, options) =>
      state("compareAndSet", { key, ...toExpectation(expected), value, ...options }),
  };
}

function createApi(ask, then) {
  return {
    state: createState(ask, then, "tool"),
    skillState: createState(ask, then, "skill"),
    call: (tool, input = {}) => ask("call", { tool, input }),
    secret: (name) => then(ask("secret", { name }), (value) => value ?? undefined),
    user: () => then(ask("user", {}), (value) => value ?? undefined),
  };
}

module.exports = {
  KitbagError,
  available,
  progress: (message, { done, total } = {}) => notify("progress", { message, done, total }),
  log: (message, data) => notify("log", { message: String(message), data }),
  stream: (chunk) => notify("stream", { chunk }),
  spend: (costUsd) => notify("spend", { costUsd }),
  ...createApi(request, (promise, change) => promise.then(change)),
  sync: createApi(requestSync, (value, change) => change(value)),
};

// Never runs: it tells Node which names a script can import.
// oxlint-disable-next-line no-constant-binary-expression, no-constant-condition, no-unused-expressions
0 &&
  (module.exports = {
    available,
    call,
    KitbagError,
    log,
    progress,
    secret,
    skillState,
    spend,
    state,
    stream,
    sync,
    user,
  });
