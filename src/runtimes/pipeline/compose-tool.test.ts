import * as fc from "fast-check";
import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { Permissions } from "../../core/permissions.ts";
import type { Tool, ToolAnnotations } from "../../core/tool.ts";
import { branch } from "./branch.ts";
import { deriveAnnotations } from "./compose-tool.ts";
import { parallel } from "./parallel.ts";
import { pipeline } from "./pipeline.ts";

test.for<[ToolAnnotations[], ToolAnnotations]>([
  [[{}], { readOnly: false, destructive: true, idempotent: false }],
  [[{ readOnly: true }], { readOnly: true, destructive: false, idempotent: true }],
  [[{ readOnly: true }, {}], { readOnly: false, destructive: true, idempotent: false }],
  [[{ destructive: false }], { readOnly: false, destructive: false, idempotent: false }],
  [[{ idempotent: true }, { readOnly: true }], { readOnly: false, destructive: true, idempotent: true }],
  [[{ openWorld: false }], { readOnly: false, destructive: true, idempotent: false, openWorld: false }],
  [
    [{ openWorld: false }, { openWorld: true }],
    { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  ],
  [[{ openWorld: false }, {}], { readOnly: false, destructive: true, idempotent: false }],
  [
    [{ parallelSafe: true, destructive: false }, { readOnly: true }],
    { readOnly: false, destructive: false, idempotent: false, parallelSafe: true },
  ],
])("deriveAnnotations() of %j", ([parts, expected]) => {
  const derived = deriveAnnotations(parts.map((annotations) => ({ name: "part", annotations })));

  expect(derived).toEqual(expected);
});

test("deriveAnnotations() assumes the worst of a part it knows nothing about", () => {
  const derived = deriveAnnotations([{ name: "known", annotations: { readOnly: true } }, { name: "unknown" }]);

  expect(derived).toEqual({ readOnly: false, destructive: true, idempotent: false, openWorld: true });
});

test("deriveAnnotations() never becomes milder by one more part", () => {
  const flag = fc.option(fc.boolean(), { nil: undefined });
  const annotations = fc.record({ readOnly: flag, destructive: flag, idempotent: flag, openWorld: flag });
  const part = annotations.map((all) => ({ name: "part", annotations: all as ToolAnnotations }));

  fc.assert(
    fc.property(fc.array(part, { minLength: 1 }), part, (parts, further) => {
      const before = deriveAnnotations(parts);
      const after = deriveAnnotations([...parts, further]);

      expect(after.readOnly === true && before.readOnly !== true).toBe(false);
      expect(after.idempotent === true && before.idempotent !== true).toBe(false);
      expect(after.destructive === false && before.destructive !== false).toBe(false);
      expect(after.openWorld === false && before.openWorld !== false).toBe(false);
    }),
  );
});

test("a composed tool has the permissions of all its parts", () => {
  const fetch = withPermissions("fetch", { network: ["a.com"], read: ["/tmp"] });
  const save = withPermissions("save", { write: ["/tmp"], network: ["a.com", "b.com"] });

  const tool = parallel({ name: "p", description: "d", tools: { fetch, save }, permissions: { env: ["HOME"] } });

  expect(tool.permissions).toEqual({ network: ["a.com", "b.com"], read: ["/tmp"], write: ["/tmp"], env: ["HOME"] });
});

test.for<[ToolAnnotations, string]>([
  [
    { readOnly: true },
    'annotations.readOnly: expected no readOnly: true, because "remove" is not read-only, found true',
  ],
  [
    { destructive: false },
    'annotations.destructive: expected no destructive: false, because "remove" is not marked as not destructive, found false',
  ],
  [
    { idempotent: true },
    'annotations.idempotent: expected no idempotent: true, because "remove" is not idempotent, found true',
  ],
  [
    { parallelSafe: true },
    'annotations.parallelSafe: expected no parallelSafe: true, because "remove" is not read-only or marked as parallelSafe, found true',
  ],
  [
    { openWorld: false },
    'annotations.openWorld: expected no openWorld: false, because "look" is not marked as openWorld: false, found false',
  ],
])("a composed tool cannot claim %j against its parts", ([annotations, message]) => {
  const define = (): unknown => pipeline({ name: "p", description: "d", annotations, steps: [look, remove] });

  expect(define).toThrow(message);
});

test("a composed tool may be declared worse than its parts", () => {
  const tool = pipeline({
    name: "p",
    description: "d",
    annotations: { destructive: true, idempotent: false, openWorld: true },
    steps: [look],
  });

  expect(tool.annotations).toEqual({ readOnly: false, destructive: true, idempotent: false, openWorld: true });
});

test("a composed tool may repeat what its parts bear out", () => {
  const tool = pipeline({ name: "p", description: "d", annotations: { readOnly: true }, steps: [look, look] });

  expect(tool.annotations).toEqual({ readOnly: true, destructive: false, idempotent: true });
});

test("a composed tool counts the parts that may not run", () => {
  const tool = branch({ name: "b", description: "d", when: () => true, use: look, otherwise: remove });

  expect(tool.annotations).toMatchObject({ readOnly: false, destructive: true });
});

const look = defineTool({ name: "look", description: "d", annotations: { readOnly: true }, run: () => ({}) });
const remove = defineTool({ name: "remove", description: "d", annotations: { destructive: true }, run: () => ({}) });

function withPermissions(name: string, permissions: Permissions): Tool {
  return defineTool({ name, description: "d", permissions, run: () => null });
}
