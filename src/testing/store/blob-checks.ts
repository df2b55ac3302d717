import assert from "node:assert/strict";
import { createHash } from "node:crypto";

import { notWhole, quietly, rejectsWith, within, type StoreChecks } from "./store-check.ts";

const shortMs = 400;

/** What `blobs` keeps and gives back. */
export const blobChecks: StoreChecks = {
  async "blobs.put() answers with the SHA-256 digest of the bytes"({ blobs }) {
    assert.equal(
      await blobs.put(bytes("abc")),
      "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
    assert.equal(await blobs.put(bytes("")), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  },

  async "blobs.get() answers with the bytes"({ blobs }) {
    const all = Uint8Array.from({ length: 256 }, (_, index) => index);
    const digest = await blobs.put(all);
    const empty = await blobs.put(new Uint8Array());

    assert.deepEqual(plain(await blobs.get(digest)), all);
    assert.deepEqual(plain(await blobs.get(empty)), new Uint8Array());
  },

  async "blobs answers undefined for a digest that it does not have"({ blobs }) {
    const digest = await blobs.put(bytes("abc"));

    for (const other of [
      digestOf("other"),
      digest.toUpperCase(),
      digest.slice(7),
      "",
      "__proto__",
      "sha256:../../a",
      null,
    ]) {
      assert.equal(await blobs.get(other as string), undefined);
      assert.equal(await blobs.size(other as string), undefined);
      assert.equal(await blobs.slice(other as string, 0, 1), undefined);
    }
  },

  async "blobs.put() takes bytes that come in pieces"({ blobs }) {
    const digest = await blobs.put(pieces("ab", "", "c"));
    const empty = await blobs.put(pieces());

    assert.equal(digest, digestOf("abc"));
    assert.equal(empty, digestOf(""));
    assert.deepEqual(plain(await blobs.get(digest)), bytes("abc"));
    assert.deepEqual(plain(await blobs.get(empty)), bytes(""));
  },

  async "blobs.put() keeps 10 MB, whole or in pieces"({ blobs }) {
    const large = new Uint8Array(10_000_000).map((_, index) => index % 251);
    const digest = await blobs.put(large);
    const again = await blobs.put(
      (async function* () {
        for (let offset = 0; offset < large.length; offset += 65_536) yield large.subarray(offset, offset + 65_536);
      })(),
    );

    assert.equal(again, digest);
    assert.equal(await blobs.size(digest), 10_000_000);
    assert.ok(Buffer.from(large).equals((await blobs.get(digest)) ?? bytes("")));
  },

  async "blobs.put() copies what it is given, also pieces in a buffer that is used again"({ blobs }) {
    const source = bytes("abc");
    const put = blobs.put(source);
    source.fill(0);
    const buffer = Buffer.alloc(1);
    const reused = await blobs.put(
      (async function* () {
        for (const letter of "xyz") {
          buffer.write(letter);
          yield buffer;
        }
      })(),
    );

    assert.equal(await put, digestOf("abc"));
    assert.deepEqual(plain(await blobs.get(digestOf("abc"))), bytes("abc"));
    assert.equal(reused, digestOf("xyz"));
  },

  async "blobs.get() and blobs.slice() give copies that can be changed"({ blobs }) {
    const digest = await blobs.put(bytes("abc"));
    (await blobs.get(digest))?.fill(0);
    (await blobs.slice(digest, 0, 3))?.fill(0);

    assert.deepEqual(plain(await blobs.get(digest)), bytes("abc"));
  },

  async "blobs.slice() answers with a part, shorter at the end"({ blobs }) {
    const digest = await blobs.put(bytes("abcdef"));

    assert.deepEqual(plain(await blobs.slice(digest, 0, 2)), bytes("ab"));
    assert.deepEqual(plain(await blobs.slice(digest, 2, 3)), bytes("cde"));
    assert.deepEqual(plain(await blobs.slice(digest, 4, Number.MAX_SAFE_INTEGER)), bytes("ef"));
    assert.deepEqual(plain(await blobs.slice(digest, 1, 0)), bytes(""));
    assert.deepEqual(plain(await blobs.slice(digest, 6, 1)), bytes(""));
    assert.deepEqual(plain(await blobs.slice(digest, Number.MAX_SAFE_INTEGER, 1)), bytes(""));
  },

  async "blobs.size() answers with the number of bytes"({ blobs }) {
    assert.equal(await blobs.size(await blobs.put(bytes("äbc"))), 4);
    assert.equal(await blobs.size(await blobs.put(bytes(""))), 0);
  },

  async "blobs.put() keeps nothing of bytes that fail on the way"({ blobs }) {
    const failure = new Error("the source failed");
    const put = blobs.put(
      (async function* () {
        yield bytes("abc");
        throw failure;
      })(),
    );

    await assert.rejects(put, failure);
    assert.equal(await blobs.get(digestOf("abc")), undefined);
    assert.equal(await blobs.collect(new Set()), 0);
  },

  async "blobs.put() refuses what is not bytes"({ blobs }) {
    const wrongPieces = (async function* () {
      yield bytes("abc");
      yield "def";
    })();
    for (const wrong of ["abc", null, undefined, 5, [1, 2], {}, new Float64Array(1), new ArrayBuffer(1), wrongPieces]) {
      await rejectsWith("option-invalid", () => blobs.put(wrong as Uint8Array));
    }

    assert.equal(await blobs.collect(new Set()), 0);
  },

  async "blobs.slice() refuses wrong numbers"({ blobs }) {
    const digest = await blobs.put(bytes("abc"));

    for (const wrong of [...notWhole, undefined]) {
      await rejectsWith("option-invalid", () => blobs.slice(digest, wrong as number, 1));
      await rejectsWith("option-invalid", () => blobs.slice(digest, 0, wrong as number));
    }
  },

  async "blobs.collect() deletes what is not kept, and answers how many"({ blobs }) {
    const [kept, ...others] = [await blobs.put(bytes("a")), await blobs.put(bytes("b")), await blobs.put(bytes("c"))];
    await blobs.put(bytes("b"));

    assert.equal(await blobs.collect(new Set([kept, digestOf("unknown")])), 2);
    assert.deepEqual(plain(await blobs.get(kept)), bytes("a"));
    for (const digest of others) assert.equal(await blobs.get(digest), undefined);
    assert.equal(await blobs.collect(new Set()), 1);
    assert.equal(await blobs.collect(new Set()), 0);
  },

  async "blobs.collect() leaves alone what was put, or put again, a short time ago"({ blobs }, wait) {
    await blobs.put(bytes("once"));
    await blobs.put(bytes("twice"));
    await wait(shortMs + 100);
    await blobs.put(bytes("twice"));

    assert.equal(await blobs.collect(new Set(), { minAgeMs: shortMs }), 1);
    assert.deepEqual(plain(await blobs.get(digestOf("twice"))), bytes("twice"));
    await wait(shortMs + 100);
    assert.equal(await blobs.collect(new Set(), { minAgeMs: shortMs }), 1);
  },

  async "blobs.collect() refuses a wrong set and a wrong age, and deletes nothing"({ blobs }) {
    const digest = await blobs.put(bytes("abc"));

    for (const wrong of [undefined, null, [digest], digest, {}]) {
      await rejectsWith("option-invalid", () => blobs.collect(wrong as Set<string>));
    }
    for (const wrong of notWhole) {
      await rejectsWith("option-invalid", () => blobs.collect(new Set(), { minAgeMs: wrong as number }));
    }

    assert.equal(await blobs.size(digest), 3);
  },

  async "close() does not wait for bytes that are still coming, and their put rejects"(store) {
    const halfWay = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    let ended = false;
    let taken = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield bytes("abc");
        halfWay.resolve();
        await gate.promise;
        for (; taken < 100; taken++) yield bytes("def");
      } finally {
        ended = true;
      }
    }
    const put = quietly(store.blobs.put(source()));
    await within(halfWay.promise, "the second piece to be asked for");
    await within(store.close(), "close()");
    gate.resolve();

    await rejectsWith("store-closed", () => put);
    assert.ok(ended && taken < 100, "the source must be told that reading has stopped");
  },

  async "blobs rejects in every method once the store is closed"(store) {
    const { blobs } = store;
    await store.close();

    await rejectsWith("store-closed", () => blobs.put(bytes("abc")));
    await rejectsWith("store-closed", () => blobs.get(digestOf("abc")));
    await rejectsWith("store-closed", () => blobs.slice(digestOf("abc"), 0, 1));
    await rejectsWith("store-closed", () => blobs.size(digestOf("abc")));
    await rejectsWith("store-closed", () => blobs.collect(new Set()));
  },
};

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield bytes(text);
}

function digestOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** A driver may answer with a Buffer, which is a Uint8Array that compares as something else. */
function plain(found: Uint8Array | undefined): Uint8Array | undefined {
  return found && new Uint8Array(found);
}
