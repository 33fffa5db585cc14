"""The kernel: a debate is a list of entries, and a pure function from that list to the next move.

    model      cases, seats, turns, checks, moves and outcomes
    replies    what each seat answers
    findings   what code finds in those answers
    entries    what happened, as it is recorded
    facts      entries, folded to named facts
    script     what a format is written in
    formats    the closed list of formats, and the check that a layer knows each
    kernel     next_move and replay
    adversarial, ...   one file a format and version

Nothing here waits, reads a clock or draws a random number.
"""
