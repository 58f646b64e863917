import { eq } from 'drizzle-orm';
import type { FlowRunContext, FlowRunEvent, LogLine } from '../../../../machines/flow-run/context.ts';
import type { FlowDefinition, FlowStep } from '../../../../machines/flow-run/definition.ts';
import { compileFlow } from '../../../../machines/flow-run/machine.ts';
import type { Scope } from '../../../audience/contacts/queries.ts';
import { nameOf } from '../../../audience/contacts/queries.ts';
import { SHOWN_PREFERENCES } from '../../../audience/preferences/queries.ts';
import { Decider, type Decision, earliest } from '../../../engine/machine/decide.ts';
import type { Call } from '../../../http/request/route.ts';
import { textPartOf } from '../../../mail/content/text-part.ts';
import { workspaces } from '../../../platform/db/schema/workspaces.ts';
import { Failure, invalid } from '../../../platform/errors/failure.ts';
import { Problems } from '../../../platform/filters/condition.ts';
import { eachField } from '../../../platform/text/contact-fields.ts';
import { readLanguage } from '../../../platform/text/language.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import type { AcceptanceDeps } from '../../../sending/emails/accept.ts';
import { readFlowFilter } from '../definition/filters.ts';
import { problemsOf, type Validator } from '../definition/validate.ts';
import { NO_FLOW } from '../queries.ts';
import { zoneOf } from '../runs/run-reader.ts';
import { contactOf } from '../runs/steps.ts';
import { LEASE_MS } from '../runs/take-step.ts';
import { findFlow } from '../store.ts';
import {
  LONGEST_WALK_MS,
  MOST_MAIL_LENGTH,
  MOST_MAILS,
  MOST_WALKED,
  type SimulateBody,
  type SimulationView,
} from './simulation-model.ts';
import { momentAfter, momentProblems } from './simulation-moments.ts';
import { type VirtualContact, virtualContact } from './virtual-contact.ts';

/** The services that a simulation calls. It sends nothing, and changes nothing. */
export interface Simulator extends Validator {
  readonly fillTemplate: AcceptanceDeps['fillTemplate'];
  readonly clock: Pick<Clock, 'monotonic'>;
  /** This service's own address, without a slash at its end. */
  readonly publicUrl: string;
}

/** Walks a contact through the last written version of a flow, in simulated time. */
export async function simulateFlow(
  simulator: Simulator,
  { caller, params, body, now }: Call<{ readonly id: string }, unknown, SimulateBody>,
): Promise<SimulationView | Failure> {
  const { database } = simulator;
  const flow = await findFlow(database, caller, params.id);
  if (!flow) return NO_FLOW;
  const problems = await problemsOf(simulator, caller, flow.definition);
  if (problems.length > 0) return invalid(problems);
  const start = body.startAt === undefined ? now : Date.parse(body.startAt);
  const [row] = await database.read((orm) =>
    orm
      .select({ timeZone: workspaces.timeZone })
      .from(workspaces)
      .where(eq(workspaces.id, caller.workspaceId)),
  );
  const zone = row?.timeZone ?? 'UTC';
  const { events = [] } = body;
  const beyond = momentProblems(body, start, zone);
  if (beyond.length > 0) return invalid(beyond);
  const contact = await virtualContact(database, caller, body.contact, start);
  if (contact instanceof Failure) return contact;
  return new SimulationWalk(simulator, caller, flow.definition, contact, { start, zone, events }).walk();
}

type EventInput = NonNullable<SimulateBody['events']>[number];

/** The events of a simulation besides those of the flow. */
interface SimulationInput {
  readonly start: number;
  readonly zone: string;
  readonly events: readonly EventInput[];
}

/** An event of the contact at its moment. */
interface ContactEvent {
  readonly at: number;
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

type Mail = SimulationView['path'][number]['email'];

/** One simulated run: the machine is that of real runs, and so are the filters and the templates. */
class SimulationWalk {
  #contact: VirtualContact;
  readonly #path: SimulationView['path'] = [];
  readonly #decider: Decider;
  #coming: readonly ContactEvent[];
  #begunBy: ContactEvent | null = null;
  /** Numbers the events as the log does. */
  #position = 0;
  #mail: Mail = null;
  readonly #rendered = { mails: 0, length: 0 };

  constructor(
    private readonly simulator: Simulator,
    private readonly scope: Scope,
    private readonly definition: FlowDefinition,
    contact: VirtualContact,
    private readonly surroundings: SimulationInput,
  ) {
    this.#contact = contact;
    this.#decider = new Decider(compileFlow(definition));
    this.#coming = surroundings.events
      .map(({ name, properties = {}, after }) => ({
        at: momentAfter(surroundings.start, after, this.#zone),
        name,
        properties,
      }))
      .toSorted((a, b) => a.at - b.at);
  }

  async walk(): Promise<SimulationView> {
    const { trigger } = this.definition;
    if (trigger.type === 'event') {
      const first = this.#coming.find(({ name }) => name === trigger.name);
      this.#begunBy = first ?? { at: this.surroundings.start, name: trigger.name, properties: {} };
      this.#coming = this.#coming.filter((one) => one !== first);
    }
    const start = this.#begunBy?.at ?? this.surroundings.start;
    if (!(await this.#holds(trigger.filter, start))) return this.#ended('notStarted', start);
    const timeZone = this.#zone;
    const input = {
      at: start,
      leaseMs: LEASE_MS,
      contactId: '',
      timeZone,
      occurrence: null,
      seen: '0',
      depth: 0,
    };
    const end = this.simulator.clock.monotonic() + LONGEST_WALK_MS;
    let decision = this.#decider.begin(input, start);
    this.#note(decision);
    while ((decision.snapshot.context as FlowRunContext).endedAt === null) {
      if (this.#isLeftOff(decision, end)) return this.#ended('unfinished', atOf(decision));
      const event = await this.#next(decision);
      const next = event && this.#decider.next(decision, event);
      if (!next) continue;
      this.#note(next);
      decision = next;
    }
    const { status, endedAt } = decision.snapshot.context as FlowRunContext;
    return this.#ended(status as SimulationView['endedAs'], endedAt ?? atOf(decision));
  }

  /** A walk costs as much as its steps and mails do, and one request must not cost without end. */
  #isLeftOff({ snapshot }: Decision, end: number): boolean {
    const step = this.definition.steps.find(({ key }) => key === snapshot.value);
    const { mails, length } = this.#rendered;
    const isFull = mails >= MOST_MAILS || length >= MOST_MAIL_LENGTH;
    return (
      this.#path.length >= MOST_WALKED ||
      this.simulator.clock.monotonic() >= end ||
      (step?.type === 'sendEmail' && isFull)
    );
  }

  get #zone(): string {
    return zoneOf(this.#contact.properties, this.surroundings.zone);
  }

  /**
   * The next thing to happen: a step is done, the contact does something, or a wait ends. Null where the run
   * takes none.
   */
  async #next(
    decision: Decision,
  ): Promise<FlowRunEvent | { readonly type: string; readonly at: number } | null> {
    const context = decision.snapshot.context as FlowRunContext;
    const step = this.definition.steps.find(({ key }) => key === decision.snapshot.value);
    if (context.status === 'running' && step) return this.#done(step, context);
    const due = earliest(decision.timers) ?? Number.POSITIVE_INFINITY;
    const [coming] = this.#coming;
    if (!coming || coming.at > due) {
      const type = Object.keys(decision.timers).find((id) => decision.timers[id] === due) ?? '';
      return { type, at: due };
    }
    this.#coming = this.#coming.slice(1);
    return this.#came(coming, context, step);
  }

  async #came(
    coming: ContactEvent,
    context: FlowRunContext,
    step: FlowStep | undefined,
  ): Promise<FlowRunEvent | null> {
    const at = Math.max(coming.at, context.at);
    this.#remember({ type: 'event', subject: coming.name, at });
    this.#position++;
    if (await this.#isOver(at)) return { type: 'exit.requested', at, reason: 'goal' };
    if (step?.type !== 'waitForEvent' || step.config.name !== coming.name) return null;
    if (!(await this.#holds(step.config.filter, at, coming))) return null;
    return { type: 'event.came', at, name: coming.name, position: String(this.#position) };
  }

  async #done(step: FlowStep, { visit, at }: FlowRunContext): Promise<FlowRunEvent> {
    if (await this.#isOver(at)) return { type: 'exit.requested', at, reason: 'goal' };
    const { way = 'default', outcome } = await this.#work(step, at);
    return { type: 'step.done', at, visit, way, outcome, emailId: null, timeZone: this.#zone };
  }

  async #work(step: FlowStep, at: number): Promise<{ readonly way?: string; readonly outcome: string }> {
    switch (step.type) {
      case 'sendEmail':
        return this.#send(step.config, at);
      case 'condition': {
        const way = (await this.#holds(step.config.filter, at)) ? 'met' : 'notMet';
        return { way, outcome: way };
      }
      case 'branch':
        for (const { key, filter } of step.config.branches)
          if (await this.#holds(filter, at)) return { way: key, outcome: key };
        return { outcome: 'default' };
      case 'updateContact': {
        const { properties = {}, ...texts } = step.config;
        const merged = Object.entries({ ...this.#contact.properties, ...properties });
        this.#contact = {
          ...this.#contact,
          ...eachField((name) => (texts[name] === undefined ? this.#contact[name] : nameOf(texts[name]))),
          properties: Object.fromEntries(merged.filter(([, value]) => value !== null)),
          updatedAt: at,
        };
        return { outcome: 'updated' };
      }
      case 'addToAudience':
        this.#contact = { ...this.#contact, audiences: [...this.#contact.audiences, step.config.audienceId] };
        return { outcome: 'added' };
      case 'removeFromAudience': {
        const { audienceId } = step.config;
        this.#contact = {
          ...this.#contact,
          audiences: this.#contact.audiences.filter((id) => id !== audienceId),
        };
        return { outcome: 'removed' };
      }
      default:
        return { outcome: 'posted' };
    }
  }

  async #send(
    { templateId, variables = {}, subject, language }: (FlowStep & { readonly type: 'sendEmail' })['config'],
    at: number,
  ): Promise<{ readonly outcome: string }> {
    const { status } = this.#contact;
    const { fillTemplate, publicUrl } = this.simulator;
    if (status !== 'subscribed') return { outcome: `skipped: ${status}` };
    const filled = await fillTemplate({
      owner: this.scope,
      name: templateId,
      values: variables,
      now: at,
      at: '',
      language: language === undefined ? null : readLanguage(language),
      circumstances: {
        contact: contactOf(this.#contact),
        event: this.#begunBy?.properties ?? {},
        preferencesUrl: publicUrl + SHOWN_PREFERENCES,
      },
    });
    if (filled instanceof Failure) {
      const [first] = filled.extra.details ?? [];
      return { outcome: `skipped: ${first?.message ?? filled.message}` };
    }
    const { html } = filled;
    const text = textPartOf(filled);
    this.#mail = { subject: subject ?? filled.subject, html, text };
    this.#rendered.mails++;
    this.#rendered.length += (html?.length ?? 0) + (text?.length ?? 0);
    for (const type of ['sent', 'delivered']) this.#remember({ type, subject: null, at });
    return { outcome: 'sent' };
  }

  #remember(entry: Pick<VirtualContact['activity'][number], 'type' | 'subject' | 'at'>): void {
    const activity = [{ ...entry, campaignId: null, byMachine: false }, ...this.#contact.activity];
    this.#contact = { ...this.#contact, activity };
  }

  async #isOver(at: number): Promise<boolean> {
    const { exitWhen } = this.definition;
    return exitWhen !== null && exitWhen !== undefined && this.#holds(exitWhen, at);
  }

  async #holds(value: unknown, at: number, coming = this.#begunBy): Promise<boolean> {
    if (value === undefined || value === null) return true;
    const filter = await readFlowFilter(this.simulator.database, this.scope, value);
    if (filter instanceof Problems) return false;
    return filter.matches({ ...this.#contact, event: coming?.properties ?? {} }, at);
  }

  #note({ effects }: Decision): void {
    for (const { type, params } of effects) {
      if (type !== 'log') continue;
      const { step, at, outcome } = params as LogLine;
      this.#path.push({ step, at: new Date(at).toISOString(), outcome, email: this.#mail });
      this.#mail = null;
    }
  }

  #ended(endedAs: SimulationView['endedAs'], at: number): SimulationView {
    return { path: this.#path, endedAs, endsAt: new Date(at).toISOString() };
  }
}

const atOf = ({ snapshot }: Decision): number => (snapshot.context as FlowRunContext).at;
