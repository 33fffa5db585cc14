// Does with the client in TypeScript what it reads, a line of JSON at a time: see tests/fixtures/client_drivers.py.
import { renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Answer, Gainsay, GainsayError, Head } from "gainsay-client";

const clients = new Map();
const told = new Map();

// Calls whose answer is a file.
const SAVED = new Set(["bundle", "export", "batchResults", "exportEvaluation"]);

// What a value is in the words of Python's client.
function plain(value) {
  if (value instanceof Head) return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
  if (value instanceof Answer) return { status: value.status, body: value.text };
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, each]) => [String(name), plain(each)]));
  if (value !== null && typeof value === "object" && "replayed" in value && "key" in value)
    return { debate_id: value.debateId, status: value.status, key: value.key, replayed: value.replayed, answer: value.answer ?? null };
  return value ?? null;
}

function parameters(name, given, named) {
  if (name === "recall" || name === "find" || name === "findPage") return [named];
  if (name === "bundle") return [given[0]];
  if (name === "export" || name === "batchResults" || name === "exportEvaluation") return [given[0], named];
  return Object.keys(named).length ? [...given, named] : given;
}

async function done(client, name, given, named) {
  const found = client[name];
  if (typeof found !== "function") return found;
  const value = await found.apply(client, parameters(name, given, named));
  if (!SAVED.has(name)) return value;
  writeFileSync(`${given[1]}.part`, value); // as a caller would
  renameSync(`${given[1]}.part`, given[1]);
  return given[1];
}

async function answer({ open, client, call, collect, given = [], named = {}, most, notices }) {
  if (notices) return told.get(client);
  if (open) {
    told.set(client, []);
    clients.set(client, new Gainsay(open, { ...named, onHead: ({ kind }) => told.get(client).push(kind) }));
    return null;
  }
  if (call) return plain(await done(clients.get(client), call, given, named));
  const items = [];
  for await (const item of clients.get(client)[collect](...parameters(collect, given, named))) {
    items.push(plain(item));
    if (items.length === most) break;
  }
  return items;
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify({ found: await answer(JSON.parse(line)) }));
  } catch (error) {
    if (!(error instanceof GainsayError)) console.error(error);
    const { name, code, detail, status, requestId, retryAfter, errors, debateId, key, message } = error;
    console.log(JSON.stringify({ failed: name, members: { code, detail, status, requestId, retryAfter, errors, debateId, key, text: message } }));
  }
}
