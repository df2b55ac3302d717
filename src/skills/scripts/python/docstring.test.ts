import { expect, test } from "vitest";

import { readDocstring } from "./docstring.ts";

const google = `Do it.

Args:
    path (str): Where it is,
        and more.
    *rest: Others
    count: How often

Returns:
    None: nothing
`;

const numpy = `Do it.

Parameters
----------
path : str
    Where it is,
    and more.
count : int, optional
    How often

Returns
-------
None
`;

const sphinx = `Do it.

:param path: Where it is
:param int count: How often
:returns: nothing
`;

test("readDocstring() reads the styles of Google, NumPy and Sphinx", () => {
  expect([...readDocstring(google)]).toEqual([
    ["path", "Where it is, and more."],
    ["rest", "Others"],
    ["count", "How often"],
  ]);
  expect([...readDocstring(numpy)]).toEqual([
    ["path", "Where it is, and more."],
    ["count", "How often"],
  ]);
  expect([...readDocstring(sphinx)]).toEqual([
    ["path", "Where it is"],
    ["count", "How often"],
  ]);
});

test("readDocstring() finds nothing where nothing is said", () => {
  expect(readDocstring(null).size).toBe(0);
  expect(readDocstring("Do it.").size).toBe(0);
  expect(readDocstring("Args:").size).toBe(0);
});
