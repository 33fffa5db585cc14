"""Models without a network: a deterministic, extractive reasoner in six strategies, labelled as simulated.

tokens                     the published counting rule
layout, segments, words    a document's sentences, with offsets and places
cues, rules, topics        what a sentence does, whose side that is on, what belongs to a matter
propositions, evidence     from a question to the sentences that bear on it
picking, phrases, silence  choosing and wording
framing ... moderating     one module a seat
provider                   the wire
"""

from service.providers.offline.provider import OfflineProvider
from service.providers.offline.strategies import MODELS, Strategy
from service.providers.offline.tokens import TOKENIZER, count_tokens

__all__ = ["MODELS", "TOKENIZER", "OfflineProvider", "Strategy", "count_tokens"]
