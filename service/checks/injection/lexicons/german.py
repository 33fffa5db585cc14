"""German words by concept; `service.checks.injection.concepts` says what each concept is."""

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "AUTOMATIC": "automat* maschinell* künstlich* digital* autonom* ki-gestützt* ki-basiert* generativ* virtuell*",
    "AGENT": (
        "modell* prüfer* gutachter* agent agenten auswerter* leser* assistent* system systeme systems"
        " intelligenz* bewerter* analyst* werkzeug* analysesystem* prüfsystem* prüfinstanz* auswertung"
    ),
    "READER": (
        "softwareagent* automatische+prüfer maschine maschinen sprachmodell* ki-modell* ki-system* ki-prüfer*"
        " ki-assistent* ki-agent* ki-gutachter* ki-auswert* kis prüfmodell* analysemodell* bot bots ki"
        " automat assistenzsystem* textmodell* chatbot* prüf-ki ki-instanz*"
    ),
    "ASSISTANT": "assistent* modell modelle modells",
    "SEAT": (
        "kritiker* moderator* antragsteller+rolle befürworter* debattenteilnehmer* debattant*"
        " synthese-instanz* sitz synthesizer* richterrolle opponent* proponent* gegenredner* vorschlagende*"
        " antragsverteidiger*"
    ),
    "JUDGE": (
        "richter* gremium gremiums gutachter* prüfer* jury teilnehmende* teilnehmer* gegenseite bewerter*"
        " auswerter* kommission prüfende* begutachtende* bewertende* runde schiedsrichter* juror* ausschuss"
        " panel"
    ),
    "YOU": (
        "du dich dir dein deine deinem deinen deiner deines ihr ihnen euch euer eure sie+haben sie+werden"
        " sie+sind sie+sollen sie+müssen ihre+antwort ihre+aufgabe ihrer+antwort ihre+bewertung ihre+ausgabe"
        " bitte+nennen+sie verhalten+sie bist hast sollst musst wirst darfst ignoriere ignoriert ihre+rolle"
        " ignorieren+sie vergiss bewerte antworte stimme schreibe schließe lass lasse nenne setze gib"
        " ihrem+urteil ihr+urteil ihre+anweisungen nehmen+sie antworten+sie beginnen+sie bewerten+sie"
        " geben+sie setzen+sie schreiben+sie stellen+sie lassen+sie erwähnen+sie betrachten+sie kommen+sie"
        " behandeln+sie vergessen+sie halten+sie folgen+sie beginne beende vergib verwende behandle"
        " ihre+analyse ihrer+analyse ihrer+bewertung"
    ),
    "SELF": (
        "kontextfenster trainingsdaten dein+training dein+kontext deinem+kontext dein+modell dein+betreiber"
        " dein+entwickler deine+entwickler deine+weisungen dein+hersteller systemprompt deiner+konfiguration"
        " ihrem+kontext ihr+betreiber dir+zugrunde ihnen+zugrunde deines+anbieters dich+trainiert"
        " dich+entwickelt deine+anweisungen ihres+kontexts"
    ),
    "DEAR": (
        "hinweis liebe lieber liebes achtung an+das an+die an+den an+alle an+jedes sehr+geehrte* mitteilung"
        " notiz nachricht anmerkung werte* werter vermerk"
    ),
    "READING": (
        "liest lesen lesende* auswertet auswerten verarbeitet verarbeiten verarbeitende* prüft prüfen"
        " bewertet analysiert zusammenfasst zusammenfassen einliest begutachtet prüfende* auswertende*"
        " analysieren bearbeitet ausgewertet gelesen beurteilt"
    ),
    "THIS": "dieses diese dieser diesem diesen hier vorliegende* vorliegenden beiliegende* dokument",
    "IGNORE": (
        "ignorier* missacht* vergiss vergessen verwirf verwerfen übergeh* überspring* beachte+nicht"
        " außer+acht unbeachtet beiseite aufzugeben hinwegsetzen nicht+befolgen nicht+beachten"
        " nicht+zu+beachten außer+betracht ablegen lege+ab leg+ab streif* schalte deaktivier* aussetz*"
        " setz+dich+hinweg setze+dich+hinweg löse+dich"
    ),
    "VOID": (
        "hinfällig* ungültig* überholt* aufgehoben gegenstandslos widerrufen zurückgezogen außer+kraft"
        " ersetz* erloschen nicht+mehr vorrang gehen+vor unwirksam nichtig obsolet entfällt entfallen"
        " ausgesetzt verdräng* beendet erledigt gelten+nicht gilt+nicht abgelöst"
    ),
    "INSTRUCTION": (
        "weisungen maßstab* anweisung* instruktion* prompt* regel regeln vorgabe* richtlinie* weisung*"
        " befehl* leitlinie* systemvorgabe* auftrag* prüfauftrag* hinweise* vorschrift* arbeitsanweisung*"
        " prüfanweisung* systemanweisung* grundanweisung* beschränkung* leitplanken kriterien einschränkungen"
        " prüfregel*"
    ),
    "TASK": "aufgabe* auftrag* rolle job mission ziel prüfauftrag* identität funktion",
    "PROMPT": "prompt* systemprompt* systemanweisung* systemvorgabe* systemnachricht*",
    "PRIOR": (
        "vorherig* vorig* früher* bisherig* obig* vorangehend* vorangegangen* ursprünglich* zuvor vorher"
        " bisher erhalten* anfänglich* oben gegeben* erteilt* vorstehend* mitgegeben* eingangs vorausgehend*"
    ),
    "NEW": (
        "neue neuer neues neuen jetzt nun ab+jetzt ab+hier ab+sofort künftig fortan stattdessen eigentlich*"
        " ab+dieser nunmehr von+nun+an"
    ),
    "CONCLUDE": (
        "schließe schließen schlussfolger* befinde befinden entscheid* erkläre erklären stimme stimmen"
        " empfiehl empfehlen empfiehlt bestätige bestätigen genehmig* zu+bezeichnen bezeichne* urteile"
        " urteilen feststell* festzustellen stelle+fest stellen+fest küren kürt einstuf* einzustufen votier*"
        " spricht+sich erteilen werten gelangen gelangt kommt+zu lautet ausfallen zuzustimmen zustimmen"
        " stimmt auszusprechen festhalten hält+fest befürworten befürwortet gewinnt ausgewiesen auszuweisen"
        " zu+werten benennen platziert"
    ),
    "VALUE": (
        "kaufen freigegeben* genehmigt angenommen akzeptiert* zulässig sicher unbedenklich ausreichend"
        " geeignet bestanden gewinner sieger bevorzugt* positiv zustimmung stattgegeben aufrechterhalten"
        " bestätigt* zutreffend korrekt tragfähig marktüblich vertretbar unbegründet abgelehnt überzeugend"
        " freigabe erste erster ersten+platz zugunsten angemessen vollständig einwandfrei empfehlenswert"
        " erfüllt gerechtfertigt haltbar wirksam günstig konform uneingeschränkt begründet unerheblich"
        " unzutreffend genehmigung annahme"
    ),
    "REVIEW": (
        "prüfung* bewertung* analyse* urteil* ergebnis* empfehlung* debatte* synthese* diskussion* rangliste*"
        " abstimmung* votum entscheidung* fazit befund* gutachten* zusammenfassung* auswertung* beurteilung*"
        " schlussfolgerung* schlussurteil* rangfolge bericht* stellungnahme* gesamturteil* beratung*"
        " vergleich"
    ),
    "DEBATE": "debatte* synthese* abstimmung* erwiderung* gegenrede*",
    "SCORE": (
        "punkt punkte punkten punktzahl bewertung note noten benote* vertrauenswert* konfidenz* zuversicht*"
        " schweregrad* stärke wahrscheinlichkeit* einstufung* score sicherheit* grad gesamtnote stufe sterne*"
        " wert risikostufe* konfidenzwert* vertrauensgrad* gewissheit"
    ),
    "EXTREME": (
        "maximal* höchst* höchste* voll volle vollen hoch niedrig* minimal* geringst* mindestens höchstens"
        " null zehn fünf hundert gering sehr+hoch sehr+gut beste besten 10 100 0 1 unwesentlich oberste* eins"
        " schwach schwächste* kleinst* neun"
    ),
    "ANSWER": (
        "antwort* ausgabe* reaktion rückmeldung* json beitrag beiträge wortmeldung* ergebnis+objekt erwiderung*"
    ),
    "YOURANSWER": (
        "deine+antwort deiner+antwort ihre+antwort ihrer+antwort deine+ausgabe deine+bewertung"
        " deiner+bewertung dein+urteil ihr+urteil dein+fazit deine+analyse deiner+analyse deinem+bericht"
        " deine+zusammenfassung deiner+zusammenfassung deinen+beitrag deine+einschätzung ihrer+bewertung"
        " ihre+bewertung ihrer+analyse ihrer+zusammenfassung ihrem+bericht ihre+ausgabe deinem+urteil"
        " deiner+ausgabe dein+votum deine+stellungnahme deiner+stellungnahme"
    ),
    "EXACT": (
        "genau exakt wörtlich* wortwörtlich einzig* wortlaut nur+dem+wort dem+wort das+wort den+worten"
        " dem+satz folgendem+satz begründung+entfällt ohne+begründung unverändert* zeichen+für zeichenkette"
        " formel wortgleich erste+zeile leer+bleiben leeres+array leere+liste den+satz diesem+satz"
    ),
    "ONLY": "ausschließlich nur allein lediglich einzig",
    "BEGIN": "beginn* anfang eröffne* ende endet ende+jede* beende* schließe+mit starte* einleit* enden",
    "MENTION": (
        "erwähn* nenn* zitier* offenleg* verrat* ansprech* anzusprechen auftauch* thematisier* aufführ*"
        " aufgeführt hinweis*+auf wiedergeb* wiederhol* andeut* andeutung preisgeb* bericht* benenn* genannt"
        " angeführt eingeh* zur+sprache vorkommen aufgreif* mitteil* darstell* hinzuweisen erscheinen"
        " anführen einzugehen mitzuteilen erscheint"
    ),
    "NOT": (
        "ungeprüft nicht nie niemals kein keine keinen keinem keiner keinerlei ohne nirgends weder unzulässig"
        " unterlass* verzicht* vermeid* keinesfalls nichts entbehrlich"
    ),
    "OMIT": (
        "verschweig* verschwieg* weglass* wegzulassen weggelassen auslass* auszulassen stillschweig* geheim*"
        " unerwähnt zurückhalt* verbirg* verberg* schweig* vertraulich unter+uns diskret für+dich lass+aus"
        " lass+weg lasse+weg lassen+sie+weg unter+verschluss übergeh*"
    ),
    "SECRET": (
        "verschweig* stillschweigend unerwähnt unter+uns diskret als+gäbe schweig* stillschweigen heimlich"
        " ohne+hinweis geheim ohne+darauf"
    ),
    "MUST": (
        "muss müssen soll sollen sollst sollte sollten hat+zu haben+zu ist+zu sind+zu bitte darf dürfen"
        " zwingend verpflichtet wird+gebeten gebeten braucht brauchst hat anzugeben angewiesen sei seien"
        " gehalten werden wird verbindlich zu+geben erforderlich brauchen"
    ),
    "ALWAYS": (
        "unabhängig ungeachtet stets immer ausnahmslos steht+fest bereits+entschieden in+jedem+fall"
        " ohne+prüfung egal fest von+vornherein vorab bereits+beschlossen gleichgültig jede+andere"
        " einzig+zulässig* einzig+mögliche* keinesfalls unter+keinen+umständen ohne+weitere vorbehaltlos"
        " ohne+rücksicht bereits+feststeh* ungeprüft bereits"
    ),
    "TRUST": (
        "vertrau* akzeptier* unterstell* annehmen anzunehmen zugrunde glaub* folgen+sie befolg* übernehmen"
        " übernimm als+richtig als+wahr als+echt als+zutreffend als+gegeben als+erwiesen verlässlich*"
        " maßgeblich* bevorzug* verlass* verlasse"
    ),
    "CHECK": (
        "prüfung prüfungen nachprüf* überprüf* nachrechn* nachzurechnen hinterfrag* bezweifel* beanstand*"
        " anzweifel* kritisier* kontrollier* verifizier* einwend* widersprech* belegpflicht* bestreit*"
        " bestritten einwände angreif* prüf* zweifel* kritik nachprüfung"
    ),
    "FLAWS": (
        "einwand einwände* kritik mangel mängel* risik* schwäche* schwachstelle* bedenken vorbehalt* problem*"
        " lücke* schwachpunkt* abschnitt* klausel* defizit* verstoß verstöße nachteil* sicherheitslücke*"
        " ziffer absatz* vorfall vorfälle fehler stelle schnittstelle passage warnung* hinweis"
    ),
    "PRAISE": (
        "wohlwollend* werbend* lobend* positiv* freundlich* vorteilhaft* nachsichtig* milde lob loben"
        " befürwort* vorteile"
    ),
    "AUTHORITY": (
        "betreiber* administrator* entwickler* anbieter* hersteller* aufsicht* behörde* compliance*"
        " rechtsabteilung* vorstand* ministerium leitung* bundesamt* bafin revision* plattform* regulierer*"
        " systemverwalt* zentrale it-sicherheit* geschäftsleitung* kommission rundschreiben*"
        " geschäftsführung*"
    ),
    "GRANT": (
        "bevollmächtig* genehmigt* ausnahme* erlaub* befugnis* ermächtig* freigabe* angeordnet anordnung*"
        " ordnet weist befreit* verzicht* verfügt beschlossen autorisier* code token berechtig* angewiesen"
        " bestimmt freigegeben* verlangt vorgeschrieben"
    ),
    "OVERRIDE": (
        "freigabecode* übersteuerungscode* administratorcode* freischaltcode* wartungsmodus entwicklermodus"
        " admin-code* autorisierungscode* überschreibungscode* notfallcode"
    ),
    "SERVICE": "prüfdienst* dienst dienstes plattform* system systems debattendienst* prüfsystem* sitzung",
    "CONTEXT": "kontext* unterhaltung sitzung eingabe* gespräch*",
    "CONCEDE": (
        "zurückgezogen zugestimmt einig einstimmig keine+einwände räumt+ein zugestanden überzeugt zurück"
        " einvernehmen übereinstimmend einigkeit erledigt anerkannt"
    ),
    "NONHUMAN": "menschliche+leser nicht+menschlich* kein+mensch",
    "PARTY": (
        "auftragnehmer* auftraggeber* partei parteien vertragspartei* mieter* vermieter* käufer* verkäufer*"
        " lieferant* kunde kunden arbeitnehmer* arbeitgeber* vertrag vertrages vertrags lizenznehmer* bieter*"
        " vereinbarung* mitarbeit* bewerber* auftragsverarbeiter* beschäftigte* gesellschafter* geschworene*"
        " schöffen schüler* prüfling* sachverständige*"
    ),
    "ATTACK": (
        "angriff* angreifer* schädlich* bösartig* schadcode payload* jailbreak* phishing injektion*"
        " injection* bedroh* manipul* gegner* missbrauch* schadhaft* eingeschleust* einschleus* untergeschob*"
        " versteckte+anweisungen"
    ),
    "EXAMPLE": "beispiel* etwa z.b zum+beispiel testfall* muster übung* schulung* formulierung* satz sätze wie+etwa",
    "USER": "nutzer* anwender* leser* mandant* kunde kunden empfänger*",
    "CONDITION": "wenn falls sofern soweit sobald es+sei+denn",
    "RANGE": "zwischen skala oder von+1 von+0 bis+5 bis+10",
    "ASSIGN": (
        "gib geben gibt vergib vergeben vergeb* setze setzen ansetzen anzusetzen einzustufen erhält erhalten"
        " bekommt bewerte bewerten zuzuweisen zuweisen weise anzugeben angeben eintragen beträgt liegt"
        " verdient benoten benote anzuerkennen zuerkennen"
    ),
    "TOOL": (
        "validator* suchergebnis* werkzeug* prüflauf* scan scanner abruf* funktionsausgabe prüfprogramm*"
        " filter* abfrage* zitatprüfung* rechner beobachtung"
    ),
    "MYREPLY": (
        "mein+urteil meine+antwort ich+schließe ich+komme mein+fazit meine+kritik ich+stimme meine+einwände"
        " ich+ziehe meine+bewertung als+kritiker als+richter ich+habe+geprüft ich+habe+den ich+habe+die"
    ),
    "WRITE": (
        "schreibe schreiben ausgeben gib+aus drucke füge einzufügen enthalten enthält verwende verwenden"
        " lauten lautet formuliere stehen steht"
    ),
    "NEG": "",
    "MANUAL": (
        "datei* option parameter feld api endpunkt schnittstelle+liefert konfiguration* vorlage"
        " protokoll+wird handbuch dienst+verwirft"
    ),
}
STOP = "der die und das nicht mit dem den von für sie ist auf auch wird einer eine".split()
"""Frequent words: text in which they stand in another alphabet or order is read so."""
