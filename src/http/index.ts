/**
 * Kitbag over HTTP: the API of a workspace and its agents, as a function from `Request` to `Response` and as a route of the gate. May import the
 * gate, agents, the workspace and what is below them. Start with `paths.ts` (what there is), then `create-api.ts` (the life of a request) and
 * `routes/` (the operations).
 *
 * @module
 */
export type { Caller } from "../gate/gate.ts";
export { localCaller } from "../gate/access/token-check.ts";
export { createHandler, type Handler } from "./create-handler.ts";
export { createApiRoute, type ApiRoute } from "./gate-route.ts";
export type { HandlerOptions, HttpParts } from "./http-options.ts";
export type { ProblemDocument } from "./problem.ts";
