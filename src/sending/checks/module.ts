import type { Module } from '../../http/module.ts';
import { type FoundProblem, SHOWN_BY_GMAIL } from '../../mail/check/codes.ts';
import type { WebhooksApi } from '../webhooks/api.ts';
import type { ChecksApi } from './api.ts';
import { type AskServices, askFor, checkTurns } from './ask.ts';
import { spamProblems } from './spam.ts';

/** The functions of other modules that checks need. */
interface CheckNeeds extends Pick<AskServices, 'ownImages'> {
  prober(): WebhooksApi['prober'];
}

/** Checks of messages before they are sent, for templates, campaigns and captured mail. */
export const checksModule: Module<object, CheckNeeds, ChecksApi> = {
  name: 'checks',
  open({ config: { publicUrl }, mailReader, spamAssassin }) {
    const turns = checkTurns();
    return {
      connect: (_, { prober, ownImages }) => ({
        api: {
          async check({ workspaceId, looked: message, clippedAt, raw }) {
            const looked = await mailReader.look({ ...message, ownUrl: `${publicUrl}/` }, workspaceId);
            if (looked === null) return [UNREAD];
            const services = { prober: prober(), turns, ownImages, ownUrl: `${publicUrl}/` };
            const [asked, spam] = await Promise.all([
              askFor(services, looked, { workspaceId, isFinished: message.as === 'finished' }),
              spamAssassin === null ? [] : raw().then((octets) => spamProblems(spamAssassin, octets)),
            ]);
            return [...clipped(message.html, clippedAt), ...looked.problems, ...asked, ...spam];
          },
        },
        deps: {},
      }),
    };
  },
};

const UNREAD: FoundProblem = {
  code: 'not_checked',
  message: 'The html takes too long to read, for mail programs as well. Make it simpler.',
  at: null,
};

function clipped(html: string | null, most: number): FoundProblem[] {
  const octets = Buffer.byteLength(html ?? '');
  if (octets <= most) return [];
  return [
    {
      code: 'clipped',
      message: `The html has ${octets.toLocaleString('en')} octets: Gmail shows the first ${SHOWN_BY_GMAIL.toLocaleString('en')} and hides the rest, with the link to unsubscribe${octets <= SHOWN_BY_GMAIL ? '. Tracked links and personal values make it longer' : ''}. Take out styles and comments that nothing needs, or write less.`,
      at: null,
    },
  ];
}
