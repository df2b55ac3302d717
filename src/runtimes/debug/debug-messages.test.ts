import { Duplex } from "node:stream";

import { expect, test } from "vitest";

import { type Message, openFrames, openLines } from "./debug-messages.ts";

const messages: readonly Message[] = [{ text: "ä\n🙂" }, {}, { long: "x".repeat(200) }];

test.for([
  ["openLines", openLines],
  ["openFrames", openFrames],
] as const)("%s() reads what it writes, wherever the bytes are cut", async ([, open]) => {
  const { stream: out, written } = openStream();
  for (const message of messages) open(out, () => {}).send(message);
  const bytes = Buffer.concat(written);

  for (const length of [1, 7, bytes.length]) {
    const heard: Message[] = [];
    const { stream } = openStream();
    const ended = new Promise<void>((resolve) => open(stream, (message) => heard.push(message)).onEnd(resolve));
    for (let at = 0; at < bytes.length; at += length) stream.push(bytes.subarray(at, at + length));
    stream.push(null);
    await ended;

    expect(heard).toEqual(messages);
  }
});

test.for([
  ["openLines", openLines, "x".repeat(17 * 1024 * 1024)],
  ["openLines", openLines, "nonsense\n"],
  ["openFrames", openFrames, "Content-Length: 99999999\r\n\r\n"],
  ["openFrames", openFrames, "Content-Type: text\r\n\r\n"],
  ["openFrames", openFrames, "Content-Length: 8\r\n\r\nnonsense"],
] as const)("%s() ends a connection on which there is no message", async ([, open, text]) => {
  const { stream } = openStream();
  const ended = new Promise<void>((resolve) => open(stream, () => {}).onEnd(resolve));

  stream.push(text);
  await ended;

  expect(stream.destroyed).toBe(true);
});

/** A stream that the test says things on, and what was written to it. */
function openStream(): { readonly stream: Duplex; readonly written: readonly Buffer[] } {
  const written: Buffer[] = [];
  const stream = new Duplex({
    read() {},
    write(piece: Buffer, _encoding, done) {
      written.push(piece);
      done();
    },
  });
  return { stream, written };
}
