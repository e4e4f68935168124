/** The types behind Solidity's named ones (`type Price is uint128`), which stand in an ABI and not in a storage layout. */
import type { NamedTypes } from './layout.ts'

/** Maximum nesting of tuples. */
const MAX_DEPTH = 16
/** Names of types that are none of these. */
const OTHER = /^(struct|enum|contract|function|mapping|address|tuple)\b/

const bare = (type: string): string => type.replace(/(\[\d*\])+$/, '')

function membersOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return ['inputs', 'outputs', 'components'].flatMap((key) => {
    const list: unknown = Reflect.get(value, key)
    return Array.isArray(list) ? list : []
  })
}

/** The types of the parameters of an ABI in JSON that have a name of their own. */
export function namedTypesOf(abi: unknown): NamedTypes {
  const named = new Map<string, string>()
  let values = Array.isArray(abi) ? abi.flatMap(membersOf) : []
  for (let depth = 0; depth < MAX_DEPTH && values.length > 0; depth++) {
    for (const value of values) {
      if (typeof value !== 'object' || value === null) continue
      const { type, internalType }: { type?: unknown; internalType?: unknown } = value
      if (typeof type !== 'string' || typeof internalType !== 'string' || OTHER.test(internalType)) continue
      if (bare(internalType) !== bare(type)) named.set(bare(internalType), bare(type))
    }
    values = values.flatMap(membersOf)
  }
  return named
}
