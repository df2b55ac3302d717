/** Where scripts and WASM modules run: in a sandbox. */
export { openRuntimes, type Runtimes, type RuntimesOptions } from "./runtimes/open-runtimes.ts";
