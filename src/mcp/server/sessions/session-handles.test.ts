import { expect, onTestFinished, test, vi } from "vitest";

import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { createSessionHandles, type SessionHandles } from "./session-handles.ts";

const ann = { id: "ann", scopes: "all" } as const;
const bob = { id: "bob", scopes: "all" } as const;

test("open() takes room from the caller that holds the most handles, the one used longest ago first", () => {
  const handles = open({ maxHandles: 3, maxHandlesPerCaller: 10 });
  const first = handles.open(ann).handle;
  const others = [handles.open(bob).handle, handles.open(bob).handle];

  handles.open(ann);
  handles.open(bob);

  expect(handles.find(others[0] ?? "", bob)).toBeUndefined();
  expect(handles.find(first, ann)).toBeUndefined();
  expect(handles.find(others[1] ?? "", bob)).toBeDefined();
});

test("open() takes room from the caller itself when it holds too many", () => {
  const handles = open({ maxHandles: 10, maxHandlesPerCaller: 1 });
  const other = handles.open(bob).handle;
  const first = handles.open(ann).handle;

  handles.open(ann);

  expect([handles.find(first, ann), handles.find(other, bob)]).toEqual([undefined, expect.anything()]);
});

test("find() finds a handle whatever the clock of the machine says", () => {
  const handles = open({ maxHandles: 10, maxHandlesPerCaller: 10 });
  const { handle } = handles.open(ann);

  const now = Date.now();
  vi.spyOn(Date, "now").mockReturnValue(now + 24 * 60 * 60 * 1000);

  expect(handles.find(handle, ann)).toBeDefined();
});

function open(limits: { readonly maxHandles: number; readonly maxHandlesPerCaller: number }): SessionHandles {
  const more = { maxSessions: 1, maxSessionsPerCaller: 1, maxSubscriptions: 1, maxParked: 1, idleMs: 60_000 };
  const handles = createSessionHandles(createWorkspace(), { ...more, ...limits });
  onTestFinished(() => handles.closeAll());
  return handles;
}
