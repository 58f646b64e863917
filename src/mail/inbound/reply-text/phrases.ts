/** The words that mail programs put around a quotation, in the languages that they are translated into. */
import { FURTHER_LANGUAGES } from './further-languages.ts';

/** The fields of the header that Outlook and others write above a quotation. */
export type HeaderField = 'from' | 'sent' | 'to' | 'cc' | 'subject';

/** The phrases of one language, in lower case. */
interface Phrases {
  /** First words of "On Monday, Anna wrote:". */
  readonly begins: readonly string[];
  /** The verb of that line. */
  readonly wrote: readonly string[];
  /** The words between dashes above a quotation. */
  readonly original: readonly string[];
  readonly fields: Readonly<Record<HeaderField, readonly string[]>>;
  /** The beginning or the end of "Sent from my iPhone". */
  readonly sentFrom: readonly string[];
  /** The beginning of "Get Outlook for iOS". */
  readonly getOutlook: readonly string[];
}

const LANGUAGES = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'nl',
  'sv',
  'da',
  'nb',
  'fi',
  'pl',
  'cs',
  'hu',
  'ro',
  'tr',
  'ru',
  'uk',
  'el',
  'ja',
  'zh',
  'ko',
] as const;

type Language = (typeof LANGUAGES)[number];

const list = (words: string): readonly string[] => (words === '' ? [] : words.split('|'));

/** A row of the table; alternatives are separated by `|`. */
const row = (
  [begins, wrote, original]: readonly [string, string, string],
  [from, sent, to, cc, subject]: readonly [string, string, string, string, string],
  [sentFrom, getOutlook]: readonly [string, string],
): Phrases => ({
  begins: list(begins),
  wrote: list(wrote),
  original: list(original),
  fields: { from: list(from), sent: list(sent), to: list(to), cc: list(cc), subject: list(subject) },
  sentFrom: list(sentFrom),
  getOutlook: list(getOutlook),
});

const PHRASES: Readonly<Record<Language, Phrases>> = {
  en: row(
    ['on', 'wrote|writes|sent', 'original message|forwarded message|reply message|original appointment'],
    ['from', 'sent|date', 'to', 'cc|bcc', 'subject'],
    ['sent from my|sent from|sent with|sent via|sent using', 'get outlook for|get bluemail for'],
  ),
  de: row(
    [
      'am',
      'schrieb|schreibt|hat geschrieben',
      'ursprüngliche nachricht|originalnachricht|original-nachricht|weitergeleitete nachricht|ursprünglicher termin',
    ],
    ['von', 'gesendet|datum', 'an', 'cc|kopie', 'betreff'],
    [
      'von meinem|gesendet von|gesendet mit|gesendet aus|diese nachricht wurde von meinem|von mobile',
      'outlook für|holen sie sich outlook|laden sie outlook',
    ],
  ),
  fr: row(
    [
      'le',
      'a écrit|a ecrit|écrit|a envoyé',
      "message d'origine|message original|message d’origine|message transféré|message initial|courriel original",
    ],
    ['de', 'envoyé|date|envoyé le|message du', 'à|a', 'cc|copie|copie à', 'objet|sujet'],
    [
      'envoyé de mon|envoyé depuis|envoyé à partir de|envoyé avec',
      'télécharger outlook pour|obtenir outlook pour|téléchargez outlook pour|obtenez outlook pour',
    ],
  ),
  es: row(
    ['el', 'escribió|escribio|ha escrito', 'mensaje original|mensaje reenviado|mensaje enviado'],
    ['de', 'enviado|enviado el|fecha', 'para|a', 'cc', 'asunto'],
    ['enviado desde|enviado con|enviado a través de', 'obtener outlook para|obtén outlook para'],
  ),
  it: row(
    ['il|in data', 'ha scritto|scrive|ha inviato', 'messaggio originale|messaggio inoltrato'],
    ['da', 'inviato|data', 'a', 'cc', 'oggetto'],
    ['inviato da|inviato dal|inviato con|inviata da', 'scarica outlook per|ottieni outlook per|outlook per'],
  ),
  pt: row(
    ['em|no dia|a', 'escreveu|enviou', 'mensagem original|mensagem encaminhada|mensagem reencaminhada'],
    ['de', 'enviado|enviada|enviada em|enviado em|data', 'para', 'cc', 'assunto'],
    [
      'enviado do meu|enviado a partir|enviado de|enviado via|enviado com|enviado pelo',
      'obter o outlook para|obtenha o outlook para|baixar o outlook para',
    ],
  ),
  nl: row(
    [
      'op',
      'schreef|geschreven',
      'oorspronkelijk bericht|oorspronkelijke bericht|origineel bericht|doorgestuurd bericht',
    ],
    ['van', 'verzonden|datum', 'aan', 'cc', 'onderwerp'],
    [
      'verstuurd vanaf|verzonden vanaf|verzonden met|verstuurd met|verzonden via',
      'outlook voor|download outlook voor|haal outlook voor',
    ],
  ),
  sv: row(
    ['den', 'skrev|skriver', 'ursprungligt meddelande|originalmeddelande|vidarebefordrat meddelande'],
    ['från', 'skickat|datum', 'till', 'kopia|cc', 'ämne'],
    ['skickat från|skickades från|skickat med', 'hämta outlook för|skaffa outlook för'],
  ),
  da: row(
    [
      'den',
      'skrev|skriver',
      'oprindelig meddelelse|oprindelig besked|videresendt besked|videresendt meddelelse|original meddelelse|original besked|oprindeligt brev|videresendt brev',
    ],
    ['fra', 'sendt|dato', 'til', 'cc', 'emne'],
    ['sendt fra|sendt med|sendt via', 'hent outlook til|få outlook til'],
  ),
  nb: row(
    ['den|på', 'skrev|skriver', 'opprinnelig melding|videresendt melding|original melding'],
    ['fra', 'sendt|dato', 'til', 'kopi', 'emne'],
    ['sendt fra|sendt med', 'skaff deg outlook for|få outlook for|last ned outlook for'],
  ),
  fi: row(
    [
      '',
      'kirjoitti|kirjoittaa',
      'alkuperäinen viesti|alkuperäinen viesti / orig.msg.|välitetty viesti|välitetty viesti / fwd.msg',
    ],
    ['lähettäjä', 'lähetetty|päivämäärä|päiväys', 'vastaanottaja', 'kopio', 'aihe'],
    ['lähetetty', 'hanki outlook|lataa outlook'],
  ),
  pl: row(
    [
      'w dniu|dnia',
      'napisał(a)|napisał|napisała|pisze|użytkownik',
      'wiadomość oryginalna|oryginalna wiadomość|wiadomość przekazana|wiadomość przekazywana|przekazana wiadomość|treść oryginalnej wiadomości|treść przekazanej wiadomości',
    ],
    ['od', 'wysłano|wysłane|data', 'do', 'dw', 'temat'],
    [
      'wysłane z|wysłano z|wysłane za pomocą',
      'pobierz aplikację outlook|pobierz program outlook|pobierz outlook',
    ],
  ),
  cs: row(
    [
      'dne',
      'napsal(a)|napsal|napsala|píše|odesílatel|napísal(a)|napísal|napísala',
      'původní zpráva|původní e-mail|přeposlaná zpráva|pôvodná správa|preposlaná správa',
    ],
    ['od', 'odesláno|datum|odoslané|dátum', 'komu|pro', 'kopie|kópia', 'předmět|predmet'],
    ['odesláno z|odesláno pomocí|odoslané z', 'získejte outlook pro|získat outlook pro|stáhnout outlook pro'],
  ),
  hu: row(
    ['', 'ezt írta|írta', 'eredeti üzenet|továbbított üzenet'],
    ['feladó', 'elküldve|dátum|küldve', 'címzett', 'másolatot kap', 'tárgy'],
    ['elküldve|küldve', 'az outlook beszerzése|outlook beszerzése'],
  ),
  ro: row(
    ['în', 'a scris', 'mesaj original|mesajul original|mesaj redirecționat|mesaj înaintat'],
    ['de la', 'trimis|data|dată', 'către', 'cc', 'subiect'],
    ['trimis de pe|trimis din', 'obțineți outlook pentru|descărcați outlook pentru'],
  ),
  tr: row(
    [
      '',
      'yazdı|yazmış|şunu yazdı|şunları yazdı',
      'özgün ileti|orijinal mesaj|orijinal ileti|iletilen mesaj|iletilen ileti|yönlendirilmiş ileti',
    ],
    ['kimden|gönderen', 'gönderildi|gönderme tarihi|tarih', 'kime|alıcı', 'bilgi', 'konu'],
    ['gönderildi|gönderilmiştir', "outlook'u edinin|android için outlook|ios için outlook"],
  ),
  ru: row(
    [
      '',
      'написал(а)|написал|написала|писал(а)|пишет',
      'исходное сообщение|пересылаемое сообщение|пересланное сообщение|перенаправленное сообщение',
    ],
    ['от|от кого', 'отправлено|дата', 'кому', 'копия', 'тема'],
    ['отправлено с|отправлено из|отправлено со', 'получить outlook для|скачать outlook для'],
  ),
  uk: row(
    [
      '',
      'пише|написав(-ла)|написав|написала|написано',
      'вихідне повідомлення|оригінальне повідомлення|початкове повідомлення|переслане повідомлення',
    ],
    ['від|від кого', 'надіслано|дата', 'кому', 'копія', 'тема'],
    ['надіслано з|надіслано із', 'отримати outlook для'],
  ),
  el: row(
    ['στις|την', 'έγραψε', 'αρχικό μήνυμα|προωθημένο μήνυμα'],
    ['από', 'στάλθηκε|ημερομηνία|εστάλη', 'προς', 'κοιν', 'θέμα'],
    ['στάλθηκε από|εστάλη από', 'λήψη του outlook για|αποκτήστε το outlook για'],
  ),
  ja: row(
    [
      '',
      'のメール|書きました|書き込みました',
      '元のメッセージ|オリジナルのメッセージ|転送メッセージ|転送するメッセージ|original message',
    ],
    ['差出人|送信者', '送信日時|日付|日時', '宛先', 'cc', '件名'],
    ['から送信', 'outlook for ios を入手|outlook for android を入手'],
  ),
  zh: row(
    [
      '',
      '写道|寫道|写于|寫到|寫下|提到',
      '原始邮件|原始郵件|转发的邮件|轉寄郵件|轉遞的郵件|原邮件|原始消息|原始信息|转发的消息|转发的信息',
    ],
    [
      '发件人|寄件者|寄件人',
      '发送时间|日期|寄件日期|傳送日期',
      '收件人|收件者',
      '抄送|副本',
      '主题|主旨|主題',
    ],
    ['发自我的|從我的|从我的|发自', '获取 outlook|取得 outlook'],
  ),
  ko: row(
    ['', '작성|님이 작성|씀|쓴 글|쓴 내용', '원본 메시지|원본 메일|전달된 메시지'],
    ['보낸 사람|보낸사람', '보낸 날짜|날짜|보낸날짜', '받는 사람|받는사람', '참조', '제목'],
    ['에서 보냄|에서 전송', 'outlook 다운로드|android용 outlook|ios용 outlook'],
  ),
};

/** Those languages, and the further ones. */
const EVERY: readonly Phrases[] = [
  ...LANGUAGES.map((language) => PHRASES[language]),
  ...Object.values(FURTHER_LANGUAGES).map(([wrote, original, ...labels]) =>
    row(['', wrote, original], labels, ['', '']),
  ),
];

const all = (part: (phrases: Phrases) => readonly string[]): readonly string[] => [
  ...new Set(EVERY.flatMap(part)),
];

/** First words of an attribution, such as "On". */
export const BEGINS = all(({ begins }) => begins);
export const WROTE = all(({ wrote }) => wrote);
export const ORIGINAL: ReadonlySet<string> = new Set(all(({ original }) => original));
export const SENT_FROM = all(({ sentFrom }) => sentFrom);
export const GET_OUTLOOK = all(({ getOutlook }) => getOutlook);

/** The field that a label names, in each of the languages. */
export const LABELS: readonly ReadonlyMap<string, HeaderField>[] = EVERY.map(
  ({ fields }) =>
    new Map(
      (['cc', 'sent', 'to', 'subject', 'from'] as const).flatMap((field) =>
        fields[field].map((label) => [label, field] as const),
      ),
    ),
);

/** Words of phones and mail programs, one of which "Sent from my …" names. */
export const DEVICES = list(
  'iphon|ipad|ipod|android|samsung|galaxy|huawei|xiaomi|redmi|nokia|blackberry|pixel|oneplus|motorola|xperia|fairphone|' +
    'windows phone|windows mail|smartphone|handy|mobile|mobil|móvil|celular|cellulare|téléphone|telefon|telefoon|phone|' +
    'tablet|outlook|yahoo|gmail|proton|aol|gmx|web.de|bluemail|spark|tuta|hey.com|mailspring|apple mail|mail for windows|' +
    'airmail|typeapp|canary|newton|edison|windows 1|](https://go.microsoft.com/fwlink|alcatel|wiko|honor|oppo|vivo|realme|' +
    'courrier pour windows|mail für windows|superhuman|shortwave|missive|fairemail|thunderbird|айфон|смартфон|телефон|почт',
);
