import type { AnyStateMachine } from 'xstate';
import { API_KEY_STATES, apiKeyMachine } from './api-key/machine.ts';
import { CAMPAIGN_STATES, campaignMachine } from './campaign/machine.ts';
import { CONTACT_IMPORT_STATES, contactImportMachine } from './contact-import/machine.ts';
import { DOMAIN_STATES, domainMachine } from './domain/machine.ts';
import { EMAIL_STATES, emailMachine } from './email/machine.ts';
import { FLOW_RUN_STATES, flowRunMachine } from './flow-run/machine.ts';
import { RECEIVED_STATES, receivedMachine } from './received/machine.ts';
import { WEBHOOK_DELIVERY_STATES, webhookDeliveryMachine } from './webhook-delivery/machine.ts';
import { WEBHOOK_ENDPOINT_STATES, webhookEndpointMachine } from './webhook-endpoint/machine.ts';

/** A machine with a sentence for the reader of its diagram. */
export interface Lifecycle {
  /** The name on the command line. */
  readonly name: string;
  readonly about: string;
  readonly machine: AnyStateMachine;
  /** The states that its actors are stored in. */
  readonly states: readonly string[];
}

/** Every lifecycle of the service by its name, in reading order. */
export const catalogue = {
  email: {
    about: 'One email from acceptance to its last outcome. The `status` of the API is the state.',
    machine: emailMachine,
    states: EMAIL_STATES,
  },
  apiKey: {
    about: 'An API key, which lives until it is revoked.',
    machine: apiKeyMachine,
    states: API_KEY_STATES,
  },
  domain: {
    about: 'A sending domain and the proof that it is yours. The `status` of the API is the state.',
    machine: domainMachine,
    states: DOMAIN_STATES,
  },
  webhookEndpoint: {
    about: 'A webhook endpoint and its health. The `status` of the API is the state.',
    machine: webhookEndpointMachine,
    states: WEBHOOK_ENDPOINT_STATES,
  },
  webhookDelivery: {
    about:
      'One event on its way to one endpoint. The `status` of the API is the state; `posting` is reported as `scheduled`.',
    machine: webhookDeliveryMachine,
    states: WEBHOOK_DELIVERY_STATES,
  },
  received: {
    about:
      'A received message for one recipient. The `status` of the API is the state; `retrying` is reported as `posting`.',
    machine: receivedMachine,
    states: RECEIVED_STATES,
  },
  contactImport: {
    about:
      'A file of contacts that is being imported. The `status` of the API is the state; `checking` is reported as `processing`.',
    machine: contactImportMachine,
    states: CONTACT_IMPORT_STATES,
  },
  campaign: {
    about: 'One message to every contact in an audience. The `status` of the API is the state.',
    machine: campaignMachine,
    states: CAMPAIGN_STATES,
  },
  flowRun: {
    about:
      'The run of one contact through a flow. Each version of a flow has its own machine, built from its steps; this one has a step of every type.',
    machine: flowRunMachine,
    states: FLOW_RUN_STATES,
  },
} as const satisfies Readonly<Record<string, Omit<Lifecycle, 'name'>>>;

/** The lifecycles by name, each with the type of its machine. */
export type Catalogue = typeof catalogue;

/** The name of a lifecycle, which is also the name of its kind of actor. */
export type LifecycleName = keyof Catalogue;

/** Every lifecycle of the service, in reading order. */
export const lifecycles: readonly Lifecycle[] = Object.entries(catalogue).map(([name, entry]) => ({
  name,
  ...entry,
}));
