import { type Static, Type } from '@sinclair/typebox';
import { envelope, type Failure } from '../../platform/errors/failure.ts';

/** The error of one item of a batch, in the form of the errors of whole calls. `path` is an example of a place that is wrong. */
export const ItemError = (path: string) =>
  Type.Object(
    {
      code: Type.String({ description: 'As in the errors of whole calls.', examples: ['VALIDATION_ERROR'] }),
      message: Type.String({ description: 'For people; may change.' }),
      docs: Type.String({ description: 'The page about the code.' }),
      suggestion: Type.Optional(Type.String({ description: 'What may help.' })),
      details: Type.Optional(
        Type.Array(
          Type.Object({
            path: Type.String({ description: 'JSON pointer to the part of the request.', examples: [path] }),
            message: Type.String({ description: 'What is wrong with it.' }),
          }),
          { description: 'Every place that is wrong.' },
        ),
      ),
    },
    { description: 'Why this item was not accepted; nothing of it is stored.' },
  );

/** The type of it. */
export type ItemError = Static<ReturnType<typeof ItemError>>;

/** The error with which an item is answered for a failure. `baseUrl` has no trailing slash. */
export const itemError = (failure: Failure, baseUrl: string): ItemError =>
  envelope(failure, baseUrl).error as ItemError;
