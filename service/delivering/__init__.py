"""Webhooks: receivers are sent the ends of cases, signed after Standard Webhooks, at least once.

payload      what a receiver is sent: an id, a status and the place in the log, and no word of a case
signing      secrets that are derived and stored nowhere, and the signatures of a message
addresses    which URLs and which network addresses may be asked
schedule     when a message is sent again, and when it expires
master_keys  the deployment's key, from which every secret is derived
resolving    names to addresses, on threads of its own
sender       one attempt: at most so long, so many bytes and so many hops
dispatcher   claims what is due, has it sent, and records how it went
endpoints    what a caller does with its endpoints
"""
