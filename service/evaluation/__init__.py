"""Evaluation: golden sets, plans, scores and the statistics behind every figure, without I/O and without a draw.

Nothing drops out of a denominator, the question is written before the answer is seen, and `inconclusive` is a normal
result. Begin with `service.evaluation.statistics`, which everything else here counts with.
"""
