import fc from "fast-check";
import { expect, test } from "vitest";

import {
  apiError,
  fakeClock,
  finishPart,
  readParts,
  scriptedModel,
  textOf,
  type Turn,
} from "../../../test/support/scripted-models.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { Model, ModelPart } from "../model.ts";
import { withRetries } from "../retry/with-retries.ts";
import { balance } from "./balance.ts";
import { fallback } from "./fallback.ts";

const text = fc.constantFrom("", "a", "bc", "🖼");
const part: fc.Arbitrary<ModelPart> = fc.oneof(
  text.map((delta): ModelPart => ({ type: "text-delta", id: "1", delta })),
  text.map((delta): ModelPart => ({ type: "reasoning-delta", id: "2", delta })),
  fc.constantFrom<ModelPart>(
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "1" },
    { type: "text-end", id: "1", providerMetadata: { acme: { id: "x" } } },
    { type: "ping" },
    { type: "custom", kind: "acme.note" },
    { type: "tool-call", toolCallId: "1", toolName: "look", input: "{}" },
    { type: "news-of-tomorrow" } as unknown as ModelPart,
    null as unknown as ModelPart,
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  ),
);
const turn: fc.Arbitrary<Turn> = fc.oneof(
  fc.constantFrom(400, 429, 500, 529).map((status): Turn => ({ fails: apiError(status) })),
  fc
    .record({ parts: fc.array(part, { maxLength: 8 }), end: fc.constantFrom("finish", "cut", "breaks") })
    .map(({ parts, end }): Turn => {
      if (end === "breaks") return { parts, then: { breaks: new TypeError("terminated") } };
      return { parts: end === "finish" ? [...parts, finishPart("stop")] : parts };
    }),
);

test("wrapped models show a part of one answer and its end, or nothing and an error, whatever the models do", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(turn, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 3 }),
      async (scripts) => {
        const clock = fakeClock();
        const inner = scripts.map((turns) => scriptedModel(turns));
        const [one, two, three] = inner as unknown as [Model, Model, Model];
        const shared = balance([{ model: two }, { model: three }], { clock, random: () => 0 });
        const model = withRetries(fallback([withRetries(one, { clock, maxRetries: 1 }), shared]), {
          clock,
          maxRetries: 2,
        });

        const asked = readParts(model).then(
          (parts) => ({ parts, cause: undefined }),
          (cause: unknown) => ({ parts: undefined, cause }),
        );
        await clock.advance(600_000);
        const { parts, cause } = await asked;

        if (parts === undefined) return isKitbagError(cause);
        expect(parts.at(-1)).toMatchObject({ type: "finish" });
        expect(parts.filter(({ type }) => type === "finish")).toHaveLength(1);
        for (const shown of parts) if (shown.type === "error") expect(isKitbagError(shown.error)).toBe(true);
        const texts = scripts.flat().map(({ parts: said = [] }) => textOf(said.filter((item) => item !== null)));
        expect(texts).toContain(textOf(parts));
        return clock.running() === 0;
      },
    ),
    { numRuns: 300 },
  );
});
