// Serves index.html, and forwards /v1 and /openapi.json to Gainsay, so that the page reads its own origin. Needs Node.js 18.
//     node serve.mjs http://127.0.0.1:8321 8400    then open http://127.0.0.1:8400/#DEBATE
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";

const [gainsay = "http://127.0.0.1:8321", port = "8400"] = process.argv.slice(2);
const page = readFileSync(new URL("index.html", import.meta.url));
const forwarded = (path) => path === "/openapi.json" || path.startsWith("/v1/debates/");
// A page of another name that resolves to this machine is of another origin, and reads nothing here.
const local = (host) => /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? "");

const server = createServer((asked, answer) => {
  if (!local(asked.headers.host)) return answer.writeHead(421).end();
  if (asked.method !== "GET") return answer.writeHead(405).end();
  if (asked.url === "/") return answer.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(page);
  if (!forwarded(asked.url)) return answer.writeHead(404).end();
  const wanted = new URL(asked.url, gainsay);
  if (!forwarded(wanted.pathname)) return answer.writeHead(404).end(); // dots led elsewhere
  const headers = { ...asked.headers, host: new URL(gainsay).host };
  const upstream = request(wanted, { headers }, (found) => {
    answer.writeHead(found.statusCode, found.headers);
    found.pipe(answer);
  });
  upstream.on("error", () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
  answer.on("close", () => upstream.destroy());
  upstream.end();
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
