import type { Diagnostic } from "../../core/diagnostics.ts";
import type { Permissions } from "../../core/permissions.ts";
import { showPath } from "../../platform/paths.ts";
import type { SkillManifest } from "../manifests/skill-manifest.ts";
import type { ScriptInterface } from "../scripts/script-interface.ts";

/** Variables that every program finds set, with values that tell nothing about the person. */
const harmless =
  /^(?:HOME|PATH|PWD|OLDPWD|TMPDIR|TMP|TEMP|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NO_COLOR|KITBAG_.*)$/u;

/** Tells whether a variable needs no permission to be asked for: it is set everywhere, or tells nothing. */
export function isHarmlessVariable(name: string): boolean {
  return harmless.test(name);
}

/**
 * Holds what scripts are seen to use against what the skill asks for. Without a manifest that is worth knowing; with one it is a
 * warning: what is not listed is denied, so the script will fail, or it does something that its author did not say.
 */
export function checkDeclared(
  scripts: readonly ScriptInterface[],
  permissions: Permissions,
  manifest: SkillManifest | undefined,
  skill?: string,
): Diagnostic[] {
  const seen = scripts
    .filter((script) => script.kind !== "test")
    .map((script) => findMissing(script, permissions))
    .filter(({ env, means }) => env.length > 0 || means.length > 0);
  if (seen.length === 0) return [];
  const severity = manifest === undefined ? "info" : "warning";
  const grant = manifest === undefined ? skill : undefined;
  const cures = {
    env: renderCure("env", [...(permissions.env ?? []), ...unique(seen.flatMap((one) => one.env))], {
      manifest,
      grant,
    }),
    network: renderCure("network", [...(permissions.network ?? []), ...unique(seen.flatMap((one) => one.hosts))], {
      manifest,
      grant,
    }),
  };
  const denied = "which the permissions do not list, so it is denied";
  return seen.flatMap(({ path: file, env, hosts, means }): Diagnostic[] => {
    const diagnostics: Diagnostic[] = [];
    if (env.length > 0) {
      const message = `Reads ${show(env)} from the environment, ${denied}`;
      diagnostics.push({ severity, code: "environment-undeclared", message, file, cure: cures.env });
    }
    if (means.length > 0) {
      const message = `Uses ${show(means)} to reach ${show(hosts) || "the network"}, ${denied}`;
      diagnostics.push({ severity, code: "network-undeclared", message, file, cure: cures.network });
    }
    return diagnostics;
  });
}

interface Missing {
  readonly path: string;
  readonly env: readonly string[];
  readonly hosts: readonly string[];
  /** With what it reaches a network that is not granted; empty if it does not. */
  readonly means: readonly string[];
}

function findMissing({ path, environment, access }: ScriptInterface, { env = [], network = [] }: Permissions): Missing {
  const names = environment.map((variable) => variable.name);
  const hosts = access.hosts.filter((host) => !isGranted(host, network));
  // A host that nothing is fetched from stands in a comment. If none is named, the caller of the script names it.
  const isMissing = hosts.length > 0 || (access.hosts.length === 0 && network.length === 0);
  return {
    path,
    env: unique(names.filter((name) => !env.includes(name) && !isHarmlessVariable(name))),
    hosts: access.network.length > 0 ? unique(hosts) : [],
    means: isMissing ? unique(access.network) : [],
  };
}

/** `*` is every host, `*.example.com` every host below it. A port narrows a grant, and the text of a script seldom names one. */
function isGranted(host: string, granted: readonly string[]): boolean {
  const name = withoutPort(host);
  return granted.map(withoutPort).some((rule) => {
    if (rule === "*" || rule === name) return true;
    return rule.startsWith("*.") && name.endsWith(rule.slice(1));
  });
}

function withoutPort(host: string): string {
  return host.toLowerCase().replace(/:\d+$/u, "");
}

interface CurePlace {
  readonly manifest: SkillManifest | undefined;
  /** The skill that it can be granted to from outside, because its author lists nothing. */
  readonly grant: string | undefined;
}

/** The command that grants it, or the lines to write. Beside a kitbag.toml other manifests are not read, so what they say has to move. */
function renderCure(kind: "env" | "network", list: readonly string[], { manifest, grant }: CurePlace): string {
  if (grant !== undefined) {
    const flags = list.length > 0 ? list.map((value) => `--${kind} ${value}`).join(" ") : `--${kind} HOST`;
    return `kitbag grant ${grant} ${flags} (for a skill of your own, list it in kitbag.toml)`;
  }
  if (manifest?.file === "manifest.toml") {
    return `add "${kind === "env" ? "env_read" : "http_client"}" to the permissions of manifest.toml`;
  }
  const line =
    list.length > 0
      ? `${kind} = [${list.map((value) => JSON.stringify(value)).join(", ")}]`
      : `${kind} = ["api.example.com"] # the hosts that it may reach`;
  const place = manifest?.file === "manifest.json" ? "move the tool to kitbag.toml, with" : "write in kitbag.toml:";
  return `${place}\n[permissions]\n${line}`;
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}

const mostShown = 10;

function show(values: readonly string[]): string {
  const more = values.length > mostShown ? ` and ${values.length - mostShown} more` : "";
  return values.slice(0, mostShown).map(showPath).join(", ") + more;
}
