/**
 * A client of Kitbag's HTTP API. It needs `fetch` and nothing else.
 *
 * @module
 */
export { createClient, ProblemError } from "./api-client.ts";
export type { Client, ClientOptions, RequestOptions, StreamEvent } from "./api-client.ts";
