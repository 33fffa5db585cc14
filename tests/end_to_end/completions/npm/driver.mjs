// Asks the service at the address of the first argument as a program of OpenAI's client would, and prints JSON.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: `${process.argv[2]}/v1`, apiKey: "none" });
const body = JSON.parse(process.argv[3]);
const whole = await client.chat.completions.create(body);
const chunks = [];
for await (const chunk of await client.chat.completions.create({ ...body, stream: true })) chunks.push(chunk);
const models = [];
for await (const model of client.models.list()) models.push(model.id);
const one = await client.models.retrieve("gainsay/adversarial");
const refused = await client.chat.completions.create({ ...body, n: 2 }).catch((error) => ({
  kind: error.constructor.name,
  code: error.code,
  param: error.param,
}));
console.log(JSON.stringify({ whole, chunks, models, one, refused }));
