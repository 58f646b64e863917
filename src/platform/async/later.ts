/** A value that is provided after the functions that use it were made. */
export interface LateBinding<Value> {
  /** The value. @throws before it was provided */
  needed(): Value;
  provide(value: Value): void;
}

/** Makes the place for a value that is provided later. */
export function later<Value>(): LateBinding<Value> {
  let provided: { readonly value: Value } | null = null;
  return {
    needed() {
      if (!provided) throw new Error('This part of the service is not connected yet.');
      return provided.value;
    },
    provide(value) {
      provided = { value };
    },
  };
}
