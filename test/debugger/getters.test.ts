/** State variables at the end of a transaction, as the getters of the contract answer them: also of code that is optimised. */
import { AbiCoder } from 'ethers'
import { describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { DebuggerCase, SENDER } from '../support/debugger-cases.ts'

const SALT = `0x${'12'.repeat(32)}`
const OLD = [
  '0.4.26',
  '0.4.26-optimized',
  '0.5.17',
  '0.6.12',
  '0.7.6-optimized',
  '0.8.24-optimized',
  '0.8.35',
]
const NEW = ['0.8.24-optimized', '0.8.35', '0.8.35-via-ir']

/** The word that a getter answers, as a number. */
async function answered(of: DebuggerCase, to: Hex, getter: string, ...args: unknown[]): Promise<bigint> {
  const data = of.interface.encodeFunctionData(getter, args)
  const output = await of.node.request({ method: 'eth_call', params: [{ to, data }] })
  return AbiCoder.defaultAbiCoder().decode(['uint256'], String(output))[0]
}

/** What the debugger shows at the last step of a transaction, in the outermost frame. */
async function shownAfter(of: DebuggerCase, hash: Hex, expression: string): Promise<string> {
  const { session } = await of.debug(hash)
  session.goTo(session.length - 1)
  return session.evaluate(session.frames().length - 1, expression).text
}

describe.each(OLD)('Old-%s', (version) => {
  it('shows what its getters answer', async () => {
    const of = await DebuggerCase.open(`Old-${version}`)
    try {
      const { address } = await of.deploy(5, SALT)
      const hash = await of.call(address, 'memories', 3)
      expect(await shownAfter(of, hash, 'total')).toBe(String(await answered(of, address, 'total')))
      const balance = await answered(of, address, 'balances', SENDER)
      expect(balance).toBe(77n)
      expect(await shownAfter(of, hash, 'balances[msg.sender]')).toBe(String(balance))
      const kind = ['Old.Kind.Closed', 'Old.Kind.Open'][Number(await answered(of, address, 'kind'))]
      expect(await shownAfter(of, hash, 'kind')).toBe(kind)
    } finally {
      await of.node.close()
    }
  })
})

describe.each(NEW)('New-%s', (version) => {
  it('shows what its getter answers', async () => {
    const of = await DebuggerCase.open(`New-${version}`)
    try {
      const { address } = await of.deploy()
      expect(await answered(of, address, 'price')).toBe(12n)
      const hash = await of.call(address, 'data', [4, 5], '0x01', [7, 8], 'text')
      const price = await answered(of, address, 'price')
      expect(price).toBe(7n)
      expect(await shownAfter(of, hash, 'price')).toBe(String(price))
    } finally {
      await of.node.close()
    }
  })
})
