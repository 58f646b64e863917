import { expect, test } from 'bun:test';
import type { Findings } from '../../src/mail/check/look.ts';
import { type AskServices, askFor, checkTurns } from '../../src/sending/checks/ask.ts';
import type { ProbeOrder, ProbeResult } from '../../src/sending/webhooks/http/prober.ts';

const GOOD: ProbeResult = { status: 200, contentType: 'image/png', size: 1 };
const asking = (probe: (order: ProbeOrder) => Promise<ProbeResult | null>): AskServices => ({
  prober: { probe },
  turns: checkTurns(),
  ownImages: async () => new Map([['https://mail.example/images/a.png', 1]]),
  ownUrl: 'https://mail.example/',
});
const scope = { workspaceId: 'ws_1', isFinished: false };
const found = (links: readonly string[], images: readonly string[] = []): Findings => {
  const places = (urls: readonly string[]) => urls.map((url) => ({ url, at: 0 }));
  return { problems: [], links: places(links), images: places(images), leftOut: 0 };
};
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `https://a.example/${index}`);

test('an image of this service is looked for only where its images are', async () => {
  const asked: string[] = [];
  const own = ['images/a.png', 'images/gone.png', 't/o/pixel', 'logos/ws.png'];
  const problems = await askFor(
    asking(async ({ url }) => {
      asked.push(url);
      return GOOD;
    }),
    found([], [...own.map((path) => `https://mail.example/${path}`), 'https://a.example/b.png']),
    scope,
  );
  expect(problems.map(({ code, message }) => `${code} ${message.slice(0, 47)}`)).toEqual([
    'image_dead The image https://mail.example/images/gone.png ',
  ]);
  expect(asked).toEqual(['https://a.example/b.png']);
});

test('an image of this service is found by its origin, however it is written', async () => {
  const own = ['https://MAIL.example/images/a.png', 'https://mail.example:443/images/gone.png'];
  const problems = await askFor(
    asking(() => Promise.reject(new Error('No one is asked.'))),
    found([], own),
    scope,
  );
  expect(problems.map(({ code, message }) => `${code} ${message.slice(0, 51)}`)).toEqual([
    'image_dead The image https://mail.example:443/images/gone.png ',
  ]);
});

test('an address with a password is not asked for, and told without it', async () => {
  const url = 'https://ada:se@cret@a.example/x?to=b@c.example';
  const problems = await askFor(
    asking(() => Promise.reject(new Error('No one is asked.'))),
    found([url], [url]),
    scope,
  );
  const rest =
    'https://a.example/x?to=b@c.example was not asked for, because it has a user name or a password, which each reader would get. Take them out of it.';
  expect(problems.map(({ code, message }) => [code, message])).toEqual([
    ['link_in_doubt', rest],
    ['link_in_doubt', `The image ${rest}`],
  ]);
});

test('a host gets twenty requests for a message, and no further one is followed', async () => {
  let asked = 0;
  const services = asking(async ({ url, mayAsk }) => {
    if (!mayAsk?.(new URL(url).host)) return null;
    asked++;
    return GOOD;
  });
  expect(await askFor(services, found(numbered(20)), scope)).toEqual([]);
  const [problem, ...more] = await askFor(services, found([...numbered(21), 'https://b.example/']), scope);
  expect(more).toEqual([]);
  expect(problem?.code).toBe('links_left_out');
  expect(problem?.message).toStartWith('1 links and images were not followed');
  expect(asked).toBe(41);
});

test('two checks of a workspace run at once, and those of another one beside them', async () => {
  const answers: (() => void)[] = [];
  const begun: string[] = [];
  const services = asking(({ url, workspaceId, onlyHead }) => {
    begun.push(`${workspaceId} ${url.slice(-1)} ${onlyHead}`);
    return new Promise((resolve) => answers.push(() => resolve(GOOD)));
  });
  const check = (path: string, workspaceId = 'ws_1', isFinished = false) =>
    askFor(services, found([`https://a.example/${path}`]), { workspaceId, isFinished });
  const all = [check('1'), check('2'), check('3'), check('4', 'ws_2', true)];
  await new Promise(setImmediate);
  expect(begun).toEqual(['ws_1 1 false', 'ws_1 2 false', 'ws_2 4 true']);
  for (const answer of answers.splice(0)) answer();
  await new Promise(setImmediate);
  expect(begun.at(-1)).toBe('ws_1 3 false');
  for (const answer of answers) answer();
  expect(await Promise.all(all)).toEqual([[], [], [], []]);
});
