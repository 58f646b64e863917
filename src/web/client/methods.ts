import { type Body, type CallOptions, dataOf, type Operation, type Query, type Send } from './call.ts';
import { listOf, type PagedOperation } from './pages.ts';

/** The value of the one parameter in the path of an operation. */
const onlyParameter = (operation: Operation, value: string): Readonly<Record<string, string>> => ({
  [/\{(\w+)\}/.exec(operation)?.[1] ?? '']: value,
});

/** The methods of a client, by what their operations take. */
export type Methods = ReturnType<typeof methodsOf>;

/** Makes the methods of a client from its sender. Each takes options last. */
export const methodsOf = (send: Send) => ({
  /** For a method of another form. */
  send,
  plain:
    <Op extends Operation>(operation: Op) =>
    (options?: CallOptions) =>
      dataOf(send(operation, {}, options)),
  withQuery:
    <Op extends Operation>(operation: Op) =>
    (query?: Query<Op>, options?: CallOptions) =>
      dataOf(send(operation, { query }, options)),
  withBody:
    <Op extends Operation>(operation: Op) =>
    (body: Body<Op>, options?: CallOptions) =>
      dataOf(send(operation, { body }, options)),
  list:
    <Op extends PagedOperation>(operation: Op) =>
    (query?: Query<Op>, options?: CallOptions) =>
      listOf(send, operation, { query }, options),
  byId:
    <Op extends Operation>(operation: Op) =>
    (id: string, options?: CallOptions) =>
      dataOf(send(operation, { path: onlyParameter(operation, id) }, options)),
  byIdWithQuery:
    <Op extends Operation>(operation: Op) =>
    (id: string, query?: Query<Op>, options?: CallOptions) =>
      dataOf(send(operation, { path: onlyParameter(operation, id), query }, options)),
  byIdWithBody:
    <Op extends Operation>(operation: Op) =>
    (id: string, body: Body<Op>, options?: CallOptions) =>
      dataOf(send(operation, { path: onlyParameter(operation, id), body }, options)),
  listById:
    <Op extends PagedOperation>(operation: Op) =>
    (id: string, query?: Query<Op>, options?: CallOptions) =>
      listOf(send, operation, { path: onlyParameter(operation, id), query }, options),
});
