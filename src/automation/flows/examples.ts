import { EXAMPLE_FLOW } from '../../../machines/flow-run/example.ts';
import type { FlowVersionView, FlowView } from './definition/model.ts';
import type { FlowRunItemView, FlowRunView } from './runs/run-model.ts';

const AT = '2026-11-20T22:43:19.079Z';

export const FLOW: FlowView = {
  id: 'flw_01m7xj1rwzprnwr10308attx',
  livemode: true,
  name: 'Welcome',
  status: 'active',
  ...(EXAMPLE_FLOW as unknown as Omit<FlowVersionView, 'version' | 'createdAt' | 'publishedAt'>),
  version: 1,
  publishedVersion: 1,
  stats: {
    entered: 3,
    running: 0,
    waiting: 2,
    completed: 1,
    exited: 0,
    failed: 0,
    cancelled: 0,
    steps: [{ step: 'welcome', outcome: 'sent', count: 3 }],
  },
  behindSince: null,
  createdAt: AT,
  updatedAt: AT,
};

const {
  stats: _,
  behindSince: _behindSince,
  id: _id,
  livemode: _livemode,
  name: _name,
  status: _status,
  publishedVersion,
  updatedAt: _at,
  ...definition
} = FLOW;

export const VERSION: FlowVersionView = { ...definition, version: publishedVersion ?? 1, publishedAt: AT };

const RUN_ITEM: FlowRunItemView = {
  id: 'run_01m7xj1rwzprnwr10308attx',
  livemode: true,
  flowId: FLOW.id,
  flowVersion: 1,
  contactId: 'con_01m7xj1rwzprnwr10308attx',
  status: 'waiting',
  currentStep: 'twoDays',
  reason: null,
  wakesAt: '2026-11-22T22:43:19.079Z',
  startedAt: AT,
  endedAt: null,
  testClockId: null,
};

export const RUN: FlowRunView = {
  ...RUN_ITEM,
  log: [{ step: 'welcome', at: AT, outcome: 'sent', emailId: 'em_01m7xj1rwzprnwr10308attx' }],
};

/** A run in a list. */
export const RUNS: readonly FlowRunItemView[] = [RUN_ITEM];
