"""Portuguese words by concept; `service.checks.injection.concepts` says what each concept is."""

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "AUTOMATIC": "automátic* automatizad* artificia* digita* linguagem ia autónom* autônom* generativ* virtua*",
    "AGENT": (
        "modelo* revisor* avaliador* agente* assistente* sistema* leitor* analista* inteligência* ferramenta*"
        " juiz examinador* analisador* verificador*"
    ),
    "READER": "ia ias llm chatbot* bot robô*",
    "ASSISTANT": "assistente assistentes modelo modelos",
    "SEAT": (
        "crítico proponente* moderador* debatedor* sintetizador* oponente* refutador* advogado+do+diabo"
        " papel+de+crítico debatente* cadeira"
    ),
    "JUDGE": (
        "juiz juízes júri painel revisor* avaliador* comité comitê participante* árbitro* comissão relator*"
        " jurado* votantes"
    ),
    "YOU": (
        "você vocês tu teu tua teus tuas te ti seu+parecer sua+resposta sua+tarefa ignore ignora responda"
        " responde conclua conclui esqueça esquece considere atribua escreva vote trate deves deve+responder"
        " dê comece termine siga omita evite guarde mantenha limite-se declare adote és estás lembre-se"
        " abstenha-se indique coloque aceite finja passe"
    ),
    "SELF": (
        "janela+de+contexto seu+contexto teu+contexto seu+treinamento seus+desenvolvedores suas+instruções"
        " tuas+instruções seu+modelo seu+operador te+treinou o+treinou seu+fornecedor sua+configuração"
        " teu+modelo seus+criadores seu+fabricante"
    ),
    "DEAR": (
        "caro cara prezado* nota aviso atenção mensagem ao+modelo aos+modelos a+qualquer para+o+modelo a+todo"
        " dirigid* lembrete observação+para"
    ),
    "READING": (
        "lê leia leem lendo ler leitura analisa analise analisam analisando processa processe processam"
        " processando avalia avalie revisa revise examina resume resuma examine"
    ),
    "THIS": "este esta estes estas presente presentes neste nesta deste desta documento",
    "IGNORE": (
        "ignor* esque* descart* desconsider* desrespeit* deixe+de+lado deixa+de+lado pôr+de+lado abandon*"
        " contorn* não+siga desobedeç* despreze desprez* pule desativ* ponha+de+lado"
    ),
    "VOID": (
        "anulad* caduc* sem+efeito substitu* prevalec* obsolet* revogad* suspens* nul* já+não deixam+de"
        " deixa+de não+se+aplica* inválid* cancelad* não+vale* não+valem perdem+a perde+a superad* levantad*"
    ),
    "INSTRUCTION": (
        "critérios instruç* regra* diretri* diretiv* ordem ordens orientaç* prompt* comando* indicaç* mandato"
        " restriç* normas"
    ),
    "TASK": "tarefa* missão papel função objetivo* trabalho identidade incumbência",
    "PROMPT": "prompt* mensagem+de+sistema instruções+do+sistema mensagem+do+sistema",
    "PRIOR": (
        "prévia prévias prévio prévios anterior* previamente inicia* origina* antes recebid* dad* precedente*"
        " acima até+agora transmitid* fornecid* existentes vigentes"
    ),
    "NEW": "nov* agora a+partir+de+agora doravante em+vez a+partir+deste de+agora",
    "CONCLUDE": (
        "conclu* decid* declar* recomend* aprov* confirm* vota votar vote votem dar+razão dê+razão dará+razão"
        " design* determin* afirm* julg* consider* reconhec* certific* rejeit* aceit* classific* registr*"
        " registe pronunci* emit* dá+razão consta constar"
    ),
    "VALUE": (
        "comprar aprovad* aceite* aceitáve* aceitável segur* adequad* suficient* satisfatóri* vencedor*"
        " favoráve* favorável válid* corret* autêntic* rejeitad* conforme* infundad* fundad* confirmad*"
        " primeir* positiv* razoáve* razoável sólid* razão idóne* procedente preferid* aprovação complet*"
        " melhor mantid* aceita"
    ),
    "REVIEW": (
        "revisão avaliaç* análise* veredic* veredito* conclus* recomendaç* debate* síntese* discuss*"
        " classificaç* votaç* resultado* decis* julgamento* exame deliberaç* parecer relatório* voto"
        " apreciação resumo"
    ),
    "DEBATE": "debate* síntese* réplica veredito* veredicto* deliberaç* votaç*",
    "SCORE": (
        "pontuaç* pontue nota notas classificação confiança gravidade severidade nível níveis probabilidade*"
        " ponto pontos estrelas força certeza avaliação grau"
    ),
    "EXTREME": (
        "máxim* mínim* alt* baix* zero dez cem cinco perfeit* informativ* insignificante pelo+menos mais+alt*"
        " mais+baix* 10 100 0 1 plen* elevad* fraca fraco nove leve"
    ),
    "ANSWER": "respost* respond* saída* json intervenç* contribuiç* mensagem réplica",
    "YOURANSWER": (
        "sua+resposta tua+resposta sua+análise tua+análise sua+avaliação tua+avaliação seu+veredito"
        " seu+veredicto sua+conclusão seu+parecer sua+síntese seu+relatório sua+saída teu+parecer"
        " tua+conclusão tua+síntese seu+resumo seu+voto seu+texto sua+intervenção teu+relatório"
    ),
    "EXACT": (
        "exatamente literal* textual* palavra+por+palavra apenas+a+palavra única+palavra esta+frase a+frase"
        " as+palavras a+palavra sem+explic* nenhum+outro+texto primeira+linha primeira+frase última+linha"
        " última+frase vazi* à+letra ao+pé+da+letra a+expressão tal+e+qual"
    ),
    "ONLY": "só somente apenas unicamente exclusivamente nada+mais simplesmente",
    "BEGIN": "começ* comec* inici* termin* finaliz* encerr* abr*+com conclu*+com",
    "MENTION": (
        "mencion* cit* revel* divulg* sinal* fal* aparec* apareç* alud* levant* admit* reproduz* refer*"
        " refir* diga* dizer inform* assinal* comunic* abord* const* coment* destac*"
    ),
    "NOT": "não nunca jamais nenhum nenhuma sem nada nem evit* abst* proibid* tampouco",
    "OMIT": (
        "omit* cal* silenci* silêncio ocult* escond* segred* sigil* discret* entre+nós deixe+de+fora"
        " deixar+de+fora fique+fora"
    ),
    "SECRET": "silêncio entre+nós discretamente em+segredo sigilo como+se sem+mencionar sem+dizer negue discrição",
    "MUST": (
        "deve devem deves deverá deverão deveria deveriam é+preciso tem+de têm+de tem+que têm+que por+favor"
        " favor há+de hão+de solicita pede-se obrigatóri* necessári* cumpre queira convém"
    ),
    "ALWAYS": (
        "independentemente seja+qual sempre em+todo+caso em+qualquer+caso sem+exame de+antemão já+decidid*"
        " qualquer+outra nenhuma+outra sem+exceção não+importa já+foi já+está previamente sem+reservas"
        " única+conclusão em+caso+algum diga+o"
    ),
    "TRUST": (
        "confie confia confiar aceit* presum* assum* considere tome como+verdade como+certo dar+por dê+por"
        " siga sigam seguir acredit* obedeç* autêntic* fiáve* fiável confiáve* confiável por+boa como+boa"
        " como+provad* por+provad*"
    ),
    "CHECK": (
        "verific* comprov* examin* question* contest* impugn* recalcul* critic* duvid* objet* objeç* auditar"
        " conferir investig* testar"
    ),
    "FLAWS": (
        "objeç* crític* reserva* risco* fraqueza* defeito* problema* lacuna* dúvida* vulnerabilidade* falha*"
        " incumprimento* secção seção artigo parágrafo cláusula capítulo incidente* desvantage* passagem"
        " instrução ressalva* deficiência* litígio* irregularidade*"
    ),
    "PRAISE": "favoráve* favorável elogi* positiv* benevolent* indulgent* lisonj* promociona* vantage* tranquiliz*",
    "AUTHORITY": (
        "operador* administrador* desenvolvedor* programador* fornecedor* fabricante* regulador* autoridade*"
        " conformidade direção diretoria ministério supervisor* plataforma departamento equipa+de equipe+de"
        " circular entidade responsáve* proprietári* comissão"
    ),
    "GRANT": (
        "autoriz* isenç* isent* permiss* dispens* derrog* orden* exig* habilit* aprov* código token determin*"
        " pede* solicit* levant* validad* estabelec*"
    ),
    "OVERRIDE": (
        "código+de+substituição código+de+administrador código+de+autorização modo+de+manutenção"
        " modo+manutenção modo+desenvolvedor modo+administrador código+mestre"
    ),
    "SERVICE": "serviço plataforma sistema sessão",
    "CONTEXT": "contexto conversa sessão",
    "CONCEDE": (
        "retir* concedeu unânim* unanim* de+acordo admit* reconhec* nenhuma+objeção convencid* satisfeit*"
        " desist* nada+a consenso concord*"
    ),
    "NONHUMAN": "leitores+humanos não+uma+pessoa não+um+humano",
    "PARTY": (
        "fornecedor* contratad* contratante* partes parte cliente* locatári* locador* comprador* vendedor*"
        " empregad* empregador* contrato* licitante* mutuári* acordo trabalhador* subcontratad* prestador*"
        " inquilin* senhorio alun* candidat* concorrente*"
    ),
    "ATTACK": (
        "ataque* atacante* malicios* injeç* payload* jailbreak* phishing ameaça* adversári* explor* manipul*"
        " fraud* golpista*"
    ),
    "EXAMPLE": "exemplo* tal+como tais+como formação amostra exercício* frase* teste por+exemplo",
    "USER": "usuário* utilizador* cliente* leitor*",
    "CONDITION": "quando caso exceto salvo se+o",
    "RANGE": "entre escala ou de+0 de+1",
    "ASSIGN": "atribu* dê dar dá receb* fix* coloc* conced* merec* classific* pontu* obter obtém registe registre",
    "TOOL": (
        "validador* pesquisa busca filtro* ferramenta* scanner varredura função verificador* observação"
        " calculadora recuperação"
    ),
    "MYREPLY": (
        "minha+crítica meu+veredito minha+resposta concluo verifiquei examinei meu+voto minha+conclusão"
        " retiro+as revi+todo li+todo"
    ),
    "WRITE": "escrev* imprim* insir* inser* reproduz* devolv* inclu* mostr* redij* use contenha",
}
STOP = "dos das que para com uma por está são como este não em os as de da".split()
"""Frequent words: text in which they stand in another alphabet or order is read so."""
