import type { WasiName } from "./wasi-names.ts";

/**
 * Functions of WASI by name. They answer with nothing if they did it, and throw if not. The module says what it passes, and
 * can lie: whatever a parameter is declared as here, any value can come.
 */
export type WasiFunctions = { readonly [Name in WasiName]?: (...values: never[]) => void };
