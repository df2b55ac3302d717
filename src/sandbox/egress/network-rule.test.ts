import { expect, test } from "vitest";

import { findRule, type Lookup, parseNetworkRule, resolveTarget } from "./network-rule.ts";

test.for([
  ["api.github.com", { kind: "name", host: "api.github.com", ports: [80, 443] }],
  ["api.github.com:443", { kind: "name", host: "api.github.com", ports: [443] }],
  ["API.GitHub.Com.:8443", { kind: "name", host: "api.github.com", ports: [8443] }],
  ["*.example.com", { kind: "suffix", host: "example.com", ports: [80, 443] }],
  ["*.example.com:8080", { kind: "suffix", host: "example.com", ports: [8080] }],
  ["xn--bcher-kva.example", { kind: "name", host: "xn--bcher-kva.example", ports: [80, 443] }],
  ["intranet:1", { kind: "name", host: "intranet", ports: [1] }],
  ["127.0.0.1:8080", { kind: "address", host: "127.0.0.1", ports: [8080] }],
  ["10.0.0.5", { kind: "address", host: "10.0.0.5", ports: [80, 443] }],
  ["[::1]:80", { kind: "address", host: "::1", ports: [80] }],
  ["[2001:DB8:0:0::0001]", { kind: "address", host: "2001:db8::1", ports: [80, 443] }],
  ["[::ffff:127.0.0.1]:65535", { kind: "address", host: "::ffff:7f00:1", ports: [65535] }],
] as const)("parseNetworkRule() reads %s", ([text, expected]) => {
  const rule = parseNetworkRule(text);

  expect(rule).toEqual({ text, ...expected });
});

test.for([
  ["", "there is no host"],
  [" ", "a host has no such character"],
  ["**", "a * stands alone, for every public host, or at the start, before a dot: *.example.com"],
  ["*:0", "a * stands alone, for every public host, or at the start, before a dot: *.example.com"],
  ["*:65536", "a * stands alone, for every public host, or at the start, before a dot: *.example.com"],
  ["*.com", "a * needs a name of at least two parts: *.example.com"],
  ["*.127.0.0.1", "a * stands only before a name"],
  ["*.*.example.com", 'a name has only letters, digits, "-", "_" and "."'],
  ["a.*.example.com", "a * stands alone, for every public host, or at the start, before a dot: *.example.com"],
  ["*example.com", "a * stands alone, for every public host, or at the start, before a dot: *.example.com"],
  ["*.", "there is no host"],
  ["https://api.github.com", "write the host alone, without scheme and path"],
  ["api.github.com/path", "write one host, without path, user or range of addresses"],
  ["user@api.github.com", "write one host, without path, user or range of addresses"],
  ["10.0.0.0/8", "write one host, without path, user or range of addresses"],
  ["localhost:8080", "a name gives no access to this machine; write the address, such as 127.0.0.1:8080"],
  ["*.app.localhost", "a name gives no access to this machine; write the address, such as 127.0.0.1:8080"],
  ["bücher.example", "write an international name in its xn-- form"],
  ["аpi.github.com", "write an international name in its xn-- form"],
  ["api.github.com\0.evil.com", "a host has no such character"],
  ["api.github.com\n", "a host has no such character"],
  ["api%2egithub.com", 'a name has only letters, digits, "-", "_" and "."'],
  ["api.github.com:", "a port is a number from 1 to 65535"],
  ["api.github.com:0", "a port is a number from 1 to 65535"],
  ["api.github.com:080", "a port is a number from 1 to 65535"],
  ["api.github.com:65536", "a port is a number from 1 to 65535"],
  ["api.github.com:443:80", "a port is a number from 1 to 65535"],
  ["api.github.com:https", "a port is a number from 1 to 65535"],
  ["api..github.com", 'each part of a name has 1 to 63 characters and no "-" at its ends'],
  ["api.github.com..", 'each part of a name has 1 to 63 characters and no "-" at its ends'],
  ["-api.github.com", 'each part of a name has 1 to 63 characters and no "-" at its ends'],
  [`${"a".repeat(64)}.com`, 'each part of a name has 1 to 63 characters and no "-" at its ends'],
  [`${"a.".repeat(127)}com`, "a name has at most 253 characters"],
  ["::1", "expected host:port; an IPv6 address stands in brackets"],
  ["::1:80", "expected host:port; an IPv6 address stands in brackets"],
  ["[::1", "in brackets stands an IPv6 address without a zone"],
  ["[fe80::1%eth0]:80", "in brackets stands an IPv6 address without a zone"],
  ["[127.0.0.1]:80", "in brackets stands an IPv6 address without a zone"],
  ["127.1", "an address has four numbers from 0 to 255"],
  ["2130706433", "an address has four numbers from 0 to 255"],
  ["0x7f.0.0.1", "an address has four numbers from 0 to 255"],
  ["0177.0.0.1", "an address has four numbers from 0 to 255"],
  ["127.0.0.0x1", "an address has four numbers from 0 to 255"],
  ["127.0.0.256", "an address has four numbers from 0 to 255"],
] as const)("parseNetworkRule() refuses %j", ([text, reason]) => {
  const parse = (): unknown => parseNetworkRule(text);

  expect(parse).toThrow(expect.objectContaining({ code: "network-rule-invalid", details: { rule: text, reason } }));
});

test.for([undefined, null, 3, {}, ["a.example"], Symbol("a")])(
  "parseNetworkRule() refuses what is no text: %s",
  (value) => {
    const parse = (): unknown => parseNetworkRule(value as string);

    expect(parse).toThrow("expected a text");
  },
);

test.for([
  ["api.github.com", "name", "api.github.com", 443, true],
  ["api.github.com", "name", "api.github.com", 22, false],
  ["api.github.com:22", "name", "api.github.com", 443, false],
  ["api.github.com", "name", "github.com", 443, false],
  ["github.com", "name", "api.github.com", 443, false],
  ["*.github.com", "name", "api.github.com", 443, true],
  ["*.github.com", "name", "a.b.github.com", 443, true],
  ["*.github.com", "name", "github.com", 443, false],
  ["*.github.com", "name", "evilgithub.com", 443, false],
  ["*.github.com", "name", "github.com.evil.com", 443, false],
  ["127.0.0.1", "address", "127.0.0.1", 80, true],
  ["127.0.0.1", "address", "127.0.0.2", 80, false],
  ["127.0.0.1", "name", "127.0.0.1", 80, false],
  ["[::1]", "address", "::1", 80, true],
] as const)("findRule() decides whether %s allows the %s %s at %i: %s", ([text, kind, host, port, expected]) => {
  const rules = [parseNetworkRule(text)];

  const found = findRule(rules, { kind, host, port });

  expect(found !== undefined).toBe(expected);
});

test.for([
  ["api.github.com", 443, ["140.82.112.3"]],
  ["api.github.com", 8443, "rule"],
  ["localhost", 443, "address"],
  ["intern.example.com", 443, "address"],
  ["metadata.example.com", 80, "address"],
  ["140.82.112.3", 443, ["140.82.112.3"]],
  ["127.0.0.1", 443, "rule"],
  ["10.0.0.5", 443, "rule"],
  ["169.254.169.254", 80, "rule"],
  ["::1", 443, "rule"],
] as const)(
  "resolveTarget() with the rule * gives %s:%i nothing but public addresses",
  async ([host, port, expected]) => {
    const names: Readonly<Record<string, string>> = {
      "api.github.com": "140.82.112.3",
      localhost: "127.0.0.1",
      "intern.example.com": "10.0.0.5",
      "metadata.example.com": "169.254.169.254",
    };
    const kind = /^[\d.:]+$/u.test(host) ? "address" : "name";
    const lookup: Lookup = async (name) => [names[name] ?? ""];

    const found = await resolveTarget({ host, kind, port }, [parseNetworkRule("*")], lookup);

    expect("kind" in found ? found.kind : found).toEqual(expected);
  },
);
