/** Where scripts and WASM modules run: in a sandbox. */
export { openRuntimes, type Runtimes } from "./runtimes/open-runtimes.ts";
export type { RuntimesOptions } from "./runtimes/runtimes-options.ts";
