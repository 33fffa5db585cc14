"""Models without a network: a deterministic, extractive reasoner in six strategies, labelled as simulated.

request_reader                              the blocks of a request
layout, segments, words, locations, index   a document's sentences, with offsets, places and weights
cues, tables, topics, checklists            the function of a sentence, its side, the words and items of a matter
propositions, evidence, bearings            from a question to the sentences that bear on it
passage_choice, pairs, movement             the passages that a seat uses, their counterparts, and its shifts
phrases, gaps, uncertainties                wording, omissions of documents, open points
grounds                                     considerations in a case without documents
framing, proposer, critic, rebuttal,        the seats of the adversarial format
  moderator
standpoints, leaning, answers               the position of a stance or vote, a model's leaning, and its plain answer
transcript, arguments, rejoinders,          the statements of others, and statements from passages, against others and
  claim_marks                               about their claims
stances_debater, stances_judge,             the seats of stances; `fields` reads the caller's form, which the
  stances_synthesizer, fields               synthesizer fills in
ballot_debater                              the seat of a ballot
panel_classifier, panel_debater, ideas,     the seats of a panel, with ideas for a brainstorm
  panel_adjudicator, panel_synthesizer
convergence_debater, convergence_judge      the seats of convergence
screener                                    a guard that goes by two short lists of words
strategies                                  the six models
faulty, faulty_critic, faulty_moderator,    models with known faults, and the key file by which they know cases
  faulty_sides, faulty_panel,
  faulty_answers, draws, known_cases
provider, scripted                          the wire, and replies from a file
"""

from service.simulated.faulty import faulty_models
from service.simulated.provider import OfflineProvider
from service.simulated.strategies import MODELS, Strategy

__all__ = ["MODELS", "OfflineProvider", "Strategy", "faulty_models"]
