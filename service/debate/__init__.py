"""The kernel: a debate is a list of entries, and a pure function from that list to the next move.

    model      cases, seats, turns, checks, moves and outcomes
    replies    the reply type of each kind of turn
    findings   the results of checks on those replies
    entries    the events of a debate, as they are recorded
    facts      entries, folded to named facts
    script     the language in which a format is written
    formats    the closed list of formats, and the check that a layer knows each
    kernel     next_move and replay
    adversarial, ...   one file a format and version

Nothing here waits, reads a clock or draws a random number.
"""
