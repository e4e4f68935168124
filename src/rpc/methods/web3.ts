/** The `web3_` methods (docs/internals/rpc-reference.md#71-web3-net-rpc). */
import { z } from 'zod'
import { keccakHex } from '../../encoding/hash.ts'
import { fromHex } from '../../encoding/hex.ts'
import { hex } from '../json-forms.ts'
import { method } from '../method.ts'
import { type Parameter, scalar } from '../parameter.ts'
import { HashText } from '../wire/scalars.ts'

/** Bytes to hash; unlike other data they need their prefix and at least one digit. */
const HashedData: Parameter<Uint8Array> = scalar({
  form: hex({ prefix: 'required', least: 1 }),
  description: 'DATA: bytes in hex',
  decode: (value) => fromHex(value.length % 2 === 0 ? value : `0x0${value.slice(2)}`),
  refusal: () => "Parameter must be hexadecimal encoded with the '0x' prefix.",
})

export const web3_clientVersion = method({
  name: 'web3_clientVersion',
  hosted: true,
  summary: 'Name, version and platform of the node.',
  params: {},
  result: () => z.string(),
  examples: [{ params: [], result: 'Tandem/0.1.0/linux-x64/Node20/EMULATOR', varies: true }],
  run: (_, { options }) => options.clientVersion,
})

export const web3_sha3 = method({
  name: 'web3_sha3',
  hosted: true,
  summary: 'keccak-256 of bytes.',
  params: { data: HashedData },
  result: () => HashText,
  examples: [
    {
      params: ['0x68656c6c6f20776f726c64'],
      result: '0x47173285a8d7341e5e972fc677286384f802f8ef42a5ec5f03bbfa254cb01fad',
    },
  ],
  run: ({ data }) => keccakHex(data),
})

/** The methods of this file, in the order of the document. */
export const WEB3_METHODS = [web3_clientVersion, web3_sha3] as const
