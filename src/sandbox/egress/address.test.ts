import { networkInterfaces } from "node:os";

import { expect, test } from "vitest";

import { describeInnerAddress, toAddress } from "./address.ts";

test.for([
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "100.100.100.200",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.254",
  "168.63.129.16",
  "169.254.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.192",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.0.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::2",
  "::127.0.0.1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:a9fe:a9fe",
  "::ffff:10.0.0.1",
  "0:0:0:0:0:ffff:192.168.1.1",
  "::ffff:0:127.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b::169.254.169.254",
  "64:ff9b:1::1",
  "100::1",
  "2001::1",
  "2001:0:7f00:1::",
  "2001:20::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "2002:a9fe:a9fe::1",
  "2002:c0a8:101::",
  "3fff::1",
  "5f00::1",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1",
  "febf::1",
  "fec0::1",
  "ff02::1",
  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
])("describeInnerAddress() knows that %s is not for names", (text) => {
  const what = describeInnerAddress(toAddress(text) ?? "none");

  expect(what).toMatch(/address/u);
});

test.for([
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.1",
  "169.253.255.255",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
  "2002:808:808::1",
  "2001:4860:4860::8888",
  "2600::1",
  "2a00:1450:4001::1",
])("describeInnerAddress() lets names lead to %s", (text) => {
  const what = describeInnerAddress(toAddress(text) ?? "none");

  expect(what).toBeUndefined();
});

test("describeInnerAddress() knows every address of this machine", () => {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);

  const open = own.filter(({ address }) => describeInnerAddress(toAddress(address) ?? "") === undefined);

  expect(own.length).toBeGreaterThan(0);
  expect(open).toEqual([]);
});

test.for([
  "",
  "1.2.3",
  "1.2.3.4.5",
  "01.2.3.4",
  "1.2.3.4 ",
  "0x1.2.3.4",
  "256.1.1.1",
  "fe80::1%lo",
  ":::",
  "g::",
  "1.2.3.4:80",
  "[::1]",
])("toAddress() does not take %j for an address", (text) => {
  const address = toAddress(text);

  expect(address).toBeUndefined();
});
