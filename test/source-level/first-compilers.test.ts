/** Stack traces of code by the first compilers with the standard JSON interface; the frames are read off the source. */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import type { SourceFrame } from '../../src/errors.ts'
import { createNode, type Node } from '../../src/node/node.ts'

describe.each(['0.4.11', '0.4.26'])('solc %s', (version) => {
  const file = new URL(`../../fixtures/stack-traces/old-${version}.json.br`, import.meta.url)
  const buildInfo = JSON.parse(brotliDecompressSync(readFileSync(file)).toString())
  const { abi, evm } = buildInfo.output.contracts['old.sol'].Old
  const coder = new Interface(abi)
  let node: Node
  let from: Hex
  let other: Hex
  let to: Hex
  beforeAll(async () => {
    node = await createNode()
    await node.addSources(buildInfo)
    const accounts = (await node.request({ method: 'eth_accounts' })) as [Hex, Hex]
    from = accounts[0]
    other = accounts[1]
    const params = [{ from, data: `0x${evm.bytecode.object}`, gas: '0x3d0900' }]
    const hash = await node.request({ method: 'eth_sendTransaction', params })
    const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    to = (receipt as { contractAddress: Hex }).contractAddress
  })
  afterAll(() => node.close())

  async function stackOf(call: object): Promise<string[]> {
    const found = await node.request({ method: 'evm_stackTrace', params: [{ from, to, ...call }] })
    const { stackTrace } = found as { stackTrace: SourceFrame[] }
    return stackTrace.map((frame) => `${frame.kind} ${frame.contract}.${frame.function} ${frame.line}`)
  }
  const data = (name: string, ...values: unknown[]) => coder.encodeFunctionData(name, values)

  it('finds a function of a library that was inlined', async () => {
    expect(await stackOf({ data: data('add', 3) })).toEqual(['call Old.add 23', 'revert Old.half 5'])
  })

  it('finds an assertion in an internal function', async () => {
    expect(await stackOf({ data: data('add', 12) })).toEqual([
      'call Old.add 24',
      'invalid-opcode Old.inner 27',
    ])
  })

  it('finds an inherited modifier, with the function before it', async () => {
    expect(await stackOf({ from: other, data: data('add', 2) })).toEqual([
      'call Old.add 22',
      'revert Old.onlyOwner 13',
    ])
  })

  it('goes through a call of a contract', async () => {
    expect(await stackOf({ data: data('call', to) })).toEqual([
      'call Old.call 31',
      'call Old.add 22',
      'revert Old.onlyOwner 13',
    ])
  })

  it('names the inherited fallback function, and a function that takes no value', async () => {
    expect(await stackOf({ data: '0x12345678' })).toEqual(['revert Old.<fallback> 17'])
    expect(await stackOf({ data: data('add', 2), value: '0x1' })).toEqual(['function-not-payable Old.add 22'])
  })

  it('finds the call of an account without code', async () => {
    const [frame = ''] = await stackOf({ data: data('call', other) })
    // The check of the first compilers cannot be told from an assertion.
    expect(frame).toBe(
      version === '0.4.11' ? 'invalid-opcode Old.call 31' : 'account-without-code Old.call 31',
    )
  })
})
