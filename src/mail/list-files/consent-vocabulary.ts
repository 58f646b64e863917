/** A name about mail, also where it is about other channels as well. */
export const HAS_MAIL = /mail|newsletter/;

/** `Not unsubscribed`, `Never bounced` and `Not active` say the opposite. `No` may be a number as well. */
export const NEGATIONS: ReadonlySet<string> = new Set(
  'not never non nicht nie kein keine pas jamais nunca niet nao'.split(' '),
);

/**
 * The words, folded, that a name about consent is made of. A name with any other word has another subject
 * too: `Excluded from discount`, `Opt out of insurance`, `Withdrawn amount`, `Kündigungsfrist`. English,
 * German, French, Spanish and Italian.
 */
export const CONSENT_VOCABULARY: ReadonlySet<string> = new Set(
  `unsub unsubs unsubscribe unsubscribed unsubscribes unsubscribing unsubscription optout optouts optedout optsout opt opted opts out
  donotmail donotemail donotcontact donotsend do not no longer send blacklist blacklisted blocklist blocklisted suppress suppressed
  suppression suppressions excluded disabled deactivated revoked withdrawn cancelled canceled ended declined refused denied rejected expired
  never non former ex
  abgemeldet abmeldung abmelde abmelden abbestellt abbestellung abbestell ausgetragen austragung austrag gesperrt deaktiviert
  widerspruch widersprochen widerruf widerrufs widerrufen gekuendigt gekundigt kuendigung kundigung abgelehnt verweigert beendet
  nicht kein keine mehr
  allow allowed uitgeschreven uitschrijving afgemeld afmelding werbesperre mailsperre newslettersperre sperre
  robinson robinsonliste sperrliste schwarze noire rouge lista negra werbeverbot mailversand newsletterversand keinen
  desabonne desabonnes desabonnement desinscrit desinscrite desinscription pas refuse retire
  desuscrito desuscripto baja dado noenviar rechazado revocado disiscritto disiscrizione
  bounce bounced bounceback hard hardbounce hardbounced hardbounceback cleaned clean unzustellbar undeliverable undeliverability undelivered rebote rebotado rebotada rebond
  complained complaint complaining complainer spam report reported reports marked as abuse junk beschwerde beschwert plainte queja
  subscribed subscription subscriptions subscribe optin optedin in consent consents permission gdpr dsgvo rgpd einwilligung zustimmung
  abo abonniert abonnement abonne angemeldet anmeldung inscrit inscription consentement suscrito suscripto suscripcion inscrito
  consentimiento
  email emails mail mails bulk mailing mailings mailinglist newsletter newsletters marketing campaign campaigns kampagne kampagnen list
  lists liste communication communications promotional promotions werbung werbe correo correos courriel courriels boletin
  is has have been was ist hat wurde est el la le les der die das des du de del von vom aus of from to for the by all any alle tous
  allen ha los las un une toutes todas electronico electronicos electronique electroniques flagged
  todos global globally globales portal confirmed confirm
  user users contact contacts kontakt subscriber subscribers member members customer customers kunde client recipient recipients
  empfanger empfaenger person address flag status state e me us our via per
  at time timestamp date datum on zeit zeitpunkt am fecha heure horodatage data dato
  reason reasons grund raison motivo title ip method mode type
  sms whatsapp phone telefon telephone mobile mobil push fax post postal letter brief call calls and und et or oder`.split(
    /\s+/,
  ),
);

/** The words, folded, that end or deny what stands beside them: `Newsletter cancelled`, `No consent`. */
const ENDINGS: ReadonlySet<string> = new Set(
  `cancel cancelled canceled cancellation cancelation end ends ended declined refused denied rejected expired lapsed revoked withdrawn stop
  stopped removed left quit terminated blocked disabled inactive off paused suspended forbidden prohibited unwanted
  no not never non none without former ex
  abgelehnt ablehnung verweigert beendet ende storniert stornierung gestoppt gekuendigt gekundigt entfernt blockiert inaktiv untersagt
  verboten unerwuenscht unerwunscht ohne kein keine keinen nicht nie niemals
  refuse refusee retire retiree annule annulee annulation resilie resiliee resiliation arrete arretee supprime supprimee bloque bloquee
  inactif inactive sans pas jamais
  cancelado cancelada cancelacion rechazado rechazada revocado revocada anulado anulada denegado denegada terminado terminada bloqueado
  bloqueada inactivo inactiva sin nunca
  annullato annullata rifiutato rifiutata revocato revocata senza opgezegd geweigerd geannuleerd geen niet`.split(
    /\s+/,
  ),
);
const ENDED = [...ENDINGS].join('|');
const OF_CONSENT = 'newsletter|subscription|consent|permission|optin|abo|einwilligung|zustimmung';
/** `newslettercancelled`, in one word. */
const ENDED_IN_ONE_WORD = new RegExp(`^(?:(?:${OF_CONSENT})(?:${ENDED})|(?:${ENDED})(?:${OF_CONSENT}))$`);

/** True for a word that ends or denies what stands beside it. */
export const isEnding = (word: string): boolean => ENDINGS.has(word) || ENDED_IN_ONE_WORD.test(word);
