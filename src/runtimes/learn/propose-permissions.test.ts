import { expect, test } from "vitest";

import type { Attempt } from "./learn-report.ts";
import { proposePermissions, type ProposalPlaces } from "./propose-permissions.ts";

const places: ProposalPlaces = {
  directory: "/home/ada/project",
  home: "/home/ada",
  exists: (path) => !path.includes("new"),
  isDirectory: (path) => path.endsWith("folder"),
};

test("proposePermissions() names single files, from where a person would", () => {
  const { permissions, notes } = proposePermissions(
    [read("/home/ada/project/a.csv"), read("/home/ada/notes.txt"), read("/srv/list.txt")],
    places,
  );

  expect(permissions).toEqual({ read: ["./a.csv", "/srv/list.txt", "~/notes.txt"] });
  expect(notes).toEqual(["/srv/list.txt is outside of the working directory and the home"]);
});

test("proposePermissions() takes the directory of several files, but never the project or the home", () => {
  const many = (directory: string): Attempt[] => ["a", "b", "c"].map((name) => read(`${directory}/${name}`));

  const { permissions } = proposePermissions([...many("/home/ada/project/in"), ...many("/home/ada/project")], places);

  expect(permissions).toEqual({ read: ["./a", "./b", "./c", "./in/"] });
});

test("proposePermissions() grants the directory of a file that is not there yet, and says so", () => {
  const { permissions, notes } = proposePermissions(
    [{ kind: "write", what: "/home/ada/project/out/new.txt", round: 1 }],
    places,
  );

  expect(permissions).toEqual({ write: ["./out/"] });
  expect(notes[0]).toContain("is not there yet");
});

test("proposePermissions() does not open the project for a new file in it, and says why", () => {
  const { permissions, notes } = proposePermissions(
    [{ kind: "write", what: "/home/ada/project/new.txt", round: 1 }, read("/home/ada/project/a.csv")],
    places,
  );

  expect(permissions).toEqual({ read: ["./a.csv"] });
  expect(notes).toEqual([expect.stringContaining("/home/ada/project/new.txt needs no grant")]);
});

test("proposePermissions() grants a directory that the script makes, and not the one around it", () => {
  const made: Attempt = { kind: "write", what: "/home/ada/project/new", makes: true, round: 1 };

  const { permissions, notes } = proposePermissions([made, { ...made, what: "/home/ada/project/new/x" }], places);

  expect(permissions).toEqual({ write: ["./new/"] });
  expect(notes[0]).toContain("it will be made before the tool starts");
});

test("proposePermissions() lists nothing twice", () => {
  const attempts: Attempt[] = [
    { kind: "read", what: "/home/ada/project/folder", lists: true, round: 1 },
    read("/home/ada/project/folder/a"),
    { kind: "run", what: "git", round: 1 },
    { kind: "run", what: "git", round: 2 },
  ];

  expect(proposePermissions(attempts, places).permissions).toEqual({ read: ["./folder/"], run: ["git"] });
});

function read(what: string): Attempt {
  return { kind: "read", what, round: 1 };
}
