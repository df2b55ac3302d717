/**
 * Where each operation of the HTTP API is: its name, method and path. Routing, the OpenAPI document, the reference page and `kitbag/client`
 * are all made from this table; this file imports nothing, because the client is loaded by web pages. `{name}` is one segment;
 * `{address+}` is the address of a tool, which may have a slash.
 */
export const paths = {
  "skills.list": "GET /skills",
  "skills.get": "GET /skills/{name}",
  "skills.open": "POST /skills/{name}/open",
  "skills.close": "POST /skills/{name}/close",
  "tools.list": "GET /tools",
  "tools.search": "GET /search",
  "tools.get": "GET /tools/{address+}",
  "tools.call": "POST /tools/{address+}/call",
  "calls.cancel": "POST /calls/{id}/cancel",
  "outputs.keep": "POST /outputs",
  "outputs.read": "GET /outputs/{handle}",
  "agents.list": "GET /agents",
  "runs.start": "POST /agents/{agent}/runs",
  "runs.list": "GET /runs",
  "runs.get": "GET /runs/{id}",
  "runs.events": "GET /runs/{id}/events",
  "runs.say": "POST /runs/{id}/say",
  "runs.stop": "POST /runs/{id}/stop",
  "runs.resume": "POST /runs/{id}/resume",
  "approvals.list": "GET /approvals",
  "approvals.decide": "POST /approvals/{approval}",
  "chat.send": "POST /chat",
  "openai.models": "GET /v1/models",
  "openai.chat": "POST /v1/chat/completions",
  "openai.responses": "POST /v1/responses",
  "conversations.list": "GET /conversations",
  "conversations.get": "GET /conversations/{name}",
  "conversations.delete": "DELETE /conversations/{name}",
  "stats.get": "GET /stats",
} as const;

/** The name of an operation. */
export type OperationName = keyof typeof paths;

/** The methods that operations use. */
export type Method = "GET" | "POST" | "DELETE";

/** The names of the parameters in a path. */
export type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Plain}+` ? Plain : Name) | PathParameters<Rest>
  : never;
