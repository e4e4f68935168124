/** Every example of every method holds on a fresh local chain, and every result is of its schema. */
import { describe, expect, it, vi } from 'vitest'
import { createNode } from '../../src/index.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'

// What a passphrase costs is not shown here.
vi.mock(import('../../src/engine/wallet/encrypted-key.ts'), async (original) => ({
  ...(await original()),
  STANDARD_COST: { n: 2, r: 1, p: 1 },
}))

const examples = METHODS.flatMap((method) => method.examples.map((example) => ({ method, example })))

/** They need what only an earlier call gives: the id of a filter, a block, a key under a passphrase, work, or a mined block. */
const WITHOUT = `anvil_mine_detailed anvil_setERC20Allowance anvil_setRpcUrl evm_mine_detailed
debug_accountInfoAt debug_getModifiedAccountsByHash debug_getModifiedAccountsByNumber
btc_faucet btc_flush btc_flyoverAddress btc_mine btc_pegIn btc_pegOut btc_proof btc_reorg btc_request btc_status btc_transaction fed_updateBridge fed_importKey
eth_getFilterChanges eth_getFilterLogs eth_getProof eth_resend evm_debugClose evm_debugEvaluate evm_debugMachine
evm_debugMove evm_debugSources evm_debugState evm_debugVariables evm_diff evm_importBlock evm_reorg
mnr_submitBitcoinBlock mnr_submitBitcoinBlockTransactions mnr_submitBitcoinBlockPartialMerkle
personal_sendTransaction`

describe('the examples of the methods', () => {
  it('exist for all methods except those that have no result on a fresh chain', () => {
    const without = METHODS.filter((method) => method.examples.length === 0).map(({ name }) => name)
    expect(without.sort()).toEqual(WITHOUT.split(/\s+/).sort())
  })

  it.each(
    examples.map(
      ({ method, example }) => [`${method.name} ${JSON.stringify(example.params)}`, method, example] as const,
    ),
  )('%s', async (_, method, { after = [], params, result, varies }) => {
    // A method of other presets is opened by name.
    const node = await createNode({ methods: method.presets === undefined ? [] : [`+${method.name}`] })
    try {
      for (const call of after) await node.request(call)
      const answer = await node.request({ method: method.name, params })
      if (varies) expect(typeof answer).toBe(typeof result)
      else expect(answer).toEqual(result)
      expect(method.result().safeParse(answer).error).toBeUndefined()
    } finally {
      await node.close()
    }
  })
})
