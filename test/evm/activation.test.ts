/**
 * What code does below the heights of rules (docs/internals/protocol.md#75-activation). Expected results are derived by hand from
 * the rules and the reference node's sources (VM.java, Program.java), which name each rule where it counts.
 */
import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT } from '../../src/chain/account.ts'
import { PRECOMPILE_ADDRESS as AT, CHAINS } from '../../src/chain/config.ts'
import { contractAddress } from '../../src/chain/transaction.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { createBothVm } from '../../src/ethereumjs/both.ts'
import { CHAIN_RULES, vmRulesOf } from '../../src/evm/rules.ts'
import { assemble } from '../support/assembler.ts'
import { CONTRACT, ENVIRONMENT, OTHER, RETURN_TOP, run, word, world } from '../support/execution.ts'

/** Runs each message by the library's EVM as well, and fails where that does something else. */
const vm = createBothVm({ chainId: 30, rulesAt: vmRulesOf(CHAINS.mainnet) })

/** Runs code at a height of mainnet. */
function at(number: number, code: string | Uint8Array, more: Parameters<typeof world>[0] = {}) {
  const state = world({ [CONTRACT]: { code, balance: 1000n }, ...more })
  const env = { ...ENVIRONMENT, number }
  return run(state, {}, { vm, env }).then((result) => ({ result, state }))
}

async function answer(number: number, code: string, more: Parameters<typeof world>[0] = {}): Promise<bigint> {
  return word((await at(number, `${code} ${RETURN_TOP}`, more)).result)
}

async function failure(number: number, code: string | Uint8Array): Promise<string | undefined> {
  return (await at(number, code)).result.failure
}

describe('rule sets', () => {
  it('are the current ones on the local network, and shared between activations', () => {
    expect(vmRulesOf(CHAINS.regtest)(0)).toBe(CHAIN_RULES)
    expect(vmRulesOf(CHAINS.devnet)(7)).toBe(CHAIN_RULES)
    const mainnet = vmRulesOf(CHAINS.mainnet)
    expect(mainnet(1_591_000)).toBe(mainnet(1_600_000))
    expect(mainnet(1_590_999)).not.toBe(mainnet(1_591_000))
  })
})

describe('opcodes', () => {
  it.each<[string, number, string]>([
    ['SHL', 1_591_000, '1 1 SHL'],
    ['SHR', 1_591_000, '1 1 SHR'],
    ['SAR', 1_591_000, '1 1 SAR'],
    ['CREATE2', 1_591_000, '0 0 0 0 CREATE2'],
    ['EXTCODEHASH', 2_392_700, '1 EXTCODEHASH'],
    ['SELFBALANCE', 2_392_700, 'SELFBALANCE'],
    ['CHAINID', 2_392_700, 'CHAINID'],
    ['STATICCALL', 729_000, `0 0 0 0 0 ${OTHER} 0 STATICCALL`],
    ['PUSH0', 6_223_700, 'PUSH0'],
    ['BASEFEE', 6_223_700, 'BASEFEE'],
    ['MCOPY', 7_338_024, '0 0 0 MCOPY'],
    ['TLOAD', 7_338_024, '0 TLOAD'],
    ['TSTORE', 7_338_024, '0 0 TSTORE'],
  ])('%s exists from %d on', async (_, from, code) => {
    expect(await failure(from - 1, code)).toBe('invalid opcode')
    expect(await failure(from, code)).toBeUndefined()
  })

  it('DUPN, SWAPN and TXINDEX end with RSKIP-191; the byte after the first two is skipped', async () => {
    const pushes = (words: number[]) => words.flatMap((word) => [0x60, word])
    const end = [0x60, 0, 0x52, 0x60, 32, 0x60, 0, 0xf3]
    const dupn = Uint8Array.from([...pushes([7, 8, 9, 2]), 0xa8, 0xfe, ...end])
    const swapn = Uint8Array.from([...pushes([7, 8, 9, 1]), 0xa9, 0xfe, ...end])
    const index = Uint8Array.from([0xaa, ...end])
    expect(word((await at(3_614_799, dupn)).result)).toBe(7n)
    expect(word((await at(3_614_799, swapn)).result)).toBe(7n)
    expect(word((await at(3_614_799, index)).result)).toBe(0n)
    for (const code of [dupn, swapn, index]) expect(await failure(3_614_800, code)).toBe('invalid opcode')
    const tooDeep = Uint8Array.from([...pushes([7, 8, 9, 3]), 0xa8, 0xfe, ...end])
    expect(await failure(3_614_799, tooDeep)).toBe('stack underflow')
  })

  it('STATICCALL takes a value before RSKIP-103', async () => {
    const code = `0 0 0 0 5 ${OTHER} 50000 STATICCALL ${RETURN_TOP}`
    const { result, state } = await at(1_052_699, code, { [OTHER]: { code: 'STOP' } })
    expect(word(result)).toBe(1n)
    expect(state.account(OTHER)?.balance).toBe(5n)
    const later = await at(1_052_700, code, { [OTHER]: { code: 'STOP' } })
    expect(later.state.account(OTHER)?.balance).toBe(0n)
  })

  it('EXTCODESIZE of a precompiled contract is 0 before RSKIP-90', async () => {
    expect(await answer(728_999, '4 EXTCODESIZE')).toBe(0n)
    expect(await answer(729_000, '4 EXTCODESIZE')).toBe(2n ** 256n - 1n)
  })

  it('EXTCODEHASH of a contract without code is 0 before RSKIP-169', async () => {
    const hashAt = async (number: number) => {
      const state = world({ [CONTRACT]: { code: `${OTHER} EXTCODEHASH ${RETURN_TOP}` } })
      state.putAccount(OTHER, { ...EMPTY_ACCOUNT, isContract: true })
      return word(await run(state, {}, { vm, env: { ...ENVIRONMENT, number } }))
    }
    expect(await hashAt(3_614_799)).toBe(0n)
    expect(await hashAt(3_614_800)).toBe(BigInt(EMPTY_ACCOUNT.codeHash))
  })
})

describe('calls', () => {
  it('are limited to depth 1024 before RSKIP-150, and to 400 after', async () => {
    // Calls itself with all gas and returns how many calls were inside it, and itself.
    const code = `0 MLOAD 32 0 32 0 0 ${CONTRACT} GAS CALL POP 0 MLOAD 1 ADD 0 MSTORE 32 0 RETURN`
    const depth = async (number: number) => {
      const state = world({ [CONTRACT]: { code } })
      return word(await run(state, { gas: 2n ** 40n }, { vm, env: { ...ENVIRONMENT, number } }))
    }
    expect(await depth(2_017_999)).toBe(1025n)
    expect(await depth(2_018_000)).toBe(401n)
  })

  it('pass their input at every depth', async () => {
    // Passes a counter on, and returns that of the deepest frame.
    const code = `0 CALLDATALOAD 1 ADD 0 MSTORE 32 0 32 0 ${CONTRACT} GAS DELEGATECALL POP 32 0 RETURN`
    const count = async (number: number) => {
      const state = world({ [CONTRACT]: { code } })
      return word(await run(state, { gas: 2n ** 40n }, { vm, env: { ...ENVIRONMENT, number } }))
    }
    expect(await count(2_017_999)).toBe(1025n)
    expect(await count(2_018_000)).toBe(401n)
  })

  it('keep the return data when they open no frame, before RSKIP-171', async () => {
    const other = { [OTHER]: { code: `7 ${RETURN_TOP}` } }
    const code = `0 0 0 0 0 ${OTHER} 50000 CALL POP 0 0 0 0 0 0x4444 50000 CALL POP RETURNDATASIZE`
    expect(await answer(3_614_799, code, other)).toBe(32n)
    expect(await answer(3_614_800, code, other)).toBe(0n)
    const poor = `0 0 0 0 0 ${OTHER} 50000 CALL POP 0 0 0 0 100000 ${OTHER} 50000 CALL POP RETURNDATASIZE`
    expect(await answer(3_614_799, poor, other)).toBe(32n)
    expect(await answer(3_614_800, poor, other)).toBe(0n)
  })

  it('of a precompiled contract give no return data before RSKIP-90', async () => {
    const code = '5 0 MSTORE 0 0 32 0 0 4 50000 CALL POP RETURNDATASIZE'
    expect(await answer(728_999, code)).toBe(0n)
    expect(await answer(729_000, code)).toBe(32n)
  })

  it('of a precompiled contract write all its output before RSKIP-150', async () => {
    const code = '5 0 MSTORE 1 64 32 0 0 4 50000 CALL POP MSIZE'
    expect(await answer(2_017_999, code)).toBe(96n)
    expect(await answer(2_017_999, `${code} POP 64 MLOAD`)).toBe(5n)
    expect(await answer(2_018_000, `${code} POP 64 MLOAD`)).toBe(0n)
  })

  it('of a failing precompiled contract fail the caller before RSKIP-197', async () => {
    // REMASC refuses everyone but the transaction that ends a block.
    const code = `0 0 0 0 0 ${AT.remasc} 50000 CALL`
    expect(await failure(3_614_799, `${code} ${RETURN_TOP}`)).toBe('internal error')
    expect(await answer(3_614_800, code)).toBe(0n)
  })

  it('with value fail where their gas and the stipend exceed 63 bits, before RSKIP-150', async () => {
    const code = (gas: bigint) => `0 0 0 0 1 ${OTHER} 0x${gas.toString(16)} CALL`
    const other = { [OTHER]: { code: 'STOP' } }
    expect((await at(2_017_999, code(2n ** 63n - 1n), other)).result.failure).toBe('out of gas')
    expect((await at(2_017_999, code(2n ** 63n - 1n - 2300n), other)).result.failure).toBeUndefined()
    expect((await at(2_018_000, code(2n ** 63n - 1n), other)).result.failure).toBeUndefined()
  })
})

describe('precompiled contracts', () => {
  it.each<[keyof typeof AT, number]>([
    ['hdWalletUtils', 1_591_000],
    ['blockHeader', 1_591_000],
    ['bn128Add', 2_392_700],
    ['bn128Mul', 2_392_700],
    ['bn128Pairing', 2_392_700],
    ['blake2f', 3_614_800],
    ['environment', 6_223_700],
    ['secp256k1Add', 8_052_200],
    ['secp256k1Mul', 8_052_200],
  ])('%s runs from %d on', (name, from) => {
    expect(vmRulesOf(CHAINS.mainnet)(from - 1).precompiles.has(AT[name])).toBe(false)
    expect(vmRulesOf(CHAINS.mainnet)(from).precompiles.has(AT[name])).toBe(true)
  })

  it('take input of any length from contracts before RSKIP-516', () => {
    const most = (height: number) =>
      vmRulesOf(CHAINS.mainnet)(height).precompiles.get(AT.bn128Add)?.maxInputFromContract
    expect(most(8_052_199)).toBeUndefined()
    expect(most(8_052_200)).toBe(128)
  })

  it('of the curve return empty data for invalid points before RSKIP-197', async () => {
    const code = `1 0 MSTORE 0 0 128 0 0 ${AT.bn128Add} 50000 CALL`
    expect(await answer(3_614_799, code)).toBe(1n)
    expect(await answer(3_614_799, `${code} POP RETURNDATASIZE`)).toBe(0n)
    expect(await answer(3_614_800, code)).toBe(0n)
  })

  it('have two additional block header methods from RSKIP-536 on', async () => {
    const contracts = (height: number) => vmRulesOf(CHAINS.mainnet)(height).precompiles.get(AT.blockHeader)
    for (const method of ['getCumulativeWork(int256)', 'getDifficultyWithUncles(int256)']) {
      const selector = keccak256(new TextEncoder().encode(method)).subarray(0, 4)
      const input = concat(selector, new Uint8Array(32))
      // Unknown methods are free; known ones cost 4,000 and 2 a byte.
      expect(contracts(8_804_199)?.requiredGas(input, {} as never)).toBe(0n)
      expect(contracts(8_804_200)?.requiredGas(input, {} as never)).toBe(4072n)
    }
  })
})

describe('creations', () => {
  it('by code begin with nonce 0 before RSKIP-125', async () => {
    const child = contractAddress(CONTRACT, 0n)
    const created = async (number: number) => (await at(number, '0 0 0 CREATE')).state.account(child)?.nonce
    expect(await created(1_590_999)).toBe(0n)
    expect(await created(1_591_000)).toBe(1n)
  })

  it('by a transaction lose the balance at their address before RSKIP-174', async () => {
    const balanceAt = async (number: number) => {
      const address = contractAddress('0x1000000000000000000000000000000000000001', 0n)
      const state = world()
      state.putAccount(address, { ...EMPTY_ACCOUNT, balance: 9n })
      await run(state, { to: null, data: assemble('0 0 RETURN') }, { vm, env: { ...ENVIRONMENT, number } })
      return state.account(address)?.balance
    }
    expect(await balanceAt(3_614_799)).toBe(0n)
    expect(await balanceAt(3_614_800)).toBe(9n)
  })

  it('whose code is too long leave a contract without code before RSKIP-453', async () => {
    // The constructor returns 24,577 bytes; it uses 3 + 3 + 0 gas and the memory's.
    const init = Buffer.from(assemble('24577 0 RETURN')).toString('hex')
    const size = init.length / 2
    const code = `0x${init} 0 MSTORE ${size} ${32 - size} 0 CREATE`
    const child = contractAddress(CONTRACT, 0n)
    const early = await at(7_338_023, `${code} ${RETURN_TOP}`)
    expect(word(early.result)).toBe(BigInt(child))
    expect(early.state.account(child)).toEqual({ ...EMPTY_ACCOUNT, nonce: 1n, isContract: true })
    expect(early.result.gasUsed).toBeLessThan(100_000n)
    const late = await at(7_338_024, `${code} ${RETURN_TOP}`)
    expect(late.state.account(child)).toBeUndefined()
  })

  it('may deploy code that begins with 0xef before RSKIP-544', async () => {
    const data = assemble('0xef 0 MSTORE8 1 0 RETURN')
    const outcome = async (number: number) =>
      (await run(world(), { to: null, data }, { vm, env: { ...ENVIRONMENT, number } })).status
    expect(await outcome(8_804_199)).toBe('succeeded')
    expect(await outcome(8_804_200)).toBe('failed')
  })

  it('may revert with a payload that begins with 0xef, since it is not code', async () => {
    const data = assemble('0xef 0 MSTORE8 1 0 REVERT')
    const env = { ...ENVIRONMENT, number: 8_804_200 }
    const { status, gasUsed, output } = await run(world(), { to: null, data }, { vm, env })
    expect({ status, output }).toEqual({ status: 'reverted', output: Uint8Array.of(0xef) })
    expect(gasUsed).toBeLessThan(100n)
  })

  it('have init code of any length, at no extra price, before RSKIP-438', async () => {
    const code = '49153 0 0 CREATE'
    expect(await failure(7_338_023, `${code} STOP`)).toBeUndefined()
    expect(await failure(7_338_024, `${code} STOP`)).toBe('initcode exceeds max initcode size')
    const used = async (number: number) => (await at(number, '64 0 0 CREATE')).result.gasUsed
    expect((await used(7_338_024)) - (await used(7_338_023))).toBe(4n)
  })
})

describe('intrinsic gas', () => {
  const gas = (height: number, data: Hex, to: Hex | null = OTHER) =>
    vmRulesOf(CHAINS.mainnet)(height).intrinsicGas({ to, data: fromHex(data) })

  it('is 68 a byte before RSKIP-400, 16 after', () => {
    expect(gas(6_223_699, '0x0001')).toBe(21_072n)
    expect(gas(6_223_700, '0x0001')).toBe(21_020n)
  })

  it('includes words of init code from RSKIP-438 on', () => {
    expect(gas(7_338_023, '0x01', null)).toBe(53_016n)
    expect(gas(7_338_024, '0x01', null)).toBe(53_018n)
    expect(vmRulesOf(CHAINS.mainnet)(7_338_023).maxInitcodeSize).toBe(Number.POSITIVE_INFINITY)
  })

  it("is also charged to the Bridge's own senders once a network is set up", () => {
    const from: Hex = '0x0a1d7f3c50dae072b019eff0f306ae1613b56b3c'
    const call = { from, to: AT.bridge, data: new Uint8Array() }
    expect(vmRulesOf(CHAINS.mainnet)(369_999).intrinsicGas(call)).toBe(0n)
    expect(vmRulesOf(CHAINS.mainnet)(370_000).intrinsicGas(call)).toBe(21_000n)
    const local: Hex = '0x85845342b0d5260d516d6da5280a7df9a96d1925'
    expect(vmRulesOf(CHAINS.mainnet)(369_999).intrinsicGas({ ...call, from: local })).toBe(21_000n)
    expect(vmRulesOf(CHAINS.regtest)(370_000).intrinsicGas({ ...call, from: local })).toBe(0n)
  })
})
