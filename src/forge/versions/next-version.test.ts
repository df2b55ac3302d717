import { expect, test } from "vitest";

import { compareVersions, isVersion, nextVersion, stepFrom } from "./next-version.ts";

test("stepFrom() counts one part up and begins the parts behind it anew", () => {
  expect(stepFrom("1.2.3", "patch")).toBe("1.2.4");
  expect(stepFrom("1.2.3", "minor")).toBe("1.3.0");
  expect(stepFrom("1.2.3", "major")).toBe("2.0.0");
});

test("compareVersions() orders by numbers, not by text", () => {
  expect(["1.10.0", "1.9.0", "1.9.10", "10.0.0", "1.9.9"].toSorted(compareVersions)).toEqual([
    "1.9.0",
    "1.9.9",
    "1.9.10",
    "1.10.0",
    "10.0.0",
  ]);
});

test("isVersion() takes three numbers and nothing else", () => {
  expect(["1.0.0", "0.0.1"].every(isVersion)).toBe(true);
  expect(["1.0", "v1.0.0", "1.0.0-a", "../1.0.0", "1.0.0\n", "", 1, null, "9999999999.0.0"].some(isVersion)).toBe(
    false,
  );
});

test("nextVersion() goes on from the base, or behind the newest when the base is older", () => {
  const ask = (base: string, taken: readonly string[]): string =>
    nextVersion({ base, step: "patch", taken, stepSince: () => "major" });

  expect(ask("1.1.0", ["1.0.0", "1.1.0"])).toBe("1.1.1");
  expect(ask("1.0.0", ["1.0.0", "1.1.0", "1.10.0"])).toBe("2.0.0");
  expect(ask("1.0.0", [])).toBe("1.0.1");
});
