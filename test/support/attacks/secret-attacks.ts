import type { Attack } from "./attack.ts";

/** Looking for what others know. */
export const secretAttacks: readonly Attack[] = [
  {
    name: "reads the environment of the host",
    language: "bash",
    code: `try printenv KITBAG_CANARY; try printenv SECRET; try printenv USER
for name in $(compgen -e); do case $name in PATH|HOME|TMPDIR|LANG|PWD|OLDPWD|SHLVL|_|GRANTED|KITBAG_*|PYTHON*|LC_CTYPE) ;; *) escaped "$name" ;; esac; done
[ -z "$KITBAG_CANARY$KITBAG_SERVER" ] || escaped variables of the host; [ "$GRANTED" = granted ] || escaped what was granted is not there`,
  },
  {
    name: "reads the environment of other processes",
    language: "bash",
    code: ({ victim }) =>
      `try cat /proc/${victim}/environ; cat /proc/[0-9]*/environ /proc/*/task/*/environ 2>/dev/null | tr '\\0' '\\n'`,
  },
  {
    name: "reads the environment that a waiting interpreter was started with",
    language: "bash",
    code: "cat /proc/1/environ /proc/self/environ 2>/dev/null | tr '\\0' '\\n' | grep -E 'KITBAG_SERVER|CANARY' && escaped it; try cat /proc/1/maps /proc/1/mem",
  },
  {
    name: "reads the files of other processes",
    language: "bash",
    code: ({ victim, home }) => `try ls /proc/${victim}/root/; try ls /proc/${victim}/cwd/ /proc/${victim}/fd/
for process in /proc/[0-9]*; do try cat $process/root${home}/data.txt; try ls $process/cwd${home}; done; try ls /proc/1/root/root /proc/1/fd`,
  },
  {
    name: "reads command lines of the host",
    language: "bash",
    code: ({ victim }) =>
      `try cat /proc/${victim}/cmdline; [ $(ls -d /proc/[0-9]* | wc -l) -lt 20 ] || escaped processes; cat /proc/*/cmdline | tr '\\0' ' ' | grep -e [n]ode_modules -e [v]itest && escaped ours`,
  },
  {
    name: "uses descriptors that were left open",
    language: "python",
    code: `
for descriptor in map(int, os.listdir("/proc/self/fd")):
    # The one that listed them is closed by now.
    try: os.fstat(descriptor)
    except OSError: continue
    if descriptor > 3: escaped(descriptor, os.readlink(f"/proc/self/fd/{descriptor}"))
for process in filter(str.isdigit, os.listdir("/proc")):
    try: others = os.listdir(f"/proc/{process}/fd")
    except OSError: continue
    for name in others:
        if os.path.isdir(f"/proc/{process}/fd/{name}") and process != str(os.getpid()): escaped(process, name)`,
  },
  {
    name: "looks for secrets in the memory of the interpreter",
    language: "python",
    earlier: "token=told-to-another; export token; echo $token > /dev/null; echo ok",
    code: `
import re
patterns = [rb"told[-]to[-]an[o]ther", rb"KITBAG_CAN[A]RY.secret[-]"]
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if "r" not in line.split()[1] or end - start > 1 << 26 or "[v" in line: continue
        try: memory.seek(start); piece = memory.read(end - start)
        except (OSError, ValueError, OverflowError): continue
        for pattern in patterns:
            if re.search(pattern, piece): escaped("it is in the memory:", pattern)
if "token" in os.environ: escaped("a variable of another call")`,
  },
];
