import { createHash } from "node:crypto";

import { expect, test } from "vitest";

import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createVersions, type VersionSource } from "./versions.ts";

test("keep() counts the versions of an address and makes the newest the current one", async () => {
  const versions = createVersions(memoryStore());

  const first = await versions.keep("pdf", source("one"), { label: "1.0.0", author: "Ada" });
  const second = await versions.keep("pdf", source("two"), { label: "2.0.0" });

  expect(first).toMatchObject({ address: "pdf", number: 1, label: "1.0.0", author: "Ada" });
  expect(second).toMatchObject({ number: 2, label: "2.0.0" });
  expect(await versions.list("pdf")).toEqual([first, second]);
  expect(await versions.current("pdf")).toEqual(second);
  expect(await versions.current("csv")).toBeUndefined();
});

test("keep() keeps the same version once, and reads its files once", async () => {
  const versions = createVersions(memoryStore());
  let reads = 0;
  const counted = (): VersionSource => source("one", { "a.py": "print()" }, () => (reads += 1));

  await versions.keep("pdf", counted());
  await versions.keep("pdf", counted());

  expect(await versions.list("pdf")).toHaveLength(1);
  expect(reads).toBe(1);
});

test("keep() points back to a version that is live again", async () => {
  const versions = createVersions(memoryStore());
  await versions.keep("pdf", source("one"));
  await versions.keep("pdf", source("two"));

  const again = await versions.keep("pdf", source("one"));

  expect(again.number).toBe(1);
  expect(await versions.current("pdf")).toEqual(again);
  expect(await versions.list("pdf")).toHaveLength(2);
});

test("keep() refuses a file whose bytes are not those that its digest says, and keeps no version", async () => {
  const versions = createVersions(memoryStore());
  const changed = source("one", { "a.py": "print()" });
  const lying = { ...changed, files: changed.files.map((file) => ({ ...file, read: () => bytes("evil") })) };

  await expect(versions.keep("pdf", lying)).rejects.toMatchObject({ code: "script-changed" });
  expect(await versions.list("pdf")).toEqual([]);
});

test("keep() by many at once keeps each version once", async () => {
  const versions = createVersions(memoryStore());

  await Promise.all(Array.from({ length: 20 }, (_, index) => versions.keep("pdf", source(`text ${index % 4}`))));

  const digests = (await versions.list("pdf")).map(({ digest }) => digest);
  expect(new Set(digests).size).toBe(digests.length);
  expect(digests).toHaveLength(4);
});

test("keep() leaves it at that when somebody keeps another version right after it", async () => {
  const store = memoryStore();
  const versions = createVersions(store);
  let isFirst = true;
  const append: typeof store.log.append = async (...entries) => {
    const position = await store.log.append(...entries);
    if (isFirst) {
      isFirst = false;
      await versions.keep("pdf", source("later"), { label: "2.0.0" });
    }
    return position;
  };

  const kept = await createVersions({ ...store, log: { ...store.log, append } }).keep("pdf", source("earlier"));

  expect(kept).toMatchObject({ number: 1 });
  expect(await versions.current("pdf")).toMatchObject({ number: 2, label: "2.0.0" });
  expect(await store.log.position("versions:pdf")).toBe(2);
});

test("get() takes a digest for a digest, though another version is labelled with it", async () => {
  const versions = createVersions(memoryStore());
  const { digest } = await versions.keep("pdf", source("good"));
  await versions.keep("pdf", source("evil"), { label: digest });

  expect(await versions.get("pdf", digest)).toMatchObject({ number: 1 });
});

test("get() finds a version by number, label, digest and the beginning of a digest", async () => {
  const versions = createVersions(memoryStore());
  const { digest } = await versions.keep("pdf", source("one", { "a.py": "print()" }), { label: "1.0.0" });
  await versions.keep("pdf", source("two"), { label: "2.0.0" });

  for (const which of [1, "1.0.0", digest, digest.slice(0, 20), digest.slice(7, 15)]) {
    const found = await versions.get("pdf", which);
    expect(found).toMatchObject({ number: 1, definition: { text: "one" }, files: [{ path: "a.py", bytes: 7 }] });
  }
});

test.for<number | string>([0, 3, -1, "", "3.0.0", "abc", "sha256:", "__proto__", "../1"])(
  "get() does not find a version %s, and says which there are",
  async (which) => {
    const versions = createVersions(memoryStore());
    await versions.keep("pdf", source("one"), { label: "1.0.0" });

    await expect(versions.get("pdf", which)).rejects.toMatchObject({
      code: "version-not-found",
      details: { address: "pdf", known: ["1 (1.0.0)"] },
    });
  },
);

test("get() takes the newest of several versions with one label", async () => {
  const versions = createVersions(memoryStore());
  await versions.keep("pdf", source("one"), { label: "1.0.0" });
  await versions.keep("pdf", source("two"), { label: "1.0.0" });

  expect((await versions.get("pdf", "1.0.0")).number).toBe(2);
});

test("readFile() gives the bytes of a version's file, also when a newer version has others", async () => {
  const versions = createVersions(memoryStore());
  await versions.keep("pdf", source("one", { "a.py": "old" }));
  await versions.keep("pdf", source("one", { "a.py": "new" }));

  expect(text(await versions.readFile("pdf", 1, "a.py"))).toBe("old");
  await expect(versions.readFile("pdf", 1, "../a.py")).rejects.toMatchObject({ code: "version-not-found" });
});

test("diff() says what was added, removed and changed, line by line", async () => {
  const versions = createVersions(memoryStore());
  await versions.keep("pdf", source("one", { "a.py": "1\n2\n3\n", "b.py": "b\n", "same.py": "s" }));
  await versions.keep("pdf", source("two", { "a.py": "1\nII\n3\n", "c.py": "c\n", "same.py": "s" }));

  const { definition, files } = await versions.diff("pdf", 1, 2);

  expect(definition).toContain('-  "text": "one"');
  expect(definition).toContain('+  "text": "two"');
  expect(files.map(({ path, change }) => [path, change])).toEqual([
    ["a.py", "changed"],
    ["b.py", "removed"],
    ["c.py", "added"],
  ]);
  expect(files[0]?.patch).toContain("-2\n+II\n");
});

test("diff() compares no bytes and no file that is too long", async () => {
  const versions = createVersions(memoryStore());
  await versions.keep("pdf", source("one", { "a.bin": "\u0000", "long.txt": "a".repeat(600_000) }));
  const binary = new Uint8Array([0xff, 0xfe]);
  const files = source("one", { "long.txt": "b".repeat(600_000) }).files;
  await versions.keep("pdf", { definition: { text: "one" }, files: [...files, file("a.bin", binary)] });

  const { definition, files: changed } = await versions.diff("pdf", 1, 2);

  expect(definition).toBeUndefined();
  expect(changed).toEqual([
    { path: "a.bin", change: "changed" },
    { path: "long.txt", change: "changed" },
  ]);
});

test("pointBack() makes an earlier version current, and keeps that it happened", async () => {
  const store = memoryStore();
  const versions = createVersions(store);
  await versions.keep("pdf", source("one"));
  await versions.keep("pdf", source("two"));

  const back = await versions.pointBack("pdf", 1, { author: "Ada" });
  await versions.pointBack("pdf", 1);

  expect(back.number).toBe(1);
  expect(await versions.current("pdf")).toEqual(back);
  expect(await createVersions(store).current("pdf")).toEqual(back);
  expect((await store.log.read("versions:pdf")).at(-1)?.value).toMatchObject({ type: "current", author: "Ada" });
});

test("blobs() names what must not be collected", async () => {
  const store: Store = memoryStore();
  const versions = createVersions(store);
  await versions.keep("pdf", source("one", { "a.py": "print()" }));
  await versions.keep("csv/read", source("two"));
  await store.blobs.put(bytes("an old output"));

  const collected = await store.blobs.collect(await versions.blobs());

  expect(collected).toBe(1);
  expect(await versions.addresses()).toEqual(["csv/read", "pdf"]);
  expect(text(await versions.readFile("pdf", 1, "a.py"))).toBe("print()");
});

test("keep() keeps what it finds among the blobs from somebody who collects at the same time", async () => {
  const day = 24 * 60 * 60 * 1000;
  let now = 0;
  const store = memoryStore({ now: () => now });
  const versions = createVersions(store);
  await store.blobs.put(bytes("print()"));
  now = 30 * day;
  const keep = await versions.blobs();

  await versions.keep("pdf", source("one", { "a.py": "print()" }));
  await store.blobs.collect(keep, { minAgeMs: 7 * day });

  expect(text(await versions.readFile("pdf", 1, "a.py"))).toBe("print()");
});

test("list() reads a long history", async () => {
  const store = memoryStore();
  const versions = createVersions(store);
  const one = await versions.keep("pdf", source("one"));
  const two = await versions.keep("pdf", source("two"));
  const pointers = [one, two].map(({ digest }) => ({ type: "current", digest }));
  await store.log.append(
    "versions:pdf",
    Array.from({ length: 1501 }, (_, index) => pointers[index % 2] ?? null),
  );

  expect(await versions.list("pdf")).toEqual([one, two]);
  expect(await versions.current("pdf")).toEqual(one);
});

function source(definition: string, files: Record<string, string> = {}, onRead = (): void => {}): VersionSource {
  return {
    definition: { text: definition },
    files: Object.entries(files).map(([path, content]) => file(path, bytes(content), onRead)),
  };
}

function file(path: string, content: Uint8Array, onRead: () => unknown = () => {}): VersionSource["files"][number] {
  const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
  const read = (): Uint8Array => {
    onRead();
    return content;
  };
  return { path, bytes: content.length, digest, read };
}

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}

function text(content: Uint8Array): string {
  return new TextDecoder().decode(content);
}
