import type { ChangeNote, Module } from '../../http/module.ts';
import { rarely } from '../../platform/telemetry/rarely.ts';
import { requestLogPruner, requestLogTrimmer } from './pruners.ts';
import type { RequestLogReader } from './queries.ts';
import { RequestRecorder } from './recorder.ts';
import { requestLogRoutes } from './routes.ts';

/** The functions that the log takes from other modules. */
interface RequestLogNeeds {
  readonly noteChange: (note: ChangeNote) => void;
}

/** The log of requests with API keys. */
export const requestLogModule: Module<RequestLogReader, RequestLogNeeds> = {
  name: 'request-log',
  tags: [{ segment: 'requests', name: 'Requests', description: 'The latest requests of API keys.' }],
  routes: requestLogRoutes,
  open: ({ database, reads, clock, config, logger, metrics }) => ({
    connect: (_, { noteChange }) => {
      const recorder = new RequestRecorder({
        database,
        noteChange,
        warn: rarely(logger, () => clock.monotonic()),
      });
      metrics?.watch(
        'posthorn_request_log_dropped_total',
        'Requests of API keys that are in no log; busy: there were too many in a second, database: it did not take them.',
        ['reason'],
        () => Object.entries(recorder.dropped).map(([reason, value]) => ({ labels: { reason }, value })),
      );
      return {
        api: undefined,
        deps: { reads },
        duties: [requestLogTrimmer({ database }, recorder), requestLogPruner({ database, clock, config })],
        noteRequest: (answered) => recorder.note(answered),
        close: () => recorder.close(),
      };
    },
  }),
};
