import { toKitbagUri } from "./kitbag-uri.ts";
import { renderGuide } from "./render-guide.ts";
import type { ResourcePart } from "./resource-part.ts";

const uri = toKitbagUri("guide");
const mimeType = "text/markdown";

const guide = [
  {
    uri,
    name: "guide",
    title: "Guide",
    description: "What is here now, and how to use it: tools, skills, how to call a tool, how to open a skill",
    mimeType,
    annotations: { audience: ["user" as const, "assistant" as const], priority: 1 },
  },
];

/** The guide: written anew each time it is read. */
export const guideResource: ResourcePart = {
  kind: "guide",
  isFor: () => true,
  templates: [],
  list: () => guide,
  read: ({ name }, client) => (name === "" ? { contents: [{ uri, mimeType, text: renderGuide(client) }] } : undefined),
};
