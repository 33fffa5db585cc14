"""A running evaluation: a list of entries, and a pure next move.

    units.py      what is asked: every item in every arm, as often as the plan says, in one seeded order
    progress.py   which entry may follow which, and where an evaluation stands after them
    looks.py      whether a sequence is settled
    moves.py      the next move: ask, score, stop, conclude, or rest
    results.py    from the scores to the result that is recorded

Replay from the first entry is the definition. The moves depend on the entries and on what is seen outside (which
debates have ended, which sets are at hand), never on time, on chance, or on who performs them.
"""
