import type { Contender, Question } from "./question.ts";
import { callEcho, openBag, type Bag, type Language } from "./script-skill.ts";

const calls = 48;
const atOnce = 8;

const question: Question = {
  title: "How many scripts run in the sandbox when there are always more?",
  text: `The same script, ${calls} calls, ${atOnce} of them at any time, until all have answered: with interpreters that wait, and with a new sandbox for each call.`,
  unit: "ms a call",
  rounds: 11,
  targets: [
    {
      text: "Python, warm to cold",
      unit: "×",
      limit: 0.25,
      value: (cost) => cost("Python, warm") / cost("Python, cold"),
    },
  ],
  async contenders() {
    const warm = await openBag({});
    const cold = await openBag({ warm: false });
    return [
      loaded("Python, warm", warm, "python"),
      loaded("Python, cold", cold, "python"),
      loaded("Bash, warm", warm, "bash"),
      loaded("Bash, cold", cold, "bash"),
      loaded("Node, warm", warm, "node"),
      loaded("Node, cold", cold, "node"),
    ];
  },
};

export default question;

function loaded(name: string, bag: Bag, language: Language): Contender {
  return {
    name,
    async measure() {
      const before = performance.now();
      let left = calls;
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          while (left-- > 0) await callEcho(bag, language);
        }),
      );
      return (performance.now() - before) / calls;
    },
  };
}
