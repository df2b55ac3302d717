import { resolve } from "node:path";

import type { Observation } from "./observation.ts";

/** Calls that change what is at a path. */
const writing = new Set(
  `creat unlink unlinkat rmdir rename renameat renameat2 link linkat symlink symlinkat mknod mknodat chmod fchmodat
   chown lchown fchownat truncate utime utimes utimensat futimesat setxattr lsetxattr`.split(/\s+/u),
);
const making = new Set(["mkdir", "mkdirat"]);
const opening = new Set(["open", "openat", "openat2", "creat"]);
const starting = new Set(["execve", "execveat"]);

const line = /^(?:\[pid +\d+\] |\d+ +)?(\w+)\((.*)\) += (-?\d+)(?:<(?:[^>\\]|\\.)*>)?(?: ([A-Z]+)\b.*)?$/u;
const pathArgument = /(?:(?:AT_FDCWD|\d+)(?:<((?:[^>\\]|\\.)*)>)?, )?"((?:[^"\\]|\\.)*)"(\.{3})?/gu;

/** Reads what `strace -y` wrote of one process, started in `directory`: the files, programs and addresses that it asked for. */
export function parseTrace(text: string, directory: string): Observation[] {
  let current = directory;
  return text.split("\n").flatMap((words) => {
    const [, call = "", argument = "", result = "", failure] = line.exec(words) ?? [];
    if (call === "") return [];
    if (call === "connect") return parseConnection(argument);
    const paths = toPaths(argument, current);
    if (call === "chdir" && Number(result) === 0) current = paths[0] ?? current;
    return toObservations(call, { argument, paths, failed: failure !== undefined });
  });
}

interface Traced {
  readonly argument: string;
  readonly paths: readonly string[];
  readonly failed: boolean;
}

function toObservations(call: string, { argument, paths, failed }: Traced): Observation[] {
  if (starting.has(call)) return paths.slice(0, 1).map((path) => ({ kind: "program", path, failed }));
  if (opening.has(call)) {
    const access = /O_WRONLY|O_RDWR|O_CREAT/u.test(argument) || call === "creat" ? "write" : "read";
    const isList = !failed && argument.includes("O_DIRECTORY");
    return paths.slice(0, 1).map((path) => ({ kind: "file", path, access: isList ? "list" : access, failed }));
  }
  if (making.has(call)) return paths.map((path) => ({ kind: "file", path, access: "make", failed }));
  const access = writing.has(call) ? "write" : "read";
  // What a link leads to is only a text.
  const touched = call.startsWith("symlink") ? paths.slice(1) : access === "write" ? paths : paths.slice(0, 1);
  return touched.map((path) => ({ kind: "file", path, access, failed }));
}

function toPaths(argument: string, current: string): string[] {
  return [...argument.matchAll(pathArgument)].flatMap(([, base, path = "", cut]) =>
    path === "" || cut !== undefined ? [] : [resolve(base === undefined ? current : unescape(base), unescape(path))],
  );
}

function parseConnection(argument: string): Observation[] {
  const port = Number(/port=htons\((\d+)\)/u.exec(argument)?.[1] ?? 0);
  const host = /inet_addr\("([\d.]+)"\)|inet_pton\(AF_INET6, "([\da-f:.]+)"/u.exec(argument);
  const address = host?.[1] ?? host?.[2];
  return address === undefined || port === 0 ? [] : [{ kind: "connection", host: address, port }];
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", v: "\v", f: "\f" };

/** Bytes that are not plain are written as in C; together they are UTF-8. */
function unescape(text: string): string {
  const bytes: number[] = [];
  for (const [piece, code] of text.matchAll(/\\([0-7]{1,3}|x[\da-f]{2}|.)|[^\\]/gu)) {
    if (code === undefined) bytes.push(...Buffer.from(piece));
    else if (/^[0-7]/u.test(code)) bytes.push(Number.parseInt(code, 8));
    else if (/^x./u.test(code)) bytes.push(Number.parseInt(code.slice(1), 16));
    else bytes.push(...Buffer.from(escapes[code] ?? code));
  }
  return Buffer.from(bytes).toString("utf8");
}
