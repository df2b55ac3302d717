import { expect, test } from "vitest";

import { parseTrace } from "./recorder.ts";

test.for([
  [
    'openat(AT_FDCWD</data>, "data.csv", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)',
    { kind: "file", path: "/data/data.csv", access: "read", failed: true },
  ],
  [
    'openat(AT_FDCWD</data>, "a", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</data/a>',
    { kind: "file", path: "/data/a", access: "write", failed: false },
  ],
  [
    'openat(AT_FDCWD</data>, ".", O_RDONLY|O_DIRECTORY) = 3</data>',
    { kind: "file", path: "/data", access: "list", failed: false },
  ],
  [
    'access("b", R_OK) = -1 EACCES (Permission denied)',
    { kind: "file", path: "/here/b", access: "read", failed: true },
  ],
  ['12 mkdir("/x/y", 0777) = -1 EROFS (Read-only)', { kind: "file", path: "/x/y", access: "make", failed: true }],
  [
    'execve("/usr/bin/git", ["git"], 0x7 /* 3 vars */) = -1 ENOENT (No)',
    { kind: "program", path: "/usr/bin/git", failed: true },
  ],
  [
    'connect(3<TCP:[1]>, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.1")}, 16) = -1 ENETUNREACH (No)',
    { kind: "connection", host: "192.0.2.1", port: 443 },
  ],
  [
    String.raw`openat(AT_FDCWD</a\76b>, "q\"\\\n\303\244", O_RDONLY) = -1 ENOENT (No such file or directory)`,
    { kind: "file", path: '/a>b/q"\\\nä', access: "read", failed: true },
  ],
] as const)("parseTrace() reads %s", ([line, observation]) => {
  expect(parseTrace(line, "/here")).toEqual([observation]);
});

test("parseTrace() follows a process to another directory", () => {
  const text = 'chdir("/other") = 0\nstat("c", 0x1) = -1 ENOENT (No such file or directory)';

  expect(parseTrace(text, "/here").at(-1)).toMatchObject({ path: "/other/c" });
});

test("parseTrace() passes over what is no line of a trace", () => {
  expect(
    parseTrace('\n)(\nopenat("\n<unfinished ...>\nconnect(3, {sa_family=AF_UNIX}) = 0\n+++ exited +++', "/here"),
  ).toEqual([]);
});
