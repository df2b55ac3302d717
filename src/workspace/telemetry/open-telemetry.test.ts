import { createWorkspace, defineTool, memoryStore } from "kitbag";
import { expect, test } from "vitest";

import { getOpenTelemetry, hasMeterProvider, hasTracerProvider } from "./tracing.ts";

test("call() does not load OpenTelemetry where nobody has registered a provider", async () => {
  const tool = defineTool({ name: "one", description: "Is one", input: { type: "object" }, run: () => 1 });
  const workspace = createWorkspace({ tools: [tool], store: memoryStore() });

  const outcome = await workspace.call(
    "one",
    {},
    { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
  );

  expect(outcome.status).toBe("ok");
  expect([hasTracerProvider(), hasMeterProvider()]).toEqual([false, false]);
  expect(getOpenTelemetry()).toBeUndefined();
});
