import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { attackedSandboxes, openArena, programOf, sleep, type Arena } from "../../../test/support/attacks/arena.ts";
import { needProgram } from "../../../test/support/need-program.ts";

const cases = attackedSandboxes.map((sandbox) => ({ sandbox }));

test.for(cases)(
  '$sandbox lets a script with sockets = "private" talk over sockets of its own',
  { timeout: 60_000 },
  async ({ sandbox }, context) => {
    for (const program of [programOf[sandbox], "python3"]) needProgram(context, program);
    const arena = await open(sandbox);
    const program = `
import os, socket
os.makedirs("/tmp/run", exist_ok=True)
for place in ("/tmp/run/own", "\\0own", ${JSON.stringify(join(arena.bait.writable, "own"))}):
    server = socket.socket(socket.AF_UNIX); server.bind(place); server.listen()
    client = socket.socket(socket.AF_UNIX); client.connect(place); client.sendall(b"heard")
    print(server.accept()[0].recv(9).decode())
one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); one.send(b"pair"); print(two.recv(9).decode())`;

    const { outcome } = await arena.call({ language: "python", program });

    expect(outcome).toMatchObject({ status: "ok", output: "heard\nheard\nheard\npair" });
  },
);

test.for(cases)(
  "$sandbox hides sockets of granted folders from a script that may make its own",
  { timeout: 60_000 },
  async ({ sandbox }, context) => {
    for (const program of [programOf[sandbox], "python3"]) needProgram(context, program);
    const arena = await open(sandbox);
    const { readable, writable, readableSocket, abstractName } = arena.bait;
    const reached = await listenIn(arena, join(writable, "deep", "down", "agent.sock"));
    const program = `
import os, socket
def attempt(place):
    try: socket.socket(socket.AF_UNIX).connect(place); print("REACHED", place)
    except OSError as error: print("refused")
for place in (${[readableSocket, reached.path].map((path) => JSON.stringify(path)).join(", ")}, "\\0${abstractName}"): attempt(place)
for link in ("/proc/self/root", "/proc/1/root", "/proc/self/cwd"): attempt(link + ${JSON.stringify(readableSocket)})
try: os.link(${JSON.stringify(reached.path)}, ${JSON.stringify(join(writable, "copy"))}); attempt(${JSON.stringify(join(writable, "copy"))})
except OSError: pass
try: os.rename(${JSON.stringify(join(writable, "deep"))}, ${JSON.stringify(join(writable, "moved"))}); attempt(${JSON.stringify(join(writable, "moved/down/agent.sock"))})
except OSError: pass
print(open(${JSON.stringify(join(readable, "data.txt"))}).read())`;

    const { outcome } = await arena.call({ language: "python", program });

    // The script moves a folder with a socket: where that takes the cover away, it is ended.
    if (outcome.status === "failed") expect(outcome.error.code).toBe("grant-changed");
    else expect(outcome.output).toMatch(/^(?:refused\n){6,}readable$/u);
    expect([arena.bait.findHarm(), reached.count()]).toEqual([[], 0]);
  },
);

async function open(sandbox: (typeof attackedSandboxes)[number]): Promise<Arena> {
  const arena = await openArena(
    { sandbox, way: "cold" },
    {
      permissions: ({ readable, writable }) => ({
        read: [readable],
        write: [writable],
        run: ["python3"],
        sockets: "private",
      }),
    },
  );
  onTestFinished(() => arena.close());
  return arena;
}

/** A service of the host in a folder that the script may write. */
async function listenIn(arena: Arena, path: string): Promise<{ readonly path: string; count(): number }> {
  mkdirSync(join(path, ".."), { recursive: true });
  let count = 0;
  const server = createServer((socket) => {
    count++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  chmodSync(path, 0o666);
  onTestFinished(() => {
    server.close();
    rmSync(join(arena.bait.writable, "deep"), { recursive: true, force: true });
  });
  await sleep(0);
  return { path, count: () => count };
}
