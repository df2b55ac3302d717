import { closeSync, existsSync, openSync, readdirSync, writeSync } from "node:fs";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { createStreamMaker, type CallStreams, type StreamMaker } from "./call-streams.ts";

test("make() gives streams that carry what a process writes who opens them by name, to the end", async () => {
  const { maker, directory } = await open();
  const call = await maker.make();
  const inside = await enter(directory, call.id);

  await call.channel;
  const [out, err] = [text(call.stdout), text(call.stderr)];
  writeSync(inside.out, "out");
  writeSync(inside.err, "err");
  inside.leave();

  expect([await out, await err]).toEqual(["out", "err"]);
});

test("make() hands on what comes behind the name of the call, in whatever pieces", async () => {
  const { maker, directory } = await open();
  const call = await maker.make();
  const socket = connect(join(directory, "channel"));
  await once(socket, "connect");

  for (const byte of `${call.id}\nfirst`) socket.write(byte);
  const channel = await call.channel;
  socket.end(" last");

  expect(await text(channel)).toBe("first last");
});

test("make() keeps calls apart that are made at the same time", async () => {
  const { maker, directory } = await open();

  const calls = await Promise.all(Array.from({ length: 20 }, () => maker.make()));
  const told = calls.map(async (call, index) => {
    const inside = await enter(directory, call.id);
    const channel = await call.channel;
    writeSync(inside.out, String(index));
    channel.write(`to ${index}`);
    const [heard] = (await once(inside.socket, "data")) as [Buffer];
    inside.leave();
    return `${await text(call.stdout)} ${heard.toString()}`;
  });

  expect(new Set(calls.map(({ id }) => id)).size).toBe(20);
  expect(await Promise.all(told)).toEqual(calls.map((_, index) => `${index} to ${index}`));
});

test("make() gives no channel to somebody who names no call, or one that is over", async () => {
  const { maker, directory } = await open();
  const [over, call] = [await maker.make(), await maker.make()];
  over.release();

  for (const name of ["", "unknown", "__proto__", over.id]) await say(directory, `${name}\n`);
  await enter(directory, call.id);

  await expect(call.channel).resolves.toBeDefined();
  expect(await Promise.race([over.channel, Promise.resolve("nothing")])).toBe("nothing");
});

test("make() closes its streams without a word when nobody came", async () => {
  const { maker } = await open();
  const call = await maker.make();
  const outputs = [text(call.stdout), text(call.stderr)];

  call.release();

  expect(await Promise.all(outputs)).toEqual(["", ""]);
});

test("release() lets the names be used again, with nothing of the call before in them, and no descriptor left", async () => {
  const { maker, directory } = await open();
  await finishCall(maker, directory, "warm up");
  const before = countDescriptors();

  const outputs: string[] = [];
  for (let calls = 0; calls < 40; calls++) outputs.push(await finishCall(maker, directory, `call ${calls}`));

  expect(outputs).toEqual(outputs.map((_, index) => `call ${index}`));
  expect(readdirSync(directory).filter((name) => name.endsWith(".out")).length).toBeLessThanOrEqual(32);
  expect(countDescriptors()).toBeLessThanOrEqual(before);
});

test("close() leaves no socket to connect to", async () => {
  const { maker, directory } = await open();

  maker.close();

  expect(existsSync(join(directory, "channel"))).toBe(false);
});

test("createStreamMaker() rejects where it cannot listen", async () => {
  const made = createStreamMaker(join(createFolder(), "not-there"));

  await expect(made).rejects.toThrow("ENOENT");
});

interface Inside {
  readonly out: number;
  readonly err: number;
  readonly socket: Socket;
  leave(): void;
}

async function open(): Promise<{ maker: StreamMaker; directory: string }> {
  const directory = createFolder();
  const maker = await createStreamMaker(directory);
  onTestFinished(() => maker.close());
  return { maker, directory };
}

/** Does what the process inside does. */
async function enter(directory: string, id: CallStreams["id"]): Promise<Inside> {
  const [out, err] = [openSync(join(directory, `${id}.out`), "w"), openSync(join(directory, `${id}.err`), "w")];
  const socket = await say(directory, `${id}\n`);
  return {
    out,
    err,
    socket,
    leave() {
      closeSync(out);
      closeSync(err);
      socket.destroy();
    },
  };
}

async function say(directory: string, line: string): Promise<Socket> {
  const socket = connect(join(directory, "channel"));
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  socket.write(line);
  return socket;
}

async function finishCall(maker: StreamMaker, directory: string, output: string): Promise<string> {
  const call = await maker.make();
  const inside = await enter(directory, call.id);
  const channel = await call.channel;
  const all = Promise.all([text(call.stdout), text(call.stderr)]);
  writeSync(inside.out, output);
  inside.leave();
  await once(channel.resume(), "close");
  call.release();
  const [printed] = await all;
  return printed;
}

function countDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}
