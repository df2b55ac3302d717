import { expect, test } from "vitest";

import { isAt, type DebugStop } from "../../../agent/debug/create-debugger.ts";
import { parseBreakpoints, toBreakpoint } from "./parse-breakpoints.ts";

test("parseBreakpoints() reads steps and tools, and stops nowhere unless somebody debugs", () => {
  const places = ["step:3", "tool:csv-report/group_by"];

  const read = parseBreakpoints({ options: { debug: true, break: places }, json: false });
  const none = parseBreakpoints({ options: {}, json: true });

  expect(read).toEqual([
    { place: "step:3", step: 3 },
    { place: "tool:csv-report/group_by", tool: "csv-report/group_by" },
  ]);
  expect(none).toBeUndefined();
});

test.for([
  "",
  "step",
  "step:",
  "step:0",
  "step:-1",
  "step:1e9",
  "step:3 4",
  "tool:",
  "tool: x",
  "__proto__:1",
  "3",
  "has:",
  "Failed",
])("parseBreakpoints() refuses %j", (place) => {
  expect(() => parseBreakpoints({ options: { debug: true, break: [place] }, json: false })).toThrow(
    "expected step:N, tool:ADDRESS, failed or has:TEXT",
  );
});

const call = { run: "r", step: 1, id: "c", tool: "look", input: { file: "sales.csv", top: 3 } };
const seen = { run: "r", step: 1, messages: [], tools: ["sales"], call };

test.for<[place: string, stop: DebugStop, isThere: boolean]>([
  ["failed", { where: "outcome", ...seen, outcome: { status: "failed", error: {} as never } }, true],
  ["failed", { where: "outcome", ...seen, outcome: { status: "ok", output: "failed" } }, false],
  ["failed", { where: "call", ...seen }, false],
  ["has:sales", { where: "call", ...seen }, true],
  ["has:3", { where: "call", ...seen }, true],
  ["has:sales", { where: "model", ...seen }, false],
  ["has:two words", { where: "outcome", ...seen, outcome: { status: "ok", output: ["in two words"] } }, true],
  ["has:sales", { where: "outcome", ...seen, outcome: { status: "ok", output: null } }, false],
])("toBreakpoint() makes of %j a condition that looks at what happens there", ([place, stop, isThere]) => {
  expect(isAt(toBreakpoint(place) ?? {}, stop)).toBe(isThere);
});
