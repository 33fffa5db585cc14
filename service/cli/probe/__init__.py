"""``gainsay probe``: one debate of simulated models through the whole of a running service, checked to its proof.

command   the command, its result line and its exit code
steps     what is done, in order, and what has to hold after each step
probed    what came of it: the steps, the line, JSON
textfile  the same as metrics for the textfile collector of node exporter
case      the case that is brought
"""
