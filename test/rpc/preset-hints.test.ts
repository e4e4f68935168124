import { describe, expect, it } from 'vitest'
import { NodeError } from '../../src/errors.ts'
import { silentLogger } from '../../src/logger.ts'
import { createPresetHints } from '../../src/rpc/preset-hints.ts'
import { openSession } from '../../src/rpc/session.ts'

const ABSENT = new NodeError('method-not-found', 'method not found')
const TOO_MUCH = new NodeError(
  'transaction-refused',
  "transaction's gas limit of 30000000 is higher than the block's gas limit of 6800000",
)
const SESSION = openSession('http')

function hintsOf(preset: 'rsk' | 'hardhat') {
  const lines: string[] = []
  const hint = createPresetHints({ preset }, { ...silentLogger, warn: (line) => lines.push(line) })
  return { hint, lines }
}

describe('a client that fails on the defaults', () => {
  it('is logged once with the preset it was written for', () => {
    const { hint, lines } = hintsOf('rsk')
    hint('hardhat_metadata', ABSENT, SESSION)
    hint('hardhat_metadata', ABSENT, SESSION)
    hint('eth_sendTransaction', TOO_MUCH, SESSION)
    hint('anvil_reorgTo', ABSENT, SESSION)
    expect(lines).toEqual([
      'Hardhat asked for a method that only its own node has: a suite written for that node needs --preset hardhat',
      'a transaction with the gas limit of a Hardhat block was refused: a suite written for that node needs --preset hardhat',
      'Foundry asked for a method that only its own node has: a suite written for that node needs --preset anvil',
    ])
  })

  it('is recognised by its User-Agent when several clients have the method', () => {
    const { hint, lines } = hintsOf('rsk')
    hint('eth_unheardOf', ABSENT, SESSION)
    expect(lines).toEqual([])
    hint('eth_unheardOf', ABSENT, { ...SESSION, userAgent: 'hardhat 2.22.0' })
    expect(lines).toHaveLength(1)
  })
})

it('logs nothing under a preset, and nothing for other failures', () => {
  const chosen = hintsOf('hardhat')
  chosen.hint('eth_sendTransaction', TOO_MUCH, SESSION)
  const plain = hintsOf('rsk')
  plain.hint('eth_call', new NodeError('reverted', 'transaction reverted'), SESSION)
  plain.hint('eth_call', new Error('a bug'), SESSION)
  expect([...chosen.lines, ...plain.lines]).toEqual([])
})
