import { type Static, Type } from '@sinclair/typebox';
import { envelope, type Failure } from '../../platform/errors/failure.ts';

/**
 * The error of one item of a batch, in the form of the errors of whole calls. `path` is an example of a place
 * that is wrong.
 */
export const ItemError = (path: string) =>
  Type.Object(
    {
      code: Type.String({
        description: 'The same as in the errors of whole requests.',
        examples: ['VALIDATION_ERROR'],
      }),
      message: Type.String({ description: 'A sentence for people; it may change.' }),
      docs: Type.String({ description: 'The page that explains the code.' }),
      suggestion: Type.Optional(Type.String({ description: 'The suggested fix.' })),
      details: Type.Optional(
        Type.Array(
          Type.Object({
            path: Type.String({ description: 'JSON pointer to the part of the request.', examples: [path] }),
            message: Type.String({ description: 'The problem with this value.' }),
          }),
          { description: 'All wrong values.' },
        ),
      ),
    },
    { description: 'The reason for refusing this item; nothing of it is stored.' },
  );

export type ItemError = Static<ReturnType<typeof ItemError>>;

/** The error with which an item is answered for a failure. `baseUrl` has no trailing slash. */
export const itemError = (failure: Failure, baseUrl: string): ItemError =>
  envelope(failure, baseUrl).error as ItemError;
