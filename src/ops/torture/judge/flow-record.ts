/** A contact that was added, and so begins a run of the flow. */
export interface FlowContact {
  readonly number: number;
  /** True when an answer said that it is stored. */
  isAcknowledged: boolean;
}

/** The address of a contact, which the mail sink takes. */
export const addressOf = ({ number }: Pick<FlowContact, 'number'>): string =>
  `taken-flow-${number}@receiver.example`;

/** The steps of the flow that send, with their subjects. */
const SENDING = ['hello', 'again'] as const;
const SUBJECT = /^Flow (\w+) (\d+)$/;

/** The mail of a step to a contact, named by its subject. */
export interface FlowMail {
  readonly step: string;
  readonly number: number;
}

/** The step and the contact in a subject; null for any other. */
export function flowMailIn(subject: string | null): FlowMail | null {
  const [, step = '', digits = ''] = SUBJECT.exec(subject ?? '') ?? [];
  return digits === '' ? null : { step, number: Number(digits) };
}

/**
 * The result of each step of a run, in order. The event may come before the run waits for it, which then
 * waits to the end.
 */
export const RIGHT_LOG = /^hello sent, mark updated, wait (event|timeout), again sent, tag updated$/;

/** The contacts that were added. */
export class FlowRecord {
  readonly contacts: FlowContact[] = [];
  /** Events that were acknowledged. */
  events = 0;

  add(): FlowContact {
    const contact = { number: this.contacts.length, isAcknowledged: false };
    this.contacts.push(contact);
    return contact;
  }
}

/** Posts to the live environment, and returns the id of the new resource. */
export type Post = (path: string, body: object) => Promise<string>;

/**
 * Makes an active flow of five steps, and answers its id: two mails, two changes of the contact, and the
 * waiting for an event.
 */
export async function prepareFlow(post: Post, from: string): Promise<string> {
  const steps: object[] = [];
  for (const key of SENDING) {
    const templateId = await post('/v1/templates', {
      name: key,
      subject: `Flow ${key} {{ contact.firstName }}`,
      html: '<p>Hello</p>',
      from: `torture@${from}`,
    });
    const mark = key === 'hello' ? 'mark' : 'tag';
    steps.push(
      { key, type: 'sendEmail', config: { templateId } },
      { key: mark, type: 'updateContact', config: { properties: { [mark]: true } } },
    );
    if (key === 'hello')
      steps.push({
        key: 'wait',
        type: 'waitForEvent',
        config: { name: 'go', timeout: { amount: 1, unit: 'minutes' } },
      });
  }
  const way = ['hello', 'mark', 'wait', 'again', 'tag'];
  const edges = way.slice(1).flatMap((to, index) => {
    const before = way[index] as string;
    const ways = before === 'wait' ? ['event', 'timeout'] : ['default'];
    return ways.map((when) => ({ from: before, to, when }));
  });
  const id = await post('/v1/flows', { name: 'Torture', trigger: { type: 'contactCreated' }, steps, edges });
  await post(`/v1/flows/${id}/activate`, {});
  return id;
}
