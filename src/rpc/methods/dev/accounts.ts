/** Methods that let transactions be sent from addresses without their keys. */
import { z } from 'zod'
import { concat, oneByte } from '../../../encoding/bytes.ts'
import { type Hex, toHex } from '../../../encoding/hex.ts'
import { method } from '../../method.ts'
import { mapped, optional, orNull, type Parameter } from '../../parameter.ts'
import { Address, Flag, sizedData } from '../../wire/scalars.ts'
import { Passphrase } from '../../wire/wallet.ts'
import { order } from './family.ts'

const EXAMPLE = `0x${'1a'.repeat(20)}`

const IMPERSONATE = order({
  name: 'impersonateAccount',
  summary: 'Lets `eth_sendTransaction` send from this address without its key.',
  params: { address: Address },
  example: [EXAMPLE],
  async run({ address }, { engine }) {
    engine.dev.impersonation.start(address)
  },
})

export const hardhat_stopImpersonatingAccount = method({
  name: 'hardhat_stopImpersonatingAccount',
  changesState: true,
  summary: 'Stops impersonating an address; false when it was not impersonated.',
  params: { address: Address },
  result: () => z.boolean(),
  examples: [{ params: [`0x${'1b'.repeat(20)}`], result: false }],
  run: ({ address }, { engine }) => engine.dev.impersonation.stop(address),
})

export const anvil_stopImpersonatingAccount = method({
  name: 'anvil_stopImpersonatingAccount',
  changesState: true,
  summary: "Stops impersonating an address. Anvil's form: answers null.",
  params: { address: Address },
  result: () => z.null(),
  examples: [{ params: [EXAMPLE], result: null }],
  run({ address }, { engine }) {
    engine.dev.impersonation.stop(address)
    return null
  },
})

export const anvil_autoImpersonateAccount = method({
  name: 'anvil_autoImpersonateAccount',
  changesState: true,
  aliases: ['hardhat_autoImpersonateAccount'],
  summary:
    'Turns impersonation of every address on or off; when off, only addresses named one by one are impersonated.',
  params: { on: Flag },
  result: () => z.null(),
  examples: [{ params: [false], result: null }],
  run({ on }, { engine }) {
    engine.dev.impersonation.setEverybody(on)
    return null
  },
})

/** r, s and v of a signature; v may be 0 or 1 too. */
const Signature: Parameter<Hex> = mapped(sizedData(65, 65), (bytes) => {
  const v = bytes[64] ?? 0
  return toHex(concat(bytes.subarray(0, 64), oneByte(v < 27 ? v + 27 : v)))
})

export const anvil_impersonateSignature = method({
  name: 'anvil_impersonateSignature',
  changesState: true,
  summary:
    'Makes ECRECOVER return this address for a signature (r, s, v) with any message. Kept in memory until a reset; after it, or on another node, the same transactions may have other results.',
  params: { signature: Signature, address: Address },
  result: () => z.null(),
  examples: [{ params: [`0x${'11'.repeat(64)}1b`, EXAMPLE], result: null }],
  run({ signature, address }, { engine }) {
    engine.dev.impersonation.impersonateSignature(signature, address)
    return null
  },
})

export const evm_addAccount = method({
  name: 'evm_addAccount',
  changesState: true,
  summary:
    'Lets `eth_sendTransaction` send from an address without its key, as Ganache does; false when it already can. The passphrase is ignored.',
  params: { address: Address, passphrase: optional(orNull(Passphrase, ''), null) },
  result: () => z.boolean(),
  examples: [{ params: [EXAMPLE, ''], result: true }],
  run({ address }, { engine: { accounts, dev } }) {
    if (accounts.has(address) || dev.impersonation.covers(address)) return false
    dev.impersonation.start(address)
    return true
  },
})

/** The methods of this file, in the order of the document. */
export const DEV_ACCOUNT_METHODS = [
  ...IMPERSONATE,
  hardhat_stopImpersonatingAccount,
  anvil_stopImpersonatingAccount,
  anvil_autoImpersonateAccount,
  anvil_impersonateSignature,
  evm_addAccount,
] as const
