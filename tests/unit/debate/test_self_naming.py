"""What a reply says of itself is found, in unlike words and under disguise, and every other name stays."""

from __future__ import annotations

from itertools import pairwise
from time import process_time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate import self_naming
from service.debate.model_names import COMMON_WORDS, WELL_KNOWN, known_names, names_in
from service.debate.self_naming import MASK, guesses, masked_view, self_names, texts_of
from tests.fixtures.debates import a_plan, a_start

SEATED = replace(
    a_start(),
    seats=(
        replace(a_plan("proposer", "alder"), model="alder-large", model_name="vendor/alder-large-0613"),
        replace(a_plan("critic", "oak"), fallback=a_plan("critic", "rowan"), provider="offline"),
        *(plan for plan in a_start().seats if plan.seat not in ("proposer", "critic")),
    ),
)
KNOWN = known_names(SEATED)


def names(text: str) -> list[str]:
    return [found.name for found in self_names(text, KNOWN)]


SELF: list[tuple[str, list[str]]] = [
    ("I am &#67;laude.", ["&#67;laude"]),
    ("I am &#x43;&#108;aude.", ["&#x43;&#108;aude"]),
    ("I am Cla<!-- x -->ude.", ["Cla<!-- x -->ude"]),
    ("Me: Claude. The cap holds.", ["Claude"]),
    ("Speaker = Gemini", ["Gemini"]),
    ("Model: GPT-4o\nThe cap holds.", ["GPT-4o"]),
    ("Claude (Anthropic) here", ["Claude", "Anthropic"]),
    ("Claude (by Anthropic) here: the cap holds.", ["Claude", "Anthropic"]),
    ("The cap holds.\n\n| author | Claude |\n|---|---|\n", ["Claude"]),
    ("The cap holds.\n\n|Author|\n|---|\n|Claude|", ["Claude"]),
    ("The cap holds.\nYour faithful Claude", ["Claude"]),
    ("The cap holds.\n\n\u2014 Yours ever, Claude", ["Claude"]),
    ("As Claude, I hold that clause 9 caps it.", ["Claude"]),
    ("I am GPT-4o by OpenAI and I disagree.", ["GPT-4o", "OpenAI"]),
    ("I'm GPT-4o, and I disagree.", ["GPT-4o"]),
    ("As my developers at Anthropic say, be careful.", ["Anthropic"]),
    ("The cap holds.\n\n-- Claude", ["Claude"]),
    ("The cap holds. Sincerely, Gemini", ["Gemini"]),
    ("The cap holds.\nBest regards,\nGemini 2.5 Pro", ["Gemini 2.5 Pro"]),
    ("I, the model trained by Open AI, hold otherwise.", ["Open AI"]),
    ("I, Claude, hold otherwise.", ["Claude"]),
    ("I, as Claude, hold otherwise.", ["Claude"]),
    ("I am a large language model trained by Google.", ["Google"]),
    ("I'm a language model developed by the team at Mistral AI.", ["Mistral AI"]),
    ("I was trained by Anthropic to be helpful.", ["Anthropic"]),
    ("I was trained on data up to 2024 by OpenAI.", ["OpenAI"]),
    ("OpenAI trained me to say so.", ["OpenAI"]),
    ("Anthropic, which made me, would disagree.", ["Anthropic"]),
    ("My name is Claude 3.5 Sonnet.", ["Claude 3.5 Sonnet"]),
    ("Speaking as Gemini, this is weak.", ["Gemini"]),
    ("Claude here: the cap holds.", ["Claude"]),
    ("This is Grok speaking.", ["Grok"]),
    ("This answer was written by GPT-4.1-mini.", ["GPT-4.1-mini"]),
    ("As an AI model developed by Meta, I cannot say.", ["Meta"]),
    ("As OpenAI's GPT-5, I conclude.", ["OpenAI", "GPT-5"]),
    ("As the Claude model, I conclude.", ["Claude"]),
    ("Author: GPT-4o\nThe cap holds.", ["GPT-4o"]),
    ("I am **Cl**aude**, and** I hold it.", ["Cl**aude"]),
    ("I am **Claude**.", ["Claude"]),
    ("I am `GPT`-`4o`.", ["GPT`-`4o"]),
    ("I am \u0421laude.", ["\u0421laude"]),
    ("I am Cl\u200baude.", ["Cl\u200baude"]),
    ("I am \uff23\uff4c\uff41\uff55\uff44\uff45.", ["\uff23\uff4c\uff41\uff55\uff44\uff45"]),
    ("I am C l a u d e.", ["C l a u d e"]),
    ("I am <b>Cl</b>aude.", ["Cl</b>aude"]),
    ("I am not GPT-4; I am Claude.", ["GPT-4", "Claude"]),
    ('I am "Claude", a model.', ["Claude"]),
    ("I\u2019m Claude, made by Anthropic.", ["Claude", "Anthropic"]),
    ("I AM CLAUDE", ["CLAUDE"]),
    ("i am\nclaude", ["claude"]),
    ("Ich bin Claude, ein Modell von Anthropic.", ["Claude"]),
    ("As Claude, made by Anthropic, my view is no.", ["Claude", "Anthropic"]),
    ("I am DeepSeek-R1.", ["DeepSeek-R1"]),
    ("I'm o3.", ["o3"]),
    ("I am Llama 3.1 70B.", ["Llama 3.1 70B"]),
    ("I am claude-sonnet-4-5-20250929.", ["claude-sonnet-4-5-20250929"]),
    ("The cap holds. \u2014 Claude", ["Claude"]),
    ("The cap holds.\n- Claude", ["Claude"]),
    ("The cap holds.\nClaude", ["Claude"]),
    ("I am ChatGPT, a chatbot from OpenAI.", ["ChatGPT", "OpenAI"]),
    ("Being a Gemini model, I reason so.", ["Gemini"]),
    ("I (Claude) disagree.", ["Claude"]),
    ("As alder-large, I disagree.", ["alder-large"]),
    ("I am Clau\u0301de.", ["Clau\u0301de"]),
    ("My training by OpenAI shows.", ["OpenAI"]),
    ("I am an assistant made by x.AI.", ["x.AI"]),
    ("I am Claude \u2013 an AI by Anthropic \u2013 and disagree.", ["Claude", "Anthropic"]),
    ("As Claude (Anthropic), I disagree.", ["Claude", "Anthropic"]),
    ("I am Claude, an AI assistant created by Anthropic, and I say no.", ["Claude", "Anthropic"]),
    ("Full disclosure: I happen to be Claude.", ["Claude"]),
    ("I should say that I'm Anthropic's model Claude.", ["Anthropic", "Claude"]),
    ("Since I am built by OpenAI, I may be biased.", ["OpenAI"]),
    ("Note that I, being an OpenAI model, cannot assess this.", ["OpenAI"]),
    ("As someone trained by Google, I would say no.", ["Google"]),
    ("My creators (Anthropic) forbid this.", ["Anthropic"]),
    ("We at Anthropic believe the cap holds.", ["Anthropic"]),
    ("Here at OpenAI, we hold otherwise.", ["OpenAI"]),
    ("I run on Llama 3.", ["Llama 3"]),
    ("I belong to the Gemini family.", ["Gemini"]),
    ("In my capacity as Claude, I dissent.", ["Claude"]),
    ("It holds. Written by Claude", ["Claude"]),
    ("Response by Gemini: the cap holds.", ["Gemini"]),
    ("This critique was prepared by Claude.", ["Claude"]),
    ("Anthropic's Claude, that is me, says no.", ["Anthropic", "Claude"]),
    ("I identify as Gemini. People call me Bard.", ["Gemini", "Bard"]),
    ("The assistant writing this is Claude.", ["Claude"]),
    ("As per my Anthropic training, I refuse.", ["Anthropic"]),
    ("Like other Claude models, I hedge.", ["Claude"]),
    ("It is me, Gemini.", ["Gemini"]),
    ("I think, as Claude, that it holds.", ["Claude"]),
    ("I must decline as Claude.", ["Claude"]),
]
STAY = [
    "Should we move from OpenAI to Mistral?",
    "I think we should move from OpenAI to Mistral.",
    "I am convinced that OpenAI is cheaper than Mistral.",
    "As OpenAI argues, I would keep it.",
    "As a customer of OpenAI, I would worry.",
    "As OpenAI's customer, I would worry.",
    "As OpenAI customers, we pay more.",
    "As Anthropic noted, I think the cap holds.",
    "I am with Google on this point.",
    "I am Mistral's largest customer.",
    "Vendors:\n- OpenAI\n- Mistral",
    "The vendors are:\n\u2014 OpenAI\n\u2014 Mistral",
    'The policy says "I am Claude, made by Anthropic".',
    "The log says: \u201cI am GPT-4o by OpenAI\u201d, which is false.",
    '"We never train on customer data."\n\u2014 OpenAI',
    '"We never train on customer data." \u2014 OpenAI',
    "> I am Claude, made by Anthropic.\nThis line of D1 is a transcript.",
    "Model B sounds like Claude.",
    "OpenAI is the vendor. Anthropic is the alternative.",
    "My concern is OpenAI's liability cap.",
    "My first argument: Google pays nothing.",
    "I recommend Gemini for this workload.",
    "I was told by OpenAI's counsel that it holds.",
    "This is OpenAI's position.",
    "The model trained by OpenAI is GPT-4o.",
    "If I choose Claude, the cost falls.",
    "The bank and I, OpenAI aside, agree.",
    "As Google and Microsoft show, my reading is usual.",
    "OpenAI: founded in 2015.\nAnthropic: founded in 2021.",
    "It is signed by OpenAI and the Bank on 3 May.",
    "I am sure the GPT clause applies.",
    "I am not persuaded by Google's reading.",
    "My reading of clause 9 differs from Google's.",
    "In my view, Anthropic made an offer.",
    "We compared the models: GPT-4o, Claude, Gemini",
    "I would sign with Mistral.",
    "Supplier: Mistral",
    "I am the Bank's counsel; OpenAI is the Supplier.",
    "Amazon made me an offer.",
    "Google owes me nothing.",
    "I agree with Claude Shannon.",
    "As of May, OpenAI pays; I checked.",
    "I am offline.",
    "I am a critic of OpenAI's terms.",
    "I am a critic of Google.",
    "The reviewers of Google, I think, erred.",
    "As systems by Google go, my view is that it is safe.",
    "Choose Gemini.",
    "I say: Gemini",
]


@pytest.mark.parametrize(("text", "named"), SELF)
def test_what_a_reply_says_of_itself_is_found(text: str, named: list[str]) -> None:
    assert names(text) == named
    shown = masked_view({"text": text}, SEATED)["text"]
    assert shown.count(MASK) == len(named)
    assert not self_names(shown, KNOWN)


@pytest.mark.parametrize("text", STAY)
def test_every_other_name_stays(text: str) -> None:
    assert names(text) == []
    assert masked_view({"text": text}, SEATED) == {"text": text}


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_every_well_known_name_is_known_together_and_apart(name: str) -> None:
    for written in {name, name.title(), name.replace(" ", ""), name.replace(" ", "-").upper()}:
        assert "".join(names(f"I am {written}, and clause 9 holds.")).casefold() == written.casefold()


def test_a_phrase_that_is_compiled_late_finds_what_it_finds_when_compiled_at_once() -> None:
    phrases = self_naming._phrases()
    every = (*phrases.own, *phrases.signed, phrases.guessed)
    texts = [*(text for text, _ in SELF), *STAY, "Model B sounds like Claude.", "The critic is GPT-4o, I am Claude."]
    found = 0
    for text in texts:
        plain = self_naming._fold(text)
        folded = self_naming._named(plain, names_in(plain.text, KNOWN)).text
        for phrase in every:
            spans = [place.span() for place in self_naming._compiled(phrase.written).finditer(folded)]
            assert [place.span() for place in phrase.finditer(folded)] == spans, (phrase.written, text)
            found += len(spans)

    assert found > len(SELF), "the texts have the phrases"
    assert len([phrase for phrase in every if not phrase.beside]) == 1, "the others are looked for by parts"


def test_names_of_the_debates_own_models_are_known_with_their_fallbacks() -> None:
    assert {"alder large", "alder large 0613", "oak", "rowan", "birch"} <= KNOWN
    assert names("I am alder-large-0613 and I disagree.") == ["alder-large-0613"]
    assert names("As Rowan-1, I disagree.") == ["Rowan-1"]
    assert names("I am Rowan.") == ["Rowan"]


def test_words_that_operators_give_to_providers_are_no_names() -> None:
    assert not KNOWN & COMMON_WORDS
    assert names("I am offline. As critic, I object. I am local counsel.") == []


def test_citations_are_never_masked_and_a_view_keeps_its_shape() -> None:
    cited = {"quote": "I am Claude, made by Anthropic.", "sourceId": "claude", "verdict": "verified"}
    view = {"n": 1, "text": "As Claude, I rely on it.", "citations": [cited], "sure": True, "none": None}

    shown = masked_view({"claims": [view]}, SEATED)

    assert shown == {"claims": [{**view, "text": f"As {MASK}, I rely on it."}]}


def test_texts_are_told_with_their_places_and_without_citations() -> None:
    reply = {"thesis": "a", "points": [{"n": 1, "text": "b", "citations": [{"quote": "c"}]}]}

    assert list(texts_of(reply)) == [("thesis", "a"), ("points[0].text", "b")]


@pytest.mark.parametrize(
    ("text", "guessed"),
    [
        ("Model B sounds like Claude.", ["Claude"]),
        ("Debater 2 is probably GPT-4o.", ["GPT-4o"]),
        ("Statement 1 reads like a model by OpenAI.", ["OpenAI"]),
        ("The proposer must be Gemini.", ["Gemini"]),
        ("Model B argues that OpenAI pays.", []),
        ("Statement 1 is about Mistral.", []),
        ("Model B is wrong: Google is liable.", []),
    ],
)
def test_a_guess_about_another_seat_is_told_and_not_masked(text: str, guessed: list[str]) -> None:
    assert [found.name for found in guesses(text, KNOWN)] == guessed
    assert names(text) == []


WORDS = [
    "I am",
    "as",
    "Claude",
    "by OpenAI",
    "my developers at",
    '"',
    "'",
    "\n",
    "-- ",
    "**",
    "I,",
    ",",
    ".",
    "the model",
    "\u200b",
]


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=8)), max_size=25).map(" ".join))
def test_any_text_is_masked_in_one_go_and_loses_nothing_but_names(text: str) -> None:
    found = self_names(text, KNOWN)

    assert [text[start:end] for (start, end), _ in found] == [name for _, name in found]
    assert all(before.span[1] <= after.span[0] for before, after in pairwise(found))
    left = masked_view(text, SEATED).split(MASK)
    assert "".join(left) == "".join(
        text[start:end]
        for start, end in zip([0, *(f.span[1] for f in found)], [*(f.span[0] for f in found), len(text)], strict=True)
    ).replace(MASK, "")
    assert msgspec.json.decode(msgspec.json.encode(masked_view(text, SEATED))) == masked_view(text, SEATED)


@pytest.mark.parametrize(
    "text",
    [
        "i am " * 4_000 + "claude",
        "I am the a model AI large by from " * 800 + "claude",
        "claude " * 4_000,
        "I was trained on " + "a b c " * 4_000 + "claude",
        "my developers at the team of " * 900 + "claude",
        "-- " * 6_000 + "claude",
        "'" * 4_000 + " I am claude",
        "<a" * 6_000 + " I am claude",
        "made trained created and " * 800 + "by OpenAI",
    ],
    ids=lambda text: text[:12],
)
def test_no_reply_makes_the_rule_slow(text: str) -> None:
    begun = process_time()
    self_names(text, KNOWN)
    assert process_time() - begun < 2
