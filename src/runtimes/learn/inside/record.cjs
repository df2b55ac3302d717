/** Loaded into Node before a script: writes down which variables, files, programs and hosts the script asks for. */
"use strict";

const fs = require("node:fs");
const childProcess = require("node:child_process");
const net = require("node:net");
const { syncBuiltinESMExports } = require("node:module");
const { fileURLToPath } = require("node:url");

const { openSync, writeSync } = fs;
const descriptor = openSync(process.env.KITBAG_RECORD, "a");
const seen = new Set();

function write(record) {
  const text = JSON.stringify(record);
  if (seen.has(text)) return;
  seen.add(text);
  writeSync(descriptor, `${text}\n`);
}

/** Whether the script itself asks, and not a part of Node or a package for its own purposes. */
function isFromSkill() {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 12;
  const lines = (new Error().stack ?? "").split("\n").slice(2);
  Error.stackTraceLimit = limit;
  const caller = lines.find((line) => !line.includes(__filename) && !/node:|Object\.get|Reflect\./u.test(line));
  return caller !== undefined && /(?:\/skill\/|\/opt\/kitbag\/typescript\/)/u.test(caller);
}

function noteVariable(name) {
  if (typeof name === "string" && isFromSkill()) write({ kind: "variable", name });
}

process.env = new Proxy(process.env, {
  get(target, name) {
    noteVariable(name);
    return target[name];
  },
  has(target, name) {
    noteVariable(name);
    return name in target;
  },
});

function toPath(path) {
  if (typeof path === "string") return path;
  if (path instanceof URL && path.protocol === "file:") return fileURLToPath(path);
  return Buffer.isBuffer(path) ? path.toString() : undefined;
}

function toAccess(name, flags) {
  if (/^(?:readdir|opendir)/u.test(name)) return "list";
  if (name.startsWith("mkdir")) return "make";
  if (/^(?:write|append|rm|unlink|rename|truncate|chmod|createWrite|cp|copy)/u.test(name)) return "write";
  const opensToWrite = typeof flags === "number" ? (flags & 3) !== 0 : /[wa+]/u.test(flags ?? "r");
  return name.startsWith("open") && opensToWrite ? "write" : "read";
}

function watchFiles(module) {
  const names =
    `access open readFile readdir opendir stat lstat writeFile appendFile mkdir rm rmdir unlink rename truncate chmod
    createReadStream createWriteStream exists`.split(/\s+/u);
  for (const name of names.flatMap((one) => [one, `${one}Sync`])) {
    const original = module[name];
    if (typeof original !== "function") continue;
    module[name] = function (path, flags, ...rest) {
      const text = toPath(path);
      if (text !== undefined && isFromSkill()) write({ kind: "file", path: text, access: toAccess(name, flags) });
      return original.call(this, path, flags, ...rest);
    };
  }
}

function watchPrograms() {
  for (const name of ["spawn", "spawnSync", "execFile", "execFileSync"]) {
    const original = childProcess[name];
    childProcess[name] = function (file, ...rest) {
      if (typeof file === "string") write({ kind: "program", path: file });
      return original.call(this, file, ...rest);
    };
  }
}

function watchConnections() {
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (...words) {
    const [options] = Array.isArray(words[0]) ? words[0] : words;
    if (options?.port !== undefined)
      write({ kind: "connection", host: options.host ?? "localhost", port: Number(options.port) });
    return connect.apply(this, words);
  };
}

watchFiles(fs);
watchFiles(fs.promises);
watchPrograms();
watchConnections();
syncBuiltinESMExports();
