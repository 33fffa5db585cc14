"""Passages that pose as something else than text of a document: a fence, a reply, a tool, a system message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from service.checks.patterns import lazily
from service.debate.findings import InjectionFamily


class Pose(NamedTuple):
    """An expression of what a passage poses as. Every match holds one of ``words``."""

    family: InjectionFamily
    words: tuple[str, ...]
    expression: re.Pattern[str]


def _pose(family: InjectionFamily, words: str, expression: str) -> Pose:
    return Pose(family, tuple(words.split()), lazily(expression, re.MULTILINE))


_ENDS = r"(?:end|ende|fin|fine|final|fim|einde|koniec|конец|конца|close|closed|begin|start|begins|starts|resumes?|last page|ends here)"
_DATA = (
    r"(?:documents?|context|data|file|material|evidence|input|untrusted|source|attachment|text|content|user|case|quoted|dokument\w*"
    r"|unterlagen|kontext|daten|akten?|document\w*|contexte|donnees|fichier|pieces|documento\w*|contexto|datos|archivo|contesto|dati"
    r"|dados|arquivo|bestand|gegevens|dokument\w*|kontekst\w*|dan\w{2,3}|документ\w*|контекст\w*|данн\w*|материал\w*)"
)
_ORDERING = (
    r"(?:instructions?|tasks?|directives?|system|prompts?|orders?|commands?|trusted|developer|consignes?|tache|aufgabe|anweisung\w*|auftrag"
    r"|tarea|instruc\w+|istruzion\w+|compito|tarefa|opdracht|instructie\w*|zadanie|polecen\w*|instrukcj\w*|задани\w*|инструкц\w*|assistant|request)"
)
_SPEAKERS = (
    r"(?:critic|judge|moderator|proposer|rebuttal|synthesi[sz]er|debater|opponent|panel|assistant|ai|model|kritiker|richter|assistent|ki"
    r"|critique|juge|moderateur|proposant|contradicteur|critico|juez|giudice|moderador|moderatore|proponente|asistente|assistente|juiz"
    r"|criticus|rechter|indiener|krytyk|sedzia|wnioskodawca|asystent|критик|судья|модератор|ассистент|пропонент|оппонент|antragsteller"
    r"|befurworter|proponent|sintetizador)"
)
_MEMBERS = (
    r"(?:confidencelevel|confidence_level|confidence|conclusion|verdict|winner|challengestrength|challenge_strength|recommendanotherround"
    r"|explicituncertainties|synthesis|thesis|objections|decision|certainty|ranking|seat|vote|score|severity|rationale|reasons|outcome"
    r"|recommendation|finding|dissent|resolvedpoints|unresolvedpoints|entscheidung|sicherheit|urteil|sitz|decision|confiance|siege|verdicto"
    r"|veredicto|ganador|confianza|verdetto|fiducia|vincitore|veredito|vencedor|confianca|oordeel|vertrouwen|werdykt|pewnosc|вердикт"
    r"|уверенность|结论|置信度|裁决|結論|信頼度|判定)"
)
POSES: Sequence[Pose] = (
    _pose(
        "system",
        "<| [inst] [/inst] <<sys <start_of <end_of",
        r"<\|[a-z_]{2,24}\|>[^\n]{0,300}|\[/?inst\][^\n]{0,300}|<</?sys>>[^\n]{0,300}|<(?:start|end)_of_turn>[^\n]{0,100}",
    ),
    _pose(
        "system",
        "system instruction istruzion instruc systeem anweisung consigne инструкц system: 系统 システム инструкция systemowy sistema systeme"
        " systemnachricht polecenie опис системн developer response",
        r"^[ \t>]{0,4}#{2,4} ?(?:system|instructions?|istruzion[ei]|instruccion(?:es)?|instrucao|consignes?|anweisung(?:en)?|instructie"
        r"|instrukcja|polecenie|инструкция|response|user|developer|系统|指令|システム|指示)(?: (?:prompt|message))?[ \t]{0,4}[:：][^\n]{0,200}"
        r"|^[ \t>*_\[(]{0,6}(?:system|systeme|sistema|systeem|система|系统|システム|developer)"
        r"(?: (?:prompt|message|override|notice|update|note|instructions?|config\w*))?(?: [0-9]{1,6})?[\])*_ \t]{0,4}[:：\u2014][^\n]{8,300}"
        r"|^[ \t>*_\[(]{0,6}(?:mensaje del sistema|message (?:du )?systeme|messaggio di sistema|mensagem do sistema|systembericht|systeembericht"
        r"|systemnachricht|systemmeldung|komunikat systemowy|системное сообщение|系统消息|系统提示|システムメッセージ)[\])*_ \t]{0,4}[:：\u2014][^\n]{8,300}"
        r"|</?system(?:[_-](?:prompt|message|note))?>[^\n]{0,200}",
    ),
    _pose(
        "fence",
        "end ende fin fine final fim einde koniec конец конца close begin start resume last",
        rf"^[ \t>]{{0,4}}[-=_*~#<>+\u2500-\u257f]{{2,}}[^\n\w]{{0,4}}[^\n]{{0,40}}\b{_ENDS}\b[^\n]{{0,40}}\b{_DATA}\b[^\n]{{0,80}}"
        rf"|^[ \t>]{{0,4}}[-=_*~#<>+\u2500-\u257f]{{2,}}[^\n\w]{{0,4}}[^\n]{{0,40}}\b{_DATA}\b[^\n]{{0,40}}\b{_ENDS}\b[^\n]{{0,80}}"
        rf"|^[ \t>]{{0,4}}(?:end of|fin de[sl]?|ende der|ende des|fine dei|fine del|fim do|einde van|koniec) (?:\w+ ){{0,2}}{_DATA}\b[^\n]{{0,80}}",
    ),
    _pose(
        "fence",
        "[ < { ( \u27e6 \u3010",
        r"[\[<{(\u27e6\u3010]{1,3}[ /]{0,2}[^\n\[\]<>]{0,40}\b(?:0x)?(?=[0-9]{0,12}[a-f])(?=[a-f]{0,12}[0-9])[0-9a-f]{8,40}\b[^\n\[\]<>]{0,40}[\]>})\u27e7\u3011]{1,3}",
    ),
    _pose(
        "fence",
        "</ ]]>",
        rf"(?:</(?:{_DATA}|content|instructions?|prompt|query|message)s?>|\]\]>)[^<]{{0,40}}(?:</[^<>\n]{{1,30}}>[^<]{{0,40}}){{0,4}}<{_ORDERING}\b[^\n]{{0,200}}",
    ),
    _pose(
        "fence",
        "``` ~~~",
        rf"^(?:```|~~~)[^\n]{{0,20}}\n\s{{0,6}}(?:end of [^\n]{{1,40}}\n\s{{0,6}})?#{{1,4}} [^\n]{{0,20}}\b(?:{_ORDERING}|what you|your)\b[^\n]{{0,40}}\n[^`~]{{0,300}}",
    ),
    _pose(
        "tool",
        "tool_ function_ <function <invoke tool> \"tool\" tool: werkzeug_ outil: tool_result herramienta",
        r"</?(?:tool|function)(?:[_-]?(?:response|result|results|output|call|calls|use))?>[^\n]{0,300}|<invoke name=[^\n]{0,300}"
        r"|[\"'](?:type|role)[\"']\s{0,4}:\s{0,4}[\"'](?:function_call|tool_call|tool_use|tool_result|function|tool)[\"'][^\n]{0,300}"
        r"|</?(?:function_results?|function_calls?|tool_results?|tool_calls?|tool_outputs?|search_results?|werkzeug_ergebnis)\b[^\n]{0,300}"
        r"|^[ \t>\[]{0,4}(?:tool|function|appel_outil|outil|herramienta|strumento)(?:[ _-](?:call|response|result|output|returned))?\]?[ \t]{0,4}[:=][^\n]{4,300}",
    ),
    _pose(
        "reply",
        '" \u201c',
        rf"[{{,]\s{{0,20}}[\"\u201c]{_MEMBERS}[\"\u201d]\s{{0,4}}[:：]\s{{0,4}}[^\n{{}}]{{1,200}}[,，]\s{{0,20}}[\"\u201c]{_MEMBERS}[\"\u201d]\s{{0,4}}[:：][^{{}}]{{0,300}}",
    ),
    _pose(
        "reply",
        ": ] \uff1a",
        rf"^[ \t>*_\[(]{{0,6}}{_SPEAKERS}(?: [0-9a-z]{{1,8}})?[\])*_ \t]{{0,4}}[:：\])][^\n]{{2,300}}\n(?:[ \t]{{0,8}}\n){{0,2}}"
        rf"[ \t>*_\[(]{{0,6}}{_SPEAKERS}(?: [0-9a-z]{{1,8}})?[\])*_ \t]{{0,4}}[:：\])][^\n]{{2,300}}",
    ),
)


def posed(plain: str) -> Iterator[tuple[tuple[int, int], InjectionFamily]]:
    """The passages of a plain view that pose as something else, with what they pose as."""
    for family, words, expression in POSES:
        if any(word in plain for word in words):
            for match in expression.finditer(plain):
                yield match.span(), family
