import { createWorkspace, defineTool } from "kitbag";
import { createAgent } from "kitbag/agent";
import { expect, test } from "vitest";
import { z } from "zod";

import type { ReceivedRequest } from "../support/model-server.ts";
import { providers, resolveProvider } from "./providers.ts";

const turns = 30;

test.for(providers)("$name takes every conversation that memory has made shorter", async (provider) => {
  let count = 0;
  const { server, model } = await resolveProvider(provider, () => {
    count += 1;
    if (count > turns) return { text: "I have read it." };
    const calls = [1, 2].map((half) => ({
      id: `call_${count}_${half}`,
      name: "read",
      input: { page: count * 2 + half },
    }));
    const reasoning = { text: `I think about page ${count}.`, signature: `signature-${count}` };
    return { reasoning, text: `Page ${count}.`, calls };
  });
  const read = defineTool({
    name: "read",
    description: "Reads a page",
    input: z.object({ page: z.number() }),
    run: ({ page }) => `Page ${page} says ${"this and that and ".repeat(8)}`,
  });
  const workspace = createWorkspace({ tools: [read] });
  const agent = createAgent({ model, workspace, memory: { maxTokens: 1200, maxMessages: 24 }, retries: false });
  let compactions = 0;

  const result = await agent.run("Read the book", {
    onEvent: ({ type }) => (compactions += type === "memory-compacted" ? 1 : 0),
  }).result;

  expect(result).toMatchObject({ status: "ok", text: "I have read it.", steps: turns + 1 });
  expect(compactions).toBeGreaterThan(2);
  expect(server.requests).toHaveLength(turns + 1);
  for (const request of server.requests) {
    expect(JSON.stringify(request.body)).toContain("Read the book");
    expect(JSON.stringify(request.body)).not.toContain('"kitbag"');
    expect(speakers(request).filter((role, index, all) => role === all[index + 1])).toEqual([]);
  }
});

/** Who speaks in the messages of a request, as far as it has any: results are between those who speak. */
function speakers({ body }: ReceivedRequest): readonly string[] {
  const list = (body["messages"] ?? body["contents"] ?? []) as readonly { readonly role: string }[];
  return list.map(({ role }, index) => (role === "tool" ? `result ${index}` : role));
}
