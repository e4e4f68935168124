/** A fork of Anvil, whose chain is of another family: fields and state are taken, with the hashes that it states. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { headerHash } from '../../../src/chain/header.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import type { RemoteChain } from '../../../src/state/remote/model.ts'
import { openRemoteChain } from '../../../src/state/remote/remote-chain.ts'
import { startAnvil } from '../../support/anvil-frames.ts'
import { remoteSettings, testDeps } from '../../support/remote.ts'
import { ANVIL, describeWith } from '../../support/tools.ts'

const NOBODY: Hex = '0x00000000000000000000000000000000000dead1'
const STORE: Hex = `0x${'5a'.repeat(20)}`
/** SLOAD of slot 0, and the end. */
const CODE = '0x60005400'

describeWith(ANVIL, 'a fork of Anvil', () => {
  let anvil: Awaited<ReturnType<typeof startAnvil>>
  let chain: RemoteChain
  let hash: Hex
  const deps = testDeps()

  beforeAll(async () => {
    anvil = await startAnvil(ANVIL.path)
    const [from] = (await anvil.call('eth_accounts', [])) as Hex[]
    await anvil.call('anvil_setCode', [STORE, CODE])
    await anvil.call('anvil_setStorageAt', [STORE, '0x0', `0x${'7'.padStart(64, '0')}`])
    hash = (await anvil.call('eth_sendTransaction', [{ from, to: NOBODY, value: '0x5' }])) as Hex
    await anvil.call('evm_mine', [])
    chain = await openRemoteChain(remoteSettings([anvil.url]), deps)
  })
  afterAll(async () => {
    await chain?.close()
    await anvil?.close()
  })

  it('starts at its head, with the hashes of Anvil', async () => {
    const latest = (await anvil.call('eth_getBlockByNumber', ['latest', false])) as {
      hash: Hex
      stateRoot: Hex
    }
    expect(chain.point).toEqual({ chainId: 33, number: 2, hash: latest.hash })
    expect(chain.upstream).toMatchObject({ isSameFamily: false, client: expect.stringMatching(/^anvil/) })
    expect(headerHash(chain.head.block.header, chain.config)).toBe(latest.hash)
    expect(chain.head.postState).toBe(latest.stateRoot)
  })

  it('has its blocks, transactions and receipts', async () => {
    const block = await chain.blockByNumber(1)
    expect(block?.block.transactions).toMatchObject([{ hash, to: NOBODY, value: 5n, isRemasc: false }])
    expect(block?.receipts).toMatchObject([{ succeeded: true, gasUsed: 21_000n }])
    expect(chain.head.block.header.parentHash).toBe(block?.hash)
    expect(await chain.transactionLocation(hash)).toMatchObject({ block: { number: 1 }, index: 0 })
    // They have the roots of their header.
    expect(deps.notices.filter((notice) => notice.startsWith('Transactions'))).toEqual([])
  })

  it('reads accounts and slots at the block in one request', async () => {
    const state = chain.stateAt(chain.point)
    const before = chain.usage().requests
    await state.fetch([
      { kind: 'account', address: NOBODY },
      { kind: 'account', address: STORE },
      { kind: 'cell', address: STORE, slot: 0n },
      { kind: 'cell', address: STORE, slot: 2n ** 256n - 1n },
    ])
    expect(chain.usage().requests - before).toBe(1)
    expect(state.account(NOBODY)?.account).toMatchObject({ balance: 5n, nonce: 0n })
    const code = state.code(state.account(STORE)?.account?.codeHash as Hex)
    expect(Buffer.from(code ?? []).toString('hex')).toBe(CODE.slice(2))
    expect(state.cell(STORE, 0n)).toBe(7n)
    expect(state.cell(STORE, 2n ** 256n - 1n)).toBe(0n)
    const genesis = chain.stateAt({ number: 0, hash: (await chain.headerByNumber(0))?.hash as Hex })
    await genesis.fetch([{ kind: 'account', address: NOBODY }])
    expect(genesis.account(NOBODY)).toMatchObject({ account: undefined })
  })

  it('has headers that match their hashes, and state that matches its proofs', async () => {
    const deps = testDeps()
    const verified = await openRemoteChain(remoteSettings([anvil.url], { isVerified: true }), deps)
    try {
      expect(await verified.headerByNumber(1)).toMatchObject({ isVerified: true })
      const state = verified.stateAt(verified.point)
      const before = verified.usage().calls
      await state.fetch([
        { kind: 'account', address: NOBODY },
        { kind: 'account', address: STORE },
        { kind: 'cell', address: STORE, slot: 0n },
      ])
      expect(verified.usage().calls - before).toBe(4)
      expect(state.account(NOBODY)).toMatchObject({ account: { balance: 5n }, isProven: true })
      expect(state.account(STORE)).toMatchObject({ account: { balance: 0n }, isProven: true })
      expect(state.cell(STORE, 0n)).toBe(7n)
      expect(deps.notices).toEqual([])
    } finally {
      await verified.close()
    }
  })

  it('has hints and calls', async () => {
    const state = chain.stateAt(chain.point)
    const hint = await state.hint({ from: NOBODY, to: STORE })
    expect(hint).toContainEqual({ kind: 'cell', address: STORE, slot: 0n })
    // The identity contract answers its input.
    const identity: Hex = '0x0000000000000000000000000000000000000004'
    expect(await state.call({ to: identity, data: Uint8Array.of(1, 2) })).toEqual(Uint8Array.of(1, 2))
  })
})
