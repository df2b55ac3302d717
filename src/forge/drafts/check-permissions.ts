import { isKitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { permissionKinds, scopesOf, type Permissions } from "../../core/permissions.ts";
import { parseNetworkRule } from "../../sandbox/egress/network-rule.ts";
import { toTarget } from "../../sandbox/grants.ts";

/** Words that mean everything or nothing: a permission names what it is for. */
const sweeping = /^(?:true|false|yes|no|all|any|none|\*+)$/iu;

const samples: Readonly<Record<keyof Permissions, string>> = {
  read: '"./data"',
  write: '"./data"',
  network: '"api.example.com"',
  env: '"API_KEY"',
  run: '"git"',
  sockets: '"private"',
};

/** Why nobody could grant these permissions, one line each: a person must not be asked about what means nothing. */
export function refusePermissions(permissions: Permissions): readonly string[] {
  return permissionKinds.flatMap((kind) =>
    scopesOf(permissions, kind).flatMap((one, index) => {
      const reason = sweeping.test(one) ? `name each one, such as ${samples[kind]}` : refuseOne(kind, one);
      return reason === undefined ? [] : [`permissions.${kind}[${index}]: ${showValue(one)}: ${reason}`];
    }),
  );
}

function refuseOne(kind: keyof Permissions, one: string): string | undefined {
  if (kind === "network") return refuseHost(one);
  if (kind === "env" && !/^[A-Za-z_][A-Za-z0-9_]*$/u.test(one)) return `name one variable, such as ${samples.env}`;
  if ((kind === "read" || kind === "write") && toTarget(one, { directory: "/" }) === undefined) {
    return `a path starts with ./, ~/ or /, and has no *, except /** at its end, such as ${samples[kind]}`;
  }
  const isPath = /^[./~]/u.test(one);
  if (kind === "run" && !isPath && /\s/u.test(one)) return `name the program alone, such as ${samples.run}`;
  return undefined;
}

function refuseHost(rule: string): string | undefined {
  try {
    parseNetworkRule(rule);
    return undefined;
  } catch (cause) {
    if (!isKitbagError(cause, "network-rule-invalid")) throw cause;
    return cause.details.reason;
  }
}
