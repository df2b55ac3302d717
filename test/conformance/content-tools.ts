import { setTimeout as sleep } from "node:timers/promises";

import { defineTool, type Tool } from "kitbag";

/** One red pixel. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** A WAV file without a sound. */
const silence = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const image = { type: "image", data: pixel, mimeType: "image/png" } as const;

const schema2020 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** The tools of the suite that only answer: with text, pictures, sound, resources, notices and errors. */
export const contentTools: readonly Tool[] = [
  answer("test_simple_text", "This is a simple text response for testing."),
  answer("test_image_content", { $content: [image] }),
  answer("test_audio_content", { $content: [{ type: "audio", data: silence, mimeType: "audio/wav" }] }),
  answer("test_embedded_resource", {
    $content: [embed("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  }),
  answer("test_multiple_content_types", {
    $content: [
      { type: "text", text: "Multiple content types test:" },
      image,
      embed("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  }),
  defineTool({
    name: "test_tool_with_logging",
    description: "Logs three lines",
    async run(_input, { log }) {
      log("Tool execution started");
      await sleep(50);
      log("Tool processing data");
      await sleep(50);
      log("Tool execution completed");
      return "Logged";
    },
  }),
  defineTool({
    name: "test_logging_tool",
    description: "Logs a line",
    run(_input, { log }) {
      log("A line");
      return "Logged";
    },
  }),
  defineTool({
    name: "test_tool_with_progress",
    description: "Tells how far it is, three times",
    async run(_input, { progress }) {
      for (const done of [0, 50, 100]) {
        progress({ done, total: 100 });
        await sleep(50);
      }
      return "Done";
    },
  }),
  defineTool({
    name: "test_error_handling",
    description: "Fails",
    run() {
      throw new Error("This tool intentionally returns an error for testing");
    },
  }),
  defineTool({
    name: "json_schema_2020_12_tool",
    description: "Tool with JSON Schema 2020-12 features",
    input: schema2020,
    run: (input) => input,
  }),
  defineTool({
    name: "test_headers",
    description: "Has an argument that a header repeats",
    input: {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
      required: ["region"],
    },
    run: ({ region }) => region ?? null,
  }),
];

function answer(name: string, output: unknown): Tool {
  return defineTool({ name, description: `Answers as the suite wants: ${name}`, run: () => output });
}

function embed(uri: string, mimeType: string, text: string): object {
  return { type: "resource", resource: { uri, mimeType, text } };
}
