/** How many items there are, as far as they are counted. */

/** Most items that are counted. */
export const MOST_COUNTED = 10_000

/** How many elements a sequence has, as far as they are counted. */
export async function countOf(
  values: AsyncGenerator<unknown>,
  isTime: () => Promise<boolean>,
): Promise<number> {
  let count = 0
  for await (const _ of values) if (++count === MOST_COUNTED || !(await isTime())) break
  return count
}
