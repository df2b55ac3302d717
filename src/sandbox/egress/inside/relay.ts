/**
 * Listens on a port of 127.0.0.1 and passes every connection on to a unix socket: `relay.ts PORT SOCKET [-- COMMAND ...]`. For
 * machines without Perl and Python.
 *
 * With a command, it starts that once the port is open, and ends as it ends. Without one, it prints "ready".
 */
import { spawn } from "node:child_process";
import { connect, createServer, type Socket } from "node:net";
import { networkInterfaces } from "node:os";

const [port = "", path, ...rest] = process.argv.slice(2);
const command = rest[0] === "--" ? rest.slice(1) : rest;
if (path === undefined || !/^\d+$/u.test(port)) fail("expected: relay.ts PORT SOCKET [-- COMMAND ...]");
// Node cannot bring it up, and can listen there all the same.
if (networkInterfaces()["lo"] === undefined) fail("lo is down and cannot be brought up from Node");

const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  const upstream = connect({ path: path ?? "", allowHalfOpen: true });
  pass(client, upstream);
  pass(upstream, client);
});
server.once("error", (cause) => fail(`cannot use 127.0.0.1:${port}: ${cause.message}`));
server.listen({ host: "127.0.0.1", port: Number(port) }, () => {
  if (command.length === 0) process.stdout.write("ready\n");
  else run(command);
});

function pass(from: Socket, to: Socket): void {
  from.on("error", () => to.destroy());
  from.on("close", () => {
    if (!from.readableEnded) to.destroy();
  });
  from.pipe(to);
}

function run([file = "", ...argv]: readonly string[]): void {
  const channel = Number(process.env["KITBAG_FD"] ?? 0);
  const between = Array.from({ length: Math.max(0, channel - 3) }, () => "ignore" as const);
  const child = spawn(file, argv, {
    stdio: ["inherit", "inherit", "inherit", ...between, ...(channel > 2 ? [channel] : [])],
  });
  child.once("error", (cause) => fail(`cannot start ${file}: ${cause.message}`));
  child.once("exit", (code, signal) => {
    if (signal !== null) process.kill(process.pid, signal);
    else process.exit(code ?? 0);
  });
}

function fail(reason: string): void {
  process.stderr.write(`kitbag: relay: ${reason}\n`);
  process.exit(125);
}
