"""Models without a network: a deterministic, extractive reasoner in six strategies, labelled as simulated.

reading                                the blocks of a request
layout, segments, words, places, index a document's sentences, with offsets, places and weights
cues, tables, topics, checklists       what a sentence does, whose side that is on, what belongs to a matter
propositions, evidence, bearings       from a question to the sentences that bear on it
picking, pairing, movement             which of them a seat uses, against what, and how new evidence moves it
phrases, silence, uncertainties        wording, what documents do not say, what stays open
framing ... moderating                 one module a seat of the adversarial format
standpoints, leaning, concluding       what a stance or vote stands for, how far a model leans, and its plain answer
sharing, stating, aiming, marking      what others have shown, and statements made of it, against it and about it
arguing, judging, shaping              the seats of stances; shaping fills in the caller's form
voting                                 the seat of a ballot
classifying, deliberating, suggesting  the seats of a panel, with ideas for a brainstorm,
adjudicating, distilling               its scores and its synthesis
converging, ruling                     the seats of convergence
strategies                             the six models
provider                               the wire
"""

from service.simulated.provider import OfflineProvider
from service.simulated.strategies import MODELS, Strategy

__all__ = ["MODELS", "OfflineProvider", "Strategy"]
