import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createToolReader, type StoredTool } from "./stored-tool.ts";

const manifest = (version: string, more: object = {}): string =>
  JSON.stringify({ name: "say", version, tool_type: "script", entry_file: "main.sh", ...more });

test("createToolReader() reads the copy of the version that the manifest names", () => {
  const stored = read({
    "manifest.json": manifest("1.0.0"),
    "main.sh": "echo A",
    "versions/1.0.0/manifest.json": manifest("1.0.0"),
    "versions/1.0.0/main.sh": "echo A",
  });

  expect(stored.current).toMatchObject({ label: "1.0.0", isKept: true });
  expect(stored.current?.folder.directory).toBe(join(stored.directory, "versions/1.0.0"));
});

test("createToolReader() takes what differs from every version for the work of a hand", () => {
  const kept = { "versions/1.0.0/manifest.json": manifest("1.0.0"), "versions/1.0.0/main.sh": "echo A" };

  const code = read({ "manifest.json": manifest("1.0.0"), "main.sh": "echo evil", ...kept });
  const words = read({
    "manifest.json": manifest("1.0.0", { permissions: { network: ["evil.example"] } }),
    "main.sh": "echo A",
    ...kept,
  });
  const more = read({ "manifest.json": manifest("1.0.0"), "main.sh": "echo A", "sitecustomize.py": "x", ...kept });

  expect([code, words, more].map(({ current }) => current?.isKept)).toEqual([false, false, false]);
  expect([code, words, more].map(({ current }) => current?.label)).toEqual(["1.0.1", "1.0.1", "1.0.1"]);
});

test("createToolReader() does not take a folder for a version whose name or manifest says something else", () => {
  const stored = read({
    "manifest.json": manifest("1.0.0"),
    "main.sh": "echo A",
    "versions/1.0.0/manifest.json": manifest("1.0.0"),
    "versions/1.0.1/manifest.json": manifest("9.9.9"),
    "versions/1.0.2/main.sh": "no manifest",
    "versions/latest/manifest.json": manifest("1.0.3"),
    "versions/.new-abc/manifest.json": manifest("1.0.4"),
    "versions/notes.txt": "x",
  });

  expect(stored.versions.map(({ label }) => label)).toEqual(["1.0.0"]);
  expect(stored.labels).toEqual(["1.0.0", "1.0.1", "1.0.2"]);
});

test("createToolReader() leaves out lines of the history that nobody wrote here, and says so", () => {
  const line = JSON.stringify({ type: "create", version: "1.0.0", at: 1, author: "ada" });
  const wrong = [
    "{",
    "null",
    "7",
    '{"type":"create"}',
    '{"type":"explode","version":"1.0.0","at":1}',
    '{"type":"create","version":"../x","at":1}',
  ];

  const stored = read({
    "manifest.json": manifest("1.0.0"),
    "main.sh": "x",
    "history.jsonl": [line, ...wrong, ""].join("\n"),
  });

  expect(stored.history).toEqual([{ type: "create", version: "1.0.0", at: 1, author: "ada" }]);
  expect(stored.diagnostics).toMatchObject([{ severity: "warning", code: "history-broken" }]);
});

test("createToolReader() tells folders that were never finished from those that lost their manifest", () => {
  const unfinished = read({ "versions/1.0.0/manifest.json": manifest("1.0.0") });
  const lost = read({
    "versions/1.0.0/manifest.json": manifest("1.0.0"),
    "history.jsonl": '{"type":"create","version":"1.0.0","at":1}\n',
  });

  expect([unfinished.isUnfinished, lost.isUnfinished]).toEqual([true, false]);
  expect(lost.diagnostics).toMatchObject([{ code: "manifest-missing" }]);
});

test("createToolReader() gives a manifest that says no version the first one", () => {
  for (const version of ["", "latest", "1.0", "../../x"]) {
    expect(read({ "manifest.json": manifest(version || "x"), "main.sh": "x" }).current?.label).toBe("1.0.0");
  }
});

function read(files: Readonly<Record<string, string>>): StoredTool {
  const root = mkdtempSync(join(tmpdir(), "kitbag-stored-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const directory = join(root, "say");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return createToolReader()("say", directory);
}
