import { acceptedContent, inputRequired, type GetPromptResult, type Prompt } from "@modelcontextprotocol/server";
import type { McpPromptSource, McpResourceSource } from "kitbag/mcp";

import { pixel } from "./content-tools.ts";

const template = /^test:\/\/template\/([^/]+)\/data$/u;

/** The resources of the suite. */
export const resources: McpResourceSource = {
  list: () => [
    { uri: "test://static-text", name: "static-text", mimeType: "text/plain" },
    { uri: "test://static-binary", name: "static-binary", mimeType: "image/png" },
    { uri: "test://watched-resource", name: "watched-resource", mimeType: "text/plain" },
  ],
  templates: () => [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }],
  async read(uri) {
    const [, id] = template.exec(uri) ?? [];
    if (id !== undefined) {
      const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri, mimeType: "application/json", text }] };
    }
    switch (uri) {
      case "test://static-text":
        return {
          contents: [{ uri, mimeType: "text/plain", text: "This is the content of the static text resource." }],
        };
      case "test://static-binary":
        return { contents: [{ uri, mimeType: "image/png", blob: pixel }] };
      case "test://watched-resource":
        return { contents: [{ uri, mimeType: "text/plain", text: "Watched" }] };
      default:
        return undefined;
    }
  },
};

const argument = (name: string): { name: string; required: true } => ({ name, required: true });

const list: readonly Prompt[] = [
  { name: "test_simple_prompt", description: "Says one thing" },
  {
    name: "test_prompt_with_arguments",
    description: "Says two things",
    arguments: [argument("arg1"), argument("arg2")],
  },
  { name: "test_prompt_with_embedded_resource", description: "Embeds", arguments: [argument("resourceUri")] },
  { name: "test_prompt_with_image", description: "Shows" },
  { name: "test_input_required_result_prompt", description: "Asks first" },
];

/** The prompts of the suite. `isLonger` is for the tool that changes their list. */
export function createPrompts(isLonger: () => boolean): McpPromptSource {
  return {
    list: () => (isLonger() ? [...list, { name: "test_late_prompt", description: "Comes and goes" }] : list),
    complete: async (name, { value }) =>
      name === "test_prompt_with_arguments"
        ? ["paris", "park", "party"].filter((one) => one.startsWith(value))
        : undefined,
    async get(name, values, { mcpReq }) {
      switch (name) {
        case "test_simple_prompt":
          return say({ type: "text", text: "This is a simple prompt for testing." });
        case "test_prompt_with_arguments":
          return say({
            type: "text",
            text: `Prompt with arguments: arg1='${values["arg1"]}', arg2='${values["arg2"]}'`,
          });
        case "test_prompt_with_embedded_resource": {
          const text = "Embedded resource content for testing.";
          const resource = { uri: values["resourceUri"] ?? "", mimeType: "text/plain", text };
          return say(
            { type: "resource", resource },
            { type: "text", text: "Please process the embedded resource above." },
          );
        }
        case "test_prompt_with_image":
          return say(
            { type: "image", data: pixel, mimeType: "image/png" },
            { type: "text", text: "Please analyze the image above." },
          );
        case "test_input_required_result_prompt": {
          const given = acceptedContent(mcpReq.inputResponses, "user_context");
          return given === undefined ? askContext() : say({ type: "text", text: JSON.stringify(given) });
        }
        default:
          return undefined;
      }
    },
  };
}

function say(...contents: GetPromptResult["messages"][number]["content"][]): GetPromptResult {
  return { messages: contents.map((content) => ({ role: "user", content })) };
}

function askContext(): ReturnType<typeof inputRequired> {
  const requestedSchema = {
    type: "object" as const,
    properties: { context: { type: "string" as const } },
    required: ["context"],
  };
  const message = "What context should the prompt use?";
  return inputRequired({ inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema }) } });
}
