import { expect, test } from "vitest";

import { adviseOnMemory } from "./advise.ts";
import type { ServerModel } from "./server-model.ts";

const large: ServerModel = {
  name: "qwen3:32b",
  sizeBytes: 20e9,
  quantization: "Q4_K_M",
  isLoaded: true,
  vramShare: 0.6,
  contextInUse: 32_768,
};
const small: ServerModel = { name: "qwen3:8b", sizeBytes: 5e9 };
const where = "% of it is in VRAM, the rest is computed by the processor, several times slower";

test.for<[string, ServerModel, string]>([
  [
    "is far too large",
    large,
    `qwen3:32b: 60 ${where}; use a smaller context (now 32,768 tokens), or qwen3:8b, which fits`,
  ],
  [
    "is rounded little",
    { ...large, quantization: "Q8_0", contextInUse: 4096 },
    `qwen3:32b: 60 ${where}; use the same model as Q4, or qwen3:8b, which fits`,
  ],
  [
    "is a little too large",
    { ...large, vramShare: 0.9 },
    `qwen3:32b: 90 ${where}; use the same model as Q3, or a smaller context (now 32,768 tokens), or qwen3:8b, which fits`,
  ],
  [
    "is not in VRAM at all",
    { ...large, vramShare: 0 },
    `qwen3:32b: 0 ${where}; check that the server sees the graphics card`,
  ],
  ["says little", { name: "x", isLoaded: true, vramShare: 0.3 }, `x: 30 ${where}; use a smaller model`],
])("adviseOnMemory() helps a model that %s", ([, model, advice]) => {
  expect(adviseOnMemory(model, [large, small])).toBe(advice);
});

test("adviseOnMemory() says nothing of a model that fits, is not loaded, or of which nothing is known", () => {
  const fine = [
    { ...large, vramShare: 1 },
    { ...large, isLoaded: false },
    { name: "x", isLoaded: true },
  ];

  expect(fine.map((model) => adviseOnMemory(model, []))).toEqual([undefined, undefined, undefined]);
});
