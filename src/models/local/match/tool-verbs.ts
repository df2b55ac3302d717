import type { ModelTool } from "../../model.ts";
import { parametersOf } from "../fill/parameter.ts";
import { toStems } from "../text/stems.ts";
import { verbsIn } from "./verbs.ts";

/** Verbs of what only looks at things, or makes one value of another. */
export const reads: ReadonlySet<string> = new Set(
  toStems(
    "list get show find search look read tell compute calculate count check compare query summarize describe lookup fetch retrieve return view display " +
      "analyze inspect extract estimate preview parse translate convert validate detect identify explain measure browse give provide generate encode " +
      "decode hash render evaluate solve suggest recommend rank monitor pick roll track rate group split report define sum average run ask recall " +
      "answer navigate diff simulate ping trace locate sort filter",
  ),
);

/** Verbs of what changes things. */
export const changes: ReadonlySet<string> = new Set(
  toStems(
    "add write insert put replace rename move edit update change fix set apply format create book reserve record log remind schedule " +
      "start restart lock unlock enable disable turn switch assign register invite upload import install adjust increase decrease save store " +
      "open close print submit request heat play approve reject merge subscribe vote block mark complete finish sync restore share grant " +
      "reboot water brew feed dial notify trigger hire fire activate deactivate modify patch configure control manage toggle dim pause resume " +
      "snooze archive unarchive label tag pin unpin comment react mute unmute ban follow unfollow sign append prepend commit stage checkout " +
      "rebase stash fork transition unassign link unlink attach detach connect disconnect join leave charge refund upgrade downgrade migrate " +
      "provision arm disarm call hang answer draft raise copy duplicate compress escalate enroll unenroll promote demote " +
      "delete remove erase drop wipe purge destroy kill terminate overwrite uninstall revoke pay purchase buy send publish deploy cancel",
  ),
);

/** The choices of what switches something. */
const switching =
  /^(?:on|off|open|close|start|stop|pause|lock|unlock|enable|disable|add|remove|create|delete|update)$/u;

/** What is only there where something is done that could go wrong. */
const guarding = /^(?:force|confirm|confirmed|dryrun|overwrite)$/u;

/** What a tool does, by the verbs that its description and its name begin with, the surest first. */
export function verbsOf(tool: ModelTool): string[] {
  const description = (tool.description ?? "").slice(0, 200);
  const [own = ""] = toStems(tool.name.slice(tool.name.indexOf("__") + 1));
  const first = verbsIn(description);
  const isKnown = (stem: string): boolean => reads.has(stem) || changes.has(stem);
  const later = [...first, own].some(isKnown) ? [] : hiddenVerbs(description).filter(isKnown).slice(0, 1);
  // What says of itself that it lists archives archives nothing, whatever it is called.
  const isRead = [...first].slice(0, 1).some((stem) => reads.has(stem));
  return [...first, ...laterVerbs(description), ...later, ...(isRead ? [] : [own])];
}

/** "Use this to send …", "Thermostat: sets …": what it does is said later. */
function hiddenVerbs(description: string): string[] {
  const found = [
    ...description.matchAll(/^[^.:]{1,24}(?::|\s[–—-])\s+(\p{L}{3,})/giu),
    ...description.matchAll(/\b(?:to|you|that|which|can|tool)\s+(\p{L}{3,})/giu),
  ];
  return found.flatMap(([, verb = ""]) => toStems(verb));
}

/** "Looks up a user and updates the address": what stands behind an "and" as a verb does. */
function laterVerbs(description: string): string[] {
  const [sentence = ""] = description.split(/[.!?](?:\s|$)/u);
  const found = [
    ...sentence.matchAll(/\b(?:and|then|or)\s+(?:then\s+)?(\p{L}{3,})\s+(?:the|a|an|it|them|its|their|this)\b/giu),
  ];
  return found.flatMap(([, verb = ""]) => toStems(verb)).filter((stem) => changes.has(stem));
}

/** Tells whether a description begins with a verb that nobody knows ("Scale a deployment"): it may do anything. */
export function hasStrangeVerb({ description = "" }: ModelTool): boolean {
  const start = description.slice(0, 100);
  // A thumbnail is made without harm, a payment is not.
  if (/^\s*(?:makes?|takes?|downloads?)\s/iu.test(start)) return madeDeeds.test(start);
  return /^\s*\p{L}{3,}\s+(?:an?|the|all|one|several|your|somebody|something)\s/iu.test(start);
}

const madeDeeds =
  /^\s*makes? an? (?:\p{L}+ )?(?:payment|purchase|booking|reservation|appointment|transfer|deposit|donation|order|call|change)\b/iu;

/** Tells whether the parameters of a tool are those of something that switches or changes things. */
export function hasSwitch(tool: ModelTool): boolean {
  return parametersOf(tool).some(
    ({ type, choices, words }) =>
      (type === "boolean" && guarding.test(words.join(""))) ||
      (choices.length > 1 && choices.every((choice) => switching.test(String(choice)))),
  );
}
