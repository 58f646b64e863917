import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { FlowStep } from '../../../machines/flow-run/definition.ts';
import { RequestError } from '../../../src/web/dashboard/web/application/api/requests.ts';
import {
  type Draft,
  KEPT_AFTER_END_MS,
  KEPT_MS,
  MOST_DRAFTS,
  outdatedIn,
} from '../../../src/web/dashboard/web/application/editing/draft.ts';
import { Edit } from '../../../src/web/dashboard/web/application/editing/edit.ts';
import { pick } from '../../../src/web/dashboard/web/application/editing/merge.ts';
import {
  withoutWebhookUrls,
  withWebhookUrls,
} from '../../../src/web/dashboard/web/application/pages/flows/webhook-urls.ts';

const MEMBERS = ['subject', 'from', 'source'] as const;
type Member = (typeof MEMBERS)[number];
type Texts = Readonly<Record<Member, string>>;
interface Stored {
  readonly updatedAt: string;
  readonly values: Texts;
}

/**
 * A service with one resource. It writes texts without blanks around them, and may lose an answer after it
 * has written.
 */
class OneResource {
  #count = 0;
  stored: Stored = { updatedAt: this.#moment(), values: { subject: 's', from: 'f', source: 'x' } };
  losesAnswers = false;

  #moment(): string {
    return new Date(Date.UTC(2026, 0, 1) + this.#count++).toISOString();
  }

  write(changed: Partial<Texts>, ifUpdatedAt: string): Stored {
    if (ifUpdatedAt !== this.stored.updatedAt)
      throw new RequestError(409, 'It has changed since you read it.');
    const trimmed = Object.fromEntries(Object.entries(changed).map(([name, text]) => [name, text.trim()]));
    this.stored = { updatedAt: this.#moment(), values: { ...this.stored.values, ...trimmed } };
    if (this.losesAnswers) throw new RequestError(0, 'The service is not reachable.');
    return this.stored;
  }

  edit(): Edit<Stored, Texts> {
    return new Edit<Stored, Texts>(this.stored, {
      read: ({ values }) => values,
      write: async (changed, ifUpdatedAt) => this.write(changed, ifUpdatedAt),
      reread: async () => this.stored,
    });
  }
}

/** The part of an edit that a page keeps, as `useEditing` does. */
function draftOf(edit: Edit<Stored, Texts>): Draft {
  const { values, changed, updatedAt } = edit.state();
  const sums = edit.sums();
  return { key: 'k', account: 'a', place: 'p', at: 0, updatedAt, values: pick(values, changed), sums };
}

describe('an edit', () => {
  test('saves what was changed and nothing else', async () => {
    const service = new OneResource();
    const [ada, eve] = [service.edit(), service.edit()];
    ada.set({ subject: 'Ada' });
    eve.set({ from: 'Eve' });
    expect((await ada.save())?.values).toEqual({ subject: 'Ada', from: 'f', source: 'x' });
    // The other one was faster, and nothing contradicts: it is saved upon what is there.
    expect((await eve.save())?.values).toEqual({ subject: 'Ada', from: 'Eve', source: 'x' });
    expect(eve.state()).toMatchObject({ values: service.stored.values, changed: [], isUnsaved: false });
    ada.absorb(service.stored);
    expect(ada.state().values).toEqual(service.stored.values);
  });

  test.each([
    ['mine', [], 'Eve'],
    ['theirs', ['subject'], 'Ada'],
  ] as const)('of what both have changed has both, until one is chosen: %s', async (_, theirs, chosen) => {
    const service = new OneResource();
    const [ada, eve] = [service.edit(), service.edit()];
    ada.set({ subject: 'Ada' });
    eve.set({ subject: 'Eve', source: 'Eve' });
    await ada.save();
    expect(await eve.save()).toBeNull();
    expect(service.stored.values).toEqual({ subject: 'Ada', from: 'f', source: 'x' });
    expect(eve.state()).toMatchObject({
      conflicts: ['subject'],
      isComparing: true,
      isUnsaved: true,
      values: { subject: 'Eve' },
      base: { subject: 'Ada' },
    });
    eve.resolve(theirs);
    expect((await eve.save())?.values).toEqual({ subject: chosen, from: 'f', source: 'Eve' });
  });

  test('keeps what was typed while it was being saved', async () => {
    const service = new OneResource();
    const edit = service.edit();
    edit.set({ subject: ' first ' });
    const saving = edit.save();
    edit.set({ source: 'second' });
    await saving;
    expect(edit.state().values).toEqual({ subject: 'first', from: 'f', source: 'second' });
    expect(edit.state().changed).toEqual(['source']);
  });

  test('whose answer was lost finds what it has written', async () => {
    const service = new OneResource();
    const edit = service.edit();
    edit.set({ subject: 'Ada' });
    service.losesAnswers = true;
    expect(await edit.save()).toBeNull();
    expect(edit.state()).toMatchObject({ isUnsaved: true, refused: { status: 0 } });
    service.losesAnswers = false;
    expect((await edit.save())?.values.subject).toBe('Ada');
    expect(edit.state()).toMatchObject({ isUnsaved: false, refused: null });
  });

  test('that was stored aside is unsaved again with the next key', async () => {
    const service = new OneResource();
    const edit = service.edit();
    edit.set({ subject: 'Ada' });
    await edit.saveAside(async () => ({ ...service.stored, updatedAt: service.stored.updatedAt }));
    expect(edit.state()).toMatchObject({ changed: ['subject'], isUnsaved: false });
    edit.set({ subject: 'Ada L' });
    expect(edit.state().isUnsaved).toBe(true);
  });

  test('takes up what another page has left, and compares what was changed elsewhere since', async () => {
    const service = new OneResource();
    const crashed = service.edit();
    crashed.set({ subject: 'Typed', source: 'Typed' });
    const draft = draftOf(crashed);
    service.write({ source: 'Theirs' }, service.stored.updatedAt);
    const edit = service.edit();
    expect(edit.offer(draft)).toBe(true);
    expect(edit.state().values).toEqual(service.stored.values);
    edit.restore();
    expect(edit.state()).toMatchObject({
      values: { subject: 'Typed', source: 'Typed', from: 'f' },
      conflicts: ['source'],
    });
    edit.resolve([]);
    expect((await edit.save())?.values).toEqual({ subject: 'Typed', from: 'f', source: 'Typed' });
    // A stored change is not offered.
    expect(service.edit().offer(draft)).toBe(false);
  });

  test('keeps a conflict that waits for its choice, wherever its draft is taken up', async () => {
    const service = new OneResource();
    const first = service.edit();
    first.set({ subject: 'Mine' });
    service.write({ subject: 'Theirs' }, service.stored.updatedAt);
    first.absorb(service.stored);
    expect(first.state().conflicts).toEqual(['subject']);
    const elsewhere = service.edit();
    elsewhere.offer(draftOf(first));
    elsewhere.restore();
    expect(elsewhere.state()).toMatchObject({ values: { subject: 'Mine' }, conflicts: ['subject'] });
    expect(await elsewhere.save()).toBeNull();
    expect(service.stored.values.subject).toBe('Theirs');
  });
});

type Act =
  | { readonly kind: 'type'; readonly who: number; readonly member: Member; readonly text: string }
  | { readonly kind: 'save' | 'hear' | 'crash'; readonly who: number }
  | { readonly kind: 'choose'; readonly who: number; readonly theirs: readonly Member[] };

const who = fc.integer({ min: 0, max: 2 });
const member = fc.constantFrom(...MEMBERS);
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant('type' as const), who, member, text: fc.constantFrom('a', 'b', 'c', ' d ') }),
  fc.record({ kind: fc.constantFrom('save' as const, 'hear' as const, 'crash' as const), who }),
  fc.record({ kind: fc.constant('choose' as const), who, theirs: fc.subarray([...MEMBERS]) }),
);

test('whatever three people do at once, nothing typed is lost and no change is taken back unseen', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
      const service = new OneResource();
      const edits = [service.edit(), service.edit(), service.edit()];
      for (const each of acts) {
        const edit = edits[each.who] as Edit<Stored, Texts>;
        const before = edit.state();
        const stored = service.stored.values;
        if (each.kind === 'type') edit.set({ [each.member]: each.text });
        if (each.kind === 'hear') edit.absorb(service.stored);
        if (each.kind === 'save') await edit.save();
        if (each.kind === 'choose')
          edit.resolve(each.theirs.filter((name) => before.conflicts.includes(name)));
        if (each.kind === 'crash') {
          const opened = service.edit();
          if (opened.offer(draftOf(edit))) opened.restore();
          edits[each.who] = opened;
        }
        const after = (edits[each.who] as Edit<Stored, Texts>).state();
        for (const name of MEMBERS) {
          // Typed text is on the screen, or stored, or was given up for theirs.
          const isGivenUp = each.kind === 'choose' && each.theirs.includes(name);
          if (before.changed.includes(name) && each.kind !== 'type' && !isGivenUp)
            expect(after.values[name].trim()).toBe(before.values[name].trim());
          // A save writes what its author has changed, upon what its author has seen.
          if (service.stored.values[name] !== stored[name]) {
            expect(each.kind).toBe('save');
            expect(before.changed).toContain(name);
            expect(before.base[name]).toBe(stored[name]);
          }
        }
      }
      for (const edit of edits) {
        edit.resolve([...MEMBERS]);
        edit.absorb(service.stored);
        edit.resolve([...MEMBERS]);
        await edit.save();
      }
      for (const edit of edits) {
        edit.absorb(service.stored);
        expect(edit.state().values).toEqual(service.stored.values);
      }
    }),
    { seed: 59, numRuns: 400 },
  );
});

test('as many drafts are kept as there is room for, the latest ones, for thirty days', () => {
  const now = KEPT_MS * 3;
  const recent = Array.from({ length: MOST_DRAFTS + 2 }, (_, at) => ({ key: `${at}`, at: now - at }));
  expect(outdatedIn(recent, now)).toEqual([`${MOST_DRAFTS}`, `${MOST_DRAFTS + 1}`]);
  const old = { key: 'old', at: now - KEPT_MS - 1 };
  expect(outdatedIn([old, { key: 'new', at: now - KEPT_MS }], now)).toEqual(['old']);
  const ended = (key: string, endedAt: number) => ({ key, at: now, endedAt });
  expect(
    outdatedIn([ended('a', now - KEPT_AFTER_END_MS), ended('b', now - KEPT_AFTER_END_MS + 1)], now),
  ).toEqual(['a']);
});

test('a draft of a flow leaves out the URLs of its webhooks, and takes them from the stored flow', () => {
  const tell = (key: string, url: string): FlowStep => ({ key, type: 'webhook', config: { url } });
  const stop: FlowStep = { key: 'stop', type: 'exit', config: {} };
  const typed = [
    tell('tell', 'https://a.example/?token=new'),
    tell('more', 'https://b.example/?token=x'),
    stop,
  ];
  const kept = withoutWebhookUrls(typed);
  expect(JSON.stringify(kept)).not.toContain('example');
  expect(withWebhookUrls(kept, [stop, tell('tell', 'https://a.example/?token=stored')])).toEqual([
    tell('tell', 'https://a.example/?token=stored'),
    tell('more', ''),
    stop,
  ]);
});
