// Prints the events of a debate of any format as they come. Needs Node.js 18 and `npm install eventsource`.
//     node stream.mjs http://127.0.0.1:8321/v1/debates/01920000-0000-7000-8000-000000000000
import { EventSource } from "eventsource";

const debate = process.argv[2];
const api = await (await fetch(new URL("/openapi.json", debate))).json();
const names = Object.keys(api.paths["/v1/debates/{debate}/events"].get["x-event-data"]);

const who = (e) => [e.name ?? e.label ?? e.seat, e.position].filter(Boolean).join(" for ");
const position = (e) => e.framing ?? e.proposerPosition ?? e.criticPosition ?? e.rebuttalPosition ?? e.moderatorEvaluation;
const words = {
  gate: (e) => `${e.gate.debate ? "a debate" : "no debate"}: ${e.question}`,
  started: (e) => [e.format, ...(e.debaters ?? []).map(who)].join(", "),
  asked: (e) => `attempt ${e.attempt}, ${e.model}`,
  citations: (e) => `${e.verified ?? 0} verified, ${e.struck?.length ?? 0} struck`,
  passages: (e) => `${e.compared ?? 0} passages compared, ${e.marked ?? 0} marked, ${e.unclear ?? 0} unclear`,
  consensus: (e) => `${e.overall}, needs ${e.threshold}: ${e.notes}`,
  accuracy: (e) => JSON.stringify(e.scores),
  convergence: (e) => `least overlap ${e.leastOverlap}, needs ${e.similarity}; ${e.whyNot?.join(", ") ?? "converged"}`,
  "debate.converged": (e) => words.convergence(e),
  "debate.round_started": (e) => `round ${e.round}`,
  final: (e) => (e.decision ?? e.result?.decision)?.answer ?? e.status,
  notice: (e) => [...(e.seats ?? []).map(who), e.detail].join(": "),
};
const text = (e) => e.answer ?? e.verdict ?? e.synthesis ?? e.finalAnswer ?? e.output ?? position(e)?.thesis ?? argued(e);
const argued = (e) => [e.vote, e.arguments?.[0]?.text].filter(Boolean).join(": ") || undefined;

const stream = new EventSource(`${debate}/events`);
for (const name of names)
  stream.addEventListener(name, ({ data }) => {
    const e = { ...JSON.parse(data), ...JSON.parse(data).gainsay };
    console.log(e.at, name.padEnd(20), who(e).padEnd(12), words[name]?.(e) ?? text(e) ?? position(e)?.synthesis ?? "");
    if (name === "final") stream.close();
  });
