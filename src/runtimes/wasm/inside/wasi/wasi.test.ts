import { expect, test } from "vitest";

import { CallEnded, errno } from "./errno.ts";
import { createGuest, type Guest } from "./guest.ts";
import { wasiNames } from "./wasi-names.ts";
import { createWasi, type WasiOptions } from "./wasi.ts";

test("args_get() and environ_get() write texts that end with zero", () => {
  const { call, view, guest } = openGuest({ args: ["tool", "ä"], environment: { A: "1", LONG: "x\0y" } });

  call("args_sizes_get", 0, 4);
  call("args_get", 100, 200);
  call("environ_sizes_get", 8, 12);
  call("environ_get", 300, 400);

  expect([0, 4, 8, 12].map((place) => view().getUint32(place, true))).toEqual([2, 8, 2, 12]);
  expect(guest.text(view().getUint32(104, true), 3)).toBe("ä\0");
  expect(guest.text(400, 12)).toBe("A=1\0LONG=xy\0");
});

test("clock_time_get() tells the time of day and a time that only grows", () => {
  const { call, view } = openGuest();

  call("clock_time_get", 0, 0n, 0);
  call("clock_time_get", 1, 0n, 8);
  call("clock_time_get", 1, 0n, 16);

  expect(Math.abs(Number(view().getBigUint64(0, true) / 1_000_000n) - Date.now())).toBeLessThan(5000);
  expect(view().getBigUint64(16, true)).toBeGreaterThan(view().getBigUint64(8, true));
  expect(call("clock_time_get", 9, 0n, 0)).toBe(errno.inval);
});

test("random_get() fills what it is told to", () => {
  const { call, guest } = openGuest();

  call("random_get", 0, 32);
  const first = guest.bytes(0, 32).slice();
  call("random_get", 0, 32);

  expect(guest.bytes(0, 32)).not.toEqual(first);
  expect(guest.bytes(32, 32)).toEqual(new Uint8Array(32));
});

test("proc_exit() ends the call with its code", () => {
  const { call } = openGuest();

  expect(() => call("proc_exit", 3)).toThrow(new CallEnded({ kind: "exit", code: 3 }));
});

test("fd_read() reads standard input to its end, into several buffers", () => {
  const { call, view, guest } = openGuest({ input: Buffer.from("hello world") });
  guest.set32(0, 1000);
  guest.set32(4, 4);
  guest.set32(8, 2000);
  guest.set32(12, 100);

  call("fd_read", 0, 0, 2, 16);
  const first = view().getUint32(16, true);
  call("fd_read", 0, 0, 2, 16);

  expect([first, view().getUint32(16, true)]).toEqual([11, 0]);
  expect([guest.text(1000, 4), guest.text(2000, 7)]).toEqual(["hell", "o world"]);
});

test("fd_write() hands on standard output and standard error", () => {
  const written: string[] = [];
  const { call, guest } = openGuest({
    writeOutput: (bytes) => written.push(`out ${Buffer.from(bytes).toString()}`),
    writeError: (bytes) => written.push(`err ${Buffer.from(bytes).toString()}`),
  });
  guest.setBytes(100, Buffer.from("text"));
  guest.set32(0, 100);
  guest.set32(4, 4);

  call("fd_write", 1, 0, 1, 16);
  call("fd_write", 2, 0, 1, 16);

  expect(written).toEqual(["out text", "err text"]);
});

test("fd_seek(), fd_pread() and path_open() say that a standard stream is no file", () => {
  const { call } = openGuest();

  expect(call("fd_seek", 0, 0n, 0, 0)).toBe(errno.spipe);
  expect(call("fd_pread", 0, 0, 0, 0n, 0)).toBe(errno.spipe);
  expect(call("path_open", 0, 0, 0, 1, 0, 0n, 0n, 0, 0)).toBe(errno.notdir);
});

test("fd_renumber() moves a descriptor over another, and fd_close() closes once", () => {
  const { call } = openGuest();

  expect(call("fd_renumber", 1, 2)).toBe(0);
  expect(call("fd_close", 2)).toBe(0);
  expect(call("fd_close", 2)).toBe(errno.badf);
  expect(call("fd_renumber", 0, 1_000_000)).toBe(errno.badf);
});

test("poll_oneoff() waits as long as the nearest clock says", () => {
  const { call, view } = openGuest();
  writeClock(view(), 0, { userData: 1n, nanoseconds: 30_000_000n });
  writeClock(view(), 48, { userData: 2n, nanoseconds: 60_000_000_000n });
  const start = performance.now();

  call("poll_oneoff", 0, 500, 2, 400);

  expect(performance.now() - start).toBeGreaterThan(25);
  expect(performance.now() - start).toBeLessThan(30_000);
  expect(view().getUint32(400, true)).toBe(1);
  expect(view().getBigUint64(500, true)).toBe(1n);
});

test("poll_oneoff() does not wait for what can be read at once", () => {
  const { call, view } = openGuest({ input: Buffer.from("abc") });
  writeClock(view(), 0, { userData: 1n, nanoseconds: 60_000_000_000n });
  view().setBigUint64(48, 7n, true);
  view().setUint8(56, 1);

  call("poll_oneoff", 0, 500, 2, 400);

  expect(view().getUint32(400, true)).toBe(1);
  expect(view().getBigUint64(500, true)).toBe(7n);
  expect(view().getBigUint64(516, true)).toBe(3n);
});

test.for(["sock_accept", "sock_recv", "sock_send", "sock_shutdown", "proc_raise"])("%s() is not offered", (name) => {
  const { call } = openGuest();

  expect(call(name, 3, 0, 0, 0, 0, 0)).toBe(errno.notsup);
});

test.for(wasiNames.filter((name) => name !== "proc_exit"))(
  "%s() survives whatever a module passes, also outside of its memory",
  (name) => {
    const odd = [-1, 0xffff_ffff, 65_535, 1e300, NaN, 2n ** 64n - 1n, -1n, null, undefined, () => {}, "__proto__"];

    for (const first of [0, 1, 3, ...odd]) {
      for (const value of odd) {
        // Everything is made anew, because closing is among what is tried.
        const { call } = openGuest({ input: Buffer.from("abc") });
        const result = call(name, first, ...Array.from({ length: 8 }, () => value));

        expect(Object.values(errno) as number[]).toContain(result === 0 ? errno.io : result);
      }
    }
  },
);

test("createWasi() answers with an error before the module has a memory", () => {
  const guest = createGuest();
  const wasi = createWasi({ ...defaults, guest });

  expect(wasi.imports["random_get"]?.(...([0, 1] as never[]))).toBe(errno.fault);
});

const ignore = (): void => {};
const defaults: Omit<WasiOptions, "guest"> = {
  roots: [],
  fileBytes: 0,
  input: new Uint8Array(0),
  args: [],
  environment: {},
  writeOutput: ignore,
  writeError: ignore,
};

interface TestGuest {
  readonly guest: Guest;
  readonly view: () => DataView;
  readonly call: (name: string, ...values: readonly unknown[]) => number | undefined;
}

/** A module that does nothing but what the test does in its name. */
function openGuest(options: Partial<WasiOptions> = {}): TestGuest {
  const guest = createGuest();
  guest.attach({ buffer: new ArrayBuffer(65_536) });
  const wasi = createWasi({ ...defaults, ...options, guest });
  return { guest, view: guest.view, call: (name, ...values) => wasi.imports[name]?.(...(values as never[])) };
}

function writeClock(view: DataView, place: number, clock: { userData: bigint; nanoseconds: bigint }): void {
  view.setBigUint64(place, clock.userData, true);
  view.setUint8(place + 8, 0);
  view.setUint32(place + 16, 1, true);
  view.setBigUint64(place + 24, clock.nanoseconds, true);
}
