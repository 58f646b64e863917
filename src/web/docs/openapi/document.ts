import type { JsonSchema } from './json-schema.ts';

/** The parts of an OpenAPI 3.1 document that this one has. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Components;
  /** The requests that this service sends to others, by name. */
  readonly webhooks: Readonly<Record<string, { readonly post: WebhookOperation }>>;
}

/** One POST that a receiver of webhooks gets. */
export interface WebhookOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly [];
  readonly parameters: readonly Parameter[];
  readonly requestBody: NonNullable<Operation['requestBody']>;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** One method of one path. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
  /** The permissions that the key needs. */
  readonly 'x-permissions': readonly string[];
  /** Lines that make the request with its example. */
  readonly 'x-codeSamples'?: readonly CodeSample[];
}

/** Lines that make one request, as tools for OpenAPI show them beside an operation. */
export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** A parameter in the path, the query or a header. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly example?: string;
  readonly schema: JsonSchema;
}

/** One response of an operation. */
export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Reference | Header>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** A header of a response. */
export interface Header {
  readonly description: string;
  readonly schema: JsonSchema;
}

/** Content of one media type. */
export interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<
    Record<string, { readonly summary?: string; readonly value: unknown } | Reference>
  >;
}

/** A pointer to a component. */
export interface Reference {
  readonly $ref: string;
}

/** The parts that several operations share. */
export interface Components {
  readonly securitySchemes: Readonly<Record<string, unknown>>;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly headers: Readonly<Record<string, Header>>;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}
