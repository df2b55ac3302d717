import type { Decision, Scene } from "./decision.ts";

const commandPattern =
  /^\s*(?:please\s+)?(open|activate|load|start|enable|use|close|deactivate|unload|disable|stop)\s+(?:the\s+)?(?:skill\s+)?[`"']?([\w.-]{1,64}?)[`"']?(?:\s+skill)?[\s.!]*$/iu;

/** Understands "open the skill x" and "close x", where x is the name of a skill. */
export function findSkillCommand({ exchange, skills, tools }: Scene): Decision | undefined {
  const [, verb = "", name = ""] = commandPattern.exec(exchange.text.slice(0, 200)) ?? [];
  const skill = skills.find((skill) => skill.name.toLowerCase() === name.toLowerCase());
  if (skill === undefined) return undefined;
  const tool = /^(?:close|deactivate|unload|disable|stop)$/iu.test(verb) ? "deactivate_skill" : "activate_skill";
  if (!tools.some((known) => known.name === tool)) return undefined;
  const isDone = exchange.rounds.flat().some((call) => call.tool === tool);
  if (!isDone) return { text: "", calls: [{ tool, input: { name: skill.name } }] };
  const own = tools.filter((known) => known.name.startsWith(`${skill.name}__`));
  const list = own.map((known) => `- \`${known.name}\`: ${known.description ?? ""}`).join("\n");
  const text =
    tool === "deactivate_skill"
      ? `The skill ${skill.name} is closed.`
      : `The skill ${skill.name} is open.${list === "" ? "" : ` Its tools:\n${list}`}`;
  return { text, calls: [] };
}
