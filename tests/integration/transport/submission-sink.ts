import type { SmtpServer, SmtpServerLimits } from '../../../src/mail/inbound/smtp-server.ts';
import type { SubmittedEnvelope } from '../../../src/mail/submission/envelope.ts';
import {
  openSubmissionServer,
  type SubmissionServerOptions,
} from '../../../src/mail/submission/submission-server.ts';
import { SmtpClient } from './smtp-client.ts';

/** A message as the submission port handed it on. */
interface Submitted {
  readonly raw: string;
  readonly envelope: SubmittedEnvelope;
}

/** A submission port that takes every message and keeps it. */
export interface SubmissionSink {
  readonly server: SmtpServer;
  /** In the order of their coming; a test may empty it. */
  readonly submitted: Submitted[];
  /** A session that has signed in, for that workspace. */
  signedIn(workspaceId?: string): Promise<SmtpClient>;
}

const signIn = (key: string): string => `AUTH PLAIN ${Buffer.from(`\0svc\0${key}`).toString('base64')}`;

/**
 * Opens one. `room` is the memory (octets) for messages that are arriving; `reading` is awaited while one is
 * read for a workspace.
 */
export async function openSubmissionSink(
  room: number,
  reading: (octets: number, workspaceId: string) => Promise<void> = async () => {},
  limits: Partial<SmtpServerLimits> = {},
  { mailRoom, silence }: Partial<Pick<SubmissionServerOptions, 'mailRoom' | 'silence'>> = {},
): Promise<SubmissionSink> {
  const submitted: Submitted[] = [];
  let last = '';
  const server = await openSubmissionServer({
    host: '127.0.0.1',
    port: 0,
    name: 'relay.test',
    tls: null,
    onError: () => {},
    limits: { memory: { total: room, each: room }, ...limits },
    ...(mailRoom && { mailRoom }),
    ...(silence && { silence }),
    mailReader: {
      submission: async (raw, _recipients, workspaceId) => {
        await reading(raw.length, workspaceId);
        last = raw.toString('latin1');
        return { email: { from: 'a@sender.example', to: [] }, idempotencyKey: null };
      },
    },
    onKey: async (workspaceId) => ({ workspaceId }),
    onSubmit: async (_key, _submission, _session, envelope) => {
      submitted.push({ raw: last, envelope });
      return { id: 'em_1' };
    },
  });
  return {
    server,
    submitted,
    async signedIn(workspaceId = 'ws_1') {
      const client = await SmtpClient.open(server.port);
      await client.say('EHLO client.test');
      await client.say(signIn(workspaceId));
      return client;
    },
  };
}

/** The first line of the reply to a command. */
export const firstLine = async (client: SmtpClient, command: string): Promise<string> =>
  (await client.say(command))[0] ?? '';
