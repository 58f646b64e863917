import type { Session } from '../../../engine/audit/session.ts';
import { addressOf, type FlowMail, type FlowRecord, RIGHT_LOG } from './flow-record.ts';
import type { Violations } from './invariants.ts';

const CONTACTS = `select c.email, count(r.id)::integer as runs from contacts c left join flow_runs r on r.contact_id = c.id
where c.livemode group by c.id, c.email`;

const RUNS = `select r.id, r.status, (
  select string_agg(l.step || ' ' || l.outcome, ', ' order by l.visit) from flow_run_log l where l.run_id = r.id) as log
from flow_runs r`;

/** Compares runs with the contacts that were added, and each step that sends with its mails. */
export class FlowJudge {
  /** Emails that were accepted for a step, by the step and the contact. */
  readonly #mails = new Map<string, string>();

  constructor(
    private readonly record: FlowRecord,
    private readonly violations: Violations,
  ) {}

  /** Notes an email that a step has sent; each may have one. */
  note({ step, number }: FlowMail, id: string): void {
    const mail = `${step} to contact ${number}`;
    const other = this.#mails.get(mail);
    if (other !== undefined) this.violations.add('stepTwice', `${mail} is ${other} and ${id}`);
    this.#mails.set(mail, id);
    if (number >= this.record.contacts.length) this.violations.add('unexplained', `${id} is ${mail}`);
  }

  /** Looks at all runs once every email has been noted; answers how many there are. */
  async close(session: Session): Promise<number> {
    const stored = new Map(
      (await session.query<{ email: string; runs: number }>(CONTACTS)).map((row) => [row.email, row.runs]),
    );
    for (const contact of this.record.contacts) {
      const runs = stored.get(addressOf(contact));
      if (runs === undefined && contact.isAcknowledged)
        this.violations.add('lost', `contact ${contact.number} was acknowledged and is not stored`);
      if (runs !== undefined && runs !== 1)
        this.violations.add('runsOfContact', `contact ${contact.number} has ${runs} runs`);
    }
    const runs = await session.query<{ id: string; status: string; log: string | null }>(RUNS);
    for (const { id, status, log } of runs)
      if (status !== 'completed' || !RIGHT_LOG.test(log ?? ''))
        this.violations.add('wrongRun', `${id} is ${status}: ${log}`);
    const ended = runs.filter(({ status }) => status === 'completed').length;
    if (this.#mails.size < 2 * ended)
      this.violations.add(
        'wrongRun',
        `${ended} runs have ended, and ${this.#mails.size} mails were accepted`,
      );
    return runs.length;
  }
}
