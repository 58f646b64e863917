import { describe, expect, test } from 'bun:test';
import { emailMachine } from '../../machines/email.ts';
import { transientStates } from '../../src/drawing/arrows.ts';
import { draw } from '../../src/drawing/moves.ts';
import { explainEmail } from '../../src/modules/emails/explain.ts';

const drawing = draw(emailMachine);
const context = {
  at: 0,
  livemode: true,
  acceptedAt: 0,
  scheduledAt: null,
  admitted: true,
  attempt: 2,
  leaseMs: 10_000,
  patienceMs: 259_200_000,
  firstAttemptAt: 0,
  backoffMs: [1_000],
  recipients: [{ status: 'pending', lastEvent: null, reason: null, simulate: null }],
  failureReason: 'expired',
  lastEvent: null,
  sentAt: null,
  deliveredAt: null,
};
const told = (state: string, event = 'spawned') =>
  explainEmail({
    state,
    context,
    timers: { 'xstate.after.backoff.email.deferred': 5_000 },
    steps: [{ revision: 1, event, from: null, to: state, at: 1, attempt: 2, effects: [] }],
  } as never);

describe('explaining an email', () => {
  test('in every state that is stored, differently', () => {
    const stored = drawing.states
      .map(({ name }) => name)
      .filter((name) => !transientStates(drawing).includes(name));
    const summaries = stored.map((state) => told(state).summary);
    expect(new Set(summaries).size).toBe(stored.length);
    expect(summaries.join()).not.toContain('does not know');
  });

  test('event by event, for everything that the machine takes', () => {
    const causes = new Set(
      drawing.moves.flatMap(({ cause }) => (cause === null ? [] : [cause.replace(' ', '.')])),
    );
    for (const cause of causes)
      expect(told('sending', cause).evidence[0]?.text).not.toContain(`${cause} led to`);
  });

  test('with what comes next and when', () => {
    expect(told('deferred').next).toMatchObject({ at: 5_000 });
    expect(told('failed').summary).toContain('patience');
  });
});
