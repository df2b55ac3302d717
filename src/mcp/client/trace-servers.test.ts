import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { createWorkspace, defineTool } from "kitbag";
import { createMcpServer, openGate, openMcpServers } from "kitbag/mcp";
import { openRuntimes } from "kitbag/runtimes";
import { expect, onTestFinished, test, vi } from "vitest";

import { makeDirectory } from "../../../test/support/mcp-sources.ts";
import { startTraceCollector } from "../../../test/support/trace-collector.ts";

vi.setConfig({ testTimeout: 60_000 });

test("a call of a tool of another server is one trace: the server's spans are inside the caller's", async () => {
  const collector = await startTraceCollector();
  onTestFinished(() => collector.close());
  const [here, there] = [createProvider(collector.url), createProvider(collector.url)];
  const far = await serveFar(there);
  const directory = makeDirectory();
  const runtimes = openRuntimes({ directory, home: directory, warm: false });
  onTestFinished(() => runtimes.close());
  const workspace = createWorkspace({ runtimes, telemetry: { tracerProvider: here } });
  await openMcpServers(workspace, { far }, { runtimes, directory, home: directory, accept: () => true });

  const outcome = await workspace.call("far/hello", {});
  await Promise.all([here.forceFlush(), there.forceFlush()]);

  expect(outcome).toEqual({ status: "ok", output: "Hello!" });
  const spans = collector.spans();
  const find = (name: string) => spans.find((span) => span.name === name);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(find("execute_tool hello")?.parentSpanId).toBe(find("run mcp")?.spanId);
  expect(find("run mcp")?.parentSpanId).toBe(find("execute_tool far/hello")?.spanId);
});

function createProvider(url: string): TracerProvider {
  return new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
  });
}

async function serveFar(tracerProvider: TracerProvider): Promise<{ readonly url: string }> {
  const hello = defineTool({ name: "hello", description: "Says hello", run: () => "Hello!" });
  const workspace = createWorkspace({ tools: [hello], telemetry: { tracerProvider } });
  const server = createMcpServer({ workspace, exposure: "direct" });
  const gate = await openGate({ routes: [server.route()] });
  onTestFinished(async () => {
    await gate.close();
    await server.close();
  });
  return { url: `${gate.url}/mcp` };
}
