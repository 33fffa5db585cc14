"""What a critic's words give away, for the critique check of `judgement/1`: pure string work, in English only.

    softening    phrases that praise, grant or belittle before the attack
    grounds      whether a point gives a ground of its own against the arguments that it names
    polarity     agreement by an even number of negations
    relation     whether a text is about the case, and a passage about the argument that it is held against
    vocabulary   the words that oppose, and the words that are so general that they say nothing of a case

These modules belong to the engine: a change to them is a change of `judgement/1`.
"""
