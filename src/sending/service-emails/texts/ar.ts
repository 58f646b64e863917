import type { SignInChange } from '../../../accounts/service-emails.ts';
import { counted } from '../../../platform/text/plurals.ts';
import type { PauseReason, ServiceTexts } from './texts.ts';

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'تم تغيير كلمة مرور حسابك',
  passwordReset: 'تم تعيين كلمة مرور جديدة لحسابك عبر رابط',
  authenticatorAdded: 'تمت إضافة تطبيق مصادقة إلى حسابك',
  authenticatorRemoved: 'تمت إزالة تطبيق المصادقة من حسابك',
  passkeyAdded: 'تمت إضافة مفتاح مرور إلى حسابك',
  passkeyRemoved: 'تمت إزالة مفتاح مرور من حسابك',
  codeRepeated: 'جرت محاولة استخدام رمز مستعمل من تطبيق المصادقة لديك مرة أخرى ورُفضت',
};

const PAUSED: Readonly<Record<PauseReason, string>> = {
  quota_exceeded: 'استهلكت مساحة العمل جميع رسائل هذا الشهر.',
  bounce_rate: 'ارتدّ عدد كبير جدًا من رسائل الحملة. القائمة التي تضم عناوين كثيرة غير صالحة تضر بسمعة نطاقك.',
  complaint_rate: 'أبلغ عدد كبير جدًا من المستلمين عن الحملة بوصفها بريدًا مزعجًا.',
  canary: 'ارتدّ الجزء الأول أو أُبلغ عنه بوصفه بريدًا مزعجًا أكثر مما تسمح به.',
  sender_unverified: 'لم يعد نطاق إرسال الحملة موثّقًا.',
};

const warned = (workspace: string): string =>
  `تصلك هذه الرسالة بصفتك مالكًا أو مسؤولًا في ${workspace}. يمكنك إيقاف هذه الرسائل من إعدادات مساحة العمل.`;

export const ar: ServiceTexts = {
  language: 'ar',
  orOpen: 'أو افتح هذا العنوان:',
  invitation: ({ workspace, role, until }) => ({
    subject: `دعوة إلى ${workspace}`,
    preview: `دورك: ${role}.`,
    title: `أنت مدعو إلى ${workspace}`,
    paragraphs: [
      `دعاك أحد أعضاء ${workspace} بدور «${role}».`,
      `الدعوة لهذا العنوان فقط، وتعمل مرة واحدة، وتنتهي صلاحيتها في ${until}.`,
    ],
    button: 'قبول الدعوة',
    foot: 'إذا لم تكن تتوقع دعوة، فتجاهل هذه الرسالة: هذا الرابط وحده يمنح الوصول.',
  }),
  passwordReset: ({ until }) => ({
    subject: 'تعيين كلمة مرور جديدة',
    preview: 'يعمل الرابط مرة واحدة ولمدة ساعة.',
    paragraphs: [
      'طُلبت كلمة مرور جديدة لحسابك.',
      `يعمل الرابط مرة واحدة حتى ${until}. إذا كنت تستخدم عاملًا ثانيًا، فستظل بحاجة إليه.`,
    ],
    button: 'تعيين كلمة مرور جديدة',
    foot: 'إذا لم تكن أنت من طلبها، فتجاهل هذه الرسالة: لن تتغير كلمة مرورك.',
  }),
  signInChanged: ({ change, at }) => ({
    subject: CHANGES[change],
    preview: 'إذا كنت أنت من فعل ذلك، فلا حاجة إلى أي إجراء.',
    paragraphs: [
      `حدث ذلك في ${at}.`,
      'إذا كنت أنت من فعل ذلك، فلا حاجة إلى أي إجراء. وإلا فعيّن كلمة مرور جديدة، وهو ما ينهي جميع الجلسات، وتحقق من تطبيق المصادقة ومفاتيح المرور لديك.',
    ],
    button: 'فتح الحساب',
    foot: 'تصلك هذه الرسالة لأنها تخص حسابك. لا يمكن لمساحة العمل إيقاف هذه الرسائل.',
  }),
  domainLost: ({ domain, workspace }) => ({
    subject: `لم يعد بإمكان ${domain} إرسال الرسائل`,
    preview: 'سجلات DNS الخاصة به مفقودة أو غير صحيحة.',
    paragraphs: [
      `ظلت سجلات DNS الخاصة بالنطاق ${domain} مفقودة أو غير صحيحة مدة أطول من أي عطل مؤقت، لذلك لا يمكن لمساحة العمل ${workspace} إرسال الرسائل منه.`,
      'تنتظر الرسائل المقبولة، وتُرسل فور تصحيح السجلات. يجري التحقق من السجلات كل ساعة.',
    ],
    button: 'فتح النطاق',
    foot: warned(workspace),
  }),
  failures: {
    timeout: 'انتهت المهلة',
    unresolved_host: 'لم يُعثر على المضيف',
    forbidden_address: 'عنوان غير مسموح به',
    no_connection: 'لا يوجد اتصال',
    connection_lost: 'انقطع الاتصال',
    untrusted_tls: 'TLS غير موثوق به',
    malformed_answer: 'استجابة غير صالحة',
    sealed_secret: 'تعذرت قراءة المفتاح السري',
  },
  webhookDisabled: ({ workspace, url, failures, results, at }) => ({
    subject: 'تم تعطيل نقطة نهاية webhook',
    preview: counted('ar', failures, {
      zero: 'لم تفشل أي عملية تسليم.',
      one: 'فشلت عملية تسليم واحدة.',
      two: 'فشلت عمليتا تسليم متتاليتان.',
      few: 'فشلت # عمليات تسليم متتالية.',
      many: 'فشلت # عملية تسليم متتالية.',
      other: 'فشلت # عملية تسليم متتالية.',
    }),
    paragraphs: [
      `تم تعطيل نقطة النهاية ${url} في ${at}، ولم تعد تستلم أي أحداث. ${counted('ar', failures, {
        zero: 'لم تفشل أي عملية تسليم إليها.',
        one: 'السبب: فشلت عملية تسليم واحدة إليها.',
        two: 'السبب: فشلت عمليتا تسليم متتاليتان إليها.',
        few: 'السبب: فشلت # عمليات تسليم متتالية إليها.',
        many: 'السبب: فشلت # عملية تسليم متتالية إليها.',
        other: 'السبب: فشلت # عملية تسليم متتالية إليها.',
      })}`,
      ...(results === null ? [] : [`آخر النتائج: ${results}.`]),
      'فعّلها عندما تستجيب من جديد. يمكنك إعادة إرسال الأحداث التي فاتتها أو قراءتها من سجل الأحداث.',
    ],
    button: 'فتح نقطة النهاية',
    foot: warned(workspace),
  }),
  campaignPaused: ({ workspace, campaign, reason, remaining }) => ({
    subject: `الحملة «${campaign}» متوقفة مؤقتًا`,
    preview: PAUSED[reason],
    title: `الحملة «${campaign}» متوقفة مؤقتًا`,
    paragraphs: [
      PAUSED[reason],
      counted('ar', remaining, {
        zero: 'استلمها جميع المستلمين.',
        one: 'بقي مستلم واحد لم يستلمها. عند استئنافها، تُرسل إليه فقط.',
        two: 'بقي مستلمان لم يستلماها. عند استئنافها، تُرسل إليهما فقط.',
        few: 'بقي # مستلمين لم يستلموها. عند استئنافها، تُرسل إليهم فقط.',
        many: 'بقي # مستلمًا لم يستلموها. عند استئنافها، تُرسل إليهم فقط.',
        other: 'بقي # مستلم لم يستلموها. عند استئنافها، تُرسل إليهم فقط.',
      }),
    ],
    button: 'فتح الحملة',
    foot: warned(workspace),
  }),
};
