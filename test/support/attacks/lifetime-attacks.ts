import type { Attack } from "./attack.ts";

/** Going on when it should have ended. */
export const lifetimeAttacks: readonly Attack[] = [
  {
    name: "sleeps for ever",
    language: "bash",
    isBrief: true,
    fails: ["call-timeout"],
    code: ({ mark }) => `sleep ${mark}`,
  },
  {
    name: "ignores signals",
    language: "bash",
    isBrief: true,
    fails: ["call-timeout"],
    code: ({ mark }) =>
      `trap '' TERM INT HUP QUIT USR1 USR2 PIPE ALRM; sleep ${mark} & while :; do sleep ${mark}; done`,
  },
  {
    name: "becomes a daemon",
    language: "bash",
    code: ({ mark }) =>
      `(setsid sh -c 'setsid sleep ${mark} & sleep ${mark}' >/dev/null 2>&1 < /dev/null &); sleep 0.1`,
  },
  {
    name: "becomes a daemon by forking twice",
    language: "python",
    code: ({ mark }) => `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(100):
            try: os.close(descriptor)
            except OSError: pass
        os.execvp("sleep", ["sleep", "${mark}"])
    os._exit(0)
os.wait()`,
  },
  {
    name: "leaves zombies",
    language: "python",
    code: `
for _ in range(8):
    if os.fork() == 0:
        if os.fork() == 0: os._exit(0)
        os._exit(0)
time.sleep(0.1)`,
  },
  {
    name: "closes its output and goes on",
    language: "bash",
    isBrief: true,
    fails: ["call-timeout"],
    code: ({ mark }) => `exec >&- 2>&- 3>&- <&-; sleep ${mark}`,
  },
  {
    name: "leaves a process that holds its pipes",
    language: "bash",
    code: ({ mark }) => `sleep ${mark} & disown; (setsid sleep ${mark} &)`,
  },
  {
    name: "ends the first process of its tree",
    language: "python",
    // That of firejail can be ended, and the tool ends with it.
    firejail: { fails: ["script-failed"], mayEndWell: true },
    code: `
for sent in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGSEGV, signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP):
    try: os.kill(1, sent)
    except OSError: pass
time.sleep(0.05)`,
  },
  {
    name: "stops itself",
    language: "bash",
    isBrief: true,
    fails: ["call-timeout", "script-failed"],
    code: ({ mark }) => `sleep ${mark} & kill -STOP $$; sleep ${mark}`,
  },
  {
    name: "signals whatever it can",
    language: "bash",
    isBrief: true,
    fails: ["script-failed", "call-timeout"],
    sibling: "echo ready; sleep 0.7; echo done",
    code: ({ mark }) => `sleep ${mark} & trap '' TERM; kill -TERM -1; kill -KILL -1; sleep ${mark}`,
  },
];
