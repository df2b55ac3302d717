import { SUBSCRIPTION_ID_META_KEY, type JSONRPCNotification } from "@modelcontextprotocol/server";

import { isRecord } from "../../../core/json.ts";
import type { ToolClient } from "../client.ts";
import { refuseWithoutTasks } from "./ask-client.ts";
import { knowsTasks, type Tasks } from "./tasks.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A client that listens to tasks. The SDK, which knows nothing of tasks, answers the rest of its request. */
export interface TaskListen {
  /** The request as the SDK gets it. */
  readonly body: unknown;
  /** Makes the SDK's acknowledgement name the tasks, and gives `tell` a notification for each of them now, and for each later change. */
  acknowledge(message: JSONRPCNotification, tell: (notification: JSONRPCNotification) => void): JSONRPCNotification;
  end(): void;
}

/** No resource has this URI. The SDK keeps a stream open only while something that it knows is listened to. */
const keepsOpen = "kitbag://tasks";

/** So many tasks can be named in one request. */
const mostTasks = 100;

/**
 * Reads which tasks a request to listen names. `undefined` if the client may read no task of them.
 *
 * @throws {MissingRequiredClientCapabilityError} if it names tasks and does not declare the extension.
 */
export function listenToTasks(body: unknown, client: ToolClient, tasks: Tasks): TaskListen | undefined {
  const { id, params } = toFields(body);
  const { notifications, _meta } = toFields(params);
  const { taskIds, resourceSubscriptions = [], ...others } = toFields(notifications);
  if (!Array.isArray(taskIds) || !Array.isArray(resourceSubscriptions)) return undefined;
  const capabilities = client.capabilities({ mcpReq: { envelope: toFields(_meta) } });
  if (!knowsTasks(client, capabilities)) throw refuseWithoutTasks("tell of tasks");
  const known = new Set<unknown>(taskIds.slice(0, mostTasks));
  const ids = [...known].filter((one) => typeof one === "string" && tasks.has(one, client)) as string[];
  if (ids.length === 0) return undefined;
  const filter = { ...others, resourceSubscriptions: [...(resourceSubscriptions as unknown[]), keepsOpen] };
  let end = (): void => {};
  return {
    body: { ...toFields(body), params: { ...toFields(params), notifications: filter } },
    acknowledge(message, tell) {
      end = tasks.follow(ids, client, (task) =>
        tell({
          jsonrpc: "2.0",
          method: "notifications/tasks",
          params: { ...task, _meta: { [SUBSCRIPTION_ID_META_KEY]: id } },
        }),
      );
      return nameTasks(message, ids);
    },
    end: () => end(),
  };
}

function nameTasks(message: JSONRPCNotification, taskIds: readonly string[]): JSONRPCNotification {
  const { resourceSubscriptions, ...others } = toFields(message.params?.["notifications"]);
  const uris = Array.isArray(resourceSubscriptions) ? resourceSubscriptions.filter((uri) => uri !== keepsOpen) : [];
  const resources = uris.length > 0 ? { resourceSubscriptions: uris as unknown[] } : {};
  return { ...message, params: { ...message.params, notifications: { ...others, ...resources, taskIds } } };
}

function toFields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
