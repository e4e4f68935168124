/** Values that are usually there without waiting: an `await` of one takes as long as a small call. */

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>

/**
 * Calls `next` with the value: now, or once the promise resolves. `failed` is called with what the promise rejects
 * with; what `next` throws is thrown, or rejects the returned promise.
 */
export function andThen<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
  failed?: (error: unknown) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(next, failed) : next(value)
}
