"""Stop words, for some of the languages that Snowball has."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

__all__ = ["STOP_WORDS", "english"]


def english() -> frozenset[str]:
    """scikit-learn's list, so that results are comparable."""
    import sklearn

    # The package of the list takes half a second to import; the file alone does not.
    file = Path(sklearn.__file__).parent / "feature_extraction" / "_stop_words.py"
    spec = spec_from_file_location("manylabel_stop_words", file)
    if file.exists() and spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.ENGLISH_STOP_WORDS
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS


#: Language -> articles, pronouns, prepositions, conjunctions and auxiliary verbs.
STOP_WORDS = {
    "danish": """
        ad af alle alt anden andet andre at blev blive bliver da de dem den denne der deres det
        dette dig din dine disse dit dog du efter eller en end er et for fordi fra før ham han hans
        har havde have hende hendes her hos hun hvad hvem hver hvilken hvis hvor hvordan hvorfor
        hvornår i ikke ind ingen intet jeg jer jeres jo kan kom kun kunne lige man mange med meget
        mellem men mere mig min mine mit mod ned nogen noget nogle nu når og også om op os over på
        sammen samt selv sig sin sine sit skal skulle som sådan thi til ud under uden var ved vi vil
        ville vor vore vores være været
    """,
    "dutch": """
        aan al alle alleen alles als ander andere anders ben bij daar daarom dan dat de der deze die
        dit door dus een eens en er ge geen had hadden heb hebben hebt heeft hem het hier hij hoe
        hun iemand iets ik in is ja je jij jou jouw jullie kan kon konden kunnen kunt maar me meer
        men met mij mijn moet moeten na naar niet niets nog nu of om omdat onder ons onze ook op
        over reeds te tegen ten ter toch toen tot tussen u uit uw van vanaf veel voor waar waarom
        wanneer waren was wat we wel welke werd werden wezen wie wij wil worden wordt zal ze zelf
        zich zij zijn zo zoals zonder zou zouden zullen
    """,
    "finnish": """
        ei eikä eivät ellei emme en enemmän ennen ettei ettemme etten ette että eli hän häneen
        hänellä hänelle hänestä hänet häntä hänen he heidän heidät heihin heille heillä heistä heitä
        ja jo joka johon joiden joihin joilla joille joissa joista joita jolla jolle jonka jos jossa
        josta jota jotka jotta kanssa kaikki kautta keiden keitä ken kenen ketkä ketä koska kuin
        kuinka kuitenkin kuka kun kuten lisäksi me meidän meidät meihin meille meillä meistä meitä
        mihin miksi mikä mille millä minkä minua minulla minulle minun minut minä missä mistä miten
        mitkä mitä molemmat mukaan mutta myös ne niiden niihin niille niillä niin niissä niistä
        niitä noiden noihin noita nuo nyt näiden näihin näillä näin näissä näistä näitä nämä ole
        olemme olen olet olette oli olimme olin olisi olisivat olit olivat olla olleet ollut on
        ovat poikki sekä sen siellä sieltä siihen siinä siis siitä siksi sille sillä silti sinne
        sinua sinulla sinulle sinun sinut sinä sitten sitä se tai taas tai te teidän teidät teille
        teillä teistä teitä tuo tuohon tuolla tuon tuossa tuosta tuota tähän tällä tälle tämä tämän
        tässä tästä tätä vaan vai vaikka vain vielä voi voidaan voivat yli
    """,
    "french": """
        ai aient ainsi ait alors as au aucun aucune auquel aura auraient aurait auront aussi autre
        autres aux auxquelles auxquels avaient avais avait avant avec avez aviez avions avoir avons
        ayant car ce ceci cela celle celles celui ces cet cette ceux chaque chez ci comme comment
        dans de des donc dont du duquel elle elles en encore entre est et eu eux furent fut ici il
        ils je jusque la laquelle le lequel les lesquelles lesquels leur leurs lors lui là ma mais
        me mes moi moins mon même mêmes ne ni nos notre nous on ont ou où par parce pas pendant peu
        peut peuvent plus pour pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se
        selon sera seraient serait seront ses si sien soi soient soit sommes son sont sous sur ta
        te tel telle telles tels tes toi ton tous tout toute toutes très tu un une vers vos votre
        vous étaient étais était étant été être êtes à
    """,
    "german": """
        aber alle allem allen aller alles als also am an ander andere anderem anderen anderer
        anderes auch auf aus bei beim bin bis bist da dadurch daher damit dann darauf daraus darin
        darum das dass dasselbe dazu daß dein deine deinem deinen deiner dem den denen denn der
        deren derer des deshalb dessen desto dich die dies diese diesem diesen dieser dieses dir
        doch dort du durch ein eine einem einen einer eines einige einigen er es etwas euch euer
        eure für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr
        ihre ihrem ihren ihrer ihres im in indem ins ist ja jede jedem jeden jeder jedes jedoch jene
        jenem jenen jener jenes jetzt kann kein keine keinem keinen keiner können könnte machen man
        manche mehr mein meine meinem meinen meiner mich mir mit muss musste nach nachdem nicht
        nichts noch nun nur ob obwohl oder ohne sehr sein seine seinem seinen seiner seines seit
        selbst sich sie sind so solche solchem solchen solcher soll sollen sollte sondern sonst
        sowie sowohl und uns unser unsere unserem unseren unserer unter viel viele vom von vor war
        waren warum was weil weiter welche welchem welchen welcher welches wenn wer werde werden wie
        wieder will wir wird wirst wo wollen worden wurde wurden während über zu zum zur zwar
        zwischen
    """,
    "italian": """
        abbia abbiamo abbiano ad agli ai al alla alle allo allora altra altre altri altro anche
        ancora avere aveva avevano avuto che chi ci ciascuno cioè ciò coi col come con contro cosa
        cosi così cui da dagli dai dal dalla dalle dallo degli dei del della delle dello dentro di
        dopo dove dunque durante ebbe ed egli era erano essa esse essere essi fa fino fra fu furono
        già gli ha hai hanno ho il in infatti io la le lei li lo loro lui ma me meno mentre mi mia
        mie miei mio molto ne negli nei nel nella nelle nello noi non nostra nostre nostri nostro
        ogni oltre oppure ora per perché però più poi poiché presso prima può quale quali quando
        quanto quegli quei quella quelle quelli quello questa queste questi questo qui quindi sarà
        saranno se secondo sei sempre senza si sia siamo siano siete sono sopra sotto sta stata
        state stati stato sua sue sugli sui sul sulla sulle sullo suo suoi tale tali te ti tra tu
        tua tue tuo tuoi tutta tutte tutti tutto un una uno verso vi voi vostra vostre vostri vostro
        è
    """,
    "norwegian": """
        alle alt andre annen annet at av bare ble blei bli blir blitt da de deg dei deira deires dem
        den denne der dere deres det dette di din dine disse ditt du dykk dykkar då eg ein eit ei
        eller elles en enn er et ett etter for fordi fra før ha hadde han hans har hennar henne
        hennes her hjå ho hoe honom hun hva hvem hver hvilke hvilken hvis hvor hvordan hvorfor i
        ikke ikkje ingen inn inni ja jeg kan korleis korso kun kunne kva kvar kven kvifor man mange
        me med medan meg meget mellom men mer mi min mine mitt mot mye mykje ned no noe noen noka
        noko nokon nokre nå når og også om opp oss over på samme seg selv si sia sidan siden sin
        sine sitt sjøl skal skulle slik so som somme så sånn til um under upp ut uten var vart ved
        vere verte vi vil ville vore vors vort være vært å
    """,
    "portuguese": """
        ainda algum alguma algumas alguns ante antes ao aos apenas aquela aquelas aquele aqueles
        aquilo as assim até cada com como contra cuja cujas cujo cujos da das de dela delas dele
        deles depois desde dessa dessas desse desses desta destas deste destes do dos durante ela
        elas ele eles em enquanto entre era eram essa essas esse esses esta estamos estar estas
        estava estavam este estes estou está estão eu foi foram for fora fosse fossem há isso isto
        já lhe lhes logo mais mas me mediante menos mesma mesmas mesmo mesmos meu meus minha minhas
        muito muitos na nas nem nenhum nenhuma nessa nesse nesta neste no nos nossa nossas nosso
        nossos num numa não nós onde os ou outra outras outro outros para pela pelas pelo pelos
        perante pode podem pois por porque portanto porém qual quais qualquer quando quanto que quem
        se seja sejam sem sempre sendo ser será serão seu seus sido sob sobre sua suas são só também
        tal tais tanto te tem temos tenha tenham ter teu tinha tinham toda todas todo todos tu tua
        têm um uma umas uns você vocês vos à às é
    """,
    "spanish": """
        al algo algunas algunos ante antes aquel aquella aquellas aquello aquellos aquí así aun
        aunque bajo bien cada casi como con contra cual cuales cuando cuyo cuya cuyos cuyas cómo de
        del desde donde dos durante el ella ellas ello ellos en entonces entre era eran eres es esa
        esas ese eso esos esta estaba estaban estamos estar estas este esto estos estoy está están
        fue fueron fuera ha haber había habían hacia han has hasta hay haya he la las le les lo los
        luego me mediante menos mi mientras mis misma mismas mismo mismos mucho muchos muy más mí
        nada ni ningún ninguna ninguno no nos nosotros nuestra nuestras nuestro nuestros nunca os
        otra otras otro otros para pero poco por porque pues puede pueden que quien quienes qué se
        sea sean segun según ser será serán si sido siempre sin sino sobre sois son su sus suya
        suyo sí también tal tales tampoco tan tanto te tenía ti tiene tienen toda todas todavía todo
        todos tras tu tus tú un una unas uno unos usted ustedes vosotros vuestra vuestro ya yo él
    """,
    "swedish": """
        alla allt annan annat andra att av bara bland blev bli blir blivit de dem den denna
        deras dess dessa det detta dig din dina ditt dock du där därför då efter eftersom ej
        eller en enligt er era ert ett från får för före genom ha hade han hans har hela
        henne hennes hon honom hos hur här i icke in inga ingen inget inom inte ja jag kan
        kunde man med medan mellan men mer mig min mina mitt mot mycket ned ni nog nu när
        någon något några och också om oss på samma samt sedan sig sin sina sitt själv ska
        skall skulle som så sådan sådana sådant till under upp ur ut utan vad var vara
        varför varit varje vars vart vem vi via vid vilka vilkas vilken vilket vår våra vårt
        än ännu är åt över
    """,
}
