/**
 * State roots of chains without transactions: those of the local network's first blocks were computed by the reference
 * node's repository classes and seen in its empty chain, those of testnet stand in its real blocks
 * (docs/internals/protocol.md#57-trie-nodes, docs/internals/protocol.md#58-state-root).
 */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import type { ChainName } from '../../src/chain/activations.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { parseGenesis } from '../../src/chain/genesis.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { vmRulesOf } from '../../src/evm/rules.ts'
import { createVm } from '../../src/evm/vm.ts'
import { BlockExecution } from '../../src/execution/apply-block.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { StateTrie } from '../../src/state/state-trie.ts'
import { headerWith } from '../chain/headers.ts'
import { ENVIRONMENT } from '../support/execution.ts'

const LOCAL: readonly Hex[] = [
  '0x9c13f6bf26a9d1b13b708b5da083cb8f4e948bb7f903174081ad95810d52723f',
  '0xf276a3a8c9c4eb4dcbbfb9bf6965f36dc611b815614c0d7cd06e15b8890c272c',
  '0x1db03c4e692b9270b09988de288420d22773a69f7203777b923243e2890b4c81',
  '0xf7ca3a97b856e0d166274a4226ac08ce132420f025552c4d6d7d5d0d0a7c3f6b',
  '0x0e99db727ed99959662fb8ede925f0f0b0207f8e73151ecdcc2bc5b120c96fd1',
  '0x8241d43a45e4b1335f5191a60ac9fc8e25da85cc700a85f45981c012de116c48',
  '0x4efc68bfced85873815b5abd81176f6eec4197e2a71498d7f7421fd15fa6ee20',
  '0x2d60cd69fd62d174da4b9a20e6254a42dd16aa41a71f80f9e872e4969d100724',
  '0x65a5319226cf306766103c64ba2416401a1e7fa6e2b047548bb7813930df6a6c',
  '0xa9c87c7caabc0f20c60a9180c01deed831418b5c996daa30d8be6793744d99a7',
  '0x12ee6012c97da8c22ff45a29ff2e184ad0517f4efbc0178998af03cf076e1df3',
  '0xed442603a0b9a72429cfcfc2209ae2e3fd45b9e581ab79f8e87c09b428047b50',
  '0x225ecc95fc039ac578571bebaef1178bcfe2b75cae7350c110552c4506ec63a4',
  '0x21387abad5c234524593930c29545cd4ff7c2c8fe6a925345a6aabb101401578',
  '0x46164577f50a78b5d00e4eea550c860a7da334119811c4a7d20cf1d5ba588df1',
  '0x9427e41da14172ee594f670329f2cbc6aa7f5373fb9791d458327ef1b5853c43',
]

/** Roots of testnet; its blocks 1 and 2 were computed only. */
const TESTNET: readonly (Hex | undefined)[] = [
  '0x45bce5168430c42b3d568331753f900a32457b4f3748697cbd8375ff4da72641',
  undefined,
  undefined,
  '0xcb694600670b9ea518c8b0d2c7ea391727663e98729e1badcd8a064b4814e982',
]

/** The local network's miner. */
const MINER: Hex = '0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d'

/** The roots of a chain of empty blocks from genesis on. */
function rootsOf(chain: ChainName, blocks: number): Hex[] {
  const config = CHAINS[chain]
  const trie = new StateTrie({ node: () => undefined, code: () => undefined })
  const vm = createVm({ chainId: config.chainId, rulesAt: vmRulesOf(config) })
  const file = new URL(`../../genesis/${chain}.json`, import.meta.url)
  const genesis = parseGenesis(JSON.parse(readFileSync(file, 'utf8')), config)
  const roots: Hex[] = []
  for (let number = 0; number <= blocks; number++) {
    const parent = roots.at(-1) ?? EMPTY_TRIE_ROOT
    const state = new Overlay(trie.reader(parent))
    if (number === 0) {
      genesis.apply(state)
    } else {
      const env = {
        ...ENVIRONMENT,
        number,
        minimumGasPrice: 0n,
        ancestor: (depth: number) => ({
          header: headerWith({ number: number - 1 - depth, coinbase: MINER, paidFees: 0n }),
          hash: EMPTY_TRIE_ROOT,
          uncles: [],
          totalDifficulty: 1n,
        }),
      }
      new BlockExecution({ config, vm, state, env, sequentialGasLimit: 1n }).finish()
    }
    const committed = trie.commit(parent, state.changes())
    trie.remember(committed)
    roots.push(committed.root)
  }
  return roots
}

it('the local chain has the known roots at heights 0 to 15', () => {
  expect(rootsOf('regtest', 15)).toEqual(LOCAL)
})

it('testnet has the roots of its real blocks 0 and 3', () => {
  const roots = rootsOf('testnet', 3)
  expect(roots.map((root, height) => TESTNET[height] && root)).toEqual(TESTNET)
})
