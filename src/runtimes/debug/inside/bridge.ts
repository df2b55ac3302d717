/**
 * Runs Node with its debugger, and passes the messages of the Chrome DevTools Protocol on to a socket, one JSON a line:
 * `bridge.ts PLACE NODE ARGUMENTS…`. PLACE is a port of the loopback interface, or the path of a Unix socket. The port of the debugger
 * is on the loopback interface of the sandbox, which cannot be reached from outside. The script is a child: ending this process ends
 * the whole sandbox with it.
 */
import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [place = "", program = "", ...argv] = process.argv.slice(2);
const patienceMs = 20_000;

const socket = /^\d+$/u.test(place) ? connect(Number(place), "127.0.0.1") : connect(place);
socket.on("error", () => {});
const port = await findPort();
const words = ["--inspect-publish-uid=http", `--inspect-brk=127.0.0.1:${port}`, ...argv];
const child = spawn(program, words, { stdio: ["inherit", "inherit", "inherit", 3] });
// The script may close it, and then it must be closed.
closeSync(3);
child.once("error", () => process.exit(127));
child.once("exit", (code, signal) => {
  const leave = (): void => {
    if (signal !== null) process.kill(process.pid, signal);
    process.exit(code ?? 1);
  };
  socket.end(leave);
  setTimeout(leave, 500);
});
await pass();

async function pass(): Promise<void> {
  const debuggee = new WebSocket(await findAddress());
  const lines = createInterface({ input: socket });
  const waiting: string[] = [];
  lines.on("line", (line) => {
    if (debuggee.readyState === WebSocket.CONNECTING) waiting.push(line);
    else debuggee.send(line);
  });
  debuggee.addEventListener("open", () => {
    for (const line of waiting) debuggee.send(line);
  });
  debuggee.addEventListener("message", ({ data }) => void socket.write(`${data}\n`));
  debuggee.addEventListener("close", () => void socket.end());
  debuggee.addEventListener("error", () => void socket.end());
  // Node waits for the debugger before it ends.
  socket.once("close", () => debuggee.close());
}

async function findAddress(): Promise<string> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/json/list`);
      const [target] = (await answer.json()) as { webSocketDebuggerUrl?: string }[];
      if (target?.webSocketDebuggerUrl !== undefined) return target.webSocketDebuggerUrl;
    } catch {
      // It does not listen yet.
    }
    await sleep(10);
  }
  throw new Error("kitbag: the debugger of Node cannot be reached");
}

function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port: free } = server.address() as AddressInfo;
      server.close(() => resolve(free));
    });
  });
}
