/** The hosted profile as a node in process shows it, and what `--methods` may say. */
import { describe, expect, it } from 'vitest'
import { createNode } from '../../src/node/node.ts'

const NOBODY = '0x00000000000000000000000000000000000dead1'

describe('the hosted profile', () => {
  it('opens its methods, describes only those, and has no keys', async () => {
    const node = await createNode({ profile: 'hosted' })
    const ask = (method: string, ...params: unknown[]) => node.request({ method, params })
    expect(await ask('eth_accounts')).toEqual([])
    expect(await ask('net_version')).toBe('33')
    for (const method of [
      'evm_mine',
      'eth_coinbase',
      'rpc_modules',
      'eth_sendTransaction',
      'nothing_atAll',
    ]) {
      await expect(ask(method)).rejects.toMatchObject({ code: -32601 })
    }
    const { methods } = (await ask('rpc.discover')) as { methods: { name: string }[] }
    const names = methods.map(({ name }) => name)
    expect(names).toContain('eth_call')
    expect(names).toContain('rpc.discover')
    expect(
      names.filter((name) => /^(evm|personal|mnr|debug|sco|txpool|hardhat|anvil|miner)_/.test(name)),
    ).toEqual([])
    await node.close()
  })

  it('does not simulate creations', async () => {
    const node = await createNode({ profile: 'hosted' })
    for (const method of ['eth_call', 'eth_estimateGas']) {
      await expect(node.request({ method, params: [{ data: '0x00' }] })).rejects.toMatchObject({
        code: -32602,
        message: 'Invalid transaction.to: expected an address; the hosted profile simulates calls only.',
      })
      await node.request({ method, params: [{ to: NOBODY }] })
    }
    await node.close()
  })

  it('is widened and narrowed by methods', async () => {
    const node = await createNode({ profile: 'hosted', methods: ['+eth_coinbase', '-eth_getLogs'] })
    expect(await node.request({ method: 'eth_coinbase' })).toMatch(/^0x/)
    expect(await node.request({ method: 'eth_chainId' })).toBe('0x21')
    await expect(node.request({ method: 'eth_getLogs', params: [{}] })).rejects.toMatchObject({
      code: -32601,
    })
    await node.close()
  })

  it.each([
    [
      { accounts: 3 },
      'Options "profile" and "accounts" contradict each other: the hosted profile holds no keys.',
    ],
    [
      { mnemonic: `${'test '.repeat(11)}junk` },
      'Options "profile" and "mnemonic" contradict each other: the hosted profile holds no keys.',
    ],
    [
      { wallet: true },
      'Options "profile" and "wallet" contradict each other: the hosted profile holds no keys.',
    ],
    [
      { methods: ['eth_coinbase'] },
      'Option "methods" names eth_coinbase, which the profile hosted does not open; +eth_coinbase adds it.',
    ],
  ])('does not start with %j', async (options, message) => {
    await expect(createNode({ profile: 'hosted', ...options })).rejects.toMatchObject({
      kind: 'invalid-options',
      message,
    })
  })
})

describe('the setting methods', () => {
  it.each([
    [['eht'], 'Option "methods" names "eht", and there is no such method or namespace.'],
    [['-eth_cal'], 'Option "methods" names "eth_cal", and there is no such method or namespace.'],
    [['evm', '-evm'], 'Option "methods" both opens and closes "evm".'],
    [['+evm', '-evm'], 'Option "methods" both opens and closes "evm".'],
  ])('%j prevents the start', async (methods, message) => {
    await expect(createNode({ methods })).rejects.toMatchObject({ kind: 'invalid-options', message })
  })
})
