/**
 * The lines that mail programs write around a quotation, by language. All persons and addresses are invented.
 */

const MIRA = 'Mira Holt <mira.holt@example.net>';

/** The lines of one language. */
export interface LanguageLines {
  readonly gmail: string;
  readonly apple: string;
  readonly thunderbird: string;
  /** The labels of From, Sent, To and Subject in Outlook, with the mark behind them. */
  readonly outlook: readonly [string, string, string, string];
  readonly original: string;
  readonly phone: string;
  readonly outlookApp: string;
  /** The text of the person, in two parts. */
  readonly answer: readonly [string, string];
}

export const LANGUAGES: Readonly<Record<string, LanguageLines>> = {
  en: {
    gmail: `On Fri, Nov 14, 2025 at 10:32 AM ${MIRA} wrote:`,
    apple: `On 14 Nov 2025, at 10:32, ${MIRA} wrote:`,
    thunderbird: 'On 14/11/2025 10:32, Mira Holt wrote:',
    outlook: ['From:', 'Sent:', 'To:', 'Subject:'],
    original: '-----Original Message-----',
    phone: 'Sent from my iPhone',
    outlookApp: 'Get Outlook for iOS<https://aka.ms/o0ukef>',
    answer: ['The parcel has arrived, thank you.', 'Could you send the invoice as well?'],
  },
  de: {
    gmail: `Am Fr., 14. Nov. 2025 um 10:32 Uhr schrieb ${MIRA}:`,
    apple: `Am 14.11.2025 um 10:32 schrieb ${MIRA}:`,
    thunderbird: 'Am 14.11.25 um 10:32 schrieb Mira Holt:',
    outlook: ['Von:', 'Gesendet:', 'An:', 'Betreff:'],
    original: '-----Ursprüngliche Nachricht-----',
    phone: 'Von meinem iPhone gesendet',
    outlookApp: 'Outlook für iOS beziehen<https://aka.ms/o0ukef>',
    answer: ['Das Paket ist angekommen, vielen Dank.', 'Können Sie auch die Rechnung schicken?'],
  },
  fr: {
    gmail: `Le ven. 14 nov. 2025 à 10:32, ${MIRA} a écrit :`,
    apple: `Le 14 nov. 2025 à 10:32, ${MIRA} a écrit :`,
    thunderbird: 'Le 14/11/2025 à 10:32, Mira Holt a écrit :',
    outlook: ['De :', 'Envoyé :', 'À :', 'Objet :'],
    original: "-----Message d'origine-----",
    phone: 'Envoyé de mon iPhone',
    outlookApp: 'Télécharger Outlook pour iOS<https://aka.ms/o0ukef>',
    answer: ['Le colis est bien arrivé, merci.', 'Pourriez-vous aussi envoyer la facture ?'],
  },
  es: {
    gmail: 'El vie, 14 nov 2025 a las 10:32, Mira Holt (<mira.holt@example.net>) escribió:',
    apple: `El 14 nov 2025, a las 10:32, ${MIRA} escribió:`,
    thunderbird: 'El 14/11/25 a las 10:32, Mira Holt escribió:',
    outlook: ['De:', 'Enviado el:', 'Para:', 'Asunto:'],
    original: '-----Mensaje original-----',
    phone: 'Enviado desde mi iPhone',
    outlookApp: 'Obtener Outlook para iOS<https://aka.ms/o0ukef>',
    answer: ['El paquete ha llegado, gracias.', '¿Puede enviar también la factura?'],
  },
  it: {
    gmail: `Il giorno ven 14 nov 2025 alle ore 10:32 ${MIRA} ha scritto:`,
    apple: `Il giorno 14 nov 2025, alle ore 10:32, ${MIRA} ha scritto:`,
    thunderbird: 'Il 14/11/25 10:32, Mira Holt ha scritto:',
    outlook: ['Da:', 'Inviato:', 'A:', 'Oggetto:'],
    original: '-----Messaggio originale-----',
    phone: 'Inviato da iPhone',
    outlookApp: 'Scarica Outlook per iOS<https://aka.ms/o0ukef>',
    answer: ['Il pacco è arrivato, grazie.', 'Può mandarmi anche la fattura?'],
  },
  pt: {
    gmail: `Em sex., 14 de nov. de 2025 às 10:32, ${MIRA} escreveu:`,
    apple: `No dia 14/11/2025, às 10:32, ${MIRA} escreveu:`,
    thunderbird: 'Em 14/11/2025 10:32, Mira Holt escreveu:',
    outlook: ['De:', 'Enviada em:', 'Para:', 'Assunto:'],
    original: '-----Mensagem original-----',
    phone: 'Enviado do meu iPhone',
    outlookApp: 'Obter o Outlook para iOS<https://aka.ms/o0ukef>',
    answer: ['A encomenda chegou, obrigado.', 'Pode enviar também a fatura?'],
  },
  nl: {
    gmail: `Op vr 14 nov 2025 om 10:32 schreef ${MIRA}:`,
    apple: `Op 14 nov. 2025 om 10:32 heeft ${MIRA} het volgende geschreven:`,
    thunderbird: 'Op 14-11-2025 om 10:32 schreef Mira Holt:',
    outlook: ['Van:', 'Verzonden:', 'Aan:', 'Onderwerp:'],
    original: '-----Oorspronkelijk bericht-----',
    phone: 'Verstuurd vanaf mijn iPhone',
    outlookApp: 'Outlook voor iOS downloaden<https://aka.ms/o0ukef>',
    answer: ['Het pakket is aangekomen, dank u.', 'Kunt u ook de factuur sturen?'],
  },
  sv: {
    gmail: `Den fre 14 nov. 2025 kl 10:32 skrev ${MIRA}:`,
    apple: `14 nov. 2025 kl. 10:32 skrev ${MIRA}:`,
    thunderbird: 'Den 2025-11-14 kl. 10:32, skrev Mira Holt:',
    outlook: ['Från:', 'Skickat:', 'Till:', 'Ämne:'],
    original: '-----Ursprungligt meddelande-----',
    phone: 'Skickat från min iPhone',
    outlookApp: 'Hämta Outlook för iOS<https://aka.ms/o0ukef>',
    answer: ['Paketet har kommit, tack.', 'Kan ni skicka fakturan också?'],
  },
  da: {
    gmail: `Den fre. 14. nov. 2025 kl. 10.32 skrev ${MIRA}:`,
    apple: `Den 14. nov. 2025 kl. 10.32 skrev ${MIRA}:`,
    thunderbird: 'Den 14.11.2025 kl. 10.32 skrev Mira Holt:',
    outlook: ['Fra:', 'Sendt:', 'Til:', 'Emne:'],
    original: '-----Oprindelig meddelelse-----',
    phone: 'Sendt fra min iPhone',
    outlookApp: 'Hent Outlook til iOS<https://aka.ms/o0ukef>',
    answer: ['Pakken er kommet, tak.', 'Kan I også sende fakturaen?'],
  },
  pl: {
    gmail: `pt., 14 lis 2025 o 10:32 ${MIRA} napisał(a):`,
    apple: `Wiadomość napisana przez ${MIRA} w dniu 14 lis 2025, o godz. 10:32:`,
    thunderbird: 'W dniu 14.11.2025 o 10:32, Mira Holt pisze:',
    outlook: ['Od:', 'Wysłano:', 'Do:', 'Temat:'],
    original: '-----Wiadomość oryginalna-----',
    phone: 'Wysłane z iPhone’a',
    outlookApp: 'Pobierz aplikację Outlook dla systemu iOS<https://aka.ms/o0ukef>',
    answer: ['Paczka dotarła, dziękuję.', 'Czy mogą Państwo przesłać też fakturę?'],
  },
  cs: {
    gmail: `pá 14. 11. 2025 v 10:32 odesílatel ${MIRA} napsal:`,
    apple: `14. 11. 2025 v 10:32, ${MIRA}:`,
    thunderbird: 'Dne 14. 11. 25 v 10:32 Mira Holt napsal(a):',
    outlook: ['Od:', 'Odesláno:', 'Komu:', 'Předmět:'],
    original: '-----Původní zpráva-----',
    phone: 'Odesláno z iPhonu',
    outlookApp: 'Získejte Outlook pro iOS<https://aka.ms/o0ukef>',
    answer: ['Balík dorazil, děkuji.', 'Můžete poslat i fakturu?'],
  },
  ja: {
    gmail: `2025年11月14日(金) 10:32 ${MIRA}:`,
    apple: `2025/11/14 10:32、${MIRA}のメール:`,
    thunderbird: 'On 2025/11/14 10:32, Mira Holt wrote:',
    outlook: ['差出人:', '送信日時:', '宛先:', '件名:'],
    original: '-----元のメッセージ-----',
    phone: 'iPhoneから送信',
    outlookApp: 'iOS 版 Outlook の入手<https://aka.ms/o0ukef>',
    answer: ['荷物が届きました。ありがとうございます。', '請求書も送っていただけますか。'],
  },
};
