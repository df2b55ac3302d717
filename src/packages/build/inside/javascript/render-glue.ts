/** The parts of a JavaScript tool that its module carries along. */
export interface GlueParts {
  /** The tool: an ES module whose default export is a function of the input. */
  readonly code: string;
  /** Its name in stack traces. */
  readonly file: string;
}

/** Runs before the tool: what is logged goes to standard error, and the global `kitbag` asks the host. */
const prelude = `
globalThis.kitbag = (() => {
  const send = globalThis.__ask;
  const ask = (request) => {
    const answer = JSON.parse(send(JSON.stringify(request)));
    if (answer.ok) return answer.value;
    throw Object.assign(new Error(answer.message), { code: answer.code });
  };
  const stateOf = (scope) => ({
    get: (key) => ask({ fn: "state.get", key, ...scope }),
    read: (key) => ask({ fn: "state.read", key, ...scope }),
    set: (key, value, options) => ask({ fn: "state.set", key, value, ...options, ...scope }),
    compareAndSet: (key, expected, value) => ask({ fn: "state.compareAndSet", key, ...expected, value, ...scope }),
    delete: (key) => ask({ fn: "state.delete", key, ...scope }),
    list: (options) => ask({ fn: "state.list", ...options, ...scope }),
  });
  return Object.freeze({
    state: Object.freeze({ ...stateOf({}), skill: Object.freeze(stateOf({ scope: "skill" })) }),
    log: (message, data) => ask({ fn: "log", message, ...(data !== undefined && { data }) }),
    progress: (progress) => ask({ fn: "progress", ...progress }),
    spend: (costUsd) => ask({ fn: "spend", costUsd }),
    chunk: (value) => ask({ fn: "chunk", value }),
    call: (tool, input = {}) => ask({ fn: "call", tool, input }),
    request: (url, options) => ask({ fn: "http.request", url, ...options }),
  });
})();
delete globalThis.__ask;
globalThis.console = (() => {
  const write = globalThis.__log;
  const show = (value) => typeof value === "string" ? value : value instanceof Error ? String(value.stack || value) : JSON.stringify(value) ?? String(value);
  const log = (...values) => write(values.map(show).join(" ") + "\\n");
  return { log, info: log, debug: log, warn: log, error: log };
})();
delete globalThis.__log;
`;

/** Runs after the tool was loaded; the first character of the answer says whether it is a result (0) or a complaint (1). */
const driver = `
(() => {
  const { __tool: tool, __thrown: thrown, __input: input } = globalThis;
  for (const name of ["__tool", "__thrown", "__input"]) delete globalThis[name];
  let answer = "1The tool never finished: it waits for something that does not come";
  const describe = (error) => error instanceof Error ? error.name + ": " + error.message + "\\n" + (error.stack ?? "") : String(error);
  globalThis.__finish = () => answer;
  (async () => {
    if (thrown !== undefined) throw thrown;
    const { default: run } = await tool;
    if (typeof run !== "function") throw new TypeError("the tool's file must have a function as its default export");
    return run(input.trim() === "" ? {} : JSON.parse(input));
  })().then(
    (output) => { answer = "0" + (JSON.stringify(output) ?? "null"); },
    (error) => { answer = "1" + describe(error); },
  );
})();
`;

/**
 * Writes the module, as WebAssembly text, that makes a WASI command of the QuickJS engine and a tool: merged with the engine, its
 * `_start` reads standard input, calls the tool, and writes what it answers. It implements what the engine asks its host for.
 */
export function renderGlue({ code, file }: GlueParts): string {
  const texts = { code, prelude, driver, finish: "__finish()", file, own: "kitbag", log: "log", ask: "ask_kitbag" };
  const globals = {
    logName: "__log",
    askName: "__ask",
    toolName: "__tool",
    thrownName: "__thrown",
    inputName: "__input",
  };
  const { data, places } = layOut({ ...texts, ...globals });
  const at = (name: string): string => `(i32.add (global.get $data) (i32.const ${places[name]?.offset ?? 0}))`;
  const length = (name: string): string => `(i32.const ${places[name]?.length ?? 0})`;
  const ofHost = (name: string): string => `(call $function ${at(name)} ${length(name)} (i32.const 1))`;
  const size = places["end"]?.offset ?? 0;
  const evaluate = (name: string, file: string, flags: number): string =>
    `(call $eval ${at(name)} ${length(name)} ${at(file)} (i32.const ${flags}))`;
  const set = (name: string, value: string): string => `(drop (call $set (call $global) ${at(name)} ${value}))`;
  return `(module
${imports}
  (data $texts "${data}")
  (global $data (mut i32) (i32.const 0))
  (global $scratch (mut i32) (i32.const 0))

${functions}
  (func (export "_start")
    (local $value i32) (local $text i32) (local $isFailed i32)
    (call $initialize)
    (if (call $init) (then (unreachable)))
    (global.set $scratch (call $malloc (i32.const 32)))
    (global.set $data (call $malloc (i32.const ${size})))
    (memory.init $texts (global.get $data) (i32.const 0) (i32.const ${size}))
    ${set("logName", ofHost("log"))} ${set("askName", ofHost("ask"))}
    (drop ${evaluate("prelude", "own", 0)})
    (local.set $value ${evaluate("code", "file", 1)})
    (if (call $isException (local.get $value))
      (then ${set("thrownName", "(call $exception)")})
      (else ${set("toolName", "(local.get $value)")}))
    ${set("inputName", "(call $read)")}
    (drop ${evaluate("driver", "own", 0)})
    (block $done
      (loop $more (br_if $done (i32.eqz (call $isPending))) (drop (call $execute)) (br $more)))
    (local.set $value ${evaluate("finish", "own", 0)})
    (local.set $text (call $text (local.get $value) (global.get $scratch)))
    (local.set $isFailed (i32.ne (i32.load8_u (local.get $text)) (i32.const 48)))
    (call $write
      (i32.add (local.get $isFailed) (i32.const 1))
      (i32.add (local.get $text) (i32.const 1))
      (i32.sub (i32.load (global.get $scratch)) (i32.const 1)))
    (call $exit (local.get $isFailed))))
`;
}

/** What the engine asks its host for, and reading and writing. None of it depends on the tool. */
const functions = `  (func (export "host_get_timezone_offset") (param i32 i32) (result i32) (i32.const 0))
  (func (export "host_interrupt") (result i32) (i32.const 0))
  (func (export "host_promise_rejection") (param i32 i32 i32))
  (func (export "host_module_normalize") (param i32 i32) (result i32) (i32.const 0))
  (func (export "host_module_load") (param i32 i32) (result i32) (i32.const 0))
  ;; The functions of the host are told apart by the length of their names. The log: its first argument goes to standard error.
  (func (export "host_call") (param i32) (param $name i32) (param i32) (param $count i32) (param $values i32) (result i32)
    (local $text i32)
    (if (i32.eq (local.get $name) (i32.const 10))
      (then (return (call $ask (i32.load (local.get $values))))))
    (if (i32.gt_s (local.get $count) (i32.const 0))
      (then
        (local.set $text (call $text (i32.load (local.get $values)) (global.get $scratch)))
        (call $write (i32.const 2) (local.get $text) (i32.load (global.get $scratch)))))
    (call $undefined))

  ;; Sends a request to Kitbag and answers with its answer: both are JSON.
  (func $ask (param $request i32) (result i32)
    (local $text i32) (local $length i32) (local $buffer i32) (local $done i32) (local $piece i32)
    (local.set $text (call $text (local.get $request) (global.get $scratch)))
    (local.set $length (call $kitbag_call (local.get $text) (i32.load (global.get $scratch))))
    (local.set $buffer (call $malloc (i32.add (local.get $length) (i32.const 1))))
    (if (i32.eqz (local.get $buffer)) (then (unreachable)))
    (block $end
      (loop $more
        (br_if $end (i32.ge_u (local.get $done) (local.get $length)))
        (local.set $piece (call $kitbag_read
          (i32.add (local.get $buffer) (local.get $done))
          (i32.sub (local.get $length) (local.get $done))))
        (br_if $end (i32.le_s (local.get $piece) (i32.const 0)))
        (local.set $done (i32.add (local.get $done) (local.get $piece)))
        (br $more)))
    (call $string (local.get $buffer) (local.get $done)))

  (func $write (param $file i32) (param $from i32) (param $length i32)
    (block $done
      (loop $more
        (br_if $done (i32.eqz (local.get $length)))
        (i32.store offset=16 (global.get $scratch) (local.get $from))
        (i32.store offset=20 (global.get $scratch) (local.get $length))
        (br_if $done (call $fd_write (local.get $file) (i32.add (global.get $scratch) (i32.const 16)) (i32.const 1) (i32.add (global.get $scratch) (i32.const 24))))
        (local.set $from (i32.add (local.get $from) (i32.load offset=24 (global.get $scratch))))
        (local.set $length (i32.sub (local.get $length) (i32.load offset=24 (global.get $scratch))))
        (br $more))))

  ;; All of standard input, as a string of the engine.
  (func $read (result i32)
    (local $buffer i32) (local $length i32) (local $capacity i32)
    (local.set $capacity (i32.const 65536))
    (local.set $buffer (call $malloc (local.get $capacity)))
    (block $done
      (loop $more
        (if (i32.eq (local.get $length) (local.get $capacity))
          (then
            (local.set $capacity (i32.mul (local.get $capacity) (i32.const 2)))
            (local.set $buffer (call $realloc (local.get $buffer) (local.get $capacity)))
            (if (i32.eqz (local.get $buffer)) (then (unreachable)))))
        (i32.store offset=16 (global.get $scratch) (i32.add (local.get $buffer) (local.get $length)))
        (i32.store offset=20 (global.get $scratch) (i32.sub (local.get $capacity) (local.get $length)))
        (br_if $done (call $fd_read (i32.const 0) (i32.add (global.get $scratch) (i32.const 16)) (i32.const 1) (i32.add (global.get $scratch) (i32.const 24))))
        (br_if $done (i32.eqz (i32.load offset=24 (global.get $scratch))))
        (local.set $length (i32.add (local.get $length) (i32.load offset=24 (global.get $scratch))))
        (br $more)))
    (call $string (local.get $buffer) (local.get $length)))`;

const imports = [
  '(memory $memory 1)|"memory"',
  '(func $initialize)|"_initialize"',
  '(func $init (result i32))|"qjs_init"',
  '(func $malloc (param i32) (result i32))|"malloc"',
  '(func $realloc (param i32 i32) (result i32))|"realloc"',
  '(func $eval (param i32 i32 i32 i32) (result i32))|"qjs_eval"',
  '(func $function (param i32 i32 i32) (result i32))|"qjs_new_host_function"',
  '(func $global (result i32))|"qjs_get_global"',
  '(func $set (param i32 i32 i32) (result i32))|"qjs_set_prop_string"',
  '(func $string (param i32 i32) (result i32))|"qjs_new_string"',
  '(func $text (param i32 i32) (result i32))|"qjs_get_string_len"',
  '(func $isException (param i32) (result i32))|"qjs_is_exception"',
  '(func $exception (result i32))|"qjs_get_exception"',
  '(func $isPending (result i32))|"qjs_is_job_pending"',
  '(func $execute (result i32))|"qjs_execute_pending_job"',
  '(func $undefined (result i32))|"qjs_get_undefined"',
]
  .map((line) => line.split("|"))
  .map(([what, name]) => `  (import "engine" ${name} ${what})`)
  .concat([
    '  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))',
    '  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))',
    '  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))',
    '  (import "kitbag" "call" (func $kitbag_call (param i32 i32) (result i32)))',
    '  (import "kitbag" "read" (func $kitbag_read (param i32 i32) (result i32)))',
  ])
  .join("\n");

interface Place {
  readonly offset: number;
  /** In bytes, without the NUL behind it. */
  readonly length: number;
}

/** Puts texts one behind the other, each with a NUL, as the engine takes them; `end` is where they end. */
function layOut(texts: Readonly<Record<string, string>>): { data: string; places: Record<string, Place> } {
  const places: Record<string, Place> = {};
  let data = "";
  let offset = 0;
  for (const [name, text] of Object.entries(texts)) {
    const bytes = new TextEncoder().encode(`${text}\0`);
    places[name] = { offset, length: bytes.length - 1 };
    data += Array.from(bytes, (byte) => `\\${byte.toString(16).padStart(2, "0")}`).join("");
    offset += bytes.length;
  }
  places["end"] = { offset, length: 0 };
  return { data, places };
}
