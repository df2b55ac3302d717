import { wasiNames } from "../wasi/wasi-names.ts";
import { type CompiledModule, webAssembly } from "./web-assembly.ts";

/** The name that WASI preview 1 has as an import. */
export const wasiModule = "wasi_snapshot_preview1";

/** What modules can import beside WASI. */
const kitbagNames = ["call", "read"] as const;

const offered: Readonly<Record<string, readonly string[]>> = { [wasiModule]: wasiNames, kitbag: kitbagNames };

/**
 * Checks that a module is a WASI command that imports nothing but what is offered.
 *
 * @throws {RefusedModule} When it is not.
 */
export function checkModule(module: CompiledModule): void {
  for (const { module: from, name, kind } of webAssembly.Module.imports(module)) {
    const names = Object.hasOwn(offered, from) ? offered[from] : undefined;
    if (kind !== "function" || names === undefined || !names.includes(name)) {
      throw new RefusedModule(
        `it imports the ${kind} ${JSON.stringify(`${from}.${name}`.slice(0, 200))}, which there is not; only functions of ${wasiModule}, kitbag.call and kitbag.read can be imported`,
      );
    }
  }
  const exported = new Map(webAssembly.Module.exports(module).map(({ name, kind }) => [name, kind]));
  if (exported.get("_start") !== "function") {
    throw new RefusedModule('it exports no function "_start"; build it as a WASI command, not as a library (reactor)');
  }
  if (exported.get("memory") !== "memory") throw new RefusedModule('it exports no memory named "memory"');
}

/** A module that does not run here; the message is the reason, in words that follow "because". */
export class RefusedModule extends Error {}
