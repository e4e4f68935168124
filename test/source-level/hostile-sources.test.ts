/** Compilations that are damaged, or are not those of the code: less is shown, and nothing fails. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { CASE, codes, compiled, DAMAGES, fresh } from '../support/damaged-sources.ts'

describe('a stack trace', () => {
  let node: Node
  let to: Hex
  beforeEach(async () => {
    node = await createNode()
    const [from] = (await node.request({ method: 'eth_accounts' })) as [Hex]
    const code = compiled.outputs[CASE]?.contracts['c.sol']?.C?.evm.bytecode.object
    const params = [{ from, data: `0x${code}`, gas: '0x3d0900' }]
    const hash = await node.request({ method: 'eth_sendTransaction', params })
    const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    to = (receipt as { contractAddress: Hex }).contractAddress
  })
  afterEach(() => node.close())

  it.each(Object.keys(DAMAGES))('says less with %s', async (name) => {
    const info = fresh()
    DAMAGES[name]?.(info)
    await node.addSources(info)
    const params = [{ to, data: '0x6b59084d' }]
    const found = await node.request({ method: 'evm_stackTrace', params })
    const { failed, stackTrace } = found as {
      failed: boolean
      stackTrace: { kind: string; message?: string }[]
    }
    expect(failed).toBe(true)
    expect(stackTrace.at(-1)?.message).toBe('reverted: D failed')
    const error = await node.request({ method: 'eth_call', params }).catch((thrown: Error) => thrown)
    expect((error as Error).message).toBe('VM Exception while processing transaction: revert D failed')
  })

  it('has no places of sources that are not those of the code', async () => {
    const info = fresh()
    for (const code of codes(info)) code.object = `60${String(code.object).slice(2).replaceAll('5b', '00')}`
    await node.addSources(info)
    const params = [{ to, data: '0x6b59084d' }]
    const found = (await node.request({ method: 'evm_stackTrace', params })) as { stackTrace: object[] }
    expect(JSON.stringify(found)).not.toContain('.sol')
    expect(found.stackTrace).toHaveLength(4)
  })
})
