import { toVisibleText } from "../../../core/hidden-characters.ts";
import type { Resource } from "@modelcontextprotocol/server";

import { createDispatchView } from "../../../workspace/dispatch/dispatch-view.ts";
import { firstLine } from "../../../workspace/dispatch/tool-dispatch.ts";
import type { RegisteredTool } from "../../../workspace/registry/registered-tool.ts";
import type { ServedClient } from "../client.ts";
import { toKitbagUri } from "./kitbag-uri.ts";
import { compareTexts } from "./page-items.ts";
import type { ResourcePart } from "./resource-part.ts";
import { findShownTools } from "../shown-tools.ts";

const mimeType = "application/json";

/** What is made of a list of tools is kept as long as the list is. */
const listed = new WeakMap<readonly RegisteredTool[], readonly Resource[]>();

/** The tools: those that are available are listed, and every one that a model may know of can be read. */
export const toolResources: ResourcePart = {
  kind: "tools",
  isFor: () => true,
  templates: [
    {
      name: "tool",
      title: "Tool",
      uriTemplate: "kitbag://tools/{address}",
      description: "All about one tool: what it takes and gives, examples, and how to call it",
      mimeType,
    },
  ],
  list({ session }) {
    const tools = session.getAvailableTools();
    const known = listed.get(tools);
    if (known !== undefined) return known;
    const resources = tools.map(toResource).toSorted((left, right) => compareTexts(left.uri, right.uri));
    listed.set(tools, resources);
    return resources;
  },
  read({ name }, client) {
    const entry = createDispatchView(client.session).getTool(name);
    if (entry === undefined) return undefined;
    const uri = toKitbagUri("tools", entry.address);
    const text = JSON.stringify(describeTool(entry, client), undefined, 2);
    return { contents: [{ uri, mimeType, text }], ttlMs: 5000 };
  },
};

function toResource({ address, tool }: RegisteredTool): Resource {
  const { title, description } = tool;
  return {
    uri: toKitbagUri("tools", address),
    name: address,
    ...(title !== undefined && { title: toVisibleText(title) }),
    description: toVisibleText(firstLine(description)),
    mimeType,
  };
}

function describeTool(entry: RegisteredTool, client: ServedClient): object {
  const { address, wireName, source, owner, tool } = entry;
  const { title, description, version, inputSchema, outputSchema, annotations, needsApproval, examples } = tool;
  const available = client.session.isToolAvailable(address);
  return {
    name: wireName,
    address,
    ...(title !== undefined && { title }),
    description,
    ...(version !== undefined && { version }),
    available,
    ...(source === "skill" && { skill: owner }),
    ...(needsApproval && { needsApproval }),
    annotations,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    examples,
    howToCall: describeCall(entry, available, findShownTools(client)),
  };
}

function describeCall(
  { wireName, source, owner }: RegisteredTool,
  available: boolean,
  shown: ReadonlySet<string>,
): string {
  if (!available) {
    const cure = shown.has("activate_skill") ? ` with activate_skill({ "name": "${owner}" })` : "";
    return source === "skill"
      ? `Open the skill "${owner}" first${cure}`
      : "It cannot be called now: it failed too often";
  }
  const byName = shown.has(wireName) ? [`Call ${wireName}`] : [];
  const byDispatch = shown.has("call_tool") ? [`call_tool({ "name": "${wireName}", "input": { … } })`] : [];
  return [...byName, ...byDispatch].join(", or ") || "It cannot be called from here";
}
