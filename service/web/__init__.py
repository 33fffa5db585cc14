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
problem_pages   the page of each error, from the words of problem_texts
docs        the description for people, from files of the service alone
pages       what all such pages have: policy, tags
compression answers packed by Accept-Encoding, which codings reads
positions   the place of a fault in a body
wanted      what a type has at a place of a body
paths       the path that was probably meant
around      request ids, access log and metrics around everything
quotes      the shape of a quote
schema      the shapes that are HTTP's own
operation   what an operation is
operations  what each endpoint takes and answers, as data
audit_operations  those of the audit log
openapi     the same as an OpenAPI 3.1 document
"""
