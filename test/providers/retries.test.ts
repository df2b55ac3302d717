import { inspect } from "node:util";

import { expect, test } from "vitest";

import type { ModelPart } from "../../src/models/model.ts";
import { resolveModel } from "../../src/models/resolve/resolve-model.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { withRetries } from "../../src/models/retry/with-retries.ts";
import type { ScriptedFault, ScriptedReply } from "../support/model-server-answer.ts";
import { collect, say, wayNames, ways } from "./conversation.ts";
import { providers, resolveProvider } from "./providers.ts";

const table = providers.flatMap((provider) => wayNames.map((way) => ({ ...provider, way })));
const tale = { text: "Once upon a time there was a bag of tools that opened by itself." };

test.for(table)("$name answers by the name of its model ($way)", async ({ way, ...provider }) => {
  const { server, model } = await resolveProvider(provider, [tale]);

  const { text } = await ways[way](withRetries(model), { prompt: [say("Hi")] });

  expect(text).toBe(tale.text);
  expect(server.requests[0]).toMatchObject({ dialect: provider.name, model: provider.model.split("/")[1] });
});

const lasting = [
  { status: 400, code: "model-refused", asked: 1 },
  { status: 401, code: "model-denied", asked: 1 },
  { status: 429, code: "model-overloaded", asked: 3 },
  { status: 500, code: "model-unavailable", asked: 3 },
  { status: 529, code: "model-overloaded", asked: 3 },
] as const;

test.for(table.flatMap((row) => lasting.map((failure) => ({ ...row, ...failure }))))(
  "$name fails with $code after status $status, asked $asked times ($way)",
  async ({ way, status, code, asked, ...provider }) => {
    const { server, model } = await resolveProvider(provider, () => ({ status, message: `No, ${status}` }));

    const answer = ways[way](withRetries(model, { maxRetries: 2, clock: hurried() }), { prompt: [say("Hi")] });

    await expect(answer).rejects.toMatchObject({ code, details: { status } });
    expect(server.requests).toHaveLength(asked);
  },
);

const passing: readonly { what: string; reply: ScriptedReply }[] = [
  { what: "status 429", reply: { status: 429, message: "Slow down" } },
  { what: "status 500", reply: { status: 500, message: "Oops" } },
  { what: "status 529", reply: { status: 529, message: "Overloaded" } },
  { what: "a connection that was refused", reply: { ...tale, fault: { kind: "refused" } } },
];

test.for(table.flatMap((row) => passing.map((failure) => ({ ...row, ...failure }))))(
  "$name answers the second time, after $what ($way)",
  async ({ way, reply, ...provider }) => {
    const { server, model } = await resolveProvider(provider, [reply, tale]);

    const { text } = await ways[way](withRetries(model, { clock: hurried() }), { prompt: [say("Hi")] });

    expect(text).toBe(tale.text);
    expect(server.requests).toHaveLength(2);
  },
);

test.for(providers)("$name is asked again when it said, and not before", async (provider) => {
  const refusal = { status: 429, message: "Slow down", headers: { "retry-after": "7" } };
  const { model } = await resolveProvider(provider, [refusal, tale]);
  const waits: number[] = [];

  await ways.generate(withRetries(model, { clock: hurried(waits), random: () => 0 }), { prompt: [say("Hi")] });

  expect(waits).toEqual([7000]);
});

test.for(providers)("$name is asked again when half an answer came, and nobody was shown it", async (provider) => {
  const { server, model } = await resolveProvider(provider, [{ ...tale, fault: { kind: "cut" } }, tale]);

  const { text } = await ways.generate(withRetries(model, { clock: hurried() }), { prompt: [say("Hi")] });

  expect(text).toBe(tale.text);
  expect(server.requests).toHaveLength(2);
});

const early: readonly ScriptedFault[] = [
  { kind: "cut", share: 0 },
  { kind: "ended", share: 0 },
];

test.for(providers.flatMap((provider) => early.map((fault) => ({ ...provider, fault }))))(
  "$name is asked again when a stream is over before anything of the answer came ($fault)",
  async ({ fault, ...provider }) => {
    const { server, model } = await resolveProvider(provider, [{ ...tale, fault }, tale]);

    const { text } = await ways.stream(withRetries(model, { clock: hurried() }), { prompt: [say("Hi")] });

    expect(text).toBe(tale.text);
    expect(server.requests).toHaveLength(2);
  },
);

const faults: readonly ScriptedFault[] = [{ kind: "cut" }, { kind: "ended" }, { kind: "failed" }];

test.for(providers.flatMap((provider) => faults.map((fault) => ({ ...provider, fault }))))(
  "$name is not asked again once a part was shown ($fault.kind)",
  async ({ fault, ...provider }) => {
    const { server, model } = await resolveProvider(provider, () => ({ ...tale, fault }));
    const { stream } = await withRetries(model, { clock: hurried() }).doStream({ prompt: [say("Hi")] });

    const { text, parts, finish } = await collect(stream);

    expect(text.length).toBeGreaterThan(0);
    expect(tale.text.startsWith(text)).toBe(true);
    expect(finish?.unified).toMatch(/^(?:interrupted|error)$/u);
    expect(parts.filter(isForeignError)).toEqual([]);
    expect(server.requests).toHaveLength(1);
  },
);

test.for(providers)("$name is not waited for longer than it may take to begin", async (provider) => {
  const { promise: never } = Promise.withResolvers<void>();
  const { server, model } = await resolveProvider(provider, [{ ...tale, fault: { kind: "slow", until: never } }, tale]);
  const clock = handMoved();
  const retrying = withRetries(model, { firstPartMs: 5000, maxRetries: 0, clock });

  const answer = ways.stream(retrying, { prompt: [say("Hi")] });
  while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.move(5000);

  await expect(answer).rejects.toMatchObject({ code: "model-timeout", details: { limitMs: 5000 } });
});

test.for(providers.flatMap((provider) => [400, 401, 429, 500].map((status) => ({ ...provider, status }))))(
  "$name shows neither key nor prompt in its error ($status)",
  async ({ status, ...provider }) => {
    const { server } = await resolveProvider(provider, () => ({ status, message: "No" }));
    const options = { baseUrl: server.url(provider.name), apiKey: server.key, env: {} };
    const model = withRetries(await resolveModel(provider.model, options), { maxRetries: 0, clock: hurried() });
    const shown: string[] = [];

    await ways.generate(model, { prompt: [say("my private question")] }).catch((cause: unknown) => {
      shown.push(inspect(cause, { depth: 9, showHidden: true }), JSON.stringify(cause), String((cause as Error).stack));
    });

    expect(shown).toHaveLength(3);
    expect(shown.join("\n")).not.toContain(server.key);
    expect(shown.join("\n")).not.toContain("my private question");
  },
);

/** An error as it came from the provider: it holds the prompt and the headers. */
function isForeignError(part: ModelPart): boolean {
  return part.type === "error" && (part.error as { name?: string }).name !== "KitbagError";
}

/** A clock on which waits are over at once; limits of minutes never are. */
function hurried(waits: number[] = []): Clock {
  return {
    now: Date.now,
    elapsed: () => 0,
    after(ms, callback) {
      if (ms >= 100_000) return () => {};
      waits.push(ms);
      const turn = setImmediate(callback);
      return () => clearImmediate(turn);
    },
  };
}

/** A clock that stands still until it is moved. */
function handMoved(): Clock & { move(ms: number): void } {
  let elapsed = 0;
  const timers = new Set<{ due: number; callback: () => void }>();
  return {
    now: () => 0,
    elapsed: () => elapsed,
    after(ms, callback) {
      const timer = { due: elapsed + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    move(ms) {
      elapsed += ms;
      for (const timer of timers) {
        if (timer.due > elapsed) continue;
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}
