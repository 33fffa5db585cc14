// Sends a case of each format through a client whose types openapi-typescript has made of the served document.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

declare const process: { argv: string[] };

type Options = components["schemas"]["OptionsRequest"];

const [address, written] = process.argv.slice(2);
const { request, options } = JSON.parse(written!) as {
  request: Omit<components["schemas"]["CaseRequest"], "options">;
  options: Options[];
};
const client = createClient<paths>({ baseUrl: address! });

/** What an option of each format says, to show that the type is told apart by its format. */
function said(given: Options): string {
  switch (given.format) {
    case "stances":
      return given.debaters.map((debater) => debater.stance).join();
    case "ballot":
      return String(given.consensusThreshold);
    case "panel":
      return String(given.questionType);
    case "convergence":
      return String(given.judgeInstructions);
    case "adversarial":
      return String(given.minChallengeStrength);
    case "auto":
      return String(given.maxRounds);
  }
}

// @ts-expect-error: an option of another format
export const foreign: Options = { format: "panel", votes: ["sign", "wait"] };
// @ts-expect-error: options without their format
export const nameless: Options = { maxRounds: 1 };
// @ts-expect-error: stances without debaters
export const unassigned: Options = { format: "stances" };

for (const given of options) {
  const { data, error } = await client.POST("/v1/debates", {
    params: { query: { view: "full" }, header: { Prefer: "wait=60" } },
    body: { ...request, options: given },
  });
  if (error || !("view" in data) || data.view !== "full") {
    throw new Error(`expected a whole result, found ${JSON.stringify(error ?? data)}`);
  }
  console.log(JSON.stringify({ debate: data.debateId, status: data.status, said: said(given) }));
}
