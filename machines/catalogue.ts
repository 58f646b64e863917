import type { AnyStateMachine } from 'xstate';
import { apiKeyMachine } from './api-key.ts';
import { domainMachine } from './domain.ts';
import { emailMachine } from './email.ts';
import { webhookDeliveryMachine } from './webhook-delivery.ts';
import { webhookEndpointMachine } from './webhook-endpoint.ts';

/** A machine with what a reader should know before its diagram. */
export interface Lifecycle {
  /** As it is asked for on the command line. */
  readonly name: string;
  readonly about: string;
  readonly machine: AnyStateMachine;
}

/** Every lifecycle of the service, in reading order. */
export const lifecycles: readonly Lifecycle[] = [
  {
    name: 'email',
    about: 'One email from acceptance to its last outcome. The `status` of the API is the state.',
    machine: emailMachine,
  },
  {
    name: 'apiKey',
    about: 'An API key, which lives until it is revoked.',
    machine: apiKeyMachine,
  },
  {
    name: 'domain',
    about: 'A sending domain and the proof that it is yours. The `status` of the API is the state.',
    machine: domainMachine,
  },
  {
    name: 'webhookEndpoint',
    about: 'A webhook endpoint and its health. The `status` of the API is the state.',
    machine: webhookEndpointMachine,
  },
  {
    name: 'webhookDelivery',
    about:
      'One event on its way to one endpoint. The `status` of the API is the state; `posting` is reported as `scheduled`.',
    machine: webhookDeliveryMachine,
  },
];
