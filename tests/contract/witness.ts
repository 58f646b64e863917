import { expect } from 'bun:test';
import type { TSchema } from '@sinclair/typebox';
import Ajv, { type ValidateFunction } from 'ajv/dist/2020';
import { closed, isDateTime } from '../../src/http/request/schema.ts';
import type { OpenApiDocument, Operation } from '../../src/web/docs/openapi/document.ts';
import type { Asking, Told } from './ask.ts';

interface Known {
  readonly name: string;
  readonly operation: Operation;
}

/** Holds what the service really answers against what its OpenAPI document says of it. */
export class Witness {
  private readonly ajv = new Ajv({
    strict: false,
    allErrors: true,
    formats: { 'date-time': isDateTime, uri: true },
    // Each validator sees few answers: to make it shorter first took a quarter of the time that it takes to
    // compile.
    code: { optimize: false },
  });
  /** By the schemas: hundreds of operations share the answers of errors. */
  private readonly validators = new Map<object, ValidateFunction>();
  private readonly paths: readonly [shape: RegExp, template: string][];

  constructor(private readonly document: OpenApiDocument) {
    this.ajv.addSchema(document, 'openapi.json');
    const templates = Object.keys(document.paths).sort();
    this.paths = templates.map((template) => [
      new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`),
      template,
    ]);
  }

  /**
   * The status is one of those stated, and the body fits its schema, unknown members being a fault of the
   * document.
   */
  hold({ method = 'GET', path }: Asking, { status, body }: Told): void {
    const known = this.find(method, path);
    if (!known) return;
    expect(Object.keys(known.operation.responses), `${known.name} answered ${status}`).toContain(
      String(status),
    );
    const validate = body === null ? null : this.validatorOf(known, status);
    if (validate && !validate(body)) {
      throw new Error(
        `${known.name} ${status}: ${this.ajv.errorsText(validate.errors)}\n${JSON.stringify(body)}`,
      );
    }
  }

  private find(method: string, path: string): Known | undefined {
    const bare = path.split('?')[0] ?? '';
    const template = this.paths.find(([shape]) => shape.test(bare))?.[1];
    const operation = template && this.document.paths[template]?.[method.toLowerCase()];
    return operation ? { name: `${method} ${template}`, operation } : undefined;
  }

  private validatorOf({ operation }: Known, status: number): ValidateFunction | null {
    const stated = operation.responses[status];
    const response =
      stated && '$ref' in stated ? this.document.components.responses[nameOf(stated.$ref)] : stated;
    const schema = response?.content?.['application/json']?.schema;
    if (!schema) return null;
    const found = this.validators.get(schema);
    if (found) return found;
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/'));
    const validate = this.ajv.compile(closed(absolute as TSchema));
    this.validators.set(schema, validate);
    return validate;
  }
}

const nameOf = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1);
