import { expect, onTestFinished, test, vi } from "vitest";

import { makeImage } from "../../../test/support/make-image.ts";
import { startModelServer, type Script } from "../../../test/support/model-server.ts";
import { defineTool } from "../../core/define-tool.ts";
import { auto } from "../../models/route/auto.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { AgentOptions } from "../agent-options.ts";
import { createAgent } from "../create-agent.ts";

const look = defineTool({ name: "look", description: "Looks", needsApproval: true, run: () => "seen" });

test("a run with auto() asks the model that suits it best, of the providers whose key is set", async () => {
  const { agent, asked } = await start([{ text: "one" }, { text: "two" }], { model: auto({ prefer: "cost" }) });

  await agent.run("Hello").result;
  // Too long for the models that read 400,000 tokens.
  await agent.run(`Sum this up: ${"many words ".repeat(150_000)}`).result;

  expect(asked()).toEqual(["gpt-5-nano", "gpt-4.1-nano"]);
});

test("a run with auto() needs what the run needs: images, a schema, and a price within its budget", async () => {
  const { agent, asked } = await start([{ text: "{}" }, { text: "x" }, { text: "x" }], {
    model: auto({
      prefer: "quality",
      available: ["openai/gpt-5-chat-latest", "openai/gpt-6.1-sol", "openai/gpt-6-luna"],
    }),
  });
  const image = await makeImage("png");

  await agent.run("Hello", { output: { type: "object" } }).result;
  await agent.run("What is this?", { images: [image] }).result;
  await agent.run("Hello", { limits: { maxCost: 0.5 } }).result;
  const poor = await agent.run("Hello", { limits: { maxCost: 0.000_001 } }).result;

  expect(asked()).toEqual(["gpt-6.1-sol", "gpt-6.1-sol", "gpt-6-luna"]);
  expect(poor).toMatchObject({ status: "failed", error: { code: "model-unmatched" } });
});

test("a run with auto() that is resumed keeps its model, or is given another one if the first is gone", async () => {
  const calls = [{ id: "call_1", name: "look", input: {} }];
  const store = memoryStore();
  const reply = ({ results }: { readonly results: readonly unknown[] }) =>
    results.length === 0 ? { calls } : { text: "Done" };
  const first = await start(reply, { store, model: auto({ prefer: "cost" }) });
  const paused = [await first.agent.run("Look", { id: "a" }).result, await first.agent.run("Look", { id: "b" }).result];
  expect(paused).toMatchObject([{ status: "paused" }, { status: "paused" }]);

  // What is chosen for a new run is another one now.
  const options = { store, model: auto({ prefer: "quality" }), approve: () => ({ decision: "approve" as const }) };
  const second = await start(reply, options);
  const kept = await second.agent.resume("a").result;
  vi.stubEnv("OPENAI_API_KEY", "");
  const third = await start(reply, options, "anthropic");
  const other = await third.agent.resume("b").result;

  expect([kept.status, other.status]).toEqual(["ok", "ok"]);
  expect(second.asked()).toEqual(["gpt-5-nano"]);
  expect(third.asked()).toEqual(["claude-opus-5-5"]);
});

test("auto() says which need no model can meet", async () => {
  const { agent } = await start([], { model: auto({ context: 9_000_000 }) });

  expect(await agent.run("Hello").result).toMatchObject({
    status: "failed",
    error: { code: "model-unmatched", details: { need: expect.stringContaining("9000000") as string } },
  });
});

/** An agent, and a server that answers for one provider: its key alone is set. */
async function start(
  script: Script,
  options: Omit<AgentOptions, "workspace">,
  provider: "anthropic" | "openai" = "openai",
) {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"])
    vi.stubEnv(name, "");
  const name = provider.toUpperCase();
  vi.stubEnv(`${name}_API_KEY`, server.key);
  vi.stubEnv(`${name}_BASE_URL`, server.url(provider === "openai" ? "openai-responses" : "anthropic"));
  const agent = createAgent({ ...options, workspace: createWorkspace({ tools: [look] }) });
  return { agent, asked: () => server.requests.map(({ body }) => body["model"]) };
}
