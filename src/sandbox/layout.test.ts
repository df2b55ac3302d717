import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { writeFolder } from "../../test/support/run-script.ts";
import { toEnvironment, toLayout, type Layout } from "./layout.ts";
import { defaultLimits, emptyFile, nothing, type Profile } from "./sandbox.ts";
import { openWorkArea, type WorkArea } from "./work-area.ts";

const profile: Profile = { mounts: [], environment: {}, programs: [], limits: defaultLimits };

test("toLayout() shows the libraries of the system and the basic programs alone, all of it only to read", async () => {
  const layout = await toLayout(profile, open());

  const targets = layout.mounts.map(({ target }) => target);
  expect(targets).toEqual(expect.arrayContaining(["/usr/lib", "/usr/bin"]));
  for (const hidden of [
    "/usr",
    "/usr/sbin",
    "/usr/local",
    "/usr/src",
    "/usr/games",
    "/etc",
    "/home",
    "/root",
    "/var",
  ]) {
    expect(targets).not.toContain(hidden);
  }
  expect(layout.mounts.filter(({ write }) => write === true)).toEqual([]);
  const programs = sourceOf(layout, "/usr/bin");
  expect(["bash", "cat", "git", "mount"].map((name) => existsSync(join(programs, name)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("toLayout() shows all programs to who may use all", async () => {
  const layout = await toLayout({ ...profile, programs: ["*"] }, open());

  expect(sourceOf(layout, "/usr")).toBe("/usr");
  expect(layout.mounts.some(({ target }) => target.startsWith("/usr/"))).toBe(false);
});

test("toLayout() shows a file of users and hosts that says nothing of this machine", async () => {
  const layout = await toLayout(profile, open());

  const read = (path: string): string => readFileSync(sourceOf(layout, path), "utf8");
  expect(read("/etc/passwd")).toBe("tool:x:65534:65534:tool:/tmp:/bin/sh\n");
  expect(read("/etc/hosts")).toBe("127.0.0.1 localhost\n::1 localhost\n");
  expect(layout.mounts.map(({ target }) => target)).not.toContain("/etc/shadow");
});

test("toLayout() puts what was granted last, and what is below something after it", async () => {
  const mounts = [
    { source: "/data/a/b", target: "/data/a/b", write: true },
    { source: "/skill-1", target: "/skill" },
    { source: "/data", target: "/data" },
  ];

  const layout = await toLayout({ ...profile, mounts }, open());

  expect(layout.mounts.slice(-3).map(({ target }) => target)).toEqual(["/skill", "/data", "/data/a/b"]);
  expect(layout.mounts.at(-1)).toEqual(mounts[0]);
});

test("toLayout() hides a place behind a directory that is empty", async () => {
  const layout = await toLayout({ ...profile, mounts: [{ source: nothing, target: "/data/home" }] }, open());

  const source = sourceOf(layout, "/data/home");
  expect([statSync(source).isDirectory(), statSync(source).nlink]).toEqual([true, 2]);
});

test("toLayout() hides a file behind one that is empty", async () => {
  const layout = await toLayout({ ...profile, mounts: [{ source: emptyFile, target: "/data/kitbag.db" }] }, open());

  const found = statSync(sourceOf(layout, "/data/kitbag.db"));
  expect([found.isFile(), found.size]).toEqual([true, 0]);
});

test("toLayout() has the socket of a way out only where there is one", async () => {
  const area = open();

  const [none, one] = [await toLayout(profile, area), await toLayout({ ...profile, egress: "/x.sock" }, area)];

  expect(none.mounts.filter(({ target }) => target.startsWith("/run"))).toEqual([]);
  expect(one.mounts).toContainEqual({ source: "/x.sock", target: "/run/egress.sock", write: true });
});

test("toLayout() has the standard streams by their names", async () => {
  const { links } = await toLayout(profile, open());

  expect(links).toEqual(
    expect.arrayContaining([
      { path: "/bin", target: "usr/bin" },
      { path: "/dev/stdin", target: "/proc/self/fd/0" },
      { path: "/dev/stdout", target: "/proc/self/fd/1" },
      { path: "/dev/stderr", target: "/proc/self/fd/2" },
    ]),
  );
});

test("toLayout() gathers the same programs once", async () => {
  const area = open();

  const [one, other] = await Promise.all([toLayout(profile, area), toLayout(profile, area)]);

  expect(sourceOf(one, "/usr/bin")).toBe(sourceOf(other, "/usr/bin"));
});

test("toEnvironment() has five variables, and those of the profile before them", () => {
  const environment = toEnvironment({ ...profile, environment: { HOME: "/skill", A: "a" }, directory: "/skill" });

  expect(environment).toEqual({
    PATH: "/usr/bin:/bin",
    HOME: "/skill",
    TMPDIR: "/tmp",
    LANG: "C.UTF-8",
    PWD: "/skill",
    A: "a",
  });
});

test("toEnvironment() has the way to all programs for who may use all", () => {
  expect(toEnvironment({ ...profile, programs: ["*"] })["PATH"]).toBe("/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
});

function open(): WorkArea {
  const area = openWorkArea(writeFolder({}));
  onTestFinished(() => area.remove());
  return area;
}

function sourceOf({ mounts }: Layout, path: string): string {
  return mounts.find(({ target }) => target === path)?.source ?? "";
}
