/** docs/internals/protocol.md#63-calls-and-creations: calls, creations and failures, row by row, by both loops. */
import { describe, expect, it } from 'vitest'
import { contractAddress } from '../../src/chain/transaction.ts'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import type { Overlay } from '../../src/state/overlay.ts'
import { assemble, deployer } from '../support/assembler.ts'
import {
  account,
  COINBASE,
  CONTRACT,
  type Given,
  NOBODY,
  OTHER,
  RETURN_TOP,
  run,
  SENDER,
  vms,
  word,
  world,
} from '../support/execution.ts'

/** Puts bytes into memory at 0, padded to whole words. */
function toMemory(bytes: Uint8Array): string {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += 32) {
    const part = new Uint8Array(32)
    part.set(bytes.subarray(at, at + 32))
    lines.push(`PUSH32 ${toHex(part)} ${at} MSTORE`)
  }
  return lines.join(' ')
}

/** CREATE (value, init code in memory from 0). */
function create(initcode: Uint8Array, value = 0): string {
  return `${toMemory(initcode)} ${initcode.length} 0 ${value} CREATE`
}

describe.each(['own', 'library'] as const)('the %s loop', (loop) => {
  const vm = vms[loop]

  function given(code: string, others: Record<Hex, Given> = {}): Overlay {
    return world({ [CONTRACT]: { code, balance: 1000n, nonce: 1n }, ...others })
  }

  /** What the program leaves on top of the stack. */
  async function top(code: string, others: Record<Hex, Given> = {}): Promise<bigint> {
    return word(await run(given(`${code} ${RETURN_TOP}`, others), {}, { vm }))
  }

  const call = (to: Hex, gas = 100_000, value = 0) => `32 0 0 0 ${value} ${to} ${gas} CALL`

  it('calls fail at depth 400 and return the gas', async () => {
    // Each frame counts itself in slot 0 and calls on; the deepest one's call pushes 0 and it stores 7.
    const code = `1 0 SLOAD ADD 0 SSTORE 0 0 0 0 0 ${CONTRACT} GAS CALL @ok JUMPI 7 1 SSTORE ok:`
    const state = given(code)
    expect((await run(state, { gas: 50_000_000n }, { vm })).status).toBe('succeeded')
    expect(state.storage(CONTRACT, 0n)).toBe(401n)
    expect(state.storage(CONTRACT, 1n)).toBe(7n)
  })

  it('creations fail at depth 400 and return the gas', async () => {
    const code = `0 SLOAD 1 ADD 0 SSTORE 0 SLOAD 401 EQ @deep JUMPI 0 0 0 0 0 ${CONTRACT} GAS CALL STOP deep: 0 0 0 CREATE 2 SSTORE GAS 1 SSTORE`
    const state = given(code)
    expect((await run(state, { gas: 50_000_000n }, { vm })).status).toBe('succeeded')
    expect(state.storage(CONTRACT, 2n)).toBe(0n)
    expect(state.storage(CONTRACT, 1n)).toBeGreaterThan(20_000n)
    expect(account(state, CONTRACT).nonce).toBe(1n)
  })

  it('the stack holds 1,024 words', async () => {
    const loop1024 = 'PUSH1 0 '.repeat(1024)
    expect(await run(given(loop1024), {}, { vm })).toMatchObject({ status: 'succeeded' })
    expect(await run(given(`${loop1024} DUP1`), {}, { vm })).toMatchObject({ failure: 'stack overflow' })
    expect(await run(given('POP'), {}, { vm })).toMatchObject({ failure: 'stack underflow' })
  })

  it('a call without enough balance returns 0 and the gas, and clears the return data', async () => {
    const others = { [OTHER]: { code: '32 0 RETURN' } }
    expect(await top(`${call(OTHER)} POP ${call(OTHER, 0, 1001)}`, others)).toBe(0n)
    expect(await top(`${call(OTHER)} POP RETURNDATASIZE`, others)).toBe(32n)
    expect(await top(`${call(OTHER)} POP ${call(OTHER, 0, 1001)} POP RETURNDATASIZE`, others)).toBe(0n)
    const result = await run(given(call(OTHER, 5000, 1001), others), {}, { vm })
    expect(result.gasUsed).toBe(7n * 3n + 9_700n + 3n)
  })

  it('a call to an account without code succeeds and creates the account', async () => {
    for (const [code, exists] of [
      [`0 0 0 0 0 ${NOBODY} 0 CALL`, true],
      [`0 0 0 0 ${NOBODY} 0 STATICCALL`, true],
      [`0 0 0 0 ${NOBODY} 0 DELEGATECALL`, false],
      [`0 0 0 0 0 ${NOBODY} 0 CALLCODE`, false],
    ] as const) {
      const state = given(`${code} ${RETURN_TOP}`)
      expect(word(await run(state, {}, { vm }))).toBe(1n)
      expect(state.account(NOBODY) !== undefined).toBe(exists)
    }
  })

  it('a callee’s exception takes its gas, undoes its state and leaves no return data', async () => {
    const others = { [OTHER]: { code: '1 0 SSTORE #fe' } }
    const state = given(`${call(OTHER, 50_000)} RETURNDATASIZE`, others)
    const result = await run(state, {}, { vm })
    expect(result.gasUsed).toBe(7n * 3n + 700n + 3n + 50_000n + 2n)
    expect(state.storage(OTHER, 0n)).toBe(0n)
    expect(await top(`1 ${call(OTHER, 50_000)} RETURNDATASIZE ADD`, others)).toBe(0n)
  })

  it('a callee’s REVERT returns its gas and data', async () => {
    const others = { [OTHER]: { code: '1 0 SSTORE 99 0 MSTORE 32 0 REVERT' } }
    const state = given(`${call(OTHER, 50_000)} 0 MSTORE8 RETURNDATASIZE 32 MSTORE 64 0 RETURN`, others)
    const result = await run(state, {}, { vm })
    expect(toHex(result.output)).toBe(`0x${'0'.repeat(62)}63${'0'.repeat(62)}20`)
    expect(state.storage(OTHER, 0n)).toBe(0n)
    expect(result.gasUsed).toBeLessThan(22_000n)
  })

  it('CREATE increments the creator’s nonce, also when the child fails', async () => {
    const state = given(`${create(assemble('#fe'))} ${RETURN_TOP}`)
    // The child burns everything, so nothing is left to return with.
    expect((await run(state, {}, { vm })).failure).toBe('out of gas')
    const reverted = given(`${create(assemble('0 0 REVERT'))} ${RETURN_TOP}`)
    expect(word(await run(reverted, {}, { vm }))).toBe(0n)
    expect(account(reverted, CONTRACT).nonce).toBe(2n)
  })

  it('CREATE gives the contract nonce 1 and keeps an existing balance', async () => {
    const created = contractAddress(CONTRACT, 1n)
    const state = given(`${create(deployer(assemble('STOP')), 5)} ${RETURN_TOP}`, {
      [created]: { balance: 6n },
    })
    expect(word(await run(state, {}, { vm }))).toBe(BigInt(created))
    expect(account(state, created)).toMatchObject({ nonce: 1n, balance: 11n })
    expect(account(state, CONTRACT)).toMatchObject({ nonce: 2n, balance: 995n })
  })

  it.each<[string, Given]>([
    ['code', { code: 'STOP' }],
    ['a nonce', { nonce: 1n }],
  ])('CREATE onto an address with %s collides, returns 0 and takes all passed gas', async (_, standing) => {
    const state = given(`${create(assemble('STOP'))} 0 SSTORE`, { [contractAddress(CONTRACT, 1n)]: standing })
    const result = await run(state, {}, { vm })
    expect(result).toMatchObject({ status: 'failed', failure: 'out of gas', gasUsed: 1_000_000n })
  })

  it('CREATE does not collide with an address that has only storage', async () => {
    const created = contractAddress(CONTRACT, 1n)
    const standing = { balance: 1n, storage: { 3: 4n } }
    expect(await top(create(assemble('STOP')), { [created]: standing })).toBe(BigInt(created))
  })

  it('CREATE collides with a contract destroyed earlier in the list', async () => {
    const destroyedEarlier = new Set([contractAddress(CONTRACT, 1n)])
    const state = given(`${create(assemble('STOP'))} ${RETURN_TOP}`)
    expect((await run(state, {}, { vm, destroyedEarlier })).status).toBe('failed')
    const elsewhere = new Set([contractAddress(CONTRACT, 2n)])
    const free = given(`${create(assemble('STOP'))} ${RETURN_TOP}`)
    expect((await run(free, {}, { vm, destroyedEarlier: elsewhere })).status).toBe('succeeded')
  })

  it('init code above 49,152 bytes fails the creating frame', async () => {
    const codes = (length: number) => [`${length} 0 0 CREATE`, `0 ${length} 0 0 CREATE2`]
    for (const code of codes(49_153)) {
      const state = given(`0 0 0 0 0 ${OTHER} 500000 CALL ${RETURN_TOP}`, { [OTHER]: { code } })
      expect(word(await run(state, {}, { vm }))).toBe(0n)
      expect(account(state, OTHER).nonce).toBe(0n)
      expect(await run(given(code), {}, { vm })).toMatchObject({
        failure: 'initcode exceeds max initcode size',
      })
    }
    for (const code of codes(49_152)) {
      expect(await run(given(code), {}, { vm })).toMatchObject({ status: 'succeeded' })
    }
  })

  it('a reverted creation leaves no return data and returns its gas', async () => {
    const child = assemble('99 0 MSTORE 32 0 REVERT')
    expect(await top(create(child))).toBe(0n)
    expect(await top(`${create(child)} POP RETURNDATASIZE`)).toBe(0n)
    const result = await run(given(create(child)), {}, { vm })
    expect(result.gasUsed).toBeLessThan(33_000n)
  })

  it.each([
    ['is too long', '24577 0 RETURN'],
    ['begins with 0xef', '0xef 0 MSTORE8 1 0 RETURN'],
    ['cannot be paid', '6000 0 RETURN'],
  ])('a creation whose code %s returns 0, undoes the state and takes all passed gas', async (_, child) => {
    const state = given(`${create(assemble(`1 0 SSTORE ${child}`))} 0 SSTORE`)
    const gas = child.startsWith('24577') ? 6_000_000n : 1_000_000n
    const created = contractAddress(CONTRACT, 1n)
    expect(await run(state, { gas }, { vm })).toMatchObject({ failure: 'out of gas', gasUsed: gas })
    expect(state.account(created)).toBeUndefined()
  })

  it('code of 24,576 bytes may be deployed', async () => {
    const created = contractAddress(SENDER, 0n)
    const state = given('STOP')
    const data = assemble('24576 0 RETURN')
    const result = await run(state, { to: null, data, gas: 6_000_000n }, { vm })
    expect(result).toMatchObject({ status: 'succeeded', created })
  })

  it('a contract made by a transaction has nonce 0, and its first CREATE uses it', async () => {
    const state = given('STOP')
    const data = assemble(`0 0 0 CREATE 0 SSTORE`)
    const { created } = await run(state, { to: null, data }, { vm })
    expect(created).toBe(contractAddress(SENDER, 0n))
    expect(account(state, created as Hex).nonce).toBe(1n)
    expect(state.storage(created as Hex, 0n)).toBe(BigInt(contractAddress(created as Hex, 0n)))
  })

  it('SELFDESTRUCT moves the balance at once and ends the frame', async () => {
    const state = given(`${call(OTHER)} POP ${NOBODY} BALANCE 0 SSTORE`, {
      [OTHER]: { balance: 9n, code: `${NOBODY} SELFDESTRUCT 1 0 SSTORE` },
      [NOBODY]: { balance: 2n },
    })
    const result = await run(state, {}, { vm })
    expect(result.destroyed).toEqual([OTHER])
    expect(state.storage(CONTRACT, 0n)).toBe(11n)
    expect(state.storage(OTHER, 0n)).toBe(0n)
  })

  it('SELFDESTRUCT to itself burns the balance', async () => {
    const state = given('ADDRESS SELFDESTRUCT')
    const result = await run(state, {}, { vm })
    expect(result.destroyed).toEqual([CONTRACT])
    expect(account(state, CONTRACT).balance).toBe(0n)
  })

  it('SELFDESTRUCT without balance leaves an absent beneficiary absent', async () => {
    const state = given(`${call(OTHER)}`, { [OTHER]: { code: `${NOBODY} SELFDESTRUCT` } })
    await run(state, {}, { vm })
    expect(state.account(NOBODY)).toBeUndefined()
  })

  it('SELFDESTRUCT in a frame that fails is undone', async () => {
    const others = { [OTHER]: { code: `${call(NOBODY)} #fe` }, [NOBODY]: { code: 'CALLER SELFDESTRUCT' } }
    const result = await run(given(call(OTHER), others), {}, { vm })
    expect(result).toMatchObject({ status: 'succeeded', destroyed: [], refund: 0n })
  })

  it.each([
    ['CALL with value', `0 0 0 0 1 ${NOBODY} 0 CALL`],
    ['SSTORE', '1 0 SSTORE'],
    ['TSTORE', '1 0 TSTORE'],
    ['LOG0', '0 0 LOG0'],
    ['LOG4', '0 0 0 0 0 0 LOG4'],
    ['CREATE', '0 0 0 CREATE'],
    ['CREATE2', '0 0 0 0 CREATE2'],
    ['SELFDESTRUCT', 'CALLER SELFDESTRUCT'],
  ])('inside STATICCALL %s fails', async (_, code) => {
    const others = { [OTHER]: { code, balance: 5n } }
    expect(await top(`0 0 0 0 ${OTHER} 100000 STATICCALL`, others)).toBe(0n)
    expect(await top(`0 0 0 0 0 ${OTHER} 100000 CALL`, others)).toBe(1n)
    // Also one call further down.
    const nested = { ...others, [COINBASE]: { code: `0 0 0 0 0 ${OTHER} 100000 CALL ${RETURN_TOP}` } }
    expect(await top(`32 0 0 0 ${COINBASE} 300000 STATICCALL POP 0 MLOAD`, nested)).toBe(0n)
  })

  it('inside STATICCALL a CALL without value and a CALLCODE with value are allowed', async () => {
    const others = {
      [OTHER]: { balance: 5n, code: `0 0 0 0 0 ${NOBODY} 0 CALL 0 0 0 0 1 ${NOBODY} 0 CALLCODE` },
    }
    expect(await top(`0 0 0 0 ${OTHER} 100000 STATICCALL`, others)).toBe(1n)
  })

  it('RETURNDATACOPY out of range fails', async () => {
    expect(await run(given('1 0 0 RETURNDATACOPY'), {}, { vm })).toMatchObject({ status: 'failed' })
    expect(await run(given('0 1 0 RETURNDATACOPY'), {}, { vm })).toMatchObject({ status: 'failed' })
  })

  it.each([
    ['an invalid opcode', '#0c'],
    ['a jump beyond the code', '99 JUMP'],
    ['a jump into push data', '5 JUMP PUSH2 0x5b5b STOP'],
    ['a jump far away', '0 NOT JUMP'],
    ['an underflow', 'ADD'],
  ])('%s fails and takes all gas', async (_, code) => {
    expect(await run(given(code), {}, { vm })).toMatchObject({ status: 'failed', gasUsed: 1_000_000n })
  })

  it('BLOCKHASH returns the hashes of the last 256 blocks', async () => {
    const hashOf = (height: number) => BigInt(toHex(new Uint8Array(32).fill(height % 256)))
    expect(await top('999 BLOCKHASH')).toBe(hashOf(999))
    expect(await top('744 BLOCKHASH')).toBe(hashOf(744))
    expect(await top('743 BLOCKHASH')).toBe(0n)
    expect(await top('1000 BLOCKHASH')).toBe(0n)
    expect(await top('0 NOT BLOCKHASH')).toBe(0n)
  })

  it('GASLIMIT and COINBASE are those of the block', async () => {
    expect(await top('GASLIMIT')).toBe(10_000_000n)
    expect(await top('COINBASE')).toBe(BigInt(COINBASE))
  })

  it('empty accounts are not deleted', async () => {
    const state = given(call(OTHER), { [OTHER]: {} })
    await run(state, {}, { vm })
    expect(account(state, OTHER)).toMatchObject({ nonce: 0n, balance: 0n })
  })

  it('a child’s logs are kept in order and dropped with its failure', async () => {
    const others = {
      [OTHER]: { code: '2 0 0 LOG1' },
      [NOBODY]: { code: '9 0 0 LOG1 0 0 REVERT' },
    }
    const result = await run(
      given(`1 0 0 LOG1 ${call(OTHER)} ${call(NOBODY)} 3 0 0 LOG1`, others),
      {},
      { vm },
    )
    expect(result.logs.map((log) => [log.address, BigInt(log.topics[0] as Hex)])).toEqual([
      [CONTRACT, 1n],
      [OTHER, 2n],
      [CONTRACT, 3n],
    ])
  })

  it('transient storage is undone with its frame and cleared after its transaction', async () => {
    const others = { [OTHER]: { code: `5 0 TSTORE 0 0 REVERT` } }
    const delegate = `0 0 0 0 ${OTHER} 100000 DELEGATECALL POP`
    expect(await top(`4 0 TSTORE ${delegate} 0 TLOAD`, others)).toBe(4n)
    const state = given(`0 TLOAD 7 0 TSTORE ${RETURN_TOP}`)
    expect(word(await run(state, {}, { vm }))).toBe(0n)
    expect(word(await run(state, {}, { vm }))).toBe(0n)
  })

  it('SIGNEXTEND, BYTE and signed arithmetic work as on Ethereum', async () => {
    const minus = (n: bigint) => 2n ** 256n - n
    expect(await top('0xff 0 SIGNEXTEND')).toBe(minus(1n))
    expect(await top('0x7f 0 SIGNEXTEND')).toBe(0x7fn)
    expect(await top('0xff 31 SIGNEXTEND')).toBe(0xffn)
    expect(await top(`3 ${minus(7n)} SDIV`)).toBe(minus(2n))
    expect(await top(`3 ${minus(7n)} SMOD`)).toBe(minus(1n))
    expect(await top(`${minus(1n)} ${2n ** 255n} SDIV`)).toBe(2n ** 255n)
    expect(await top('0x0102 30 BYTE')).toBe(1n)
    expect(await top('0 5 DIV')).toBe(0n)
  })
})
