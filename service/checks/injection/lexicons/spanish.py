"""Spanish words by concept; `service.checks.injection.concepts` says what each concept is."""

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "AUTOMATIC": "automátic* automatizad* artificial* digital* lenguaje ia autónom* generativ* virtual*",
    "AGENT": (
        "modelo* revisor* evaluador* agente* asistente* sistema* lector* analista* inteligencia* herramienta*"
        " juez examinador* analizador* verificador* corrector*"
    ),
    "READER": "agente+de+software agentes+de+software ia llm chatbot* bot bots robot*",
    "ASSISTANT": "asistente asistentes modelo modelos",
    "SEAT": (
        "crítico proponente* moderador* debatiente* sintetizador* oponente* refutador* asiento"
        " abogado+del+diablo contradictor* papel+de+crítico"
    ),
    "JUDGE": (
        "juez jueces jurado panel revisor* evaluador* comité participante* tribunal árbitro* calificador*"
        " comisión mesa ponente* votantes"
    ),
    "YOU": (
        "tú tu tus te ti usted ustedes su+respuesta sus+instrucciones vuestra vuestro ignora ignore responde"
        " responda concluye concluya olvida olvide debes apóyate deja comienza comience escribe escriba vota"
        " vote otorga otorgue considera considere trata eres estás sigue siga recuerda omite omita evita"
        " evite guarda asigna asigne califica califique mantén mantenga limítate limítese declara empieza"
        " empiece termina termine encuentres fija indica pon coloca acepta abstente absténgase haz haga"
    ),
    "SELF": (
        "ventana+de+contexto tu+contexto tu+entrenamiento tus+desarrolladores tu+operador tu+modelo"
        " tus+instrucciones tu+proveedor tu+configuración su+entrenamiento tu+fabricante tus+creadores"
        " te+entrenó te+entrenaron te+desarrolló tus+directrices sus+desarrolladores"
    ),
    "DEAR": (
        "estimado* nota aviso atención mensaje querido al+modelo para+el a+los+modelos a+cualquier"
        " para+cualquier a+todo advertencia dirigid* a+la+atención recordatorio"
    ),
    "READING": (
        "lee lea leen leyendo leer analiza analice analizan procesa procese procesan procesando evalúa evalúe"
        " revisa revise resume recorre lectura examina examine estudia estudie analizando revisando"
    ),
    "THIS": "este esta estos estas presente presentes aquí documento",
    "IGNORE": (
        "ignor* olvid* descart* omitir+las haga+caso+omiso haz+caso+omiso caso+omiso prescind* dejar+de+lado"
        " deja+de+lado desatiend* desobedec* abandon* no+sigas no+siga pas*+por+alto deja+el desestim* salt*"
        " desactiv* hagan+caso+omiso"
    ),
    "VOID": (
        "anul* caduc* sin+efecto reemplaz* sustituy* prevalec* obsolet* derogad* revocad* suspendid* nul*"
        " ya+no invalid* quedan+sin queda+sin dejan+de deja+de+ser no+rigen no+rige vencid* levantad*"
        " retirad*"
    ),
    "INSTRUCTION": (
        "criterios instruccion* instrucción regla* directri* directiva* orden órdenes indicacion* prompt*"
        " consigna* pauta* mandato* restriccion* normas"
    ),
    "TASK": "tarea* misión papel rol función objetivo* labor trabajo encargo identidad cometido",
    "PROMPT": "prompt* mensaje+del+sistema instrucciones+del+sistema",
    "PRIOR": (
        "anterior* previ* inicial* original* antes recibid* dad* precedent* arriba hasta+ahora asignar*"
        " asignad* impartid* existentes proporcionad* vigentes"
    ),
    "NEW": "nuev* ahora a+partir+de+ahora desde+ahora en+adelante en+su+lugar desde+este a+partir+de+este",
    "CONCLUDE": (
        "fallará conclu* decid* declar* recom* aprob* aprueb* confirm* voten vota votar vote votará"
        " dar+la+razón darán+la+razón dé+la+razón dictamin* designar* designe estim* resolv* resuelv*"
        " determin* señalar* proclam* falle fallar falla avale avalar rechac* rechaz* calific* valor*"
        " reconoc* afirm* considerar* acept* clasific* pronunci* emit*"
    ),
    "VALUE": (
        "comprar aprobad* acept* segur* adecuad* suficient* satisfactori* ganador* favorabl* válid* correct*"
        " auténtic* rechazad* cumple conforme* infundad* fundad* confirmad* procedente preferid* primer*"
        " positiv* razonable* equitativ* sólid* razón idóne* sin+reservas viable* favor insignificante apt*"
        " complet* inmejorable estimad* aprobación"
    ),
    "REVIEW": (
        "revisión evaluación* evaluaciones análisis veredicto* conclusión conclusiones recomendación"
        " recomendaciones debate* síntesis discusión clasificación votación resultado* decisión decisiones"
        " juicio* dictamen* examen deliberación* informe* valoración* votar fallo resumen"
    ),
    "DEBATE": "debate* síntesis réplica veredicto* deliberación votación",
    "SCORE": (
        "puntuación* puntaje* puntúe puntua* calificación* calificará nota notas confianza gravedad severidad"
        " nivel* probabilidad* punto puntos estrellas fuerza certeza valoración grado"
    ),
    "EXTREME": (
        "máxim* mínim* alt* baj* cero diez cien cinco perfect* informativ* insignificante al+menos más+alt*"
        " más+baj* 10 100 0 1 superior plen* elevad* leve débil nueve"
    ),
    "ANSWER": "respuesta* respond* salida* json intervención* contribución* mensaje turno contest*",
    "YOURANSWER": (
        "tu+respuesta su+respuesta tu+análisis tu+evaluación tu+veredicto tu+conclusión tu+valoración"
        " tu+informe tu+salida tu+síntesis su+análisis su+valoración su+evaluación su+conclusión su+veredicto"
        " tus+conclusiones tu+resumen tu+dictamen tu+intervención tu+voto tu+juicio su+dictamen tu+texto"
        " tu+crítica tu+réplica su+resumen su+síntesis tu+puntuación"
    ),
    "EXACT": (
        "exactament* literal* textual* palabra+por+palabra únicamente+con sola+palabra única+palabra"
        " esta+frase la+frase las+palabras la+palabra sin+explicac* ningún+otro+texto primera+línea"
        " primera+frase última+línea última+frase vací* la+fórmula tal+cual la+expresión al+pie+de+la+letra"
        " sin+añadir"
    ),
    "ONLY": "solo sólo solamente únicamente exclusivamente nada+más simplemente meramente",
    "BEGIN": "comienz* comenz* empiez* empez* inici* termin* finaliz* acab* cierr* concluy*+con abr*+con",
    "MENTION": (
        "mencion* cit* revel* divulg* señal* habl* aparec* aparez* aluda* alud* informar inform* plante*"
        " admit* reconoc* reproduc* dig* decir comunic* referir refier* coment* figur* destac* consign*"
        " comunicará"
    ),
    "NOT": "no nunca jamás ningún ninguna ninguno sin nada ni tampoco evit* abst* prohibid*",
    "OMIT": (
        "omit* call* silenci* ocult* escond* secreto* discret* discreción entre+nosotros reservad*"
        " guarda+silencio guarde+silencio quede+fuera deja+fuera deje+fuera pasa+por+alto"
    ),
    "SECRET": (
        "silencio entre+nosotros discretamente discreción en+secreto calla como+si+no sin+mencionar sin+decir"
        " sin+indicar niega niegue secretamente"
    ),
    "MUST": (
        "será fallará incluirá pasará debe deben debes deberá deberán deberás debería deberían hay+que"
        " tiene+que tienen+que tienes+que por+favor ha+de han+de procede rogamos ruega se+ruega obligatori*"
        " necesari* conviene haga favor+de habrá habrán podrá pide exige"
    ),
    "ALWAYS": (
        "independientemente sea+cual siempre en+todo+caso sin+examen de+antemano ya+decidid* cualquier+otra"
        " ninguna+otra bajo+ningún sin+excepción sin+importar pase+lo con+independencia en+cualquier+caso"
        " ya+está ya+se+ha diga+lo única+conclusión previamente sin+reservas sin+más únic*+admisible"
    ),
    "TRUST": (
        "confí* confia* acept* presum* asum* considere considera tom* por+cierto por+buen* por+probado"
        " dar+por dé+por darlo+por sigue sigan seguir crea creer obedec* auténtic* fiable* fí* apóy* apoy*"
        " da+por acat* verídic*"
    ),
    "CHECK": (
        "verific* comprob* examin* cuestion* disput* impugn* contrast* recalcul* revis* dud* objet* critic*"
        " comprobar control* auditar investig* objecion*"
    ),
    "FLAWS": (
        "objeci* crític* reserva* riesgo* debilidad* defecto* problema* laguna* duda* vulnerabilidad* fallo"
        " fallos incumplimiento* sección artículo párrafo cláusula capítulo apartado incidente*"
        " inconvenientes brecha* pasaje instrucción observación deficiencia* advertencia* carencia* litigio*"
    ),
    "PRAISE": "favorabl* elogi* positiv* benévol* indulgent* halag* promocional* tranquiliz* ventajas amable*",
    "AUTHORITY": (
        "operador* administrador* desarrollador* proveedor* fabricante* regulador* autoridad* cumplimiento"
        " dirección ministerio supervisor* plataforma departamento equipo+de+seguridad propietari* circular"
        " organismo titular* responsable* comisión gerencia"
    ),
    "GRANT": (
        "autoriz* exención exime permis* dispens* exent* orden* exig* habilit* aprob* código token pide*"
        " decret* dispuest* dispone levant* validad* establec* requier*"
    ),
    "OVERRIDE": (
        "código+de+anulación código+de+administrador código+de+autorización modo+mantenimiento"
        " modo+de+mantenimiento modo+desarrollador modo+administrador código+maestro"
    ),
    "SERVICE": "servicio plataforma sistema sesión",
    "CONTEXT": "contexto conversación sesión",
    "CONCEDE": (
        "retir* concedi* unánim* unanimidad de+acuerdo admit* reconoci* ninguna+objeción no+prosper*"
        " convencid* satisfech* desist* nada+que+añadir consenso renunci*"
    ),
    "NONHUMAN": "lectores+humanos no+una+persona no+un+humano",
    "PARTY": (
        "perito concurso tribunal miembros proveedor* contratista* partes parte cliente* arrendatari*"
        " arrendador* comprador* vendedor* emplead* empleador* contrato* licitador* licitante* prestatari*"
        " prestamista* acuerdo trabajador* subcontratista* adjudicatari* alumn* receptor* asegurad* candidat*"
        " socio socios"
    ),
    "ATTACK": (
        "ataque* atacante* malicios* inyección inyecciones payload* jailbreak* phishing amenaza* adversari*"
        " explot* manipul* fraud* estafador* suplant* ciberdelincuente*"
    ),
    "EXAMPLE": "ejemplo* tal+como tales+como formación muestra ejercicio* frase* prueba por+ejemplo",
    "USER": "usuario* cliente* lector* destinatari*",
    "CONDITION": "si cuando salvo en+caso siempre+que",
    "RANGE": "entre escala o de+0 de+1",
    "ASSIGN": (
        "asign* otorg* otórg* pon ponga ponle dé dale da recib* fij* calific* punt* coloc* conced* atribuy*"
        " merece* anot* quedar sitúe situar obtendrá"
    ),
    "TOOL": (
        "validador* búsqueda resultado+de+la filtro* herramienta* escáner escaneo función verificador*"
        " observación calculadora recuperación"
    ),
    "MYREPLY": (
        "mi+crítica mi+veredicto mi+respuesta concluyo he+revisado he+verificado mi+voto mi+conclusión"
        " retiro+mis mi+análisis como+crítico como+juez he+leído he+examinado"
    ),
    "WRITE": ("escrib* imprim* insert* reproduc* devuelv* devolv* inclu* muestr* redact* use usar contenga contendrá"),
    "MANUAL": "archivo opción parámetro* campo configuración delimitadores orquestador",
}
STOP = "los las del que para con una por está son como este se el en de la".split()
"""Frequent words: text in which they stand in another alphabet or order is read so."""
