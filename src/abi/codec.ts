/** Decodes bytes to values by their types; the only importer of the decoding library, which is loaded on first use. */
import type { createContract as CreateContract, parseAbi as ParseAbi } from 'micro-eth-signer/abi.js'
import { type AbiEntry, type AbiParameter, readEntries } from './entry.ts'

/** A decoded value. Addresses are lower-case `0x` text; tuples and arrays are lists. */
export type AbiValue = bigint | boolean | string | Uint8Array | readonly AbiValue[]

/** Decodes, synchronously. */
export interface AbiCodec {
  /** Values in order of their parameters; `undefined` when the bytes do not fit the types. */
  decode(parameters: readonly AbiParameter[], bytes: Uint8Array): readonly AbiValue[] | undefined
  /** Reads human-readable entries, such as `event Sent(address indexed to)`. Throws an Error that names what is wrong. */
  parse(signatures: readonly string[]): AbiEntry[]
}

interface NamelessParameter {
  readonly type: string
  readonly components?: readonly NamelessParameter[]
}

/** The library reads tuples with names into objects, and refuses a name that comes twice. */
function nameless({ type, components }: AbiParameter): NamelessParameter {
  return { type, ...(components.length > 0 && { components: components.map(nameless) }) }
}

type Decode = (bytes: Uint8Array) => unknown

function createCodec(createContract: typeof CreateContract, parseAbi: typeof ParseAbi): AbiCodec {
  const decoders = new WeakMap<readonly AbiParameter[], Decode>()

  function decoderOf(parameters: readonly AbiParameter[]): Decode {
    const known = decoders.get(parameters)
    if (known !== undefined) return known
    const outputs = parameters.map(nameless)
    // The member marks an ABI whose types the library's own types do not know.
    const method = { type: 'function', name: 'f', inputs: [], outputs, __parsedAbi: true } as const
    const { f } = createContract([method])
    const decode: Decode = (bytes) => f?.decodeOutput(bytes)
    decoders.set(parameters, decode)
    return decode
  }

  return {
    decode(parameters, bytes) {
      if (parameters.length === 0) return bytes.length === 0 ? [] : undefined
      try {
        const value = decoderOf(parameters)(bytes) as AbiValue
        return parameters.length === 1 ? [value] : (value as readonly AbiValue[])
      } catch {
        // An unknown type, or bytes of another form.
        return undefined
      }
    },
    parse: (signatures) => readEntries(parseAbi(signatures)),
  }
}

let loading: Promise<AbiCodec> | undefined

/** Loads the library, once; it costs some 50 ms, which a node that never decodes does not pay. */
export function loadAbiCodec(): Promise<AbiCodec> {
  loading ??= import('micro-eth-signer/abi.js').then(({ createContract, parseAbi }) =>
    createCodec(createContract, parseAbi),
  )
  return loading
}
