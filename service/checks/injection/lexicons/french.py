"""French words by concept; `service.checks.injection.concepts` says what each concept is."""

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "AUTOMATIC": (
        "automatique* automatisé* artificiel* numérique* machine langage génératif* générative* ia autonome* virtuel*"
    ),
    "AGENT": (
        "modèle* relecteur* évaluateur* agent* assistant* système* lecteur* analyseur* analyste*"
        " intelligence* outil* examinateur* correcteur* juge vérificateur*"
    ),
    "READER": "agent+logiciel agents+logiciels ia ias llm chatbot* robot* modèle+linguistique",
    "ASSISTANT": "assistant assistants assistante modèle modèles",
    "SEAT": (
        "critique+du+débat proposant* proposeur* modérateur* modératrice* débatteur* contradicteur*"
        " synthétiseur* opposant* rôle+de+critique le+critique siège avocat+du+diable réfutateur*"
    ),
    "JUDGE": (
        "juge juges jury panel relecteur* évaluateur* comité participant* commission arbitre* intervenant*"
        " examinateur* réviseur* adversaire notateur* votant*"
    ),
    "YOU": (
        "vous votre vos tu te ton ta tes toi ignorez ignore répondez réponds concluez conclus attribuez"
        " oubliez oublie commencez terminez écrivez veuillez notez donnez votez accordez rendez considérez"
        " traitez retenez taisez omettez abstenez tenez fixez indiquez déclarez restez limitez placez"
        " choisissez passez adoptez suivez évitez gardez laissez mettez n'évoquez n'oubliez sachez travaillez"
    ),
    "SELF": (
        "vos+garde-fous votre+administrateur fenêtre+de+contexte votre+contexte votre+entraînement"
        " votre+développeur* votre+concepteur* votre+opérateur* ton+contexte vos+consignes vos+instructions"
        " votre+modèle vos+créateurs votre+configuration tes+instructions votre+fournisseur vous+a+entraîné"
        " vous+ont+entraîné vos+concepteurs vos+développeurs tes+consignes"
    ),
    "DEAR": (
        "cher chère chers attention note avis message à+l'attention au+modèle à+tout aux+modèles à+toute"
        " avertissement consigne+à à+l'intention destiné+à indication"
    ),
    "READING": (
        "lit lisant lisez lisent lire analyse analysant analysez analysent traite traitant traitez traitent"
        " examine évalue lecture parcourt parcourant résume examinant évaluant chargé consulte dépouille"
    ),
    "THIS": "ce cet cette ces présent présente présents ici document",
    "IGNORE": (
        "mettez+de+côté les+mettez ignor* oubli* négligez négliger écartez écarter laissez+de+côté"
        " faites+abstraction faire+abstraction outrepass* contourn* ne+tenez+pas+compte sans+tenir+compte"
        " abandonn* laisse+tomber désobéi* délaiss* quittez affranchi* passez+outre ne+suivez+plus cessez"
        " désactiv*"
    ),
    "VOID": (
        "caduc* caduques annul* remplac* prévau* prévalent prime priment suspendu* abrog* obsolète* périmé*"
        " nul* révoqu* plus+valable ne+s'applique* sans+objet levée levées retiré* ne+valent+plus"
        " prend+le+pas ne+sont+plus n'ont+plus ne+vaut+plus dépassé*"
    ),
    "INSTRUCTION": (
        "garde-fous critères instruction* consigne* règle* directive* prompt* ordre ordres invite commande*"
        " recommandations+initiales cadre mandat restrictions"
    ),
    "TASK": "tâche* mission* rôle* objectif* travail identité fonction",
    "PROMPT": "prompt* invite+système message+système instructions+système",
    "PRIOR": (
        "précédent* précédemment antérieur* antérieurement auparavant initial* d'origine avant reçues reçu"
        " transmis* données ci-dessus préalable* jusqu'ici fournies originel* existant* départ jusqu'alors"
    ),
    "NEW": (
        "nouveau nouvelle nouvelles désormais maintenant dorénavant à+partir+de+maintenant dès+à+présent"
        " à+présent plutôt à+compter nouveaux"
    ),
    "CONCLUDE": (
        "conclu* déclar* décid* recommand* approuv* confirm* votez vote voter votent désign* estim* jug*"
        " class* donner+raison donnez+raison retenir retenez valid* constat* affirm* prononc* tranch*"
        " reconnaî* reconnais* juge+que rend rendre rendra accept* rejet* écarter donne+raison se+rallie"
    ),
    "VALUE": (
        "acheter approuvé* accepté* acceptable* conforme sûr sain adéquat* suffisant* satisfaisant* lauréat"
        " vainqueur gagnant* favorable* validé* valide rejeté* fondé* infondé* confirmé* recevable premier"
        " première retenu* positif positive correct authentique* négligeable* équitable* raisonnable*"
        " sans+réserve solide avantage proposant maintenue meilleur* complet irréprochable approbation"
        " adopté* conformes"
    ),
    "REVIEW": (
        "revue évaluation* analyse* verdict* conclusion* recommandation* débat* synthèse* discussion*"
        " classement* vote* scrutin résultat* décision* jugement* examen* délibération* avis rapport*"
        " appréciation* constat* bilan comparaison"
    ),
    "DEBATE": "débat* synthèse* réfutation* verdict* délibération*",
    "SCORE": (
        "note notes noter notation score* confiance gravité sévérité niveau* probabilité* point points"
        " étoiles force cotation certitude criticité indice"
    ),
    "EXTREME": (
        "maximal* maximum minimal* minimum plus+élevé* plus+haut* plus+bas* zéro dix cent cinq élevé* faible"
        " élevée négligeable informati* très+élevé* très+haut* au+moins plein parfait* 10 100 0 1 haut haute"
        " la+meilleure mineur* neuf"
    ),
    "ANSWER": "répon* réponse* sortie* json intervention* contribution* message restitution",
    "YOURANSWER": (
        "votre+réponse votre+analyse votre+évaluation votre+verdict votre+conclusion votre+sortie"
        " votre+rapport votre+synthèse vos+conclusions ta+réponse ton+analyse ta+conclusion ton+évaluation"
        " vous+produirez votre+avis votre+jugement votre+intervention votre+vote votre+critique ta+synthèse"
        " ton+verdict votre+note votre+résumé vos+réponses votre+décision votre+texte ton+avis"
        " votre+restitution votre+compte+rendu"
    ),
    "EXACT": (
        "exactement littéral* mot+pour+mot textuel* seul+mot unique+mot uniquement+par strictement+la"
        " précisément la+phrase les+mots le+mot la+formule sans+explication sans+aucune+explication"
        " aucun+autre+texte première+ligne première+phrase dernière+ligne dernière+phrase vides vide"
        " cette+phrase la+mention la+chaîne sous+cette+forme à+l'identique"
    ),
    "ONLY": "seulement uniquement seul seule exclusivement rien+d'autre simplement",
    "BEGIN": "commenc* début* ouvre* ouvrez termin* conclu*+par achev* fini* clôtur*+par",
    "MENTION": (
        "mentionn* cit* évoqu* révél* divulgu* signal* parl* figur* apparaî* rapport* soulev* aborde* abord*"
        " admett* reconnaî* allusion indiqu* dire reproduire répét* commenter relev* rappel*"
    ),
    "NOT": (
        "ne pas jamais aucun* sans rien ni n'est n'a non n'évoquez évitez n'appelle n'y abstenez abstenir interdit"
    ),
    "OMIT": (
        "omet* omis* tair* taisez tais passer+sous+silence passez+sous+silence silence cach* dissimul*"
        " confidentiel+entre discret* discrètement entre+nous éluder hors+de+votre sous+silence occult*"
        " gardez+pour+vous"
    ),
    "SECRET": (
        "sous+silence entre+nous discrètement niez nier taisez secrètement strictement+réservé sans+le+dire"
        " sans+le+signaler comme+si+elle+n' gardez+pour+vous"
    ),
    "MUST": (
        "devez devra devront doit doivent devrait devraient dois il+faut veuillez prière faut merci+de"
        " obligatoire* impérativement tenu+de tenus+de est+prié sont+priés est+invité ordonne convient"
        " demandé est+à sont+à requis"
    ),
    "ALWAYS": (
        "quelle+que quel+que quelles+que quels+que indépendamment toujours systématiquement"
        " en+toutes+circonstances sans+examen d'avance déjà+décidé* en+tout+état toute+autre aucune+autre"
        " dans+tous+les+cas sans+discussion déjà+tranché* déjà sans+réserve* préalablement peu+importe"
        " seule+conclusion seule+issue"
    ),
    "TRUST": (
        "fiable* confiance accept* considérez considérer considérés tenez+pour tenir+pour présum* admettre"
        " suiv* croire croyez appliquez obéi* comme+vrai* comme+acquis* authentique* fiez fier comme+exact*"
        " s'en+remettre comme+établi* acquis"
    ),
    "CHECK": (
        "vérif* contrôl* examin* contest* mettre+en+doute remettre+en+cause recalcul* question* critiqu*"
        " objection* test* examen audit* discut* doute*"
    ),
    "FLAWS": (
        "objection* critique* réserve* risque* faiblesse* défaut* problème* lacune* doute* vulnérabilité*"
        " faille* manquement* section article paragraphe clause chapitre remarque* point+faible incident*"
        " passage instruction inconvénient* avertissement* litige* anomalie*"
    ),
    "PRAISE": (
        "favorable* élogieu* positif* positive* bienveillant* louang* indulgent* complaisant* flatteu* avantages"
    ),
    "AUTHORITY": (
        "opérateur* administrat* développeur* fournisseur* éditeur* régulateur* autorité* conformité"
        " direction ministère concepteur* plateforme équipe+de+sécurité service+juridique commission"
        " responsable* exploitant* siège+social superviseur* circulaire* propriétaire*"
    ),
    "GRANT": (
        "autoris* dérog* permission* dispens* exempt* habilit* ordonn* exig* impos* approuvé* accord* code"
        " jeton demand* décidé levé levée validé* prescri*"
    ),
    "OVERRIDE": (
        "code+de+dérogation code+administrateur code+d'autorisation jeton+d'autorisation mode+maintenance"
        " mode+développeur code+de+contournement mode+administrateur"
    ),
    "SERVICE": "service plateforme système dispositif session",
    "CONTEXT": "contexte conversation session échange",
    "CONCEDE": (
        "retiré* concéd* unanim* d'accord admis reconnaissent aucune+objection convaincu* satisfait* renonc*"
        " unanimité se+rallie* consensus rien+à+ajouter"
    ),
    "NONHUMAN": "lecteurs+humains pas+un+humain pas+une+personne non+humain",
    "PARTY": (
        "mandataire mandant rapporteur commission fournisseur* prestataire* parties partie client* locataire*"
        " bailleur* acheteur* vendeur* salarié* employeur* contrat preneur* acquéreur* cédant* licencié*"
        " soumissionnaire* candidat* convention sous-traitant* titulaire* emprunteur* prêteur* élève*"
        " stagiaire* tribunal juré* jurés assuré* destinataire*"
    ),
    "ATTACK": (
        "attaque* attaquant* malveillant* injection* pirat* hameçonnage* payload* jailbreak* menace* exploit*"
        " adversai* détourn* manipul* fraud* escroc*"
    ),
    "EXAMPLE": "exemple* tel+que telles+que formation échantillon* phrase* exercice* du+type",
    "USER": "utilisateur* client clients lecteur* destinataire*",
    "CONDITION": "si lorsque quand sauf dès+que en+cas",
    "RANGE": "entre échelle ou de+0 de+1",
    "ASSIGN": (
        "attribu* donnez donner donne reçoit recevra recevoir accord* obtient obtiendra fixez fixer coté"
        " cotés cotée mettre mettez mérite* notez noter plafonn* affect* inscri* évaluer évaluez retenir"
        " sera+de"
    ),
    "TOOL": (
        "validateur* recherche outil* filtre* analyseur scan résultat+de fonction vérification+automatique"
        " observation calculatrice moteur+de+recherche récupération"
    ),
    "MYREPLY": (
        "ma+critique mon+verdict ma+réponse je+conclus mon+avis je+retire je+me+range ma+synthèse mon+vote"
        " en+tant+que j'ai+examiné j'ai+lu je+constate"
    ),
    "WRITE": "écri* rédig* imprim* insér* reprodui* rendez produi* incl* affich* comport* employ* figurer rendre",
    "MANUAL": "fichier option paramètre* champ configuration orchestrateur api exemple+json analyseur",
}
STOP = "les des est que dans pour pas sur par une avec vous sont aux qui du et".split()
"""Frequent words: text in which they stand in another alphabet or order is read so."""
