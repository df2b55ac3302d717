import { expect, test } from "vitest";

import type { SkillManifest } from "../manifests/skill-manifest.ts";
import { emptyManifest } from "../manifests/skill-manifest.ts";
import type { ScriptAccess, ScriptInterface } from "../scripts/script-interface.ts";
import { checkDeclared } from "./check-declared.ts";

const manifest: SkillManifest = { ...emptyManifest, file: "kitbag.toml" };

test("checkDeclared() tells of variables and hosts, and with a manifest it warns", () => {
  const scripts = [script({ env: ["API_KEY"], hosts: ["api.example.com"], network: ["requests"] })];

  const without = checkDeclared(scripts, {}, undefined);
  const withManifest = checkDeclared(scripts, {}, manifest);

  expect(without).toEqual([
    {
      severity: "info",
      code: "environment-undeclared",
      message: "Reads API_KEY from the environment, which the permissions do not list, so it is denied",
      file: "scripts/a.py",
      cure: 'write in kitbag.toml:\n[permissions]\nenv = ["API_KEY"]',
    },
    {
      severity: "info",
      code: "network-undeclared",
      message: "Uses requests to reach api.example.com, which the permissions do not list, so it is denied",
      file: "scripts/a.py",
      cure: 'write in kitbag.toml:\n[permissions]\nnetwork = ["api.example.com"]',
    },
  ]);
  expect(withManifest).toEqual(without.map((one) => ({ ...one, severity: "warning" })));
});

test("checkDeclared() gives the lines for all scripts together, with what is granted already", () => {
  const scripts = [script({ env: ["A", "B"] }), script({ path: "scripts/b.sh", env: ["C", "A"] })];

  const diagnostics = checkDeclared(scripts, { env: ["B"] }, manifest);

  expect(diagnostics.map(({ file, message }) => [file, message.split(",")[0]])).toEqual([
    ["scripts/a.py", "Reads A from the environment"],
    ["scripts/b.sh", "Reads C"],
  ]);
  expect(new Set(diagnostics.map((one) => one.cure))).toEqual(
    new Set(['write in kitbag.toml:\n[permissions]\nenv = ["B", "A", "C"]']),
  );
});

test.for([
  ["everything", ["*"], true],
  ["the host", ["api.example.com"], true],
  ["the host with a port", ["API.example.com:443"], true],
  ["all hosts of the domain", ["*.example.com"], true],
  ["another host", ["example.com"], false],
  ["a host that only ends alike", ["*.le.com"], false],
] as const)("checkDeclared() takes a grant of %s for what it is", ([, network, isEnough]) => {
  const scripts = [script({ hosts: ["api.example.com:443"], network: ["fetch"] })];

  expect(checkDeclared(scripts, { network }, manifest).length).toBe(isEnough ? 0 : 1);
});

test("checkDeclared() does not take a host in a comment for one that is reached", () => {
  expect(checkDeclared([script({ hosts: ["docs.python.org"] })], {}, manifest)).toEqual([]);
});

test("checkDeclared() notices a network that is reached at an address which the caller names", () => {
  const scripts = [script({ network: ["curl", "wget"] })];

  const [diagnostic] = checkDeclared(scripts, {}, undefined);

  expect(diagnostic?.message).toBe(
    "Uses curl, wget to reach the network, which the permissions do not list, so it is denied",
  );
  expect(diagnostic?.cure).toContain('network = ["api.example.com"] # the hosts that it may reach');
  expect(checkDeclared(scripts, { network: ["one.example"] }, manifest)).toEqual([]);
});

test("checkDeclared() does not ask for variables that everybody has, and does not look at tests", () => {
  expect(checkDeclared([script({ env: ["HOME", "PATH", "LC_ALL", "KITBAG_FD"] })], {}, manifest)).toEqual([]);
  expect(checkDeclared([{ ...script({ env: ["KEY"] }), kind: "test" }], {}, manifest)).toEqual([]);
});

test("checkDeclared() speaks the language of the manifest that is there", () => {
  const scripts = [script({ env: ["KEY"], network: ["fetch"] })];
  const plugin = checkDeclared(scripts, {}, { ...emptyManifest, file: "manifest.toml" });
  const tool = checkDeclared(scripts, {}, { ...emptyManifest, file: "manifest.json" });

  expect(plugin.map((one) => one.cure)).toEqual([
    'add "env_read" to the permissions of manifest.toml',
    'add "http_client" to the permissions of manifest.toml',
  ]);
  expect(tool[0]?.cure).toBe('move the tool to kitbag.toml, with\n[permissions]\nenv = ["KEY"]');
});

test("checkDeclared() bounds what it says about a script that reads everything", () => {
  const env = Array.from({ length: 5000 }, (_, index) => `KEY_${index}`);

  const [diagnostic] = checkDeclared([script({ env: [...env, "ODD\nNAME"] })], {}, undefined);

  expect(diagnostic?.message).toContain("KEY_9 and 4991 more from the environment");
  expect(diagnostic?.message).not.toContain("\n");
});

interface Seen extends Partial<Pick<ScriptAccess, "hosts" | "network">> {
  readonly path?: string;
  readonly env?: readonly string[];
}

function script({ path = "scripts/a.py", env = [], hosts = [], network = [] }: Seen): ScriptInterface {
  return {
    path,
    language: "python",
    interpreter: ["python3"],
    kind: "tool",
    reason: "",
    tools: [],
    environment: env.map((name) => ({ name })),
    imports: [],
    access: { hosts, network, reads: [], writes: [], programs: [] },
  };
}
