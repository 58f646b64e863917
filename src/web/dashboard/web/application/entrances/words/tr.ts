import { counted } from '../../../../../../platform/text/plurals.ts';
import type { EntranceWords } from './en.ts';

export const tr: EntranceWords = {
  language: 'tr',
  invited: 'Posthorn’a davet edildiniz',
  join: (workspace) => `${workspace} daveti`,
  invitation: ({ by, workspace, role, email, until }) =>
    `${by === null ? '' : `${by} tarafından `}${workspace} çalışma alanına “${role}” rolüyle davet edildiniz. Davet ${email} adresi içindir ve ${until} tarihinde sona erer.`,
  signedInAs: (email) => `${email} olarak oturum açtınız.`,
  accept: 'Daveti kabul et',
  cannotAccept: 'Bu davet kabul edilemiyor',
  cannotShow: 'Davet şu anda gösterilemiyor',
  signInInstead: 'Bunun yerine var olan bir hesapla oturum aç',
  createInstead: 'Bunun yerine hesap oluştur',
  name: 'Adınız',
  email: 'E-posta adresi',
  password: 'Parola',
  passwordHint: 'En az 12 karakter. Birbiriyle ilgisiz birkaç sözcük en iyisidir.',
  code: 'Kimlik doğrulama uygulamasının kodu',
  codeHint: 'Kimlik doğrulama uygulamanızdaki altı rakam veya bir kurtarma kodu.',
  signIn: 'Oturum aç',
  signInTitle: 'Posthorn’da oturum aç',
  passkey: 'Geçiş anahtarıyla oturum aç',
  liveView: 'Canlı görünümü bir API anahtarıyla aç',
  lockedOut: 'Giriş yapamıyor musunuz?',
  newPasswordBy: 'Sunucunun işletmecisi yeni parola için bir bağlantı oluşturabilir. E-posta gerekmez:',
  lostFactorBy: 'Kimlik doğrulama uygulaması kaybolduysa ve kurtarma kodu kalmadıysa komuta şu eklenmelidir:',
  choosePassword: 'Yeni bir parola seçin',
  choosePasswordHint: 'Tüm oturumlarınız kapatılır. Yeni parolayla oturum açın.',
  setPassword: 'Parolayı belirle',
  openAgain: 'Bağlantıyı yeniden açın',
  openAgainHint:
    'Bağlantının gizli bölümü, gizli kalması için bu sayfanın adresinden kaldırıldı. Bağlantının tamamını yeniden açın.',
  invitationNeedsLink: 'Davet için size gönderilen bağlantı gerekir.',
  resetNeedsLink: 'Yeni parola için size gönderilen bağlantı gerekir.',
  toSignIn: 'Oturum açma sayfasına git',
  why: {
    signedOut: 'Oturumunuz kapatıldı.',
    sessionEnded: 'Oturumunuz sona erdi. Yeniden oturum açın.',
    passwordSet: 'Parola değiştirildi. Yeni parolayla oturum açın.',
    alreadySetUp: 'İlk hesap zaten var.',
  },
  form: {
    working: 'Lütfen bekleyin…',
    showPassword: 'Parolayı göster',
    strengths: ['Zayıf: tahmin edilmesi kolay', 'Orta: daha uzun bir parola daha güvenlidir', 'İyi', 'Güçlü'],
  },
  problems: {
    spent:
      'Bu bağlantı daha önce kullanılmış veya süresi dolmuş. Bağlantıyı gönderen kişiden yenisini isteyin.',
    taken: 'Bu adresle bir hesap zaten var. O hesapla oturum açın, sonra bağlantıyı yeniden açın.',
    full: 'Bir kişinin üye olabileceği en fazla çalışma alanına üyesiniz. Önce birinden ayrılın veya birini silin.',
    noWorkspace: 'Bu hesap hiçbir çalışma alanına üye değil. Davet isteyin.',
    credentials: 'Adres veya parola yanlış.',
    code: 'Kimlik doğrulama uygulamanızdan yeni bir kod veya bir kurtarma kodu girin. Her biri bir kez kullanılabilir.',
    tooSoon: (seconds) =>
      counted('tr', seconds, {
        one: 'Çok fazla deneme yapıldı. # saniye sonra yeniden deneyin.',
        other: 'Çok fazla deneme yapıldı. # saniye sonra yeniden deneyin.',
      }),
    name: 'Adınızı, görünmez karakterler olmadan girin.',
    password:
      '12–128 karakter kullanın; ardışık karakterler, yaygın bir parola ya da yalnızca adınız veya adresiniz olmasın.',
    away: 'Hizmete ulaşılamıyor. Daha sonra yeniden deneyin.',
  },
};
