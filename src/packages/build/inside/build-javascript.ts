/**
 * Prepares a tool of JavaScript inside the sandbox: checks its syntax and writes what makes a module of it and the QuickJS engine.
 * Arguments: the folder of the package `quickjs-wasi`, the source, the folder for `glue.wat` and `roots.json`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { renderGlue } from "./javascript/render-glue.ts";

const [engine = "", source = "", scratch = ""] = process.argv.slice(2);
const code = readFileSync(source, "utf8");
const file = source.replace(/^\.\//u, "");
/** What is exported, and nothing else of the engine. */
const kept = ["_start", "memory"];

await checkSyntax();
writeFileSync(join(scratch, "glue.wat"), renderGlue({ code, file }));
const roots = [{ name: "root", reaches: kept, root: true }, ...kept.map((name) => ({ name, export: name }))];
writeFileSync(join(scratch, "roots.json"), JSON.stringify(roots));

interface Engine {
  readonly EvalFlags: { readonly TYPE_MODULE: number; readonly COMPILE_ONLY: number };
  readonly QuickJS: {
    create(options: { readonly wasm: Uint8Array }): Promise<{
      evalCode(code: string, file: string, flags: number): unknown;
    }>;
  };
}

/** The engine itself says what is wrong, now instead of when the tool is called. */
async function checkSyntax(): Promise<void> {
  const { QuickJS, EvalFlags } = (await import(pathToFileURL(join(engine, "dist/index.js")).href)) as Engine;
  const machine = await QuickJS.create({ wasm: readFileSync(join(engine, "quickjs.wasm")) });
  try {
    machine.evalCode(code, file, EvalFlags.TYPE_MODULE + EvalFlags.COMPILE_ONLY);
  } catch (cause) {
    const { name = "Error", message = String(cause), stack = "" } = cause as Partial<Error>;
    const place = /at (.+:\d+:\d+)/u.exec(stack)?.[1] ?? file;
    const hint = name === "ReferenceError" ? "; a tool of JavaScript is one file, which imports nothing" : "";
    process.stderr.write(`${place}: error: ${name}: ${message}${hint}\n`);
    process.exit(1);
  }
}
