import { randomUUID } from 'node:crypto';
import { addressOf, type FlowContact, type FlowRecord } from '../judge/flow-record.ts';
import { Patience } from '../patience.ts';
import { Workload, type WorkloadParts } from './workload.ts';

export interface FlowClientParts extends WorkloadParts {
  readonly flowId: string;
  readonly record: FlowRecord;
}

type FlowResponse<Data> = { readonly data?: Data } | null;

interface Stats {
  readonly entered: number;
  readonly running: number;
  readonly waiting: number;
}

/** Contacts that are added at the same time: few, since each sends two live mails. */
const WORKERS = 3;
const TRIES = 200;
/** Pause before a request is repeated. It shapes the load; nothing is waited for. */
const REPEAT_MS = 100;
/** Time in which all runs have to end once the faults have. */
const FINISH_MS = 75_000;

/** An application that adds contacts, which begin runs, and sends the events that these wait for. */
export class FlowClient extends Workload<FlowClientParts> {
  constructor(parts: FlowClientParts) {
    super(parts, 1, WORKERS);
  }

  /**
   * Sends the awaited event to each waiting contact, until every run has begun and ended. A flow that never
   * gets there is left to the judge.
   */
  async finish(): Promise<void> {
    const { flowId, record } = this.parts;
    const path = `/v1/flows/${flowId}`;
    const patience = new Patience(FINISH_MS);
    const begins = record.contacts.filter(({ isAcknowledged }) => isAcknowledged).length;
    while (patience.lasts) {
      const { body } = await this.ask({ method: 'GET', path });
      const stats = (body as FlowResponse<{ stats: Stats }>)?.data?.stats;
      if (stats && stats.entered >= begins && stats.running + stats.waiting === 0) return;
      const waiting = await this.ask({
        method: 'GET',
        path: `${path}/runs?status=waiting&step=wait&limit=100`,
      });
      const runs = (waiting.body as FlowResponse<readonly { contactId: string }[]>)?.data ?? [];
      await Promise.all(runs.map(({ contactId }) => this.#tell(contactId)));
      await patience.pause(1_000);
    }
  }

  protected async round(): Promise<void> {
    const contact = this.parts.record.add();
    if (await this.#add(contact)) {
      await Bun.sleep(this.chance.between(0, 800));
      await this.#tell(encodeURIComponent(addressOf(contact)));
    }
    await Bun.sleep(this.chance.between(0, 100));
  }

  /** Repeated until it is answered: a contact is there once, however often it is asked for. */
  async #add(contact: FlowContact): Promise<boolean> {
    const body = { email: addressOf(contact), firstName: String(contact.number) };
    for (let tried = 0; tried < TRIES; tried++) {
      const { status } = await this.ask({ method: 'POST', path: '/v1/contacts', body });
      if (status === 201 || status === 409) {
        contact.isAcknowledged = true;
        return true;
      }
      await Bun.sleep(REPEAT_MS);
    }
    return false;
  }

  async #tell(contact: string): Promise<void> {
    const idempotencyKey = randomUUID();
    const path = `/v1/contacts/${contact}/events`;
    for (let tried = 0; tried < TRIES; tried++) {
      const { status } = await this.ask({ method: 'POST', path, body: { name: 'go' }, idempotencyKey });
      if (status === 202) {
        this.parts.record.events++;
        return;
      }
      await Bun.sleep(REPEAT_MS);
    }
  }
}
