import { expect, test } from "vitest";

import { defineTool } from "../core/define-tool.ts";
import { isKitbagError, type ErrorCode } from "../core/errors.ts";
import { injected, type Tool } from "../core/tool.ts";
import { createWorkspace } from "./create-workspace.ts";
import { createDispatchTools } from "./dispatch/create-dispatch-tools.ts";
import type { Workspace } from "./workspace.ts";

test("add() keeps earlier versions callable by address@version, and lists only the tool itself", async () => {
  const workspace = createWorkspace();

  workspace.add(greet("2.0.0"), { versions: [greet("1.0.0"), greet("1.1.0")] });

  expect(await outputOf(workspace, "greet")).toBe("2.0.0");
  expect(await outputOf(workspace, "greet@1.0.0")).toBe("1.0.0");
  expect(await outputOf(workspace, "greet@1.1.0")).toBe("1.1.0");
  expect(await outputOf(workspace, "greet@2.0.0")).toBe("2.0.0");
  expect(workspace.getAvailableTools().map(({ tool }) => tool.version)).toEqual(["2.0.0"]);
  expect(workspace.getTool("greet@1.0.0")).toMatchObject({
    address: "greet",
    wireName: "greet",
    tool: { version: "1.0.0" },
  });
  expect(workspace.isToolAvailable("greet@1.0.0")).toBe(true);
  expect(workspace.isToolAvailable("greet@3.0.0")).toBe(false);
});

test("add() keeps versions of a component's tool, and they come and go with it", async () => {
  const workspace = createWorkspace();
  workspace.add(greet("2.0.0"), { component: "talk", versions: [greet("1.0.0")] });
  const before = await outputOf(workspace, "talk/greet@1.0.0");

  workspace.remove("talk/greet");

  expect(before).toBe("1.0.0");
  expect(await outputOf(workspace, "talk/greet@1.0.0")).toBe("tool-not-found");
});

test("call() names the versions that are kept when there is no such one", async () => {
  const workspace = createWorkspace();
  workspace.add(greet("2.0.0"), { versions: [greet("1.0.0")] });

  const outcome = await workspace.call("greet@9.0.0");

  expect(outcome).toMatchObject({
    status: "failed",
    error: { message: 'Cannot find the version "9.0.0" of "greet": the latest are 1.0.0, 2.0.0' },
  });
});

test("call() does not choose between two owners that both keep versions, or neither of which does", async () => {
  const workspace = createWorkspace();
  for (const component of ["a", "b"]) workspace.add(greet("2.0.0"), { component, versions: [greet("1.0.0")] });

  expect(await outputOf(workspace, "greet@9.0.0")).toBe("tool-not-found");
  expect(await outputOf(workspace, "greet@1.0.0")).toBe("tool-ambiguous");
  expect(await outputOf(workspace, "b/greet@1.0.0")).toBe("1.0.0");
});

test("replace() takes the versions it is given, and keeps those that are there if it is given none", async () => {
  const workspace = createWorkspace({ tools: [greet("1.0.0")] });
  workspace.replace(greet("2.0.0"), { versions: [greet("1.0.0")] });
  workspace.replace(greet(undefined));
  const kept = [await outputOf(workspace, "greet@1.0.0"), await outputOf(workspace, "greet@7.0.0")];

  workspace.replace(greet("3.0.0"), { versions: [] });

  expect(kept).toEqual(["1.0.0", "version-not-found"]);
  expect(await outputOf(workspace, "greet@1.0.0")).toBe("version-not-found");
});

test("add() refuses versions that are no versions of the tool, or are there twice, and adds nothing", () => {
  const workspace = createWorkspace();
  const wrong: (readonly Tool[])[] = [
    [greet("2.0.0")],
    [greet("1.0.0"), greet("1.0.0")],
    [greet(undefined)],
    [{ ...greet("1.0.0"), name: "other" }],
  ];

  const codes = wrong.map((versions) => codeOf(() => workspace.add(greet("2.0.0"), { versions })));
  codes.push(codeOf(() => workspace.add(greet("2.0.0"), { versions: [7] as never })));
  codes.push(codeOf(() => workspace.add(greet("2.0.0"), { versions: "1.0.0" as never })));

  expect(codes).toEqual([...wrong.map(() => "option-invalid"), "tool-invalid", "option-invalid"]);
  expect(workspace.getAvailableTools()).toEqual([]);
});

test("add() gives earlier versions the same values and the same state", async () => {
  const define = (version: string): Tool =>
    defineTool({
      name: "count",
      description: "Counts",
      version,
      inject: { step: injected<number>() },
      async run(_input, { state, injected: { step } }) {
        return state.update("count", (before) => Number(before ?? 0) + step);
      },
    });
  const workspace = createWorkspace();
  workspace.add(define("2.0.0"), { versions: [define("1.0.0")], injected: { step: 5 } });

  await workspace.call("count@1.0.0");

  expect(await outputOf(workspace, "count")).toBe(10);
});

test("call_tool takes the version beside the wire name", async () => {
  const workspace = createWorkspace();
  workspace.add(greet("2.0.0"), { versions: [greet("1.0.0")] });
  const session = workspace.openSession();
  const callTool = createDispatchTools(session).find(({ name }) => name === "call_tool");

  const outcome = await callTool?.run({ name: "greet", version: "1.0.0" });
  const missing = await callTool?.run({ name: "greet", version: "1.2.3" });

  expect(outcome).toMatchObject({ status: "ok", output: "1.0.0" });
  expect(missing).toMatchObject({ status: "failed", error: { code: "version-not-found" } });
});

function greet(version: string | undefined): Tool {
  return defineTool({
    name: "greet",
    description: "Says which version it is",
    ...(version !== undefined && { version }),
    run: () => version ?? "none",
  });
}

async function outputOf(workspace: Workspace, address: string): Promise<unknown> {
  const outcome = await workspace.call(address);
  return outcome.status === "ok" ? outcome.output : outcome.error.code;
}

function codeOf(work: () => void): ErrorCode | undefined {
  try {
    work();
    return undefined;
  } catch (cause) {
    return isKitbagError(cause) ? cause.code : undefined;
  }
}

test("add() holds earlier versions to what the tool of now says about approvals, destroying and reading", async () => {
  const workspace = createWorkspace();
  const strict = { needsApproval: true, annotations: { destructive: true } } as const;
  workspace.add(
    { ...greet("2.0.0"), ...strict },
    {
      versions: [{ ...greet("1.0.0"), annotations: { readOnly: true, idempotent: true } }],
    },
  );

  const outcome = await workspace.call("greet@1.0.0");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "approval-missing" } });
  expect(workspace.getTool("greet@1.0.0")?.tool).toMatchObject({
    version: "1.0.0",
    needsApproval: true,
    annotations: { destructive: true, idempotent: true, readOnly: false },
  });
});
