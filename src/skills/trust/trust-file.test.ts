import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { loadLock } from "./lock-file.ts";
import { loadTrust, trustPath, updateTrust } from "./trust-file.ts";

const digest = `sha256:${"a".repeat(64)}`;

test("loadTrust() gives back what updateTrust() wrote, configurations and folders", async () => {
  const home = join(createFolder(), "home");

  await updateTrust(home, ({ configs, folders }) => {
    configs.set("/p/kitbag.config.ts", new Map([["/p/kitbag.config.ts", digest]]));
    folders.set(
      "/p/.agents/skills/pdf",
      new Map([
        ["scripts/run.py", digest],
        ["a\nb", digest],
        ["__proto__", digest],
      ]),
    );
  });

  const { configs, folders } = loadTrust(home);
  expect([...configs]).toEqual([["/p/kitbag.config.ts", new Map([["/p/kitbag.config.ts", digest]])]]);
  expect([...(folders.get("/p/.agents/skills/pdf") ?? [])]).toEqual([
    ["__proto__", digest],
    ["a\nb", digest],
    ["scripts/run.py", digest],
  ]);
});

test("updateTrust() keeps what others wrote meanwhile", async () => {
  const home = join(createFolder(), "home");
  const paths = Array.from({ length: 20 }, (_, index) => `/project-${index}/kitbag.config.ts`);

  await Promise.all(paths.map((path) => updateTrust(home, ({ configs }) => configs.set(path, new Map()))));

  expect([...loadTrust(home).configs.keys()].toSorted()).toEqual(paths.toSorted());
  expect(readdirSync(home)).toEqual(["trust.json"]);
});

test("updateTrust() takes over a lock that a killed program left", async () => {
  const home = createFolder();
  const lock = join(home, "trust.json.lock");
  writeFileSync(lock, "");
  utimesSync(lock, new Date(0), new Date(0));

  await updateTrust(home, ({ folders }) => folders.set("/x", new Map()));

  expect(loadTrust(home).folders.size).toBe(1);
  expect(existsSync(lock)).toBe(false);
});

test("updateTrust() says why it cannot write", async () => {
  const home = join(createFolder({ home: "a file where the folder should be" }), "home");

  await expect(updateTrust(home, () => {})).rejects.toMatchObject({ code: "home-unusable", details: { home } });
});

test("updateTrust() leaves the list as it was if the change fails", async () => {
  const home = createFolder();
  await updateTrust(home, ({ folders }) => folders.set("/x", new Map()));

  const failing = updateTrust(home, ({ folders }) => {
    folders.clear();
    throw new Error("no");
  });

  await expect(failing).rejects.toMatchObject({ code: "config-invalid" });
  expect(loadTrust(home).folders.size).toBe(1);
  expect(readdirSync(home)).toEqual(["trust.json"]);
});

test("updateTrust() writes a file that only its owner can read", async () => {
  const home = join(createFolder(), "home");

  await updateTrust(home, ({ folders }) => folders.set("/x", new Map()));

  expect(statSync(trustPath(home)).mode & 0o777).toBe(0o600);
  expect(statSync(home).mode & 0o777).toBe(0o700);
});

test("loadTrust() trusts nothing through a link", () => {
  const elsewhere = createFolder({ "trust.json": '{"version": 1, "trusted": []}' });
  const home = createFolder();
  symlinkSync(join(elsewhere, "trust.json"), trustPath(home));

  expect(() => loadTrust(home)).toThrow("it is a symbolic link");
});

test.for([
  "",
  "{",
  "null",
  "[]",
  '{"version": 2, "trusted": []}',
  '{"version": 1}',
  '{"version": 1, "trusted": [null]}',
  '{"version": 1, "trusted": [{"config": "relative.ts", "files": []}]}',
  '{"version": 1, "trusted": [{"config": "/x.ts", "files": [{"path": "/x.ts", "digest": "md5:1"}]}]}',
  '{"version": 1, "trusted": [{"config": "/x.ts", "files": {"__proto__": 1}}]}',
  '{"version": 1, "trusted": [{"folder": "relative", "files": []}]}',
  '{"version": 1, "trusted": [{"folder": "/x"}]}',
  '{"version": 1, "trusted": [{"folder": "/x", "config": "/x", "files": []}]}',
  `{"version": 1, "trusted": [{"folder": "/x", "files": [{"path": "/etc/passwd", "digest": "${digest}"}]}]}`,
  `{"version": 1, "trusted": [{"folder": "/x", "files": [{"path": "../y", "digest": "${digest}"}]}]}`,
  `{"version": 1, "trusted": [{"folder": "/x", "files": [{"path": "", "digest": "${digest}"}]}]}`,
])("R16: loadTrust() fails closed for %s", (text) => {
  const home = createFolder();
  mkdirSync(home, { recursive: true });
  writeFileSync(trustPath(home), text, { mode: 0o600 });

  expect(() => loadTrust(home)).toThrow("nothing is trusted until you have looked at it");
});

test("loadTrust() and loadLock() refuse the file of another user, with a cure", ({ skip }) => {
  skip(process.getuid?.() !== 0, "only root can give a file away");
  const home = createFolder({
    "trust.json": '{"version": 1, "trusted": []}',
    "kitbag.lock": '{"version":1,"skills":{}}',
  });
  for (const name of ["trust.json", "kitbag.lock"]) chownSync(join(home, name), 61_234, 61_234);

  for (const load of [() => loadTrust(home), () => loadLock(join(home, "kitbag.lock"))]) {
    expect(load).toThrow("it belongs to another user (uid 61234), and you are uid 0; make it yours with chown");
  }
});
