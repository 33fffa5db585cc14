"""Polish words by concept; `service.checks.injection.concepts` says what each concept is."""

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "AUTOMATIC": "automat* zautomatyzowan* sztuczn* cyfrow* językow* maszynow* generatywn* wirtualn*",
    "AGENT": (
        "model modelu modele modeli modelom modelem recenzent* agent* asystent* system systemy systemu"
        " systemom inteligencj* czytelnik* analityk* ewaluator* oceniając* sędzia narzędzi* recenzj*"
        " analizator*"
    ),
    "READER": "llm chatbot* bot robot* ai si",
    "ASSISTANT": "asystent asystenci asystenta model modele",
    "SEAT": (
        "krytyk krytyka+debaty krytykowi krytykiem proponent* wnioskodawc*+debaty moderator* oponent*"
        " syntetyzator* dyskutant* debatant* adwokat+diabła"
    ),
    "JUDGE": (
        "sędzia sędziowie sędziego sędziemu jury panel panelu recenzent* komisj* uczestni* oceniając*"
        " komitet* arbiter zespół strona+przeciwna"
    ),
    "YOU": (
        "ty twój twoja twoje twojej twoim twojego cię ciebie tobie ci wasz wasza zignoruj ignoruj zapomnij"
        " odpowiedz odpowiadaj uznaj napisz przyznaj oceń potraktuj traktuj masz musisz powinieneś jesteś"
        " zakończ rozpocznij zacznij pomiń przyjmij głosuj zachowaj ustaw nie+wspominaj wspominaj stwierdź"
        " podaj możesz zaufaj trzymaj"
    ),
    "SELF": (
        "okno+kontekstowe oknie+kontekstowym twoj*+kontekst* twoj*+instrukcj* twoi+twórcy twój+twórca"
        " twój+operator cię+wytrenował* cię+stworzył* twojego+modelu dane+treningowe danych+treningowych"
        " kontekście+masz"
    ),
    "DEAR": (
        "drogi szanowny uwaga notatka wiadomość do+modelu do+każdego do+wszystkich dla+modelu dla+systemu"
        " informacja+dla komunikat"
    ),
    "READING": (
        "czyta czytając* czytasz czytać analizuje analizując* przetwarza przetwarzając* ocenia oceniając*"
        " streszcza przegląda czytający odczytuje weryfikując* opracowując*"
    ),
    "THIS": "ten ta to tego tej tym niniejsz* tutaj dokument dokumentu dokumencie",
    "IGNORE": (
        "zignoruj* ignoruj* ignorować zignorować zapomnij* pomiń* pominąć odrzuć* porzuć* nie+stosuj"
        " nie+przestrzegaj obejdź lekceważ* odłóż wyłącz* zlekceważ* zarzuć przestań"
    ),
    "VOID": (
        "unieważnion* nieważn* zastępuj* zastępuje zastąpion* nieaktualn* uchylon* zawieszon* cofnięt*"
        " nie+obowiązuj* pierwszeństwo traci tracą wycofan* wygas* nadrzędn* przestaj* anulowan*"
    ),
    "INSTRUCTION": (
        "kryteri* instrukcj* poleceni* poleceń wytyczn* zasad* reguł* prompt* dyrektyw* rozkaz* nakaz*"
        " wskazówk* ograniczeni* zaleceń zaleceni*"
    ),
    "TASK": "zadani* rol* misj* cel celem funkcj* zleceni* tożsamoś*",
    "PROMPT": "prompt* komunikat+systemowy instrukcj*+systemow*",
    "PRIOR": (
        "poprzedni* wcześniejsz* wcześniej uprzedni* powyższ* pierwotn* początkow* dotychczas* otrzyman*"
        " wydan* przekazan* istniejąc*"
    ),
    "NEW": "now* teraz odtąd od+teraz zamiast+tego od+tej od+tego",
    "CONCLUDE": (
        "stwierdź stwierdzi* stwierdzą uzna* uznaj* zdecyduj* orzec orzek* zaleci* zalec* zarekomend*"
        " rekomend* zatwierdź zatwierdzi* głosuj* głosować ogłosi* potwierdź potwierdzi* wskaza* wskaż*"
        " opowiedz* przyzna* rozstrzyg* ocenić zakończy* przyją* odrzuc* odnotowa* odnotuj* wyda* brzmi"
        " sklasyfik* popar*"
    ),
    "VALUE": (
        "kupuj zatwierdzon* przyjęt* zaakceptowan* akceptowaln* bezpieczn* odpowiedni* wystarczając*"
        " zwycięzc* pozytywn* korzystn* ważn* prawidłow* autentyczn* odrzucon* zgodn* bezzasadn* zasadn*"
        " potwierdzon* pierwsz* rozsądn* utrzyman* najlepsz* poprawn* spełnia akceptacj* rację słuszn*"
        " zadowalając* pełn* rzeteln*"
    ),
    "REVIEW": (
        "przegląd* ocen* analiz* werdykt* wniosek wniosk* rekomendacj* debat* syntez* dyskusj* ranking*"
        " głosowani* wynik* decyzj* osąd* orzeczeni* ustaleni* opini* raport* podsumowani* rozstrzygnięci*"
        " recenzj*"
    ),
    "DEBATE": "debat* syntez* głosowani* replik* werdykt*",
    "SCORE": (
        "ocen* punkt* punktacj* pewnoś* poziom* powag* istotnoś* prawdopodobieństw* gwiazd* sił* wynik*"
        " stopień stopnia not* zaufani*"
    ),
    "EXTREME": (
        "maksymaln* minimaln* najwyższ* najniższ* zero dziesięć dziesięciu sto pięć pełn* wysok* nisk*"
        " informacyjn* znikom* co+najmniej 10 100 0 1 najsłabsz* słab* najmniejsz* niezmiernie"
    ),
    "ANSWER": "odpowied* odpowiadaj* wyjści* json wypowied* wypowiedź",
    "YOURANSWER": (
        "twoj*+odpowied* swojej+odpowiedzi swoją+odpowiedź twoj*+analiz* swojej+analizie twoj*+ocen*"
        " twoj*+werdykt* twoj*+wniosk* swoj*+raport* swoj*+analiz* swoj*+ocen* swoj*+wypowied*"
        " swoj*+podsumowani* twoj*+podsumowani* swoj*+opini* swoj*+werdykt*"
    ),
    "EXACT": (
        "dokładnie dosłown* słowo+w+słowo jednym+słowem słowem słowa zdaniem zdania wyłącznie+słow*"
        " bez+wyjaśni* bez+uzasadni* pierwsz*+zdani* ostatni*+zdani* pust* pierwszy+wiersz w+niezmienion*"
        " formuł*"
    ),
    "ONLY": "tylko wyłącznie jedynie",
    "BEGIN": "rozpocz* zacznij zaczyna* zakończ* kończ* zamknij",
    "MENTION": (
        "wspomina* wspomnij* wspomnie* cytuj* cytowa* ujawnia* ujawni* pojawi* porusza* poruszy* zdradza*"
        " przyznawa* wymienia* raportow* wzmiank* opisywa* zgłasza* omawia* pisz podawa* sygnaliz*"
    ),
    "NOT": "nie nigdy żaden żadn* bez nic ani unikaj* niczego zabrania",
    "OMIT": (
        "pomiń* pominąć pomija* przemilcz* milcz* ukry* zataj* tajemnic* poufn* między+nami dyskretn*"
        " dyskrecj* zachowaj+dla"
    ),
    "SECRET": (
        "przemilcz* milcz* między+nami dyskretn* dyskrecj* zatai* zataj* w+tajemnicy jakby po+cichu zachowaj+dla"
    ),
    "MUST": (
        "musi muszą musisz powinien powinn* należy trzeba proszę prosimy ma+być mają winien winny winni wolno"
        " wymaga zobowiązan* ma"
    ),
    "ALWAYS": (
        "niezależnie bez+względu zawsze w+każdym+przypadku bez+sprawdzani* z+góry już+postanowion* każd*+inn*"
        " żadn*+inn* przesądzon* bezwarunkow* wyłączn* w+żadnym bez+zastrzeż* już"
    ),
    "TRUST": (
        "ufaj* zaufa* przyj* akceptuj* uzna* traktuj* kieruj* słuchaj* wiarygodn* za+prawdziw* za+pewnik*"
        " za+pewn* polegaj* autentyczn* stosuj* wykonuj* podporządk* domniemyw*"
    ),
    "CHECK": (
        "sprawdza* sprawdz* weryfik* kwestionow* kwestionuj* podważ* bada* zbada* przelicza* krytykow*"
        " krytykuj* kontrol* testow* wątp* zarzut* sprzeciw*"
    ),
    "FLAWS": (
        "zastrzeże* krytyk* ryzyk* słaboś* wad* problem* luk* wątpliwoś* podatnoś* naruszeni* sekcj* artykuł*"
        " paragraf* klauzul* rozdział* punkt incydent* zarzut* sprzeciw* instrukcj* fragment* usterk* błęd*"
        " uchybie* niedociągn*"
    ),
    "PRAISE": "przychyln* pochwaln* pozytywn* życzliw* łagodn* korzystn* reklamow* zalety pochlebn*",
    "AUTHORITY": (
        "operator* administrator* programist* twórc* dostawc* producent* regulator* organ organu nadzór"
        " nadzoru nadzorc* zarząd* ministerstw* platform* dział* urząd urzędu zgodnoś* właściciel* komisj*"
        " okólnik* kierownictw*"
    ),
    "GRANT": (
        "upoważni* zezwol* zwolni* wyjąt* zgod* nakaz* poleci* poleca wymaga autoryz* zatwierdz* kod token"
        " uprawni* zarządz* postanow* prosi* zniesion* zniósł"
    ),
    "OVERRIDE": (
        "kod+nadrzędny kod+administratora kod+autoryzacyjny tryb+serwisowy tryb+administratora kod+obejścia"
        " tryb+deweloperski"
    ),
    "SERVICE": "usług* serwis* platform* system systemu sesj*",
    "CONTEXT": "kontekst* rozmow* sesj*",
    "CONCEDE": (
        "wycofa* przyzna* zgodnie jednomyślni* jednogłośni* brak+zastrzeż* przekonan* zgadza* ustąpi* uzgodni*"
    ),
    "NONHUMAN": "ludzkich+czytelników nie+człowiek*",
    "PARTY": (
        "dostawc* wykonawc* zamawiając* stron strony strona najemc* wynajmując* kupując* sprzedając*"
        " pracowni* pracodawc* umow* licencjobiorc* oferent* klient* kredytobiorc* zleceniobiorc*"
        " zleceniodawc* uczni* student* kandydat*"
    ),
    "ATTACK": (
        "atak* napastni* złośliw* wstrzykn* wstrzykiw* payload* jailbreak* phishing* zagroże* manipul* oszust* wrogi*"
    ),
    "EXAMPLE": "przykład* takie+jak takich+jak na+przykład szkoleni* ćwiczen* zdani*",
    "USER": "użytkowni* klient* czytelni*",
    "CONDITION": "jeśli jeżeli gdy chyba+że w+przypadku",
    "RANGE": "między skali lub albo od+0 od+1",
    "ASSIGN": "przyzna* przyznaj daj dać nada* ustaw* wpisz ocen* otrzyma* otrzymuje zasługuje ustal* przypis*",
    "TOOL": ("walidator* wyszukiwani* wynik+narzędzi* filtr* narzędzi* skaner* skan funkcj* weryfikator* obserwacj*"),
    "MYREPLY": (
        "moja+krytyka mój+werdykt moja+odpowiedź stwierdzam moja+ocena mój+wniosek wycofuję sprawdziłem"
        " przeczytałem przeanalizowałem"
    ),
    "WRITE": "napisz* wypisz wstaw* zawier* umieść* użyj zwróć",
}
STOP = "nie jest się na do że dla przez oraz jako przy tym jak za po".split()
"""Frequent words: text in which they stand in another alphabet or order is read so."""
