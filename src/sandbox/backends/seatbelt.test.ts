import { expect, test } from "vitest";

import { defaultLimits, nothing, type Profile } from "../sandbox.ts";
import { renderSeatbeltProfile, seatbeltSandbox, toSeatbeltPlan } from "./seatbelt.ts";

const temporary = "/private/var/folders/x/tmp-1";
const profile: Profile = {
  mounts: [
    { source: "/Users/ada/skills/one", target: "/skill" },
    { source: "/Users/ada/out", target: "/Users/ada/out", write: true },
    { source: "/Users/ada/out/kitbag.lock", target: "/Users/ada/out/kitbag.lock" },
    { source: nothing, target: "/Users/ada/out/.kitbag" },
  ],
  environment: { TOKEN: "x" },
  programs: [],
  limits: defaultLimits,
};

test("renderSeatbeltProfile() refuses everything but what is named", () => {
  expect(renderSeatbeltProfile(profile, temporary)).toMatchInlineSnapshot(`
    "(version 1)
    (deny default)
    (allow process-fork)
    (allow process-exec (subpath "/bin") (subpath "/sbin") (subpath "/usr/bin") (subpath "/usr/sbin") (subpath "/usr/lib") (subpath "/usr/libexec") (subpath "/usr/share") (subpath "/System") (subpath "/Users/ada/skills/one") (subpath "/Users/ada/out") (subpath "/Users/ada/out/kitbag.lock"))
    (allow signal (target same-sandbox))
    (allow process-info* (target same-sandbox))
    (allow sysctl-read)
    (allow file-read-metadata)
    (allow file-read* (literal "/") (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom") (literal "/private/etc/localtime"))
    (allow file-read* (subpath "/bin") (subpath "/sbin") (subpath "/usr/bin") (subpath "/usr/sbin") (subpath "/usr/lib") (subpath "/usr/libexec") (subpath "/usr/share") (subpath "/System") (subpath "/Library/Developer/CommandLineTools") (subpath "/private/var/db/dyld") (subpath "/private/var/folders/x/tmp-1") (subpath "/Users/ada/skills/one") (subpath "/Users/ada/out") (subpath "/Users/ada/out/kitbag.lock"))
    (allow file-write* (subpath "/private/var/folders/x/tmp-1") (subpath "/Users/ada/out"))
    (allow file-write-data (literal "/dev/null") (literal "/dev/zero"))
    (deny file-write* (subpath "/Users/ada/out/kitbag.lock"))
    (deny file* (subpath "/Users/ada/out/.kitbag"))
    "
  `);
});

test.for([
  ['/Users/a"b', String.raw`(subpath "/Users/a\"b")`],
  [String.raw`/Users/a\ `, String.raw`(subpath "/Users/a\\ ")`],
  ['/Users/")) (allow default) ((', String.raw`(subpath "/Users/\")) (allow default) ((")`],
  ["/Users/a (b) ;c #|d", `(subpath "/Users/a (b) ;c #|d")`],
] as const)("renderSeatbeltProfile() lets no path end its string: %j", ([path, quoted]) => {
  const rules = renderSeatbeltProfile({ ...profile, mounts: [{ source: path, target: "/skill" }] }, temporary);

  expect(rules).toContain(quoted);
  expect(rules.split("\n").filter((line) => line.startsWith("(allow default"))).toEqual([]);
});

test("renderSeatbeltProfile() refuses paths with control characters", () => {
  const mounts = [{ source: "/Users/a\n(allow default)", target: "/skill" }];

  expect(() => renderSeatbeltProfile({ ...profile, mounts }, temporary)).toThrow(
    expect.objectContaining({ code: "sandbox-weak" }) as Error,
  );
});

test("toSeatbeltPlan() names files by their own places and sets limits", () => {
  const plan = toSeatbeltPlan(profile, ["/usr/bin/python3", "/skill/a.py", "$(id)"], temporary);

  expect(plan.words.slice(0, 2)).toEqual(["/usr/bin/sandbox-exec", "-p"]);
  expect(plan.words.slice(3)).toEqual([
    "/bin/sh",
    "-c",
    'ulimit -t 60 && ulimit -f 131072 && ulimit -n 256 && ulimit -c 0 && exec "$@"',
    "kitbag",
    "/usr/bin/python3",
    "/Users/ada/skills/one/a.py",
    "$(id)",
  ]);
  expect(plan.environment).toEqual({
    PATH: "/usr/bin:/bin:/usr/sbin:/sbin",
    HOME: temporary,
    TMPDIR: temporary,
    LANG: "C.UTF-8",
    TOKEN: "x",
  });
  expect(plan.directory).toBe(temporary);
});

test("seatbeltSandbox() refuses by name what it cannot do, and starts nothing", async () => {
  const unused = (): never => {
    throw new Error("it was used");
  };
  const area = { root: "/a", kept: "/a", own: "/a", private: "/a", remove: unused };
  const sandbox = seatbeltSandbox({ area, pipes: { openInput: unused, openOutput: unused } });

  await expect(sandbox.start({ ...profile, egress: "/a.sock", filter: "fork-server" }, ["true"])).rejects.toMatchObject(
    {
      code: "sandbox-weak",
      details: {
        sandbox: "seatbelt",
        lacks: [
          "network rules, since programs share the network of this machine",
          "namespaces for each call of a server",
        ],
      },
    },
  );
});
