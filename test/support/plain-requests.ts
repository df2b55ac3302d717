import { defineTool } from "../../src/core/define-tool.ts";
import { KitbagError } from "../../src/core/errors.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";

/** A workspace with tools that answer in every way that plain requests can be answered. */
export function createPlainWorkspace(): Workspace {
  const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  return createWorkspace({
    tools: [
      defineTool({ name: "echo", description: "Echoes", input, run: ({ text }) => text }),
      defineTool({ name: "count", description: "Counts", output: { type: "integer" }, run: () => 3 }),
      defineTool({ name: "list", description: "Lists", output: { type: "object" }, run: () => ({ a: [1, null] }) }),
      defineTool({ name: "nothing", description: "Gives nothing", run: () => null }),
      defineTool({ name: "large", description: "Gives much", run: () => "x".repeat(200_000) }),
      defineTool({
        name: "picture",
        description: "Gives a picture",
        run: () => ({ $content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }),
      }),
      defineTool({
        name: "fail",
        description: "Fails",
        run() {
          throw new Error("no");
        },
      }),
      defineTool({
        name: "call_through",
        description: "Fails as what it calls fails",
        async run(_input, { call }) {
          const outcome = await call("none");
          if (outcome.status === "failed") throw new KitbagError(outcome.error.code, outcome.error.details);
          return outcome.output;
        },
      }),
      defineTool({ name: "risky", description: "Needs a yes", needsApproval: true, run: () => 1 }),
      defineTool({
        name: "repeated",
        description: "Has its argument in a header",
        input: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
        run: () => "there",
      }),
    ],
  });
}

/** Requests that need nothing but an answer. */
export const plainRequests: readonly (readonly [method: string, params: object])[] = [
  ["tools/list", {}],
  ["tools/call", { name: "echo", arguments: { text: "hi" } }],
  ["tools/call", { name: "echo", arguments: { text: "“€” \u2028 \ud800 </script>" } }],
  ["tools/call", { name: "echo", arguments: { txet: "hi" } }],
  ["tools/call", { name: "echo", arguments: { text: 1 } }],
  ["tools/call", { name: "echo" }],
  ["tools/call", { name: "count", arguments: {} }],
  ["tools/call", { name: "list" }],
  ["tools/call", { name: "nothing" }],
  ["tools/call", { name: "picture" }],
  ["tools/call", { name: "fail" }],
  ["tools/call", { name: "search_tools", arguments: { query: "echo" } }],
  ["tools/call", { name: "call_tool", arguments: { name: "echo", input: { text: "hi" } } }],
  ["tools/call", { name: "call_tool", arguments: { name: "count" } }],
  ["tools/call", { name: "call_tool", arguments: { name: "list", version: "1.0.0" } }],
  ["tools/call", { name: "call_tool", arguments: { name: ["list"] } }],
  ["tools/call", { name: "call_tools", arguments: { calls: [] } }],
  [
    "tools/call",
    { name: "call_tools", arguments: { calls: [{ name: "count" }, { name: "risky" }, { name: "none" }] } },
  ],
  ["tools/call", { name: "call_through" }],
  ["tools/call", { name: "list_skills" }],
];
