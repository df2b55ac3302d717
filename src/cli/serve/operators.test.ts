import { expect, test } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";
import { sharePostgres } from "../../../test/support/postgres.ts";
import { connectHttp, startHttp } from "../../../test/support/serve-kitbag.ts";

const getPostgres = sharePostgres();

const tools = `
import { defineTool } from "kitbag";
export default [defineTool({ name: "greet", description: "Greets", run: () => "Hello" })];
`;

const token = ["a", "made", "up", "token", "0123456789"].join("-");

test(
  "kitbag serve --http says at /readyz, and kitbag doctor says, that the store cannot be reached, without its address",
  { timeout: 120_000 },
  async (context) => {
    const postgres = await getPostgres(context);
    const env = { KITBAG_STORE: postgres.url };
    const project = createProject({ "tools.ts": tools });
    const healthy = await runKitbag(["doctor", "--json"], { project, env });
    const server = await startHttp(project, ["--module", "tools.ts", "--no-token"], env);
    const origin = new URL(server.url).origin;
    const ask = async (path: string): Promise<Response> => fetch(origin + path);

    expect(healthy.stdout).toContain(`"name": "store"`);
    expect((await ask("/readyz")).status).toBe(200);
    await postgres.crash();
    try {
      await expect.poll(async () => (await ask("/readyz")).status, { timeout: 20_000 }).toBe(503);
      expect(await (await ask("/readyz")).json()).toEqual({
        status: "unavailable",
        reason: "the store cannot be reached",
      });
      expect((await ask("/healthz")).status).toBe(200);
      const doctor = await runKitbag(["doctor", "--json"], { project, env });
      expect(doctor.code).toBe(1);
      expect(JSON.parse(doctor.stdout)).toMatchObject({
        healthy: false,
        checks: expect.arrayContaining([expect.objectContaining({ name: "store", status: "wrong" })]) as unknown,
      });
      expect(doctor.stdout + doctor.stderr).not.toContain(postgres.password);
    } finally {
      await postgres.start();
    }
    await expect.poll(async () => (await ask("/readyz")).status, { timeout: 20_000 }).toBe(200);
  },
);

test("kitbag serve --http --log info writes one line for each request to /mcp and /api", async () => {
  const project = createProject({ "tools.ts": tools });
  const server = await startHttp(project, ["--module", "tools.ts", "--token", token, "--log", "info"]);
  const origin = new URL(server.url).origin;
  const headers = { authorization: `Bearer ${token}`, "x-request-id": "from-the-edge" };
  const lines = (): readonly Record<string, unknown>[] =>
    server
      .stderr()
      .split("\n")
      .filter((line) => line.includes('"message":"request"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  const call = await fetch(`${origin}/api/tools/greet/call?secret=hunter2`, { method: "POST", headers });
  await fetch(`${origin}/api/nothing/${"x".repeat(20)}`, { headers });
  await fetch(`${origin}/api/tools`);
  await Promise.all([fetch(`${origin}/healthz`), fetch(`${origin}/readyz`)]);
  const client = await connectHttp(server.url, token);
  await client.callTool({ name: "greet" });
  await expect.poll(() => lines().length, { timeout: 10_000 }).toBeGreaterThan(4);

  expect(call.headers.get("x-request-id")).toBe("from-the-edge");
  const [called, unknown, refused, ...rest] = lines();
  const time = { ms: expect.any(Number) as number, time: expect.any(String) as string, level: "info" };
  expect(called).toEqual({
    ...time,
    message: "request",
    method: "POST",
    path: "/api/tools/{address+}/call",
    status: 200,
    user: expect.any(String) as string,
    request: "from-the-edge",
  });
  expect(unknown).toMatchObject({ path: "/api/*", status: 404 });
  expect(refused).toMatchObject({ path: "/api/tools", status: 401 });
  expect(refused).not.toHaveProperty("user");
  expect(refused?.["request"]).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/u);
  expect(rest.every(({ path }) => path === "/mcp")).toBe(true);
  expect(server.stderr()).not.toContain("hunter2");
});

test("kitbag serve --http counts calls, requests and tokens of models at /metrics", async () => {
  const server = await startHttp(createProject({ "tools.ts": tools }), ["--module", "tools.ts", "--token", token]);
  const origin = new URL(server.url).origin;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const post = async (path: string, body: object): Promise<Response> =>
    fetch(origin + path, { method: "POST", headers, body: JSON.stringify(body) });
  const read = async (): Promise<string> => (await fetch(`${origin}/metrics`, { headers })).text();

  await post("/api/tools/greet/call", {});
  await post("/api/agents/default/runs", { task: "Say hello" });
  await expect
    .poll(read, { timeout: 20_000 })
    .toMatch(/^kitbag_model_tokens_total\{model="[^"]+",kind="input"\} \d+$/mu);
  const text = await read();
  const closed = await fetch(`${origin}/metrics`);

  expect(text).toContain('kitbag_calls_total{tool="greet"} 1\n');
  expect(text).toMatch(/^kitbag_user_calls_total\{user="[^"]+"\} 1$/mu);
  expect(text).toContain(
    'kitbag_http_requests_total{method="POST",path="/api/tools/{address+}/call",status="200"} 1\n',
  );
  expect(closed.status).toBe(401);
});
