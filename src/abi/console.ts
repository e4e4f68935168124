/** Texts of `console.log`: Hardhat's and Foundry's signatures, and Hardhat's old ones with `uint` for `uint256`. */
import { type Hex, toHex } from '../encoding/hex.ts'
import type { AbiCodec, AbiValue } from './codec.ts'
import { type AbiParameter, signatureHash } from './entry.ts'

/** An address without code ("console.log" in ASCII): calls to it cost as much and do the same as calls to any empty account. */
export const CONSOLE_ADDRESS: Hex = '0x000000000000000000636f6e736f6c652e6c6f67'

const TYPES = ['uint256', 'string', 'bool', 'address'] as const

const parameter = (type: string): AbiParameter => ({ name: '', type, components: [], indexed: false })

/** All lists of these types with this many entries. */
function combinations(count: number): string[][] {
  if (count === 0) return [[]]
  return combinations(count - 1).flatMap((list) => TYPES.map((type) => [...list, type]))
}

function makeForms(): Map<Hex, readonly AbiParameter[]> {
  const forms = new Map<Hex, readonly AbiParameter[]>()
  function add(types: readonly string[]): void {
    const inputs = types.map(parameter)
    const written = types.map((type) => type.replace(/^(u?int)256$/, '$1'))
    // Libraries hash signatures with `uint` and `int` as written, and for years all of them did.
    for (const list of [types, written]) {
      forms.set(`0x${signatureHash(`log(${list.join(',')})`).slice(2, 10)}`, inputs)
    }
  }
  for (const count of [0, 1, 2, 3, 4]) for (const types of combinations(count)) add(types)
  for (const types of [['int256'], ['string', 'int256'], ['bytes']]) add(types)
  for (let size = 1; size <= 32; size++) add([`bytes${size}`])
  return forms
}

let forms: Map<Hex, readonly AbiParameter[]> | undefined

function textOf(value: AbiValue): string {
  return value instanceof Uint8Array ? toHex(value) : String(value)
}

/** Puts values in place of `%s`, `%d`, `%i`, `%o`, `%O` and `%x` of a first text; the rest follows, separated by spaces. */
function formatted(values: readonly AbiValue[]): string {
  const [first, ...rest] = values
  if (typeof first !== 'string' || rest.length === 0) return values.map(textOf).join(' ')
  let at = 0
  const text = first.replace(/%([sdioOx%])/g, (place, letter) => {
    if (letter === '%') return '%'
    if (at >= rest.length) return place
    const value = rest[at++] as AbiValue
    return letter === 'x' && typeof value === 'bigint' ? `0x${value.toString(16)}` : textOf(value)
  })
  return [text, ...rest.slice(at).map(textOf)].join(' ')
}

/** The text of one call to the console contract; call data of another form is shown in hex. May hold any character. */
export function consoleText(payload: Uint8Array, codec: AbiCodec): string {
  forms ??= makeForms()
  const inputs = forms.get(toHex(payload.subarray(0, 4)))
  const values = inputs && codec.decode(inputs, payload.subarray(4))
  return values === undefined ? toHex(payload) : formatted(values)
}
