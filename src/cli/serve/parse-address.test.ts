import { expect, test } from "vitest";

import { parseAddress } from "./serve-options.ts";

test.for([
  ["8080", "127.0.0.1", 8080],
  [":8080", "127.0.0.1", 8080],
  ["0", "127.0.0.1", 0],
  ["0.0.0.0", "0.0.0.0", 3210],
  ["0.0.0.0:80", "0.0.0.0", 80],
  ["localhost:1", "localhost", 1],
  ["tools.example.com:65535", "tools.example.com", 65_535],
  ["[::1]:8080", "::1", 8080],
  ["[::]", "::", 3210],
] as const)("parseAddress(%j) is %j and %j", ([text, host, port]) => {
  const address = parseAddress(text);

  expect(address).toEqual({ host, port });
});

test.for([
  "",
  "65536",
  "host:65536",
  "host:",
  "host:port",
  "http://localhost:80",
  "[::1",
  "::1",
  "[1]:80",
  "a b",
  "./skills",
  "skills/pdf",
  "localhost:80\n",
])("parseAddress(%j) is refused", (text) => {
  expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: "usage-invalid" }));
});
