/** Log lines that name the preset for which a failing client was written. */
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { RpcOptions } from './rpc-options.ts'
import type { Session } from './session.ts'

/** Called with each failed call. */
export type PresetHints = (method: string, error: unknown, session: Session) => void

interface Sign {
  readonly preset: 'hardhat' | 'anvil'
  readonly why: string
  matches(method: string, error: NodeError, session: Session): boolean
}

/** Gas of each transaction that clients of Hardhat's node send without asking. */
const HARDHAT_GAS = /^transaction's gas limit of (30000000|16777216) is higher/

const SIGNS: readonly Sign[] = [
  {
    preset: 'hardhat',
    why: 'a transaction with the gas limit of a Hardhat block was refused',
    matches: (_, { message }) => HARDHAT_GAS.test(message),
  },
  {
    preset: 'hardhat',
    why: 'Hardhat asked for a method that only its own node has',
    matches: (method, { kind }, { userAgent = '' }) =>
      kind === 'method-not-found' && (method === 'hardhat_metadata' || /^hardhat/i.test(userAgent)),
  },
  {
    preset: 'anvil',
    why: 'Foundry asked for a method that only its own node has',
    matches: (method, { kind }, { userAgent = '' }) =>
      kind === 'method-not-found' && (method.startsWith('anvil_') || /^foundry/i.test(userAgent)),
  },
]

/** Makes the hints of a node: each is logged once, and none where a preset is chosen already. */
export function createPresetHints({ preset }: Pick<RpcOptions, 'preset'>, logger: Logger): PresetHints {
  const left = new Set(preset === 'rsk' ? SIGNS : [])
  return (method, error, session) => {
    if (!(error instanceof NodeError)) return
    for (const sign of left) {
      if (!sign.matches(method, error, session)) continue
      left.delete(sign)
      logger.warn(`${sign.why}: a suite written for that node needs --preset ${sign.preset}`, { method })
    }
  }
}
