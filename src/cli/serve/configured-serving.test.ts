import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test, vi } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";
import { countWords } from "../../../test/support/open-test-forge.ts";
import { connectStdio, startHttp } from "../../../test/support/serve-kitbag.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag serve shows each client what the configuration says for its name, and --exposure goes before it", async () => {
  const exposure = [
    { client: "narrow*", exposure: "dispatch" },
    { client: "*", exposure: "direct" },
  ];
  const project = createProject({ "kitbag.config.json": JSON.stringify({ serve: { exposure } }) });
  const { url } = await startHttp(project, ["--no-token", "--open", "forge"]);
  const flagged = await startHttp(project, ["--exposure", "both", "--no-token", "--open", "forge"]);

  const seen = {
    narrow: await listTools(url, "narrow-client"),
    other: await listTools(url, "other"),
    flagged: await listTools(flagged.url, "narrow-client"),
  };

  expect(seen.narrow).toContain("call_tool");
  expect(seen.narrow).not.toContain("forge__create_tool");
  expect(seen.other).toContain("forge__create_tool");
  expect(seen.other).not.toContain("call_tool");
  expect(seen.flagged).toEqual(expect.arrayContaining(["call_tool", "forge__create_tool"]));
});

test("kitbag serve makes tools live at once that ask for what the configuration's policy grants, and holds back the others", async () => {
  const forge = { policy: { permissions: { network: ["api.example.com"] } } };
  const project = createProject({ "kitbag.config.json": JSON.stringify({ forge }) });

  const untrusted = await runKitbag(["serve"], { project });
  await runKitbag(["trust", "."], { project });
  const { client } = await connectStdio(project, ["--open", "forge"]);
  const make = (name: string, host: string) =>
    client.callTool({
      name: "create_tool",
      arguments: { ...countWords, name, permissions: { network: [host] } },
    });
  const [granted, beyond] = [await make("within", "api.example.com"), await make("beyond", "evil.example")];

  expect([untrusted.code, untrusted.stderr]).toEqual([
    1,
    expect.stringContaining("or loosen limits, and is not trusted"),
  ]);
  expect(JSON.stringify(granted)).toContain('"live"');
  expect(JSON.stringify(beyond)).toContain("waiting");
});

async function listTools(url: string, name: string): Promise<readonly string[]> {
  const client = new Client({ name, version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  onTestFinished(() => client.close());
  return (await client.listTools()).tools.map((tool) => tool.name);
}
