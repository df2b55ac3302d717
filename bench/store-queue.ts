import type { Question } from "./question.ts";
import { openStoreFile, runAtOnce } from "./store-file.ts";

const jobs = 2000;
const atOnce = 32;

const question: Question = {
  title: "How fast is the queue of the embedded store?",
  text: `${jobs} jobs are added, claimed and completed, ${atOnce} of them at any time, each step on disk before the next. 250 µs a job are 4,000 jobs a second. Beside it the same number of single appends to a log, which are one step each.`,
  unit: "µs elapsed a job",
  rounds: 15,
  targets: [{ text: "added, claimed and completed", unit: "µs a job", limit: 250, value: (cost) => cost("a job") }],
  async contenders() {
    const { store } = await openStoreFile();
    const queue = store.queue("bench");
    let round = 0;
    return [
      {
        name: "a job",
        measure() {
          round += 1;
          return perItem(async (index) => {
            await queue.add(`${round}:${index}`);
            const [job] = await queue.claim({ leaseMs: 60_000 });
            if (job === undefined) throw new Error("Cannot claim a job: there is none");
            await queue.complete(job);
          });
        },
      },
      { name: "an append", measure: () => perItem((index) => store.log.append("bench", [{ index }])) },
    ];
  },
};

export default question;

async function perItem(work: (index: number) => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await runAtOnce(jobs, atOnce, work);
  return ((performance.now() - before) * 1000) / jobs;
}
