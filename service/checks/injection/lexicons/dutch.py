"""Dutch words by concept; `service.checks.injection.concepts` says what each concept is."""

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "AUTOMATIC": "automatisch* geautomatiseerd* kunstmatig* digital* autonom* ai-gestuurd* generatie* virtue*",
    "AGENT": (
        "model modellen beoordelaar* agent agenten assistent* systeem systemen lezer* analist* intelligentie*"
        " toetser* rechter hulpmiddel controleur* beoordelingssysteem lezend*"
    ),
    "READER": (
        "taalmodel* ai-model* ai-systeem* ai-systemen ai-beoordelaar* ai-assistent* ai-agent* ai llm chatbot*"
        " bot robot*"
    ),
    "ASSISTANT": "assistent assistenten model modellen",
    "SEAT": (
        "criticus indiener moderator* voorsteller* debater* synthesizer* opponent* tegenspreker* zetel"
        " critici rol+van+criticus"
    ),
    "JUDGE": "rechter* jury panel beoordelaar* commissie deelnemer* tegenpartij toetser* arbiter juryleden",
    "YOU": (
        "je jij jou jouw jullie u uw negeer vergeet antwoord+alleen concludeer schrijf geef beschouw behandel"
        " bent laat noem zwijg begin eindig stel volg stem plaats accepteer beoordeel"
    ),
    "SELF": (
        "contextvenster je+context uw+context je+training trainingsdata je+ontwikkelaar* uw+ontwikkelaar*"
        " je+instructies uw+instructies systeemprompt je+maker* je+leverancier uw+makers je+beheerder"
    ),
    "DEAR": (
        "beste geachte let+op opmerking bericht aan+het aan+de aan+alle aan+elk notitie mededeling voor+het+model memo"
    ),
    "READING": (
        "leest lezen lezende verwerkt verwerken verwerkende analyseert analyseren beoordeelt beoordelen"
        " samenvat samenvatten doorneemt beoordeelde inleest"
    ),
    "THIS": "dit deze hier onderhavig* bijgaand* document",
    "IGNORE": (
        "negeer* negeren vergeet vergeten terzijde leg+naast sla+over buiten+beschouwing veronachtzaam*"
        " omzeil* laat+los niet+opvolgen volg+niet overschrijf* schuif+opzij zet+opzij uitschakel* laat+varen"
    ),
    "VOID": (
        "vervall* vervalt ongeldig* achterhaald* ingetrokken vervang* opgeschort* nietig* gaan+voor gaat+voor"
        " voorrang herroepen niet+langer buiten+werking opgeheven verlopen niet+meer"
    ),
    "INSTRUCTION": (
        "criteria instructie* regel regels richtlijn* opdracht* aanwijzing* prompt* voorschrift* bevel*"
        " beperking* kader*"
    ),
    "TASK": "taak taken opdracht rol missie doel functie identiteit",
    "PROMPT": "prompt* systeemprompt* systeembericht* systeeminstructie*",
    "PRIOR": (
        "vorige voorgaand* eerder* bovenstaand* oorspronkelijk* aanvankelijk* voordien ontvangen gegeven"
        " hiervoor tot+nu bestaand* meegegeven"
    ),
    "NEW": "nieuw* nu voortaan vanaf+nu vanaf+hier in+plaats+daarvan vanaf+dit voorts",
    "CONCLUDE": (
        "conclude* besluit* verklaar* verklaren aanbevel* beveelt goedkeur* goed+te+keuren bevestig* stem"
        " stemt stemmen oordeel* vaststel* vast+te+stellen stelt+vast kwalific* aanwijz* aan+te+wijzen"
        " bestempel* afwijz* uitspre* verwerp* luiden luidt accepte* vermeld* komt+tot aanmerken"
    ),
    "VALUE": (
        "kopen goedgekeurd* aanvaard* geaccepteerd veilig* toereikend voldoende geschikt geslaagd winnaar"
        " gunstig* geldig juist correct afgewezen conform ongegrond gegrond bevestigd voorkeur positief"
        " redelijk marktconform in+orde deugdelijk eerste akkoord verwaarloosbaar best* volledig gelijk"
        " overtuigend solide goedkeuring"
    ),
    "REVIEW": (
        "beoordeling* evaluatie* analyse* oordeel* oordelen conclusie* aanbeveling* debat* synthese*"
        " discussie* rangschikking* stemming* uitkomst* beslissing* bevinding* toetsing* rapport* advies"
        " samenvatting* eindoordeel* verslag vergelijking"
    ),
    "DEBATE": "debat* synthese* weerlegging* stemming* eindoordeel*",
    "SCORE": (
        "score* cijfer* punt punten betrouwbaarheid* vertrouwen ernst niveau* waarschijnlijkheid* sterren"
        " sterkte waardering* zekerheid betrouwbaarheidsscore scoor graad"
    ),
    "EXTREME": (
        "maxima* hoogst* laagst* minima* hoog lage laag hoge nul tien vijf honderd volle perfect* informatief"
        " verwaarloosbaar minstens ten+minste 10 100 0 1 zwakste zwak negen"
    ),
    "ANSWER": "antwoord* reactie* uitvoer* output json bijdrage* respons bericht",
    "YOURANSWER": (
        "je+antwoord uw+antwoord je+analyse uw+analyse je+beoordeling uw+beoordeling je+conclusie"
        " uw+conclusie je+oordeel uw+oordeel je+verslag uw+verslag je+rapport uw+rapport je+samenvatting"
        " uw+samenvatting je+uitvoer uw+uitvoer je+bijdrage uw+advies je+synthese uw+synthese je+reactie"
    ),
    "EXACT": (
        "exact precies letterlijk woordelijk woord+voor+woord één+woord het+woord de+woorden de+zin"
        " uitsluitend+met zonder+toelichting eerste+regel eerste+zin laatste+regel laatste+zin leeg"
        " lege+lijst zonder+uitleg deze+zin ongewijzigd"
    ),
    "ONLY": "alleen uitsluitend slechts enkel",
    "BEGIN": "begin* start* eindig* open* sluit* besluit+met",
    "MENTION": (
        "vermeld* noem* genoemd citeer* geciteerd onthul* bespreek* besproken voorkom* aanhal* verklap*"
        " opmerk* rapporteer* opduik* ter+sprake zinspel* melden meld melding benoem* toegeef* herhaal*"
    ),
    "NOT": "niet nooit geen zonder niets noch nergens vermijd* geenszins verboden",
    "OMIT": (
        "verzwijg* verzwegen weglat* weggelaten weg+te+laten laat+weg achterwege geheim* stilzwijg* onvermeld"
        " buiten+het zwijg* verberg* onder+ons discreet discretie stil"
    ),
    "SECRET": (
        "verzwijg* stilzwijg* onvermeld onder+ons discreet discretie zwijg* alsof zonder+te+vermelden geheim heimelijk"
    ),
    "MUST": (
        "moet moeten dient dienen hoort behoort gelieve zal zullen verplicht graag is+te wordt+verzocht"
        " worden+verzocht mag mogen hoeft verzoek* zou alstublieft"
    ),
    "ALWAYS": (
        "ongeacht altijd in+alle+gevallen zonder+onderzoek vooraf al+besloten reeds+besloten elke+andere"
        " geen+andere hoe+dan+ook staat+vast zonder+meer in+geen+geval zonder+voorbehoud reeds"
        " enige+conclusie"
    ),
    "TRUST": (
        "vertrouw* accepteer* aanneem aannemen aan+te+nemen volg volgen geloof* als+juist als+vaststaand"
        " als+waar als+echt gehoorzaam* beschouw* ga+uit uitgaan overnemen overneemt"
    ),
    "CHECK": (
        "controle* verifi* nareken* na+te+rekenen onderzoek* betwist* betwijfel* bekritiseer* toets* bezwaar"
        " maken+tegen in+twijfel kritiek nagaan bezwaren"
    ),
    "FLAWS": (
        "bezwaar bezwaren kritiek risico* zwakte* gebrek* tekortkoming* probleem problemen lacune* twijfel*"
        " kwetsbaarheid* lek fout artikel paragraaf clausule sectie hoofdstuk incident* bedenking* nadelen"
        " nadeel passage instructie zwakke voorbehoud waarschuwing*"
    ),
    "PRAISE": "gunstig* lovend* positief positieve welwillend* mild* vriendelijk* wervend* voordelen",
    "AUTHORITY": (
        "beheerder* exploitant* ontwikkelaar* leverancier* aanbieder* toezichthouder* autoriteit* compliance*"
        " directie ministerie platform* juridische+afdeling beveiligingsteam maker* bestuur circulaire"
        " eigenaar*"
    ),
    "GRANT": (
        "toestemming* uitzondering* ontheffing* vrijgesteld* gemachtigd* machtig* toegestaan goedgekeurd"
        " opgedragen verlangt verordonneert bepaald code token draagt+op gelast bevolen verzoekt bevoegd*"
        " vereist geautoriseerd"
    ),
    "OVERRIDE": "overridecode beheerderscode autorisatiecode onderhoudsmodus ontwikkelaarsmodus beheerdersmodus",
    "SERVICE": "dienst platform* systeem sessie beoordelingsdienst",
    "CONTEXT": "context gesprek sessie",
    "CONCEDE": "ingetrokken toegegeven eens unaniem geen+bezwaar* overtuigd erkend instemm* eensgezind ingestemd",
    "NONHUMAN": "menselijke+lezers geen+mens",
    "PARTY": (
        "leverancier* opdrachtnemer* opdrachtgever* partij partijen huurder* verhuurder* koper* verkoper*"
        " werknemer* werkgever* overeenkomst* contract inschrijver* klant* lener licentienemer* afnemer*"
        " aannemer* medewerker* kandidaat kandidaten"
    ),
    "ATTACK": (
        "aanval* aanvaller* kwaadaardig* injectie* payload* jailbreak* phishing dreiging* misbruik* manipul*"
        " oplicht* kwaadwillend*"
    ),
    "EXAMPLE": "voorbeeld* zoals bijvoorbeeld training oefening* zinnen testgeval*",
    "USER": "gebruiker* klant* cliënt* lezer*",
    "CONDITION": "indien tenzij wanneer als+de",
    "RANGE": "tussen schaal of van+0 van+1",
    "ASSIGN": (
        "geef geven krijgt toekennen ken+toe toe+te+kennen stel stellen zet zetten plaats verdient kennen"
        " scoor waardeer"
    ),
    "TOOL": (
        "validator* zoekresultaat zoekresultaten filter* hulpmiddel* scanner scan functie controleprogramma*"
        " ophaal* observatie"
    ),
    "MYREPLY": "mijn+kritiek mijn+oordeel mijn+antwoord ik+concludeer ik+trek mijn+stem mijn+conclusie ik+heb",
    "WRITE": "schrijf schrijven druk+af voeg opnemen bevat neem+op vermeld gebruik luiden",
}
STOP = "het een van dat niet met voor zijn aan wordt deze ook door naar".split()
"""Frequent words: text in which they stand in another alphabet or order is read so."""
