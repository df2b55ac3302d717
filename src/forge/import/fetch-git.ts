import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";

import { createStage, type Fetched, type FetchOptions } from "./fetched.ts";
import { findRef } from "./find-ref.ts";
import { openGitSession, type GitSource } from "./git-session.ts";
import { readCommit } from "./read-commit.ts";

/**
 * Fetches one commit of a repository. Nothing is checked out: the files are read out of the commit, each by its name and size, so
 * that no hook, filter, submodule or link of the repository ever counts.
 *
 * @throws {KitbagError} `import-failed`, `import-refused`, `network-refused`
 */
export async function fetchGit(source: GitSource, options: FetchOptions): Promise<Fetched> {
  const stage = createStage();
  try {
    const repository = join(stage.directory, "repository");
    const directory = join(stage.directory, "files", toFolderName(source));
    for (const folder of [repository, directory]) mkdirSync(folder, { recursive: true });
    const session = await openGitSession(source, repository, options);
    await session.run(["init", "--quiet", "--bare", "--template=", "."]);
    const wanted = await findRef(session);
    const place = "refs/kitbag/fetched";
    const depth = ["--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--quiet"];
    await session.run(["fetch", ...depth, "--", session.address, `+${wanted.name}:${place}`]);
    const commit = (await session.run(["rev-parse", "--verify", `${place}^{commit}`])).toString("utf8").trim();
    const { tree, notes } = await readCommit(session, commit);
    const left = tree.write(directory);
    return {
      source: { ...source, ...(wanted.ref !== undefined && { ref: wanted.ref }) },
      directory,
      resolved: { commit },
      notes: [...notes, ...left.map((one) => `left out ${one}`)],
      dispose: stage.dispose,
    };
  } catch (cause) {
    stage.dispose();
    throw cause;
  }
}

/** A skill that says no name of its own is called like the folder that it is in. */
function toFolderName({ address, folder }: GitSource): string {
  const name = basename(folder ?? new URL(address).pathname).replace(/\.git$/u, "");
  return /^[A-Za-z0-9][\w.-]*$/u.test(name) ? name : "repository";
}
