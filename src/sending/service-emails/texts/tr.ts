import type { SignInChange } from '../../../accounts/service-emails.ts';
import { counted } from '../../../platform/text/plurals.ts';
import type { PauseReason, ServiceTexts } from './texts.ts';

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'Hesabınızın parolası değiştirildi',
  passwordReset: 'Hesabınız için bir bağlantıyla yeni parola belirlendi',
  authenticatorAdded: 'Hesabınıza bir kimlik doğrulama uygulaması eklendi',
  authenticatorRemoved: 'Kimlik doğrulama uygulaması hesabınızdan kaldırıldı',
  passkeyAdded: 'Hesabınıza bir geçiş anahtarı eklendi',
  passkeyRemoved: 'Hesabınızdan bir geçiş anahtarı kaldırıldı',
  codeRepeated: 'Kimlik doğrulama uygulamanızın kullanılmış bir kodu yeniden denendi ve reddedildi',
};

const PAUSED: Readonly<Record<PauseReason, string>> = {
  quota_exceeded: 'Çalışma alanı bu ayın tüm e-postalarını kullandı.',
  bounce_rate:
    'Kampanyanın çok fazla e-postası geri döndü. Çok sayıda geçersiz adres içeren bir liste, alan adınızın itibarına zarar verir.',
  complaint_rate: 'Çok fazla alıcı kampanyayı spam olarak bildirdi.',
  canary: 'Kampanyanın ilk bölümü, izin verdiğinizden daha sık geri döndü veya spam olarak bildirildi.',
  sender_unverified: 'Kampanyanın gönderen alan adı artık doğrulanmış değil.',
};

const warned = (workspace: string): string =>
  `Bu e-postayı ${workspace} çalışma alanının sahibi veya yöneticisi olarak alıyorsunuz. Bu e-postaları çalışma alanının ayarlarından kapatabilirsiniz.`;

export const tr: ServiceTexts = {
  language: 'tr',
  orOpen: 'Veya bu adresi açın:',
  invitation: ({ workspace, role, until }) => ({
    subject: `${workspace} daveti`,
    preview: `Rolünüz: ${role}.`,
    title: `${workspace} çalışma alanına davet edildiniz`,
    paragraphs: [
      `${workspace} çalışma alanının bir üyesi sizi “${role}” rolüyle davet etti.`,
      `Davet yalnızca bu adres içindir, bir kez kullanılabilir ve ${until} tarihinde sona erer.`,
    ],
    button: 'Daveti kabul et',
    foot: 'Bir davet beklemiyorsanız bu e-postayı dikkate almayın: yalnızca bu bağlantı erişim sağlar.',
  }),
  passwordReset: ({ until }) => ({
    subject: 'Yeni parola belirleyin',
    preview: 'Bağlantı bir kez kullanılabilir ve bir saat geçerlidir.',
    paragraphs: [
      'Hesabınız için yeni bir parola istendi.',
      `Bağlantı bir kez kullanılabilir. Son geçerlilik zamanı: ${until}. İkinci bir doğrulama adımı kullanıyorsanız ona yine ihtiyacınız olacak.`,
    ],
    button: 'Yeni parola belirle',
    foot: 'Bunu siz yapmadıysanız bu e-postayı dikkate almayın: parolanız değişmez.',
  }),
  signInChanged: ({ change, at }) => ({
    subject: CHANGES[change],
    preview: 'Bunu siz yaptıysanız yapmanız gereken bir şey yok.',
    paragraphs: [
      `Zamanı: ${at}.`,
      'Bunu siz yaptıysanız yapmanız gereken bir şey yok. Siz yapmadıysanız tüm oturumları sonlandıran yeni bir parola belirleyin; kimlik doğrulama uygulamanızı ve geçiş anahtarlarınızı kontrol edin.',
    ],
    button: 'Hesabı aç',
    foot: 'Bu e-postayı hesabınızla ilgili olduğu için alıyorsunuz. Çalışma alanları bu e-postaları kapatamaz.',
  }),
  domainLost: ({ domain, workspace }) => ({
    subject: `${domain} artık e-posta gönderemiyor`,
    preview: 'DNS kayıtları eksik veya yanlış.',
    paragraphs: [
      `${domain} alan adının DNS kayıtları, geçici bir arızanın süresinden daha uzun bir süre eksik veya yanlıştı. Bu nedenle ${workspace} bu alan adından e-posta gönderemiyor.`,
      'Kabul edilen e-postalar bekliyor ve kayıtlar yeniden doğru olduğunda gönderilecek. Kayıtlar her saat kontrol edilir.',
    ],
    button: 'Alan adını aç',
    foot: warned(workspace),
  }),
  failures: {
    timeout: 'zaman aşımı',
    unresolved_host: 'sunucu bulunamadı',
    forbidden_address: 'izin verilmeyen adres',
    no_connection: 'bağlantı yok',
    connection_lost: 'bağlantı kesildi',
    untrusted_tls: 'güvenilmeyen TLS',
    malformed_answer: 'geçersiz yanıt',
    sealed_secret: 'okunamayan gizli anahtar',
  },
  webhookDisabled: ({ workspace, url, failures, results, at }) => ({
    subject: 'Bir webhook uç noktası devre dışı bırakıldı',
    preview: counted('tr', failures, {
      one: '# teslimat başarısız oldu.',
      other: 'Art arda # teslimat başarısız oldu.',
    }),
    paragraphs: [
      counted('tr', failures, {
        one: `${url} adresine yapılan # teslimat başarısız oldu. Bu nedenle uç nokta devre dışı bırakıldı (${at}). Artık olay almıyor.`,
        other: `${url} adresine art arda yapılan # teslimat başarısız oldu. Bu nedenle uç nokta devre dışı bırakıldı (${at}). Artık olay almıyor.`,
      }),
      ...(results === null ? [] : [`Son sonuçlar: ${results}.`]),
      'Yeniden yanıt verdiğinde onu etkinleştirin. Kaçırdığı olayları yeniden gönderebilir veya olay günlüğünden okuyabilirsiniz.',
    ],
    button: 'Uç noktayı aç',
    foot: warned(workspace),
  }),
  campaignPaused: ({ workspace, campaign, reason, remaining }) => ({
    subject: `“${campaign}” kampanyası duraklatıldı`,
    preview: PAUSED[reason],
    title: `“${campaign}” duraklatıldı`,
    paragraphs: [
      PAUSED[reason],
      counted('tr', remaining, {
        one: '# alıcı kampanyayı almadı. Devam ettirdiğinizde yalnızca ona gönderilir.',
        other: '# alıcı kampanyayı almadı. Devam ettirdiğinizde yalnızca onlara gönderilir.',
      }),
    ],
    button: 'Kampanyayı aç',
    foot: warned(workspace),
  }),
};
