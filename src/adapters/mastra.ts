/**
 * Tools for Mastra, and its tools for Kitbag.
 *
 * @module
 */
export type { AdapterOptions, ToolSource } from "./bridged-tools.ts";
export { fromMastraTools, toMastraTools } from "./to-mastra.ts";
export type { MastraFields, MastraTool } from "./to-mastra.ts";
