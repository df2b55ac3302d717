import { once } from "node:events";

import { expect, test } from "vitest";

import { closed, dial, echoRoute, openTestGate, until } from "../../test/support/test-gate.ts";
import type { Route } from "./gate.ts";

test("close() lets running requests finish, and takes no new ones", async () => {
  const { route, finish } = slowRoute();
  const gate = await openTestGate({ routes: [route, echoRoute] });
  const running = fetch(`${gate.url}/slow`);
  await until(() => gate.running === 1);

  const closing = gate.close();
  const late = await fetch(`${gate.url}/echo`).catch(() => "refused");
  finish();

  expect(late).toBe("refused");
  expect(await (await running).text()).toBe("done");
  await closing;
  expect(gate.running).toBe(0);
});

test("close() refuses a request by a connection that was open, and says why", async () => {
  const { route, finish } = slowRoute();
  const gate = await openTestGate({ routes: [route] });
  const socket = dial(gate);
  socket.write("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await until(() => gate.running === 1);

  const closing = gate.close();
  socket.write("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await until(() => gate.running === 2);
  finish();
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
  await closing;

  expect(answer.match(/HTTP\/1\.1 \d+/gu)).toEqual(["HTTP/1.1 200", "HTTP/1.1 503"]);
});

test("close() cuts what still runs after the time of grace, and its signal tells", async () => {
  const aborted = Promise.withResolvers<boolean>();
  const gate = await openTestGate({
    routes: [
      {
        path: "/never",
        handle({ signal }) {
          signal.addEventListener("abort", () => {
            aborted.resolve(true);
          });
        },
      },
    ],
  });
  const running = fetch(`${gate.url}/never`).catch(() => "cut");
  await until(() => gate.running === 1);

  const before = performance.now();
  await gate.close({ graceMs: 200 });

  expect(performance.now() - before).toBeGreaterThanOrEqual(190);
  expect(await running).toBe("cut");
  expect(await aborted.promise).toBe(true);
});

test("close() does not wait for connections that say nothing or are idle", async () => {
  const gate = await openTestGate();
  const silent = dial(gate);
  await once(silent, "connect");
  await (await fetch(`${gate.url}/echo`)).text();

  const before = performance.now();
  await gate.close({ graceMs: 60_000 });

  expect(performance.now() - before).toBeLessThan(30_000);
  await closed(silent);
});

test("close() tells routes, so that streams nobody waits for end at once", async () => {
  const ends: (() => void)[] = [];
  const gate = await openTestGate({
    routes: [
      {
        path: "/stream",
        handle({ response }) {
          response.writeHead(200).write("open");
          ends.push(() => void response.end("bye"));
        },
        onClosing() {
          for (const end of ends) end();
        },
      },
    ],
  });
  const response = await fetch(`${gate.url}/stream`);

  await gate.close({ graceMs: 60_000 });

  expect(await response.text()).toBe("openbye");
});

test("close() called twice closes once", async () => {
  const gate = await openTestGate();

  const both = [gate.close(), gate.close()];

  expect(both[0]).toBe(both[1]);
  await Promise.all(both);
});

test("close() frees the port", async () => {
  const first = await openTestGate();
  const port = Number(new URL(first.url).port);
  await first.close();

  const second = await openTestGate({ port });

  expect((await fetch(`${second.url}/healthz`)).status).toBe(200);
});

test("close() while fifty calls run loses none of them", async () => {
  const { route, finish } = slowRoute();
  const gate = await openTestGate({ routes: [route] });
  const running = Array.from({ length: 50 }, async () => (await fetch(`${gate.url}/slow`)).text());
  await until(() => gate.running === 50);

  const closing = gate.close();
  setTimeout(finish, 100);

  expect(new Set(await Promise.all(running))).toEqual(new Set(["done"]));
  await closing;
});

function slowRoute(): { readonly route: Route; readonly finish: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const route: Route = {
    path: "/slow",
    async handle({ response }) {
      await promise;
      response.end("done");
    },
  };
  return {
    route,
    finish() {
      resolve(undefined);
    },
  };
}
