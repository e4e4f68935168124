/** Copies the sources of a database into another one. */
import type { KeyValueReader, Write } from '../../store/table.ts'
import { sourceTables } from '../../store/tables.ts'

/** Copies all entries of the tables of sources; `to` has none. */
export async function copySources(
  from: KeyValueReader,
  to: KeyValueReader & { batch(writes: readonly Write[]): Promise<void> },
): Promise<void> {
  const source = sourceTables(from)
  const target = sourceTables(to)
  for await (const [id, text] of source.compilations.range()) {
    await to.batch([target.compilations.put(id, text)])
  }
  for await (const [key, code] of source.compiledCodes.range()) {
    await to.batch([target.compiledCodes.put(key, code)])
  }
  for await (const [number, entry] of source.compilationOrder.range()) {
    await to.batch([target.compilationOrder.put(number, entry)])
  }
  for await (const [address, noted] of source.verifications.range()) {
    await to.batch([target.verifications.put(address, noted)])
  }
}
