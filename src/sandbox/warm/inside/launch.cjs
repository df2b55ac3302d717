// Waits inside a sandbox for the one script that it will run, and runs it as Node would.
//
// An order is a line of JSON on descriptor 3: the working directory, the environment, the script and its arguments.
"use strict";

const { readSync, writeSync } = require("node:fs");
const { runMain } = require("node:module");

writeSync(3, "ready\n");
const order = JSON.parse(readLine());
if (order !== null) {
  process.chdir(order.directory);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, order.environment);
  process.argv.splice(1, process.argv.length, ...order.argv);
  endAtOnce();
  runMain();
}

function readLine() {
  const pieces = [];
  const piece = Buffer.alloc(65_536);
  for (;;) {
    const length = readSync(3, piece);
    if (length === 0) return "null";
    pieces.push(Buffer.from(piece.subarray(0, length)));
    if (piece[length - 1] === 10) return Buffer.concat(pieces).toString();
  }
}

/** When the script has ended and everybody was told, there is nothing left that is worth taking apart. */
function endAtOnce() {
  const emit = process.emit;
  let hasFailed = false;
  process.emit = function (name, ...values) {
    const heard = Reflect.apply(emit, this, [name, ...values]);
    // Node tells of an error that nobody caught after everybody was told of the end.
    if (name === "uncaughtExceptionMonitor") hasFailed = true;
    if (name === "exit" && !hasFailed) process.reallyExit(process.exitCode ?? values[0] ?? 0);
    return heard;
  };
}
