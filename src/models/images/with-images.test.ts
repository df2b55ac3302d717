import { expect, test } from "vitest";

import { makeImage } from "../../../test/support/make-image.ts";
import type { Model, ModelCall } from "../model.ts";
import { toImagePart } from "./to-image-part.ts";
import { withImages } from "./with-images.ts";

test("withImages() gives a model pictures that it takes, both ways", async () => {
  const calls: ModelCall[] = [];
  const model = withImages(recording(calls));
  const part = await toImagePart(await makeImage("gif"));
  const call: ModelCall = { prompt: [{ role: "user", content: [part] }], temperature: 0 };

  await model.doGenerate(call);
  await model.doStream(call);

  const message = { role: "user", content: [{ type: "file", mediaType: "image/png" }] };
  expect(calls).toMatchObject([
    { prompt: [message], temperature: 0 },
    { prompt: [message], temperature: 0 },
  ]);
  expect(call.prompt).toEqual([{ role: "user", content: [part] }]);
});

test("withImages() leaves a question without pictures as it is", async () => {
  const calls: ModelCall[] = [];
  const call: ModelCall = { prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] };

  await withImages(recording(calls)).doGenerate(call);

  expect(calls[0]).toBe(call);
});

test("withImages() is the model to everybody who asks", () => {
  const model = recording([]);

  expect(withImages(model)).toMatchObject({ provider: model.provider, modelId: model.modelId });
});

/** A model that keeps what it is asked, and answers with nothing. */
function recording(calls: ModelCall[]): Model {
  return {
    specificationVersion: "v4",
    provider: "somebody.chat",
    modelId: "m",
    supportedUrls: {},
    async doGenerate(call) {
      calls.push(call);
      const usage = {
        inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 0, text: 0, reasoning: 0 },
      };
      return { content: [], finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] };
    },
    async doStream(call) {
      calls.push(call);
      return { stream: new ReadableStream({ start: (controller) => controller.close() }) };
    },
  };
}
