import type { JSValueHandle, QuickJS } from "quickjs-wasi";

import type { ProgramStart } from "./messages.ts";
import { prelude } from "./prelude.ts";
import type { ProgramSource } from "./to-sources.ts";

/** What a machine asks of the thread that runs it. */
export interface Bridge {
  /** Calls a tool: a `Step` in JSON. */
  call(json: string): void;
  print(text: string): void;
  setTimer(id: number, ms: number): void;
  clearTimer(id: number): void;
  end(status: string, text: string): void;
}

/** A machine for one program. */
export interface Machine {
  /** Gives names to tools, before the program begins. */
  name(names: Pick<ProgramStart, "aliases" | "globals">): void;
  /** Tells the program how a call ended, and lets it go on: an `Answer` in JSON. */
  settle(answer: string): void;
  /** Tells the program that a timer is over, and lets it go on. */
  fire(id: number): void;
  /** Lets the first of `sources` begin that can be parsed. */
  begin(sources: Iterable<ProgramSource>): void;
}

/** The name of the program in the traces of errors. */
const fileName = "program";
/** `EvalFlags.ASYNC`: statements may await. */
const asyncFlag = 128;

/** Puts the bridge, the tools and everything else that a program can use into an empty machine. */
export function createMachine(vm: QuickJS, bridge: Bridge): Machine {
  const { name, settle, fire, watch } = install(vm, bridge);

  function send(target: JSValueHandle, ...args: readonly (JSValueHandle | string | number | boolean)[]): void {
    const handles = args.map((arg) => (typeof arg === "object" ? arg : vm.hostToHandle(arg)));
    const result = vm.callFunction(target, vm.undefined, ...handles);
    for (const handle of [result, ...handles]) handle.dispose();
    vm.executePendingJobs();
  }

  return {
    name: (names) => send(name, JSON.stringify(names)),
    settle: (answer) => send(settle, answer),
    fire: (id) => send(fire, id),
    begin(sources) {
      const { promise, isStatements } = startFirst(vm, sources);
      send(watch, promise, isStatements);
    },
  };
}

/** A program that was begun: the promise of its result, or of an object that holds it. */
interface Started {
  readonly promise: JSValueHandle;
  readonly isStatements: boolean;
}

function startFirst(vm: QuickJS, sources: Iterable<ProgramSource>): Started {
  let error: unknown;
  for (const { text, isStatements } of sources) {
    try {
      return { promise: vm.evalCode(text, fileName, isStatements ? asyncFlag : 0), isStatements };
    } catch (cause) {
      // Whatever happens while it runs is in the promise, so this is about how it is written.
      if ((cause as Error).name !== "SyntaxError") throw cause;
      error = cause;
    }
  }
  throw error;
}

/** The functions of the machine that are called from outside. */
type Inlet = Readonly<Record<"name" | "settle" | "fire" | "watch", JSValueHandle>>;

function install(vm: QuickJS, bridge: Bridge): Inlet {
  const functions = vm.newObject();
  const add = (name: keyof Bridge, run: (...args: readonly JSValueHandle[]) => void): void => {
    const handle = vm.newFunction(name, (...args) => {
      run(...args);
      return vm.undefined;
    });
    vm.setProp(functions, name, handle);
  };
  add("call", (text) => bridge.call(toText(text)));
  add("print", (text) => bridge.print(toText(text)));
  add("setTimer", (id, ms) => bridge.setTimer(toNumber(id), toNumber(ms)));
  add("clearTimer", (id) => bridge.clearTimer(toNumber(id)));
  add("end", (status, text) => bridge.end(toText(status), toText(text)));
  const start = vm.evalCode(prelude, "prelude");
  const parts = vm.callFunction(start, vm.undefined, functions);
  const [name, settle, fire, watch] = (["name", "settle", "fire", "watch"] as const).map((part) => parts.getProp(part));
  return { name, settle, fire, watch } as Inlet;
}

function toNumber(handle: JSValueHandle | undefined): number {
  return handle === undefined ? 0 : handle.toNumber();
}

function toText(handle: JSValueHandle | undefined): string {
  return handle === undefined ? "" : handle.toString();
}
