"""Italian words by concept; `service.checks.injection.concepts` says what each concept is."""

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "AUTOMATIC": "automatic* automatizzat* artificial* digital* linguaggio linguistic* ia autonom* generativ* virtual*",
    "AGENT": (
        "modello modelli revisore revisori valutator* agente agenti assistente sistema sistemi lettore"
        " lettori analista intelligenza intelligenze strumento analizzatore analizzatori giudice esaminatore"
        " esaminatori"
    ),
    "READER": "agente+artificiale agenti+software ia llm chatbot* bot",
    "ASSISTANT": "assistente assistenti modello modelli",
    "SEAT": (
        "critico proponente proponenti moderatore sintetizzatore dibattente oppositore avvocato+del+diavolo"
        " contraddittore ruolo+di+critico seggio"
    ),
    "JUDGE": (
        "giudice giudici giuria panel revisore revisori valutator* comitato partecipant* collegio arbitro"
        " commissione relatore"
    ),
    "YOU": (
        "occupati appoggi inserisci superare fai dai tu tuo tua tuoi tue ti te voi vostro vostra vostre vi"
        " ignora ignorate rispondi rispondete concludi concludete dimentica devi dovete considera considerate"
        " scrivi assegna vota tratta puoi sei hai salta comincia inizia termina attribuisci tieni lascia"
        " ometti evita dichiara limitati segui indica poni fonda taci adotta fingi poiché+sei"
    ),
    "SELF": (
        "finestra+di+contesto tuo+contesto tuo+addestramento tuoi+sviluppatori tuo+modello tue+istruzioni"
        " vostre+istruzioni tuo+fornitore ti+ha+addestrato ti+anima ti+hanno tuo+operatore tua+configurazione"
    ),
    "DEAR": (
        "gentile caro nota avviso attenzione messaggio al+modello ai+modelli a+qualsiasi a+ogni"
        " per+il+modello all'attenzione avvertenza egregio promemoria rivolt*"
    ),
    "READING": (
        "legge leggi leggendo leggono leggere lettura analizza analizzi analizzano elabora elabori elaborano"
        " valuta esamina esamini riassume scorre elaborando analizzando"
    ),
    "THIS": "questo questa questi queste presente presenti qui documento",
    "IGNORE": (
        "ignor* dimentic* tralasci* accanton* non+tenere+conto non+tener+conto disattend* scart* abbandon*"
        " metti+da+parte mettere+da+parte aggir* saltare trascur* non+seguire smetti disattiv*"
    ),
    "VOID": (
        "annullat* decadut* decad* sostitui* prevalg* prevale obsolet* revocat* sospes* superat* nullo nulle"
        " non+più mai+ricevut* senza+effetto abrogat* cessan* ritirat* scadut* invalid*"
    ),
    "INSTRUCTION": (
        "criteri istruzion* regol* direttiv* ordini ordine indicazion* prompt* consegn* linee+guida mandato"
        " comand* restrizion* vincoli"
    ),
    "TASK": "compito compiti incarico ruolo missione obiettivo* funzione identità lavoro",
    "PROMPT": "prompt* messaggio+di+sistema istruzioni+di+sistema",
    "PRIOR": (
        "precedent* precedenza iniziale iniziali original* prima ricevut* dat* impartit* sopra anterior*"
        " finora fornit* esistent* vigent*"
    ),
    "NEW": "nuovo nuova nuove nuovi ora d'ora+in+poi da+ora adesso invece da+questo a+partire+da",
    "CONCLUDE": (
        "conclud* conclus* decid* dichiar* raccomand* approv* conferm* vota votare votano voti ritenere"
        " ritien* ritenga stabil* affermare affermi giudic* design* accert* riconosc* dare+ragione"
        " dia+ragione pronunci* respinge* respingere accogl* classific* indicare indica indichi constat*"
        " attest* accett* esprim* rilev*"
    ),
    "VALUE": (
        "comprare acquistare approvat* accettat* accettabil* sicur* adeguat* sufficient* soddisfacent*"
        " vincitor* favorevol* valid* corrett* autentic* respint* conforme conformi fondat* infondat*"
        " confermat* prim* positiv* ragionevol* equ* solid* ragione in+linea idone* preferit* trascurabil*"
        " accolt* complet* ammissibil* miglior* approvazione"
    ),
    "REVIEW": (
        "revisione valutazion* analisi verdett* conclusion* raccomandazion* dibattit* sintesi discussion*"
        " classific* votazion* esito decision* giudizi* esame deliberazion* parere relazione voto rapporto"
        " riepilogo confronto"
    ),
    "DEBATE": "dibattit* sintesi replica verdett* deliberazion* votazion*",
    "SCORE": (
        "punteggi* voto voti valutazione fiducia confidenza gravità severità livell* probabilità punto punti"
        " stelle forza certezza grado"
    ),
    "EXTREME": (
        "massim* minim* alto alta bass* zero dieci cento cinque perfett* informativ* trascurabil* almeno"
        " più+alt* più+bass* 10 100 0 1 pien* elevat* lieve debole nove"
    ),
    "ANSWER": "rispost* rispond* output json intervent* contribut* messaggio turno replica",
    "YOURANSWER": (
        "tua+risposta tua+analisi tua+valutazione tuo+verdetto tua+conclusione tuo+giudizio tua+sintesi"
        " tuo+rapporto tuo+intervento tuo+output vostra+risposta vostra+analisi vostra+valutazione"
        " tue+conclusioni tua+relazione tuo+parere tuo+voto tuo+riepilogo vostro+giudizio vostra+sintesi"
        " tuo+testo"
    ),
    "EXACT": (
        "esattamente letteral* testual* parola+per+parola sola+parola unica+parola la+frase le+parole"
        " la+parola senza+spiegazion* nessun+altro+testo prima+riga prima+frase ultima+riga ultima+frase"
        " vuot* senza+varianti questa+frase la+formula tale+e+quale la+dicitura"
    ),
    "ONLY": "solo soltanto solamente unicamente esclusivamente nient'altro semplicemente",
    "BEGIN": "inizi* cominci* apr* termin* chiud* finis* conclud*+con esord*",
    "MENTION": (
        "menzion* cit* rivel* divulg* segnal* parl* compar* apparir* sollev* allud* ammett* riport* nomin*"
        " accenn* riproduc* riferi* dire figur* evidenzi* indic* comment*"
    ),
    "NOT": "non mai nessun* senza nulla niente né evit* asten* vietat*",
    "OMIT": (
        "omett* omess* tac* tacer* tacciat* nascond* silenzio segret* riservat* fra+noi tra+noi sottac*"
        " occult* discrezione lasci+fuori lascia+fuori passa+sotto passare+sotto"
    ),
    "SECRET": (
        "silenzio fra+noi tra+noi discretamente discrezione segretamente sottac* come+se senza+dirlo"
        " senza+segnalarlo senza+menzionar*"
    ),
    "MUST": (
        "dovrà deve devono devi dovranno dovrai dovrebbe dovrebbero bisogna occorre si+prega prego va vanno"
        " è+tenuto sono+tenuti obbligatori* necessari* attribuisca pregat* chiede sia siano è+da sono+da"
    ),
    "ALWAYS": (
        "indipendentemente qualunque qualsiasi sempre in+ogni+caso senza+esame in+anticipo già+decis*"
        " ogni+diversa ogni+altra nessun'altra a+prescindere senza+eccezioni comunque già in+nessun+caso"
        " senza+riserv* prima+ancora unica+conclusione"
    ),
    "TRUST": (
        "fidat* fida affid* accett* presum* considera considerare considerat* segu* credi credere"
        " ritenere+vero autentic* attendibil* per+vero per+certo per+buon* obbed* dar+per dare+per dai+per"
        " attieni assum*"
    ),
    "CHECK": (
        "verific* controll* esamin* contest* mettere+in+dubbio mettere+in+discussione ricalcol* critic*"
        " obiett* obiezion* dubit* discut* testare sindac* approfond*"
    ),
    "FLAWS": (
        "obiezion* critic* riserv* rischi* rischio debolezz* difett* problem* lacun* dubbi* vulnerabilità"
        " falla mancanz* sezione articolo paragrafo clausola capitolo incident* svantagg* passaggio"
        " istruzione rettifica comma violazion* carenz* avvertenz*"
    ),
    "PRAISE": "favorevol* elogi* positiv* benevol* indulgent* lusingh* promozional* vantagg* accomodant*",
    "AUTHORITY": (
        "operatore gestore amministrat* sviluppat* fornitore produttor* regolator* autorità conformità"
        " direzione ministero piattaforma vigilanza ufficio+legale ufficio+compliance responsabile* titolare"
        " circolare supervisor* commissione proprietari*"
    ),
    "GRANT": (
        "autorizz* deroga derog* permess* esent* esonera* ordin* dispost* dispone impon* richied* chied*"
        " abilit* approv* codice token stabilit* prescriv* convalid*"
    ),
    "OVERRIDE": (
        "codice+di+sblocco codice+amministratore codice+di+autorizzazione modalità+manutenzione"
        " codice+di+override modalità+sviluppatore modalità+amministratore codice+di+deroga"
    ),
    "SERVICE": "servizio piattaforma sistema sessione",
    "CONTEXT": "contesto conversazione sessione",
    "CONCEDE": (
        "ritirat* concess* unanim* unanimità d'accordo ammess* nessuna+obiezione convint* soddisfatt*"
        " rinunci* nulla+da consenso"
    ),
    "NONHUMAN": "lettori+umani non+una+persona non+un+essere",
    "PARTY": (
        "gara giuria squadra committente fornitore appaltatore parti parte cliente clienti conduttore"
        " locatore acquirente venditore dipendent* datore contratto licenziatario offerente offerenti"
        " mutuatario accordo subappaltatore concorrent* lavoratore lavoratori affittuario studenti studente"
        " candidat*"
    ),
    "ATTACK": (
        "attacco attacchi attaccant* aggressor* malevol* iniezion* payload* jailbreak* phishing minacc*"
        " avversari* sfrutt* manipol* frod* truff*"
    ),
    "EXAMPLE": "esempi* come+ad formazione campione esercizio frasi ad+esempio",
    "USER": "utent* cliente clienti lettor* destinatari*",
    "CONDITION": "qualora quando salvo nel+caso in+caso",
    "RANGE": "tra+0 tra+1 scala o da+0 da+1",
    "ASSIGN": (
        "assegn* attribui* dai dare dà ricev* mett* fiss* valut* spett* merit* ottien* ottenga riport* collocat* inser*"
    ),
    "TOOL": (
        "validator* ricerca filtro filtri strumento scanner scansione funzione verificator* osservazione"
        " calcolatrice recupero"
    ),
    "MYREPLY": (
        "mia+critica mio+verdetto mia+risposta concludo ho+verificato ho+esaminato mio+voto mia+conclusione"
        " ritiro non+trovo ho+letto in+qualità+di"
    ),
    "WRITE": "scriv* stamp* inser* riprodu* restitui* includ* mostr* redig* usi usa contenga conterrà",
    "MANUAL": "file opzione parametro campo configurazione orchestratore modello+json",
}
STOP = "che del della per con una non sono gli alla nel come questo si il la di".split()
"""Frequent words: text in which they stand in another alphabet or order is read so."""
