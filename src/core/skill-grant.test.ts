import { expect, test } from "vitest";

import {
  describeGrant,
  isEmptyGrant,
  joinGrants,
  parseGrant,
  sharedGrant,
  type SkillGrant,
  toPermissions,
  withoutGrant,
} from "./skill-grant.ts";

const one: SkillGrant = { read: ["./b", "./a"], network: ["x.example"], packages: ["pypdf"] };
const other: SkillGrant = { read: ["./a"], env: ["TOKEN"] };

test("grants are joined, shared and subtracted by what they list, in a settled order", () => {
  expect(joinGrants([one, other])).toEqual({
    read: ["./a", "./b"],
    network: ["x.example"],
    env: ["TOKEN"],
    packages: ["pypdf"],
  });
  expect(sharedGrant(one, other)).toEqual({ read: ["./a"] });
  expect(withoutGrant(one, other)).toEqual({ read: ["./b"], network: ["x.example"], packages: ["pypdf"] });
});

test("a grant is empty if it lists nothing, and is told in one line", () => {
  expect([isEmptyGrant({}), isEmptyGrant({ read: [] }), isEmptyGrant(one)]).toEqual([true, true, false]);
  expect(describeGrant(one)).toBe("read ./b ./a; network x.example; packages pypdf");
  expect(describeGrant({})).toBe("");
});

test("packages are no permission of the sandbox", () => {
  expect(toPermissions(one)).toEqual({ read: ["./a", "./b"], network: ["x.example"] });
});

test.for([
  [null, "is not a grant"],
  ["read", "is not a grant"],
  [["./a"], "is not a grant"],
  [{ read: "./a" }, "has a wrong grant: "],
  [{ sockets: "host" }, "has a wrong grant: permissions.sockets"],
  [{ packages: "pypdf" }, "has a wrong grant: packages"],
  [{ packages: [""] }, "has a wrong grant: packages"],
  [{ packages: [3] }, "has a wrong grant: packages"],
] as const)("parseGrant() refuses %j", ([value, reason]) => {
  expect(() => parseGrant(value, "pdf")).toThrow(`the entry pdf ${reason}`);
});

test("parseGrant() takes what was written down", () => {
  expect(parseGrant(one, "pdf")).toEqual(one);
  expect(parseGrant({}, "pdf")).toEqual({});
});
