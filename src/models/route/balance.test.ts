import { expect, test, vi } from "vitest";

import {
  apiError,
  fakeClock,
  question,
  readParts,
  scriptedModel,
  textOf,
  textParts,
  type ScriptedModel,
  type Turn,
} from "../../../test/support/scripted-models.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import type { Model } from "../model.ts";
import { withRetries } from "../retry/with-retries.ts";
import { balance, type BalanceOptions, type Outage } from "./balance.ts";

const good: Turn = { parts: textParts("Hel", "lo") };
const broken: Turn = { fails: apiError(500, "broken") };

test("balance() shares the work by weight", async () => {
  const models = hosts(good, good, good);
  const model = balance(
    models.map((model, index) => ({ model, weight: [5, 3, 2][index] as number })),
    { random: sequence(100) },
  );

  for (let turn = 0; turn < 100; turn++) await readParts(model);

  expect(countsOf(models)).toEqual([50, 30, 20]);
});

test("balance() shares the same way each time that chance is the same", async () => {
  const runs = await Promise.all(
    [1, 2].map(async () => {
      const models = hosts(good, good);
      const model = balance(
        models.map((model) => ({ model })),
        { random: () => 0.7 },
      );
      for (let turn = 0; turn < 5; turn++) await readParts(model);
      return countsOf(models);
    }),
  );

  expect(runs).toEqual([
    [0, 5],
    [0, 5],
  ]);
});

test("balance() asks the one that has the least to do for its weight", async () => {
  const models = hosts(good, good);
  const model = balance([{ model: models[0] as Model, weight: 2 }, { model: models[1] as Model }], { random: () => 0 });

  const open = [];
  for (let turn = 0; turn < 6; turn++) open.push(await model.doStream(question));

  expect(countsOf(models)).toEqual([4, 2]);
  await Promise.all(open.map(({ stream }) => stream.cancel()));
});

const uses: readonly (readonly [name: string, use: (model: Model) => Promise<void>])[] = [
  ["was read", async (model) => void (await readParts(model))],
  ["is not wanted", async (model) => (await model.doStream(question)).stream.cancel()],
  ["was given as a whole", async (model) => void (await model.doGenerate(question))],
];

test.for(uses)("balance() counts a model as free when its answer %s", async ([, use]) => {
  const models = hosts(good, good);
  const model = balance(
    models.map((model) => ({ model })),
    { random: () => 0 },
  );

  for (let turn = 0; turn < 4; turn++) await use(model);

  expect(countsOf(models)).toEqual([4, 0]);
});

test.for([apiError(500), apiError(429), apiError(529), apiError(401), new TypeError("fetch failed")])(
  "balance() asks another one when a host or a key fails: %s",
  async (fails) => {
    const models = hosts({ fails }, good);
    const model = balance(
      models.map((model) => ({ model })),
      { random: () => 0 },
    );

    expect(textOf(await readParts(model))).toBe("Hello");
    expect((await model.doGenerate(question)).content).toEqual([{ type: "text", text: "Hello" }]);
  },
);

test.for([400, 404, 413])("balance() does not ask another one when the question is wrong: %s", async (status) => {
  const models = hosts({ fails: apiError(status) }, good);

  await expect(
    readParts(
      balance(
        models.map((model) => ({ model })),
        { random: () => 0 },
      ),
    ),
  ).rejects.toMatchObject({
    details: { status },
  });
  expect(countsOf(models)).toEqual([1, 0]);
});

test("balance() takes a model out after some failures in a row, and tries it again with one question", async () => {
  const clock = fakeClock();
  const outages: Outage[] = [];
  const sick = scriptedModel([broken, broken, broken, good]);
  const model = pair(sick, { clock, maxFailures: 2, restMs: 10_000, onOutage: (outage) => outages.push(outage) });

  for (let turn = 0; turn < 5; turn++) await readParts(model);
  const before = sick.calls.length;
  await clock.advance(10_000);
  await readParts(model);
  const afterTrial = sick.calls.length;
  await readParts(model);
  await clock.advance(10_000);
  for (let turn = 0; turn < 3; turn++) await readParts(model);

  expect([before, afterTrial, sick.calls.length]).toEqual([2, 3, 6]);
  expect(outages).toMatchObject([
    { model: "acme/one", restMs: 10_000, error: { code: "model-unavailable" } },
    { model: "acme/one", restMs: 10_000 },
  ]);
});

test("balance() tries one that comes back with one question at a time", async () => {
  const clock = fakeClock();
  const sick = scriptedModel([broken, good]);
  const model = pair(sick, { clock, maxFailures: 1, restMs: 1000 });
  await readParts(model);
  await clock.advance(1000);

  const open = await Promise.all([model.doStream(question), model.doStream(question), model.doStream(question)]);

  expect(sick.calls).toHaveLength(2);
  await Promise.all(open.map(({ stream }) => stream.cancel()));
});

test("balance() forgets failures that are not in a row", async () => {
  const sick = scriptedModel([broken, good, broken, good, broken, good]);
  const model = pair(sick, { maxFailures: 2 });

  for (let turn = 0; turn < 6; turn++) await readParts(model);

  expect(sick.calls).toHaveLength(6);
});

test("balance() leaves a model alone for as long as it says", async () => {
  const clock = fakeClock();
  const busy = scriptedModel([{ fails: apiError(429, "slow", { responseHeaders: { "retry-after": "5" } }) }, good]);
  const model = pair(busy, { clock, restMs: 60_000 });

  await readParts(model);
  await readParts(model);
  const before = busy.calls.length;
  await clock.advance(5000);
  await readParts(model);

  expect([before, busy.calls.length]).toEqual([1, 2]);
});

test("balance() leaves a model alone also if a question from before is answered meanwhile", async () => {
  const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = mockModel([
    async () => answers[0]?.promise.then(() => "early") as Promise<string>,
    { refused: { status: 429, retryAfterMs: 60_000 } },
    "too soon",
  ]);
  const second = mockModel(async () => answers[1]?.promise.then(() => "late") as Promise<string>);
  const model = balance([{ model: first }, { model: second }], { random: () => 0, clock: fakeClock() });

  // One is at work on both, so that the third question goes to the first again, and from there to the second.
  const asked = [model.doGenerate(question), model.doGenerate(question), model.doGenerate(question)];
  await vi.waitUntil(() => second.asked.length === 2);
  answers[0]?.resolve();
  await asked[0];
  answers[1]?.resolve();
  await Promise.all([...asked, model.doGenerate(question)]);

  expect([first.asked.length, second.asked.length]).toEqual([2, 3]);
});

test("balance() leaves a model alone for an hour at most, whatever it says", async () => {
  const clock = fakeClock();
  const busy = scriptedModel([
    { fails: apiError(429, "slow", { responseHeaders: { "retry-after": "99999999999" } }) },
    good,
  ]);
  const outages: Outage[] = [];
  const model = pair(busy, { clock, onOutage: (outage) => outages.push(outage) });

  await readParts(model);
  await clock.advance(3_600_000);
  await readParts(model);

  expect(busy.calls).toHaveLength(2);
  expect(outages).toMatchObject([{ restMs: 3_600_000 }]);
});

test("balance() takes out a model that breaks off each of its answers", async () => {
  const clock = fakeClock();
  const torn: Turn = { parts: textParts("Hello").slice(0, -1) };
  const sick = scriptedModel([torn, torn, torn, good]);
  const outages: Outage[] = [];
  const model = pair(sick, { clock, maxFailures: 3, restMs: 1000, onOutage: (outage) => outages.push(outage) });

  for (let turn = 0; turn < 6; turn++) await readParts(model);
  const before = sick.calls.length;
  await clock.advance(1000);
  for (let turn = 0; turn < 2; turn++) await readParts(model);

  expect([before, sick.calls.length]).toEqual([3, 5]);
  expect(outages).toMatchObject([{ model: "acme/one", error: { code: "model-unavailable" } }]);
});

test("balance() asks another model when one hangs, and leaves that one alone at once", async () => {
  const clock = fakeClock();
  const outages: Outage[] = [];
  const hung = scriptedModel([{ hangs: true }]);
  const model = withRetries(pair(hung, { clock, onOutage: (outage) => outages.push(outage) }), {
    clock,
    firstPartMs: 1000,
  });

  const asked = readParts(model);
  await clock.advance(1000);
  const text = textOf(await asked);
  await readParts(model);

  expect(text).toBe("Hello");
  expect(hung.calls).toHaveLength(1);
  expect(outages).toMatchObject([{ error: { code: "model-timeout" }, restMs: 30_000 }]);
});

test("balance() asks another model after an answer that broke off", async () => {
  const torn: Turn = { parts: textParts("Hello").slice(0, -1) };
  const sick = scriptedModel([torn, good]);
  const model = pair(sick, { clock: fakeClock() });

  const lengths: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    await readParts(model);
    lengths.push(sick.calls.length);
  }

  expect(lengths).toEqual([1, 1, 2]);
});

test("balance() asks the one whose time is over first when all are left alone, and fails as it does", async () => {
  const clock = fakeClock();
  const models = hosts(broken, broken);
  const model = balance(
    models.map((model) => ({ model })),
    { clock, maxFailures: 1, random: () => 0 },
  );
  await expect(readParts(model)).rejects.toMatchObject({ code: "model-unavailable" });

  await expect(readParts(model)).rejects.toMatchObject({ code: "model-unavailable", details: { reason: "broken" } });

  expect(countsOf(models)).toEqual([2, 2]);
});

test("balance() ends at once when it is aborted, and blames nobody", async () => {
  const outages: Outage[] = [];
  const models = hosts(broken, good);
  const model = balance(
    models.map((model) => ({ model })),
    { random: () => 0, maxFailures: 1, onOutage: (outage) => outages.push(outage) },
  );

  await expect(readParts(model, { ...question, abortSignal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow(
    "stop",
  );

  expect(outages).toEqual([]);
  expect(countsOf(models)).toEqual([1, 0]);
});

test("balance() does not give one key the ids that another one made", async () => {
  const metadata = { openai: { itemId: "rs_1" } };
  const turn: Turn = {
    parts: [
      ...textParts("a").slice(0, 4),
      { type: "text-end", id: "1", providerMetadata: metadata },
      ...textParts("a").slice(-1),
    ],
  };
  const openai = { provider: "openai.responses", modelId: "gpt-6-sol" };
  const models = [scriptedModel([turn], openai), scriptedModel([turn], openai)];
  const model = balance(
    models.map((model) => ({ model })),
    { random: sequence(2) },
  );
  const answer = await readParts(model);
  const providerOptions = answer.find((part) => part.type === "text-end")?.providerMetadata ?? {};

  await readParts(model, { prompt: [{ role: "assistant", content: [{ type: "text", text: "a", providerOptions }] }] });

  expect(providerOptions).toMatchObject({ ...metadata, kitbag: { by: "openai/gpt-6-sol" } });
  expect(models[1]?.calls[0]?.prompt).toEqual([{ role: "assistant", content: [{ type: "text", text: "a" }] }]);
});

test.for([
  [[], {}],
  [[0], {}],
  [[-1], {}],
  [[Number.NaN], {}],
  [[Infinity], {}],
  [["2" as unknown as number], {}],
  [[1], { maxFailures: 0 }],
  [[1], { restMs: -1 }],
  [[1], { restMs: Number.NaN }],
] as const)("balance() refuses the weights %j with %j", ([weights, options]) => {
  const models = weights.map((weight) => ({ model: scriptedModel([good]), weight }));

  expect(() => balance(models, options)).toThrow(/^Cannot use "/u);
});

function hosts(...turns: readonly Turn[]): ScriptedModel[] {
  return turns.map((turn) => scriptedModel([turn]));
}

function countsOf(models: readonly ScriptedModel[]): number[] {
  return models.map(({ calls }) => calls.length);
}

/** Chance that takes every hundredth, tenth, … once. */
function sequence(steps: number): () => number {
  let step = 0;
  return () => (step++ % steps) / steps;
}

/** One model that is asked first, and one that is always well. */
function pair(first: ScriptedModel, options: BalanceOptions): Model {
  return balance([{ model: first }, { model: scriptedModel([good]) }], { random: () => 0, ...options });
}
