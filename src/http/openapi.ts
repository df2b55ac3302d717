import type { JsonObject, JsonValue } from "../core/json.ts";
import { operations } from "./operations.ts";
import type { Operation } from "./operation.ts";
import { paths, type OperationName } from "./paths.ts";
import { problemType } from "./problem.ts";

/** Writes the OpenAPI 3.1 document of the API, from the same schemas that requests are checked with. */
export function renderOpenApi({ server, version }: { readonly server: string; readonly version: string }): JsonObject {
  const places: Record<string, Record<string, JsonValue>> = {};
  for (const name of Object.keys(paths) as OperationName[]) {
    const [method = "", path = ""] = paths[name].split(" ");
    const plain = path.replaceAll("+}", "}");
    (places[plain] ??= {})[method.toLowerCase()] = describe(operations[name], method, plain);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Kitbag",
      version,
      description:
        "Skills, tools, agents and their runs. An error is a problem document (RFC 9457) with a code of Kitbag's table.",
    },
    servers: [{ url: server }],
    security: [{ token: [] }],
    paths: places,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { Problem: problemSchema },
    },
  };
}

const problemSchema = {
  type: "object",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string", description: "What was wrong, where, and what to do" },
    code: { type: "string" },
    details: {},
  },
  required: ["type", "title", "status", "detail", "code"],
} as const;

const sessionParameter = {
  name: "session",
  in: "query",
  required: false,
  description: "The session whose skills are open; your default session if it is left out",
  schema: { type: "string", maxLength: 64 },
} as const;

function describe(
  { name, summary, scope, input, answer, stream }: Operation,
  method: string,
  path: string,
): JsonObject {
  const inPath = [...path.matchAll(/\{(\w+)\}/gu)].map(([, parameter = ""]) => ({
    name: parameter,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = method === "GET" ? toQuery(input as JsonObject | undefined) : [];
  return {
    operationId: name,
    tags: [name.split(".")[0] ?? ""],
    summary: scope === undefined ? summary : `${summary} Needs the scope ${scope}.`,
    parameters: [...inPath, ...inQuery, sessionParameter],
    ...(method === "POST" &&
      input !== undefined && { requestBody: { content: { "application/json": { schema: input as JsonObject } } } }),
    responses: {
      "200": {
        description: "Done",
        content: {
          "application/json": { schema: answer as JsonObject },
          ...(stream !== undefined && { "text/event-stream": { schema: { type: "string" } } }),
        },
      },
      default: {
        description: "Refused, or failed",
        content: { [problemType]: { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    },
  };
}

function toQuery(schema: JsonObject | undefined): readonly JsonObject[] {
  const required = (schema?.["required"] ?? []) as readonly string[];
  return Object.entries((schema?.["properties"] ?? {}) as Readonly<Record<string, JsonObject>>).map(
    ([name, value]) => ({
      name,
      in: "query",
      required: required.includes(name),
      schema: value,
    }),
  );
}
