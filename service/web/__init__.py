"""HTTP: what `Reviews` can do, as endpoints that answer JSON, event streams and problem documents.

api         the endpoints, joined to one ASGI application
server      that application on a socket, until a signal comes
debates     gate, quote, submit, list, read, follow, abort, report
audit       logs, heads, proofs, tiles, records, bundles, recall
citations   the verifier alone
catalogue   prompts, models, policy: what runs
probes      livez, readyz, metrics, openapi.json
body        a body read within its limit and decoded strictly
headers     Prefer, Accept, Last-Event-ID
stream      a debate as server-sent events
problems    every error as application/problem+json
around      request ids, access log and metrics around everything
quotes      the shape of a quote
schema      the shapes that are HTTP's own
operation   what an operation is
operations  what each endpoint takes and answers, as data
audit_operations  those of the audit log
openapi     the same as an OpenAPI 3.1 document
"""
