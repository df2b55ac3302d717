import { expect, test } from "vitest";

import { choosePlace, parseServerAddress } from "./server-connection.ts";

const protocols = ["postgres:"];

test("parseServerAddress() takes the schema out of the address, and shows it without a password", () => {
  const url = "postgres://ada:secret@db:5432/kitbag?sslmode=require&schema=two";

  expect(parseServerAddress(url, protocols, "schema")).toEqual({
    url: "postgres://ada:secret@db:5432/kitbag?sslmode=require",
    place: "two",
    shown: "postgres://db:5432/kitbag?schema=two",
  });
});

test("parseServerAddress() leaves an address alone that names no schema", () => {
  const url = "postgres://db/kitbag?sslmode=require";

  expect(parseServerAddress(url, protocols, "schema")).toEqual({ url, shown: "postgres://db/kitbag" });
});

test("parseServerAddress() refuses an address with two schemas", () => {
  expect(() => parseServerAddress("postgres://db/x?schema=a&schema=b", protocols, "schema")).toThrow(
    /schema.*2 in the address/u,
  );
});

test("parseServerAddress() refuses a parameter that nothing reads, and says which one may be meant", () => {
  const parse = (query: string): unknown => parseServerAddress(`postgres://db/x?${query}`, protocols, "schema");

  expect(() => parse("shcema=two")).toThrow(
    'Cannot use "url": found the unknown parameter "shcema", expected "schema" or a parameter of PostgreSQL; did you mean "schema"?',
  );
  expect(() => parse("sslmode=require&frobnicate=1")).toThrow('the unknown parameter "frobnicate"');
  for (const name of ["sslmode", "application_name", "connect_timeout", "options", "channel_binding"]) {
    expect(() => parse(`${name}=x`)).not.toThrow();
  }
});

test("choosePlace() takes the option, the address, or the usual one, and refuses two that differ", () => {
  const address = parseServerAddress("postgres://db/x?schema=two", protocols, "schema");
  const plain = parseServerAddress("postgres://db/x", protocols, "schema");
  const choose = (option: string | undefined, one = address): string =>
    choosePlace("schema", { option, address: one, usual: "kitbag" });

  expect([choose(undefined), choose("two"), choose("three", plain), choose(undefined, plain)]).toEqual([
    "two",
    "two",
    "three",
    "kitbag",
  ]);
  expect(() => choose("three")).toThrow(/"three", and "two" in the address/u);
});
