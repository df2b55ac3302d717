import { expect, test } from "vitest";

import { describeProblem } from "./errors.ts";
import { checkPermissions, joinPermissions, fromScopes } from "./permissions.ts";

test("checkPermissions() takes lists of texts for what there is", () => {
  const permissions = {
    read: ["/data"],
    write: [],
    network: ["*.example.com"],
    env: ["HOME"],
    run: ["git"],
    sockets: "private",
  };

  expect(checkPermissions(permissions)).toEqual([]);
  expect(checkPermissions({ read: undefined })).toEqual([]);
});

test("checkPermissions() refuses what nothing would enforce, and says every problem", () => {
  const problems = checkPermissions({
    netwrok: ["a.test"],
    read: "/data",
    write: [""],
    env: [1],
    run: null,
    sockets: ["private"],
    ["bad\u202ename"]: [],
  });

  expect(problems.map(describeProblem)).toMatchInlineSnapshot(`
    [
      "permissions.netwrok: expected one of read, write, network, env, run, sockets, found an unknown permission (did you mean "network"?)",
      "permissions.read: expected a list of texts, found "/data"",
      "permissions.write: expected a list of texts, found a list of 1",
      "permissions.env: expected a list of texts, found a list of 1",
      "permissions.run: expected a list of texts, found null",
      "permissions.sockets: expected "private", found a list of 1",
      "permissions["bad\\u202ename"]: expected one of read, write, network, env, run, sockets, found an unknown permission",
    ]
  `);
});

test.for([null, [], "read", 1, true])("checkPermissions() refuses %j, which is no object", (permissions) => {
  expect(checkPermissions(permissions)).toMatchObject([{ path: "permissions", expected: "an object" }]);
});

test("checkPermissions() takes names that objects inherit for unknown ones", () => {
  expect(checkPermissions({ constructor: ["a"], toString: ["b"] })).toHaveLength(2);
});

test("joinPermissions() gives everything that one of them may touch, once", () => {
  expect(joinPermissions([{ read: ["a", "b"] }, { read: ["b"], run: ["git"] }, {}])).toEqual({
    read: ["a", "b"],
    run: ["git"],
  });
  expect(joinPermissions([])).toEqual({});
});

test("fromScopes() leaves out empty lists, and takes sockets for their one word", () => {
  expect(fromScopes({ read: [], run: ["git"], sockets: ["private"] })).toEqual({ run: ["git"], sockets: "private" });
});
