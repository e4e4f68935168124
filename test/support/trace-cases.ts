/** Situations whose traces are compared: contracts in assembly, and the transaction that starts them. */
import type { Hex } from '../../src/encoding/hex.ts'
import { toHex } from '../../src/encoding/hex.ts'
import { assemble, deployer } from './assembler.ts'

/** One situation. Contracts are deployed in order; `$name` in assembly is the address of an earlier one. */
export interface TraceCase {
  readonly name: string
  readonly contracts: Readonly<Record<string, string>>
  /** The contract that the transaction calls; the last one unless given. */
  readonly data?: Hex
  readonly value?: number
  readonly gas?: number
  /** Do Ethereum's rules lead to the same frames? */
  readonly asOnEthereum: boolean
}

/** A CALL without data; leaves its success on the stack. */
const call = (target: string, gas = '100000', value = '0') =>
  `PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 ${value} ${target} ${gas} CALL`
const callWithoutValue = (opcode: string, target: string, gas = '100000') =>
  `PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 ${target} ${gas} ${opcode}`
/** Init code in a word of memory, from its first byte on. */
const initcode = (code: string) => `0x${code} PUSH1 ${256 - code.length * 4} SHL PUSH1 0 MSTORE`

/** `Error("no")` as the payload of a REVERT. */
const REVERT_NO = `
  0x08c379a0 PUSH1 224 SHL PUSH1 0 MSTORE  32 PUSH1 4 MSTORE  2 PUSH1 36 MSTORE
  0x6e6f PUSH1 240 SHL PUSH1 68 MSTORE  100 PUSH1 0 REVERT`
const LOG = 'PUSH1 7 PUSH1 0 MSTORE 0xbeef PUSH1 32 PUSH1 0 LOG1'

export const TRACE_CASES: readonly TraceCase[] = [
  {
    name: 'create',
    contracts: { maker: `${initcode('602a60005260016000f3')} 10 PUSH1 0 PUSH1 3 CREATE STOP` },
    value: 5,
    asOnEthereum: true,
  },
  {
    name: 'create2',
    contracts: { maker: `${initcode('602a60005260016000f3')} 99 10 PUSH1 0 PUSH1 0 CREATE2 STOP` },
    asOnEthereum: true,
  },
  {
    name: 'failed-creation',
    contracts: {
      logger: `${LOG} STOP`,
      maker: `${initcode('60006000fd')} 5 PUSH1 0 PUSH1 0 CREATE POP ${call('$logger')} STOP`,
    },
    asOnEthereum: true,
  },
  {
    name: 'nested-revert',
    contracts: {
      inner: `${LOG} ${REVERT_NO}`,
      middle: `${LOG} ${call('$inner')} RETURNDATASIZE PUSH1 0 PUSH1 0 RETURNDATACOPY RETURNDATASIZE PUSH1 0 REVERT`,
      outer: `${LOG} ${call('$middle', '200000')} ${LOG} STOP`,
    },
    data: '0x01020304',
    asOnEthereum: true,
  },
  {
    name: 'delegatecall',
    contracts: {
      library: `CALLVALUE PUSH1 1 SSTORE ${LOG} PUSH1 32 PUSH1 0 RETURN`,
      borrower: `${callWithoutValue('DELEGATECALL', '$library')} PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 2 $library 100000 CALLCODE STOP`,
    },
    value: 5,
    asOnEthereum: true,
  },
  {
    name: 'static-violation',
    contracts: {
      writer: 'PUSH1 1 PUSH1 1 SSTORE STOP',
      between: `${call('$writer', '50000')} STOP`,
      reader: `${callWithoutValue('STATICCALL', '$between')} STOP`,
    },
    asOnEthereum: true,
  },
  {
    name: 'self-destruct',
    contracts: {
      mortal: 'CALLER SUICIDE',
      owner: `${call('$mortal', '100000', '3')} STOP`,
    },
    value: 5,
    asOnEthereum: true,
  },
  {
    name: 'out-of-gas',
    contracts: {
      storer: 'PUSH1 1 PUSH1 1 SSTORE STOP',
      frugal: `${call('$storer', '5000')} PUSH1 0 MLOAD STOP`,
    },
    asOnEthereum: true,
  },
  {
    name: 'out-of-gas-at-the-top',
    contracts: { spender: 'a: PUSH1 1 POP @a JUMP' },
    gas: 30_000,
    asOnEthereum: true,
  },
  {
    name: 'exceptions',
    contracts: {
      invalid: '#fe',
      stray: 'PUSH1 3 JUMP STOP',
      empty: 'ADD',
      beyond: 'PUSH1 1 PUSH1 0 PUSH1 0 RETURNDATACOPY STOP',
      caller: `${call('$invalid')} ${call('$stray')} ${call('$empty')} ${call('$beyond')} STOP`,
    },
    gas: 600_000,
    asOnEthereum: true,
  },
  {
    name: 'native',
    contracts: {
      user: `
        0xabcd PUSH1 0 MSTORE
        PUSH1 32 PUSH1 0 PUSH1 2 PUSH1 30 PUSH1 0 0x4 10000 CALL
        PUSH1 0 PUSH1 0 PUSH1 2 PUSH1 30 0x2 10000 STATICCALL
        PUSH1 0 PUSH1 0 PUSH1 2 PUSH1 30 0x2 10 STATICCALL
        PUSH1 0 PUSH1 0 PUSH1 2 PUSH1 30 PUSH1 0 0x0000000000000000000000000000000001000008 10000 CALL STOP`,
    },
    asOnEthereum: false,
  },
  {
    name: 'too-little-balance',
    contracts: { poor: `${call('CALLER', '30000', '9')} PUSH1 0 PUSH1 0 PUSH1 9 CREATE STOP` },
    asOnEthereum: true,
  },
  {
    name: 'empty-account',
    contracts: { sender: `${call('0xdead', '30000', '2')} STOP` },
    value: 2,
    asOnEthereum: true,
  },
  {
    name: 'depth-limit',
    contracts: { deep: `${call('ADDRESS', 'GAS')} STOP` },
    gas: 3_000_000,
    asOnEthereum: false,
  },
]

/** A node that runs transactions of one account. */
export interface Stage {
  /** Sends a transaction and waits until it is mined; its hash, and the contract it created. */
  send(transaction: { to?: Hex; data?: Hex; value?: Hex; gas: Hex }): Promise<{
    readonly hash: Hex
    readonly contractAddress: Hex | null
  }>
}

/** Deploys a case's contracts and sends its transaction; its hash, and the contracts in order. */
export async function play(
  { contracts, data = '0x', value = 0, gas = 400_000 }: TraceCase,
  stage: Stage,
): Promise<{ readonly hash: Hex; readonly contracts: readonly Hex[] }> {
  const addresses = new Map<string, Hex>()
  for (const [name, assembly] of Object.entries(contracts)) {
    const source = assembly.replace(/\$(\w+)/g, (_, other: string) => addresses.get(other) ?? `no ${other}`)
    const deployment = toHex(deployer(assemble(source)))
    const { contractAddress } = await stage.send({ data: deployment, gas: '0xf4240' })
    if (contractAddress === null) throw new Error(`${name} was not deployed`)
    addresses.set(name, contractAddress)
  }
  const to = [...addresses.values()].at(-1)
  const { hash } = await stage.send({
    ...(to && { to }),
    data,
    value: `0x${value.toString(16)}`,
    gas: `0x${gas.toString(16)}`,
  })
  return { hash, contracts: [...addresses.values()] }
}
