import { expect, test } from "vitest";

import { echoRoute, madeUpToken, openTestGate, until } from "../../../test/support/test-gate.ts";
import { defineTool } from "../../core/define-tool.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { createMetricsRoute } from "./metrics-route.ts";

const add = defineTool({ name: "add", description: "Adds", run: (_, { spend }) => spend(0.25) });
const fail = defineTool({
  name: "fail",
  description: "Fails",
  run: () => {
    throw new Error("no");
  },
});

test("/metrics has calls, errors, times, costs, requests and sessions, as Prometheus reads them", async () => {
  const { workspace, read, gate } = await serve();
  await workspace.call("add", {}, { user: "ann" });
  await workspace.call("add", {}, { user: "bob" });
  await workspace.call("fail", {}, { user: "ann" });
  await workspace.call("missing", {});
  await fetch(`${gate.url}/echo`);
  await read();

  const { series, types } = await read();

  expect(series).toMatchObject({
    'kitbag_calls_total{tool="add"}': 2,
    'kitbag_calls_total{tool="fail"}': 1,
    'kitbag_calls_total{tool="(unknown)"}': 1,
    'kitbag_call_errors_total{tool="add"}': 0,
    'kitbag_call_errors_total{tool="fail"}': 1,
    'kitbag_call_failures_total{code="tool-failed"}': 1,
    'kitbag_call_failures_total{code="tool-not-found"}': 1,
    'kitbag_call_duration_seconds_count{tool="add"}': 2,
    'kitbag_call_duration_seconds_bucket{tool="add",le="+Inf"}': 2,
    'kitbag_call_cost_dollars_total{tool="add"}': 0.5,
    'kitbag_user_calls_total{user="ann"}': 2,
    'kitbag_user_call_errors_total{user="ann"}': 1,
    'kitbag_user_calls_total{user="bob"}': 1,
    kitbag_call_queue_seconds_count: 0,
    kitbag_calls_running: 0,
    kitbag_calls_waiting: 0,
    kitbag_sessions: 3,
    'kitbag_http_requests_total{method="GET",path="/metrics",status="200"}': 1,
    'kitbag_http_requests_total{method="GET",path="/echo",status="401"}': 1,
    'kitbag_model_tokens_total{model="local/echo",kind="input"}': 10,
    'kitbag_model_cost_dollars_total{model="local/echo"}': 0.5,
  });
  expect(series["kitbag_cpu_seconds_total"]).toBeGreaterThan(0);
  expect(types).toMatchObject({
    kitbag_calls_total: "counter",
    kitbag_call_duration_seconds: "histogram",
    kitbag_calls_running: "gauge",
  });
});

test("/metrics has steps of a histogram that rise up to the count", async () => {
  const { workspace, read } = await serve();
  await Promise.all(Array.from({ length: 20 }, () => workspace.call("add", {})));

  const { series } = await read();

  const steps = Object.entries(series).flatMap(([name, value]) =>
    name.startsWith('kitbag_call_duration_seconds_bucket{tool="add"') ? [value] : [],
  );
  expect(steps).toHaveLength(11);
  expect(steps).toEqual(steps.toSorted((one, other) => one - other));
  expect(steps.at(-1)).toBe(20);
  expect(series['kitbag_call_duration_seconds_sum{tool="add"}']).toBeGreaterThan(0);
});

test("/metrics says how many calls run and wait now", async () => {
  const held = Promise.withResolvers<void>();
  const slow = defineTool({
    name: "slow",
    description: "Waits",
    limits: { maxConcurrent: 1 },
    run: () => held.promise,
  });
  const { workspace, read } = await serve();
  workspace.add(slow);
  const calls = Promise.all([1, 2, 3].map(() => workspace.call("slow", {})));
  await until(() => workspace.stats().waiting === 2);

  const during = await read();
  held.resolve();
  await calls;
  const after = await read();

  expect(during.series).toMatchObject({ kitbag_calls_running: 1, kitbag_calls_waiting: 2 });
  expect(after.series).toMatchObject({ kitbag_calls_running: 0, kitbag_calls_waiting: 0 });
});

test("/metrics needs a token with the scope service", async () => {
  const { gate } = await serve();
  const ask = async (token: string | undefined, method = "GET"): Promise<Response> =>
    fetch(`${gate.url}/metrics`, { method, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });

  const answers = await Promise.all([
    ask(undefined),
    ask(narrowToken),
    ask(madeUpToken, "POST"),
    ask(madeUpToken, "HEAD"),
  ]);

  expect(answers.map(({ status }) => status)).toEqual([401, 403, 405, 200]);
  expect(answers[1]?.headers.get("www-authenticate")).toContain('scope="service"');
  expect(await answers[3]?.text()).toBe("");
});

test("/metrics stays readable and small whatever users, tools and clients are called", async () => {
  const { workspace, read, gate } = await serve();
  const names = ['a"b', "line\nbreak", "back\\slash", "\u{202e}\ud800", "x".repeat(5000)];
  for (const user of names) await workspace.call("add", {}, { user });
  for (let index = 0; index < 1100; index += 1) await workspace.call("add", {}, { user: `user-${index}` });
  for (let index = 0; index < 150; index += 1) await fetch(`${gate.url}/nothing-${index}`);

  const { series, lines } = await read();

  const users = Object.keys(series).filter((name) => name.startsWith("kitbag_user_calls_total"));
  expect(users).toHaveLength(1001);
  expect(users).toContain('kitbag_user_calls_total{user="(others)"}');
  expect(users).toContain('kitbag_user_calls_total{user="a\\"b"}');
  expect(users).toContain('kitbag_user_calls_total{user="line\\nbreak"}');
  expect(users).toContain('kitbag_user_calls_total{user="back\\\\slash"}');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(400);
  const requests = Object.keys(series).filter((name) => name.startsWith("kitbag_http_requests_total"));
  expect(requests).toEqual(['kitbag_http_requests_total{method="GET",path="(none)",status="404"}']);
});

const narrowToken = ["a", "narrow", "token", "0123456789"].join("-");

interface Read {
  readonly series: Readonly<Record<string, number>>;
  readonly types: Readonly<Record<string, string>>;
  readonly lines: readonly string[];
}

async function serve() {
  const workspace = createWorkspace({ tools: [add, fail] });
  const metrics = createMetricsRoute({ workspace, countSessions: () => 3 });
  metrics.addAnswer({ model: "local/echo", inputTokens: 10, outputTokens: 2, costUsd: 0.5 });
  const gate = await openTestGate({
    routes: [echoRoute, metrics],
    tokens: [
      { token: madeUpToken, id: "admin" },
      { token: narrowToken, id: "narrow", scopes: ["tools"] },
    ],
    onRequestEnd: metrics.addRequest,
  });
  const read = async (): Promise<Read> => {
    const answer = await fetch(`${gate.url}/metrics`, { headers: { authorization: `Bearer ${madeUpToken}` } });
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    return parse(await answer.text());
  };
  return { workspace, gate, read };
}

const samplePattern = /^([a-z_]+(?:\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*\})?) (\S+)$/u;

/** Reads the text as Prometheus does: a line that is no sample and no comment, or a series that comes twice, fails the test. */
function parse(text: string): Read {
  expect(text.endsWith("\n")).toBe(true);
  const lines = text.slice(0, -1).split("\n");
  const types: Record<string, string> = {};
  const series: Record<string, number> = {};
  for (const line of lines) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/u.exec(line) ?? [];
    if (name !== undefined) types[name] = type ?? "";
    if (line.startsWith("# ")) continue;
    const [, sample = `no sample: ${line}`, value] = samplePattern.exec(line) ?? [];
    expect(Number(value), line).not.toBeNaN();
    expect(series, line).not.toHaveProperty([sample]);
    series[sample] = Number(value);
  }
  return { series, types, lines };
}
