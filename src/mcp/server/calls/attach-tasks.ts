import {
  ProtocolError,
  ProtocolErrorCode,
  type McpServer,
  type Result,
  type ServerContext,
} from "@modelcontextprotocol/server";

import { isRecord } from "../../../core/json.ts";
import type { ToolClient } from "../client.ts";
import { refuseWithoutTasks, tasksExtension } from "./ask-client.ts";
import { knowsTasks, type Tasks } from "./tasks.ts";

type Params = Readonly<Record<string, unknown>>;

/** Serves the tasks of a client of 2026. Before the server is connected. */
export function attachTasks({ server }: McpServer, client: ToolClient, tasks: Tasks): void {
  if (client.generation !== "2026") return;
  server.registerCapabilities({ extensions: { [tasksExtension]: {} } });

  function serve(method: string, answer: (id: string, context: ServerContext) => Result): void {
    server.setRequestHandler(method, { params: anyParams }, (params, context: ServerContext) => {
      client.see(context);
      if (!knowsTasks(client, client.capabilities(context))) throw refuseWithoutTasks(`answer ${method}`);
      const { taskId } = params;
      if (typeof taskId === "string") return answer(taskId, context);
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Cannot answer ${method}: taskId must be a text`);
    });
  }

  serve("tasks/get", (id) => tasks.get(id, client));
  serve("tasks/cancel", (id) => {
    tasks.cancel(id, client);
    return {};
  });
  serve("tasks/update", (id, { mcpReq: { inputResponses } }) => {
    // The SDK takes the answers out of the parameters, as it does for every method.
    if (!isRecord(inputResponses)) {
      const message = "Cannot answer tasks/update: inputResponses must be an object";
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    tasks.answer(id, client, inputResponses);
    return {};
  });
}

/** The SDK wants a schema for methods that it does not know. Each handler checks what it takes. */
const anyParams = {
  "~standard": {
    version: 1,
    vendor: "kitbag",
    validate: (value: unknown) => ({ value: isRecord(value) ? value : {} }),
    types: undefined as unknown as { readonly input: unknown; readonly output: Params },
  },
} as const;
