import { completeToolArgument, pickValues } from "../completions/argument-values.ts";
import { createDispatchView } from "../../../workspace/dispatch/dispatch-view.ts";
import { toKitbagUri } from "./kitbag-uri.ts";
import type { ResourcePart } from "./resource-part.ts";

const mimeType = "application/json";

/**
 * Values for the arguments of tools: the protocol completes arguments of prompts and templates only, so there is a template whose
 * last variable is the value of an argument.
 */
export const valueResources: ResourcePart = {
  kind: "values",
  isFor: () => true,
  templates: [
    {
      name: "values",
      title: "Values for an argument of a tool",
      uriTemplate: "kitbag://values/{tool}/{argument}{?value}",
      description: "Values for one argument of a tool: those that its schema names, paths, and those you gave before",
      mimeType,
    },
  ],
  list: () => [],
  async read({ name, query }, client) {
    const end = name.lastIndexOf("/");
    const entry = end > 0 ? createDispatchView(client.session).getTool(name.slice(0, end)) : undefined;
    if (entry === undefined) return undefined;
    const argument = name.slice(end + 1);
    const typed = query.get("value") ?? "";
    const picked = pickValues(await completeToolArgument(client, entry, argument, typed), typed);
    const text = JSON.stringify({ tool: entry.address, argument, ...picked });
    return { contents: [{ uri: toKitbagUri("values", name), mimeType, text }] };
  },
};
