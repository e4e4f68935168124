/** Methods that let transactions be sent from addresses without their keys. */
import { z } from 'zod'
import { method } from '../../method.ts'
import { Address, Flag } from '../../wire/scalars.ts'
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
  summary: 'Takes that back; false when the address was not impersonated.',
  params: { address: Address },
  result: z.boolean(),
  examples: [{ params: [`0x${'1b'.repeat(20)}`], result: false }],
  run: ({ address }, { engine }) => engine.dev.impersonation.stop(address),
})

export const anvil_stopImpersonatingAccount = method({
  name: 'anvil_stopImpersonatingAccount',
  changesState: true,
  summary: "Takes that back. Anvil's form: answers null.",
  params: { address: Address },
  result: z.null(),
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
  summary: 'Impersonates every address, or only those that were named.',
  params: { on: Flag },
  result: z.null(),
  examples: [{ params: [false], result: null }],
  run({ on }, { engine }) {
    engine.dev.impersonation.setEverybody(on)
    return null
  },
})

/** The methods of this file, in the order of the document. */
export const DEV_ACCOUNT_METHODS = [
  ...IMPERSONATE,
  hardhat_stopImpersonatingAccount,
  anvil_stopImpersonatingAccount,
  anvil_autoImpersonateAccount,
] as const
