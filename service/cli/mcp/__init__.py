"""``gainsay mcp``: a door for agents that speak the Model Context Protocol.

It decides nothing: each tool asks a service, through the port of the other commands.

command     the command: which transport, and which service
callers     which service a call is made on, and with whose credential
server      the protocol: the list of tools, a call, its answer or its error
tools       the table of tools, with what a model reads of each
schemas     the schemas of tools, made of those of the HTTP API
outputs     the schemas of results
calls       what a tool does: gate, quote, citations, find, abort
review      a case from its submission to its end, with progress; what cancels it
lookup      what the audit log has of a debate
answers     results and errors as a model reads them
strictly    one reading of each message
wire        standard input and output, kept for the protocol alone
listening   where the gateway listens
gateway     streamable HTTP: host, origin, credential and sessions, before the protocol is read
"""
