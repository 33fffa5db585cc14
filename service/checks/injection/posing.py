"""Passages that pose as something else than text of a document: a fence, a reply, a tool, a system message."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from service.checks.patterns import lazily
from service.debate.suspicions import InjectionFamily

REACH = 120
"""How many characters from the beginning of a match what it holds stands at the furthest; a nonce does within 99."""


class Pose(NamedTuple):
    """An expression of what a passage poses as. Every match holds one of ``words``, and one of ``signs`` if it has any.

    One that is ``sure`` is found whatever else stands around it: next to no honest text has it. Each of ``heads`` finds
    where a match may begin, so that the expression is not tried everywhere: one character and what stands behind it,
    which is the end of a line where a match begins the next one, and else the first of a match. It begins with one
    character and no class, which `re` finds ten times as fast. ``near`` finds what every match holds within `REACH`
    characters.
    """

    family: InjectionFamily
    words: tuple[str, ...]
    expression: re.Pattern[str]
    sure: bool
    ascii_words: tuple[str, ...]
    heads: tuple[re.Pattern[str], ...]
    near: re.Pattern[str] | None
    signs: frozenset[str]

    def found_in(self, plain: str, lines: str) -> Iterator[re.Match[str]]:
        """All matches in a text; ``lines`` is the same text behind the end of a line."""
        heads = sorted([found.start() for head in self.heads for found in head.finditer(lines)])
        if self.heads and not heads:
            return
        if not any(map(plain.__contains__, self.ascii_words if plain.isascii() else self.words)):
            return
        if not self.heads:
            yield from self.expression.finditer(plain)
            return
        if self.near:
            near = [one.start() for one in self.near.finditer(lines)]
            heads = [head for head in heads if bisect(near, head) < bisect(near, head + REACH)]
        until = 0
        for head in heads:
            start = head if lines[head] == "\n" else head - 1
            if start >= until and (match := self.expression.match(plain, start)):
                yield match
                until = match.end()


def _pose(
    family: InjectionFamily,
    words: str,
    expression: str,
    *,
    sure: bool = False,
    signs: str = "",
    heads: Sequence[str] = (),
    near: str = "",
) -> Pose:
    every = words.split()
    shortest = tuple(word for word in every if not any(other in word for other in every if other != word))
    ascii_words = tuple(filter(str.isascii, shortest))
    found = lazily(expression, re.MULTILINE)
    begins, holds = tuple(map(lazily, heads)), lazily(near) if near else None
    return Pose(family, shortest, found, sure, ascii_words, begins, holds, frozenset(signs))


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
_NONCE = r"(?<![0-9a-z])(?:0x)?(?=[0-9]{0,12}[a-f])(?=[a-f]{0,12}[0-9])[0-9a-f]{6,40}(?![0-9a-z])"
_DEVELOPER = (
    r"(?:system|developer|sistema|systeme|systeem|desarrollador|sviluppatore|developpeur|entwickler|desenvolvedor|ontwikkelaar|системн\w{2,3}"
    r"|разработчик\w?|系统|开发者|システム|開発者|systemowy|programisty)"
)
_MESSAGE = (
    r"(?:prompt|message|override|notice|update|note|instructions?|config\w{0,10}|mensaje|messaggio|mensagem|bericht|nachricht|meldung|komunikat"
    r"|сообщение|消息|提示|メッセージ|指令)"
)
_RESULT = (
    r"(?:output|results?|response|returned|report|resultado|resultat|risultato|esito|ergebnis|uitvoer|resultaat|wynik|результат|ответ|reponse"
    r"|respuesta|risposta|返回|结果|結果|出力)"
)
_TOOL = (
    r"(?:tools?|retrieval|search|validator|validation|scanner|scan|guardrail|filter|lookup|checker|verifier|function|plugin|outil|recherche|busqueda"
    r"|herramienta|validador|filtro|ricerca|strumento|werkzeug\w{0,3}|suche?|such|zoek\w{0,6}|hulpmiddel|narzedzi\w{1,3}|инструмент\w{0,2}"
    r"|поиск\w{0,2}|валидатор\w{0,2}|фильтр\w{0,2}|工具|检索|搜索|检测|ツール|検索|検証)"
)
_STEP = (
    r"(?:observation|thought|action|наблюдение|мысль|действие|observacion|pensamiento|accion|beobachtung|gedanke|aktion|osservazione|pensiero|azione"
    r"|observacao|acao|pensee|observatie|gedachte|actie|obserwacja|mysl|akcja|观察|思考|行动|観察|行動)"
)
_IN_CODE = lazily(
    r"\{\{|\{%|\bdef \w|\bassert |\bimport |parametrize|dedent|\bsettings\.|^[ \t]{0,8}model: |\bself\.|\.\.\.[\"\],]|0\.0-1",
    re.MULTILINE,
)
"""What stands around a passage in a program or a template: there it is the document's subject."""
AROUND = 200
"""How many characters around a passage are looked at for it."""
POSES: Sequence[Pose] = (
    _pose(
        "system",
        "<| [inst] [/inst] <<sys <start_of <end_of",
        r"<\|[a-z_]{2,24}\|>[^\n]{0,300}|\[/?inst\][^\n]{0,300}|<</?sys>>[^\n]{0,300}|<(?:start|end)_of_turn>[^\n]{0,100}",
        signs="<[",
    ),
    _pose(
        "system",
        "system instruction istruzion instruc systeem anweisung consigne инструкц system: 系统 システム инструкция systemowy sistema systeme"
        " systemnachricht polecenie опис системн developer response",
        r"^[ \t>]{0,4}#{2,4} ?(?:system|instructions?|istruzion[ei]|instruccion(?:es)?|instrucao|consignes?|anweisung(?:en)?|instructie"
        r"|instrukcja|polecenie|инструкция|response|user|developer|系统|指令|システム|指示)(?: (?:prompt|message))?[ \t]{0,4}[:：][^\n]{0,200}"
        r"|^[ \t>*_\[(]{0,6}(?:system|systeme|sistema|systeem|система|系统|システム|developer)"
        r"(?: (?:prompt|message|override|notice|update|note|instructions?|config\w*))?(?: [0-9]{1,6})?[\])*_ \t]{0,4}[:：\u2014](?! ?(?:linux|windows|macos|unix|version|v?[0-9]))[^\n]{8,300}"
        r"|^[ \t>*_\[(]{0,6}(?:mensaje del sistema|message (?:du )?systeme|messaggio di sistema|mensagem do sistema|systembericht|systeembericht"
        r"|systemnachricht|systemmeldung|komunikat systemowy|системное сообщение|系统消息|系统提示|システムメッセージ)[\])*_ \t]{0,4}[:：\u2014][^\n]{8,300}"
        r"|</?system(?:[_-](?:prompt|message|note))?>[^\n]{0,200}",
        heads=(r"<(?=/?system)", r"\n(?=[ \t>]{0,4}##|[ \t>*_\[(]{0,6}(?:sy|si|dev|me|kom|си|系|シ))"),
        signs=":\uff1a\u2014<",
    ),
    _pose(
        "fence",
        "end ende fin fine final fim einde koniec конец конца close begin start resume last",
        rf"^[ \t>]{{0,4}}[-=_*~#<>+\u2500-\u257f]{{2,}}[^\n\w]{{0,4}}[^\n]{{0,40}}\b{_ENDS}\b[^\n]{{0,40}}\b{_DATA}\b[^\n]{{0,80}}"
        rf"|^[ \t>]{{0,4}}[-=_*~#<>+\u2500-\u257f]{{2,}}[^\n\w]{{0,4}}[^\n]{{0,40}}\b{_DATA}\b[^\n]{{0,40}}\b{_ENDS}\b[^\n]{{0,80}}"
        rf"|^[ \t>]{{0,4}}(?:end of|fin de[sl]?|ende der|ende des|fine dei|fine del|fim do|einde van|koniec) (?:\w+ ){{0,2}}{_DATA}\b[^\n]{{0,80}}",
        sure=True,
        heads=(r"\n(?=[ \t>]{0,4}(?:[-=_*~#<>+\u2500-\u257f]{2}|e|f|koniec))",),
    ),
    _pose(
        "fence",
        "[ < { \u27e6 \u3010 end_ begin_",
        rf"[\[<{{\u27e6\u3010]{{1,3}}[ /]{{0,2}}[^\n\[\]<>]{{0,40}}{_NONCE}[^\n\[\]<>]{{0,40}}[\]>}})\u27e7\u3011]{{1,3}}"
        rf"|^\W{{0,6}}(?:end|begin|start|close|open|fin|ende|fine)_(?:of_)?[a-z_]{{4,40}}_{_NONCE}",
        sure=True,
        heads=(r"\n(?=\W{0,6}(?:end|begin|start|close|open|fin))", r"\[", "<", "{", "\u27e6", "\u3010"),
        near=r"[0-9](?:(?=[a-f])|(?<=[a-f].))",  # in each nonce a digit is beside a letter
        signs="[<{\u27e6\u3010_",
    ),
    _pose(
        "fence",
        "</ ]]>",
        rf"(?:</(?:{_DATA}|content|instructions?|prompt|query|message)s?>|\]\]>)[^<]{{0,40}}(?:</[^<>\n]{{1,30}}>[^<]{{0,40}}){{0,4}}<{_ORDERING}\b[^\n]{{0,200}}",
        sure=True,
        signs="<",
    ),
    _pose(
        "fence",
        "``` ~~~",
        rf"^(?:```|~~~)[^\n]{{0,20}}\n\s{{0,6}}(?:end of [^\n]{{1,40}}\n\s{{0,6}})?#{{1,4}} [^\n]{{0,20}}\b(?:{_ORDERING}|what you|your)\b[^\n]{{0,40}}\n[^`~]{{0,300}}",
        sure=True,
        heads=(r"\n(?=(?:```|~~~))",),
        signs="`~",
    ),
    _pose(
        "tool",
        'tool_ function_ <function <invoke tool> "tool" tool: werkzeug_ outil: tool_result herramienta',
        r"</?(?:tool|function)(?:[_-]?(?:response|result|results|output|call|calls|use))?>[^\n]{0,300}|<invoke name=[^\n]{0,300}"
        r"|[\"'](?:type|role)[\"']\s{0,4}:\s{0,4}[\"'](?:function_call|tool_call|tool_use|tool_result|function|tool)[\"'][^\n]{0,300}"
        r"|</?(?:function_results?|function_calls?|tool_results?|tool_calls?|tool_outputs?|search_results?|werkzeug_ergebnis)\b[^\n]{0,300}"
        r"|^[ \t>\[]{0,4}(?:tool|function|appel_outil|outil|herramienta|strumento)(?:[ _-](?:call|response|result|output|returned))?\]?[ \t]{0,4}[:=][^\n]{4,300}",
        signs="<:=",
    ),
    _pose(
        "reply",
        '" \u201c',
        rf"[{{,]\s{{0,20}}[\"\u201c]{_MEMBERS}[\"\u201d]\s{{0,4}}[:：]\s{{0,4}}[^\n{{}}]{{1,200}}[,，]\s{{0,20}}[\"\u201c]{_MEMBERS}[\"\u201d]\s{{0,4}}[:：][^{{}}]{{0,300}}",
        signs=":\uff1a",
    ),
    _pose(
        "reply",
        ": ] \uff1a",
        rf"^[ \t>*_\[(]{{0,6}}{_SPEAKERS}(?: [0-9a-z]{{1,8}})?[\])*_ \t]{{0,4}}[:：\])][^\n]{{2,300}}\n(?:[ \t]{{0,8}}\n){{0,2}}"
        rf"[ \t>*_\[(]{{0,6}}{_SPEAKERS}(?: [0-9a-z]{{1,8}})?[\])*_ \t]{{0,4}}[:：\])][^\n]{{2,300}}",
        heads=(rf"\n(?=[ \t>*_\[(]{{0,6}}{_SPEAKERS}[^\n])",),
        signs=":\uff1a])",
    ),
    _pose(
        "fence",
        "role instruction task system \u6307\u793a",
        r"[\"\u201d]\s{0,8}\}\s{0,8}\][^\"\u201c]{0,40}[\"\u201c](?:instructions?|role|task|system|prompt|指示|指令|consignes?|instrucciones|anweisung(?:en)?)[\"\u201d]\s{0,4}:[^\n]{0,300}",
        sure=True,
        signs="}",
    ),
    _pose(
        "fence",
        "*** === --- ### +++ ~~~",
        r"^[ \t>]{0,4}([*=#+~-]{3,})[ \t][^\n]{4,100}[*=#+~-]{3,}[ \t]{0,8}\n{1,2}[ \t>]{0,4}\1[ \t][^\n]{4,100}[*=#+~-]{3,}[^\n]{0,4}(?:\n[^\n]{0,200}){0,2}",
        sure=True,
        heads=(r"\n(?=[ \t>]{0,4}[*=#+~-]{3})",),
        signs="*=#+~-",
    ),
    _pose(
        "system",
        "[system [developer [sys [/system message mensaje messaggio mensagem bericht nachricht komunikat сообщение \u6d88\u606f \u30e1\u30c3\u30bb\u30fc\u30b8"
        " [\u7cfb\u7edf [\u5f00\u53d1",
        rf"\[/?{_DEVELOPER}[ _]?{_MESSAGE}?\][^\n]{{0,300}}"
        rf"|^[ \t>*_\[(#]{{0,6}}(?:{_DEVELOPER} {_MESSAGE}|{_MESSAGE} (?:d[aeiou]l{{0,2}}[aeo']? ?|van de |vom )?{_DEVELOPER})"
        r"[\])*_ \t]{0,4}(?:\([^\n()]{1,40}\)|[0-9]{1,6})?[ \t]{0,4}[:：\u2014\n][^\n]{8,300}",
        sure=True,
        heads=(rf"\[(?=/?{_DEVELOPER})", rf"\n(?=[ \t>*_\[(#]{{0,6}}(?:{_DEVELOPER}|{_MESSAGE}))"),
        signs=":\uff1a\u2014\n[",
    ),
    _pose(
        "system",
        "scepti skepti objection leniency lenient critici",
        r"^[^\n=:]{0,60}\b\w{0,20}(?:skepticism|scepticism|objections|leniency|criticism|critic)\w{0,20}[ \t]{0,4}[:=][ \t]{0,4}"
        r"[\"']?(?:0|none|off|false|disabled?|on|max|high|zero)\b[^\n]{0,200}",
        sure=True,
        signs=":=",
    ),
    _pose(
        "tool",
        ": \uff1a",
        rf"^[ \t>*_\[(]{{0,6}}(?:{_TOOL} {{0,1}}{_RESULT}|{_RESULT} (?:d[aeiou]?l{{0,2}}[aeo']? ?|des |der |van (?:de|het) |)?(?:l'|la |le )?{_TOOL})"
        r"[^\n:：]{0,60}[:：][^\n]{8,300}",
        sure=True,
        heads=(rf"\n(?=[ \t>*_\[(]{{0,6}}(?:{_TOOL}|{_RESULT}))",),
        signs=":\uff1a",
    ),
    _pose(
        "tool",
        "[guard [valid [scan [filter [retriev [tool [moder _validator _check _scan _lookup _verif",
        r"^[ \t>]{0,4}\[(?:guardrail|validator|scanner|filter|retriever|retrieval|tool|moderation|safety)[^\n\]]{0,30}\][^\n]{8,300}"
        r"|^[ \t>$]{0,4}\w{0,30}_(?:validator|checker|check|scan|scanner|lookup|verifier|verify)\b[^\n]{0,80}(?:\u2192|=>|->|: )[^\n]{2,300}",
        signs="[_",
    ),
    _pose(
        "tool",
        "observation thought action \u041d мысль observac osserv beobacht obser \u89c2 \u89b3",
        rf"^[ \t>*]{{0,4}}{_STEP}[ *]{{0,2}}[:：][^\n]{{2,300}}\n\s{{0,8}}[ \t>*]{{0,4}}{_STEP}[ *]{{0,2}}[:：][^\n]{{2,300}}",
        sure=True,
        heads=(rf"\n(?=[ \t>*]{{0,4}}{_STEP}[ *]{{0,2}}[:：])",),
        signs=":\uff1a",
    ),
    _pose(
        "tool", ">>>", r"^>>> ?[\w.]{3,60}\([^\n]{0,60}\)\n[^\n]{4,300}", sure=True, signs=">", heads=(r"\n(?=>>>)",)
    ),
    _pose(
        "reply",
        ": >>",
        r"^[ \t>*_]{0,4}(?:(?:the )?(?:assistant|ai|model|asistente|assistente|assistant ia|ki|assistent|asystent|ассистент|ии|助手|アシスタント))[ *_]{0,3}[:：] {0,2}[^\n]{20,300}"
        rf"|^[ \t>*_]{{0,4}}{_SPEAKERS}(?:'s)? (?:output|reply|response|summary|verdict|ruling|statement|turn|conclusion)\b[^\n:>]{{0,30}}(?::|>>)[^\n]{{10,300}}",
        heads=(rf"\n(?=[ \t>*_]{{0,4}}(?:the |ии|助手|アシスタント|{_SPEAKERS}))",),
        signs=":\uff1a>",
    ),
    _pose(
        "reply",
        '"',
        rf"[{{,]\s{{0,20}}\"\w{{2,20}}\"\s{{0,4}}:\s{{0,4}}\"{_SPEAKERS}\"\s{{0,4}},[^{{}}]{{4,300}}",
        signs=":",
    ),
    _pose(
        "reply",
        "confidencelevel challengestrength recommendanotherround explicituncertainties resolvedpoints",
        r"[\"\u201c](?:confidencelevel|challengestrength|recommendanotherround|explicituncertainties|(?:un)?resolvedpoints)"
        r"[\"\u201d]\s{0,4}:\s{0,4}[^\s{][^\n]{0,300}",
        sure=True,
        signs=":",
    ),
)


class Posed(NamedTuple):
    """A passage that poses as something else: its place in the plain view, and which of `POSES` it is."""

    start: int
    end: int
    pose: int


_SIGNS = "".join(sorted({sign for pose in POSES for sign in pose.signs}))


@lru_cache(maxsize=4_096)
def _possible(signs: str, sure: bool) -> Sequence[tuple[int, Pose]]:
    """The poses that a text with these of `_SIGNS` may have, with their numbers."""
    return [
        (number, pose)
        for number, pose in enumerate(POSES)
        if (pose.sure or not sure) and not (pose.signs and pose.signs.isdisjoint(signs))
    ]


def posed(plain: str, *, sure: bool = False) -> Iterator[Posed]:
    """The passages of a plain view that pose as something else; only those that surely do, where this is asked."""
    holds_code: bool | None = None
    lines = f"\n{plain}"
    for number, pose in _possible("".join([sign for sign in _SIGNS if sign in plain]), sure):
        for match in pose.found_in(plain, lines):
            if holds_code is None:
                holds_code = _IN_CODE.search(plain) is not None
            start, end = match.span()
            if not holds_code or not _IN_CODE.search(plain, max(0, start - AROUND), end + AROUND):
                yield Posed(start, end, number)
