import { toHostPath, type Sandbox } from "../sandbox.ts";
import type { Pipes } from "../pipes.ts";
import { startProgram } from "../start-program.ts";

/**
 * No sandbox: programs run as this user, with the environment that the profile names and nothing else enforced. Paths inside are
 * paths of the host, so a command must name its files by their sources.
 */
export function offSandbox(pipes: Pipes): Sandbox {
  const running = new Set<() => void>();
  return {
    name: "off",
    enforces: new Set(["environment"]),
    keepsPaths: true,
    async start(profile, command, input) {
      const words = command.map((word) => toHostPath(profile.mounts, word));
      const environment = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LANG: "C.UTF-8", ...profile.environment };
      const directory = toHostPath(profile.mounts, profile.directory ?? "/tmp");
      const started = await startProgram({ sandbox: "off", words, environment, directory }, pipes, input);
      running.add(started.kill);
      void started.exit.then(() => {
        // Whatever it left running in its group goes with it.
        started.kill();
        running.delete(started.kill);
      });
      return started;
    },
    async close() {
      for (const kill of running) kill();
    },
  };
}
