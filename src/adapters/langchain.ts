/**
 * Tools for LangChain, and its tools for Kitbag.
 *
 * @module
 */
export type { AdapterOptions, ToolSource } from "./bridged-tools.ts";
export { fromLangChainTools, toLangChainTools } from "./to-langchain.ts";
export type { LangChainCall, LangChainFields, LangChainTool, LangChainToolMaker } from "./to-langchain.ts";
