/** Answers of the service to a mail server, as the server wrote them down. */
export interface Replies {
  /**
   * Messages and recipients that were answered 250, as a key of both; null of a server whose log has no
   * Message-ID.
   */
  readonly taken: ReadonlySet<string> | null;
  /** All answers by their words, without what differs from one to the next. */
  readonly counts: ReadonlyMap<string, number>;
}

/** A message for one recipient. */
export const takenKey = (messageId: string, to: string): string => `${messageId} ${to}`;

/** A line of a log that tells an answer. */
interface Told {
  readonly queueId: string;
  readonly to: string;
  readonly words: string;
  readonly isTaken: boolean;
}

interface LogForm {
  /** The queue's name of a message, and its Message-ID. */
  readonly named?: RegExp;
  readonly told: (line: string) => Told | null;
}

/** Ports, names in the queue and times differ from one line to the next. */
const alike = (words: string): string =>
  words
    .replace(/\b127\.0\.0\.1(?:\[127\.0\.0\.1\])?(?::\d+)?/g, 'the service')
    .replace(/\[the service\](?::\d+)?/g, '')
    .replace(/\b(?:host )?the service said: /g, '')
    .replace(/ size=\d+/g, '')
    .slice(0, 160);

const FORMS: Readonly<Record<string, LogForm>> = {
  postfix: {
    named: /\/cleanup\[\d+\]: (\w+): message-id=(<\S+>)/,
    told: (line) => {
      const [, queueId = '', to = '', status, words = ''] =
        /\/smtp\[\d+\]: (\w+): to=<([^>]*)>.* status=(\w+) \((.*)\)$/.exec(line) ?? [];
      return queueId === '' ? null : { queueId, to, words, isTaken: status === 'sent' };
    },
  },
  exim: {
    named: /^\S+ \S+ (\S{16}) <= .* id=(\S+)$/,
    told: (line) => {
      const [, queueId = '', sign, words = ''] = /^\S+ \S+ (\S{16}) (=>|->|==|\*\*) (.*)$/.exec(line) ?? [];
      if (queueId === '') return null;
      const isTaken = sign === '=>' || sign === '->';
      const [, reply = words] = isTaken ? (/ C="([^"]*)"/.exec(words) ?? []) : [];
      return { queueId, to: words.split(' ')[0] ?? '', words: reply.replace(/^\S+@\S+ /, ''), isTaken };
    },
  },
  opensmtpd: {
    told: (line) => {
      const [, to = '', result, words = ''] =
        / mta delivery .* to=<([^>]*)> .* result="(\w+)" stat="([^"]*)"/.exec(line) ?? [];
      if (to !== '') return { queueId: '', to, words, isTaken: result === 'Ok' };
      const [, reason] = / mta error reason=(.*)$/.exec(line) ?? [];
      return reason === undefined ? null : { queueId: '', to: '', words: reason, isTaken: false };
    },
  },
};

/** Reads the answers of a server's log. */
export function repliesIn(name: string, log: string): Replies {
  const form = FORMS[name] as LogForm;
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  for (const line of log.split('\n')) {
    const [, queueId = '', id = ''] = form.named?.exec(line) ?? [];
    if (queueId !== '') ids.set(queueId, id.startsWith('<') ? id : `<${id}>`);
    const told = form.told(line);
    if (!told) continue;
    const words = alike(told.words);
    counts.set(words, (counts.get(words) ?? 0) + 1);
    const messageId = ids.get(told.queueId);
    if (told.isTaken && messageId !== undefined) taken.add(takenKey(messageId, told.to));
  }
  return { taken: form.named ? taken : null, counts };
}
