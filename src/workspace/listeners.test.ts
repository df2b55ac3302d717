import { once } from "node:events";
import { expect, test } from "vitest";

import { isKitbagError } from "../core/errors.ts";
import { createListeners } from "./listeners.ts";

test("createListeners() tells every listener every event, in the order they were added", () => {
  const { heard, listeners } = setUp();
  listeners.add((event) => heard.push(`a${event}`));
  listeners.add((event) => heard.push(`b${event}`));

  listeners.tell(1);
  listeners.tell(2);

  expect(heard).toEqual(["a1", "b1", "a2", "b2"]);
});

test("createListeners() knows whether anybody listens", () => {
  const { listeners } = setUp();

  const before = listeners.isHeard();
  const end = listeners.add(() => {});
  const during = listeners.isHeard();
  end();

  expect([before, during, listeners.isHeard()]).toEqual([false, true, false]);
});

test("createListeners() tells one that was added twice twice, and ends each by itself", () => {
  const { heard, listeners } = setUp();
  const listener = (event: number): void => void heard.push(`${event}`);
  const end = listeners.add(listener);
  listeners.add(listener);

  listeners.tell(1);
  end();
  end();
  listeners.tell(2);

  expect(heard).toEqual(["1", "1", "2"]);
});

test("createListeners() lets a listener end itself and others while it is told", () => {
  const { heard, listeners } = setUp();
  const endSelf = listeners.add((event) => {
    heard.push(`a${event}`);
    endSelf();
    endOther();
  });
  const endOther = listeners.add((event) => heard.push(`b${event}`));
  listeners.add((event) => heard.push(`c${event}`));

  listeners.tell(1);
  listeners.tell(2);

  expect(heard).toEqual(["a1", "c1", "c2"]);
});

test("createListeners() does not tell one that is added meanwhile of what is being told", () => {
  const { heard, listeners } = setUp();
  listeners.add(() => void listeners.add((event) => heard.push(`late${event}`)));

  listeners.tell(1);
  listeners.tell(2);

  expect(heard).toEqual(["late2"]);
});

test("createListeners() tells everybody in the same order, also what a listener causes", () => {
  const { heard, listeners } = setUp();
  listeners.add((event) => {
    heard.push(`a${event}`);
    if (event < 3) listeners.tell(event + 1);
  });
  listeners.add((event) => heard.push(`b${event}`));

  listeners.tell(1);

  expect(heard).toEqual(["a1", "b1", "a2", "b2", "a3", "b3"]);
});

test("createListeners() lets everybody else have a turn when listeners cause more and more", async () => {
  const { heard, listeners } = setUp();
  const end = listeners.add((event) => {
    heard.push(`${event}`);
    listeners.tell(event + 1);
  });

  listeners.tell(0);
  const atOnce = heard.length;
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  end();

  expect(atOnce).toBe(1000);
  expect(heard.length).toBeGreaterThan(1000);
  expect(heard).toEqual(heard.map((_, index) => `${index}`));
});

test("createListeners() goes on when a listener throws or rejects, and warns", async () => {
  const { heard, listeners } = setUp();
  const warnings: Error[] = [];
  const collect = (warning: Error): void => void warnings.push(warning);
  process.on("warning", collect);
  listeners.add(() => {
    throw new Error("thrown");
  });
  listeners.add(rejectLater);
  listeners.add((event) => heard.push(`c${event}`));

  listeners.tell(1);
  while (warnings.length < 2) await once(process, "warning");
  process.off("warning", collect);

  expect(heard).toEqual(["c1"]);
  expect(warnings.map(({ name, message }) => `${name}: ${message}`)).toEqual([
    "KitbagWarning: A listener failed: thrown",
    "KitbagWarning: A listener failed: something that cannot be shown",
  ]);
});

test("createListeners() refuses what is no function", () => {
  const { listeners } = setUp();

  const refused = catchError(() => listeners.add({} as never));

  expect(isKitbagError(refused, "option-invalid") && refused.message).toBe(
    'Cannot use "listener": found an object, expected a function',
  );
});

function setUp(): { heard: string[]; listeners: ReturnType<typeof createListeners<number>> } {
  return { heard: [], listeners: createListeners<number>() };
}

function rejectLater(): void {
  // What an async function does that is given as a listener.
  return Promise.reject(Object.create(null) as Error) as unknown as void;
}

function catchError(run: () => unknown): unknown {
  try {
    return run();
  } catch (cause) {
    return cause;
  }
}
