import { joinAudience, leaveAudience } from '../../src/audience/audiences/commands.ts';
import { eventually } from './eventually.ts';
import type { LiveService } from './live-service.ts';

/** A recipient of a campaign or a flow. */
export interface Person {
  readonly id: string;
  readonly email: string;
}

/** An act, or what looks like one: what is done, and why nothing is sent then; null where mail goes on. */
export interface TriedAct {
  readonly reason: string | null;
  /** True when it is about the audience alone. */
  readonly isOfAudience?: true;
  does(world: ActWorld, person: Person): Promise<unknown>;
}

/** The services that acts need. */
export interface ActWorld {
  readonly service: LiveService;
  readonly workspaceId: string;
  readonly audienceId: string;
}

const ok = async (answer: Promise<{ readonly status: number; readonly body: unknown }>): Promise<void> => {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
};

/** The verdict of a report about another email on the address. */
async function reported({ service }: ActWorld, { email }: Person, report: object): Promise<void> {
  const id = await service.send({ to: email, subject: 'Receipt' });
  await service.until(id, ({ status }) => status === 'delivered');
  const event = { type: 'report.received', at: service.service.clock.now() };
  const told = await service.service.engine.tell('email', id, {
    ...event,
    report: { recipient: 0, data: {}, ...report },
  } as never);
  if (told.outcome !== 'changed') throw new Error(told.outcome);
}

const membershipOf = ({ service, workspaceId, audienceId }: ActWorld, { id: contactId }: Person) => ({
  workspaceId,
  audienceId,
  contactId,
  livemode: true,
  now: service.service.clock.now(),
});
const patch = ({ service }: ActWorld, { id }: Person, body: object) =>
  ok(service.live.patch(`/v1/contacts/${id}`, body));
const remove = ({ service, audienceId }: ActWorld, { id }: Person) =>
  ok(service.live.delete(`/v1/audiences/${audienceId}/contacts/${id}`));
const leave = (world: ActWorld, person: Person) =>
  leaveAudience(world.service.service.database, {
    ...membershipOf(world, person),
    own: { source: 'preference page' },
  });
/** A consent of this moment: an older one does not undo a leaving. */
const consentIn = ({ service }: ActWorld) => ({
  source: 'form',
  at: new Date(service.service.clock.now()).toISOString(),
});

/** Every act by which mail ends, and everything that is none. */
export const ACTS: Readonly<Record<string, TriedAct>> = {
  'unsubscribes by the API': {
    reason: 'unsubscribed',
    does: (world, person) => patch(world, person, { status: 'unsubscribed' }),
  },
  'is suppressed by hand': {
    reason: 'suppressed',
    does: ({ service }, { email }) => ok(service.live.post('/v1/suppressions', { address: email })),
  },
  'is suppressed by hand as unsubscribed': {
    reason: 'unsubscribed',
    does: ({ service }, { email }) =>
      ok(service.live.post('/v1/suppressions', { address: email, reason: 'unsubscribed' })),
  },
  complains: {
    reason: 'complained',
    does: (world, person) => reported(world, person, { type: 'complained' }),
  },
  'has a dead address': {
    reason: 'bounced',
    does: (world, person) => reported(world, person, { type: 'bounced', permanent: true }),
  },
  'is deleted': {
    reason: 'forgotten',
    does: ({ service }, { id }) => ok(service.live.delete(`/v1/contacts/${id}`)),
  },
  'is deleted and added again': {
    reason: 'forgotten',
    async does({ service }, { id, email }) {
      await ok(service.live.delete(`/v1/contacts/${id}`));
      await ok(service.live.post('/v1/contacts', { email }));
    },
  },
  'leaves the audience': { reason: 'unsubscribed', isOfAudience: true, does: leave },
  'is taken out of the audience': { reason: 'removed', isOfAudience: true, does: remove },
  'is taken out, and leaves then': {
    reason: 'unsubscribed',
    isOfAudience: true,
    async does(world, person) {
      await remove(world, person);
      await leave(world, person);
    },
  },
  'leaves and joins again': {
    reason: null,
    async does(world, person) {
      await leave(world, person);
      await joinAudience(world.service.service.database, {
        ...membershipOf(world, person),
        onlyPending: false,
      });
    },
  },
  'is taken out and added again': {
    reason: null,
    async does(world, person) {
      await remove(world, person);
      const { service, audienceId } = world;
      await ok(service.live.post(`/v1/audiences/${audienceId}/contacts`, { contactIds: [person.id] }));
    },
  },
  'unsubscribes and agrees again': {
    reason: null,
    async does(world, person) {
      await patch(world, person, { status: 'unsubscribed' });
      await patch(world, person, { status: 'subscribed', consent: consentIn(world) });
    },
  },
  'is suppressed and let in again': {
    reason: null,
    async does({ service }, { email }) {
      await ok(service.live.post('/v1/suppressions', { address: email }));
      await ok(service.live.delete(`/v1/suppressions/${email}`));
    },
  },
  'is in no row of the audience any more': {
    reason: null,
    does: ({ service, audienceId }, { id }) =>
      service.service.database.query(
        'delete from audience_members where audience_id = $1 and contact_id = $2',
        [audienceId, id],
      ),
  },
  'has another name': { reason: null, does: (world, person) => patch(world, person, { firstName: 'Ada' }) },
  'unsubscribes in the test environment': {
    reason: null,
    async does({ service }, { email }) {
      await ok(service.test.post('/v1/contacts', { email }));
      await ok(service.test.patch(`/v1/contacts/${email}`, { status: 'unsubscribed' }));
    },
  },
};

/** Contacts, one for each act, in the order of their names. */
export async function peopleFor(
  { live }: Pick<LiveService, 'live'>,
  acts: readonly string[],
  name: string,
): Promise<ReadonlyMap<string, Person>> {
  const people = new Map<string, Person>();
  for (const [place, act] of acts.entries()) {
    const email = `${name}-${place}@people.example`;
    // A contact that is made in the same millisecond as another has no place before or behind it.
    await eventually('the next millisecond', () => Date.now() > last || undefined, { everyMs: 1 });
    last = Date.now();
    const { body } = await live.post('/v1/contacts', { email, firstName: name });
    people.set(act, { id: body.data.id, email });
  }
  return people;
}
let last = 0;
