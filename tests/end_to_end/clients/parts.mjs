// Does small parts of the client in TypeScript: a JSON object on stdin, one on stdout.
import { readFileSync } from "node:fs";
import { BadConsistency, verifyConsistency } from "./node_modules/gainsay-client/dist/consistency.js";
import { Decoder } from "./node_modules/gainsay-client/dist/events.js";

const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
const asked = JSON.parse(readFileSync(0, "utf8"));

async function holds({ old, size, path, oldRoot, newRoot }) {
  try {
    await verifyConsistency(BigInt(old), BigInt(size), path.map(bytes), bytes(oldRoot), bytes(newRoot));
    return true;
  } catch (error) {
    if (error instanceof BadConsistency) return false;
    throw error;
  }
}

function frames(pieces) {
  const decoder = new Decoder();
  return pieces.flatMap((piece) => [...decoder.feed(bytes(piece))]).map(({ id, name, data }) => [id ?? null, name, data ?? null]);
}

const proofs = [];
for (const proof of asked.proofs) proofs.push(await holds(proof));
console.log(JSON.stringify({ proofs, streams: asked.streams.map(frames) }));
