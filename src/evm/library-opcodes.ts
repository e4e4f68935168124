/** The chain's opcodes for the library's own loop, the slower second choice that ours is tested against. */
import type { Common } from '@ethereumjs/common'
import { EVMError, type EVMOpts, getOpcodesForHF } from '@ethereumjs/evm'
import { EMPTY_CODE_HASH } from '../chain/account.ts'
import { EMPTY } from '../encoding/bytes.ts'
import { RskEvm } from './evm.ts'
import { FAILURE, type Session } from './frame.ts'
import type { RuleSet } from './message.ts'
import { STIPEND } from './opcodes/calls.ts'
import { MAX_WORD, wordToAddress } from './word.ts'

type CustomOpcode = NonNullable<EVMOpts['customOpcodes']>[number]
type Opcode = Extract<CustomOpcode, { opcodeName: string }>
type RunState = Parameters<Opcode['logicFunction']>[0]
type GasFunction = NonNullable<Opcode['gasFunction']>

const NEW_ACCOUNT_GAS = 25_000n
const VALUE_GAS = 9_000n

function sessionOf(runState: RunState): Session {
  const evm = runState.interpreter._evm
  if (!(evm instanceof RskEvm)) throw new Error('an opcode of the chain runs outside its EVM')
  return evm.run.session
}

/** As the library charges for memory; its own function is not exported. */
function memoryGas(runState: RunState, offset: bigint, length: bigint): bigint {
  if (length === 0n) return 0n
  const words = (offset + length + 31n) / 32n
  if (words <= runState.memoryWordCount) return 0n
  runState.memoryWordCount = words
  const cost = words * 3n + (words * words) / 512n
  const paid = runState.highestMemCost
  runState.highestMemCost = cost
  return cost - paid
}

function isMissing(runState: RunState, address: bigint): boolean {
  return sessionOf(runState).journal.state.account(wordToAddress(address)) === undefined
}

/** CALL and its kin: `operands` on the stack, of which the last four are memory ranges. */
function callGas(operands: 6 | 7, chargesNewAccount: boolean): GasFunction {
  return async (runState, base) => {
    const words = runState.stack.peek(operands)
    const [requested = 0n, target = 0n] = words
    const value = operands === 7 ? (words[2] as bigint) : 0n
    const [inputAt, inputLength, outputAt, outputLength] = words.slice(-4) as [bigint, bigint, bigint, bigint]
    let gas = base
    if (chargesNewAccount) {
      if (value !== 0n) {
        if (runState.env.isStatic) throw new EVMError(FAILURE.STATIC_STATE_CHANGE)
        sessionOf(runState).journal.valueCallSeen = true
      }
      if (isMissing(runState, target)) gas += NEW_ACCOUNT_GAS
    }
    if (value !== 0n) gas += VALUE_GAS
    gas += memoryGas(runState, inputAt, inputLength) + memoryGas(runState, outputAt, outputLength)
    const rest = runState.gasLeft - gas
    const stipend = value === 0n ? 0n : BigInt(STIPEND)
    if (rest < stipend) throw new EVMError(FAILURE.OUT_OF_GAS)
    const wanted = requested + stipend
    runState.messageGasLimit = wanted < rest ? wanted : rest
    return gas
  }
}

/** CREATE and CREATE2: the child gets everything. `wordGas` is per word of initcode. */
function createGas(wordGas: bigint): GasFunction {
  return async (runState, base) => {
    if (runState.env.isStatic) throw new EVMError(FAILURE.STATIC_STATE_CHANGE)
    const [, offset = 0n, length = 0n] = runState.stack.peek(3)
    const gas = base + wordGas * ((length + 31n) / 32n) + memoryGas(runState, offset, length)
    if (runState.gasLeft < gas) throw new EVMError(FAILURE.OUT_OF_GAS)
    runState.messageGasLimit = runState.gasLeft - gas
    return gas
  }
}

const destroyGas: GasFunction = async (runState, base) => {
  if (runState.env.isStatic) throw new EVMError(FAILURE.STATIC_STATE_CHANGE)
  const [heir = 0n] = runState.stack.peek(1)
  return isMissing(runState, heir) ? base + NEW_ACCOUNT_GAS : base
}

/** How many jumps of our loop one of the library's counts for, which runs every opcode between them far slower. */
const TICKS_PER_DESTINATION = 128

/** Gives the event loop its turn; every loop of code passes a JUMPDEST. */
const jumpDestination: Opcode = {
  opcode: 0x5b,
  opcodeName: 'JUMPDEST',
  baseFee: 1,
  logicFunction: (runState) => {
    const { clock } = sessionOf(runState)
    clock.ticks -= TICKS_PER_DESTINATION
    return clock.ticks <= 0 && clock.mustPause() ? clock.pause() : undefined
  },
}

function chainOpcodes(common: Common): CustomOpcode[] {
  const library = getOpcodesForHF(common)
  const logic = (opcode: number): Opcode['logicFunction'] => {
    const handler = library.handlers.get(opcode)
    if (handler === undefined) throw new Error(`the library has no opcode ${opcode}`)
    return handler
  }
  const gas = (opcode: number): GasFunction => {
    const handler = library.dynamicGasHandlers.get(opcode)
    if (handler === undefined) throw new Error(`the library has no gas of opcode ${opcode}`)
    return handler
  }
  const calls = (opcode: number, opcodeName: string, gasFunction: GasFunction): Opcode => ({
    opcode,
    opcodeName,
    baseFee: 700,
    gasFunction,
    logicFunction: logic(opcode),
  })
  const creates = (opcode: number, opcodeName: string, wordGas: bigint): Opcode => ({
    opcode,
    opcodeName,
    baseFee: 32_000,
    gasFunction: createGas(wordGas),
    logicFunction: async (runState, rules) => {
      await logic(opcode)(runState, rules)
      // A reverted creation leaves no return data.
      runState.returnBytes = EMPTY
    },
  })
  return [
    { opcode: 0x46, opcodeName: 'CHAINID', baseFee: 2, logicFunction: logic(0x46) },
    { opcode: 0x47, opcodeName: 'SELFBALANCE', baseFee: 5, logicFunction: logic(0x47) },
    {
      opcode: 0x3b,
      opcodeName: 'EXTCODESIZE',
      baseFee: 700,
      logicFunction: (runState, rules) => {
        const [address = 0n] = runState.stack.peek(1)
        if (!sessionOf(runState).rules.precompiles.has(wordToAddress(address)))
          return logic(0x3b)(runState, rules)
        runState.stack.pop()
        runState.stack.push(MAX_WORD)
      },
    },
    {
      opcode: 0x3c,
      opcodeName: 'EXTCODECOPY',
      baseFee: 700,
      gasFunction: gas(0x3c),
      logicFunction: logic(0x3c),
    },
    {
      opcode: 0x3f,
      opcodeName: 'EXTCODEHASH',
      baseFee: 400,
      logicFunction: (runState) => {
        const address = wordToAddress(runState.stack.pop())
        const { rules, journal } = sessionOf(runState)
        const account = journal.state.account(address)
        const hash = rules.precompiles.has(address) ? EMPTY_CODE_HASH : account?.codeHash
        runState.stack.push(hash === undefined ? 0n : BigInt(hash))
      },
    },
    creates(0xf0, 'CREATE', 2n),
    creates(0xf5, 'CREATE2', 8n),
    calls(0xf1, 'CALL', callGas(7, true)),
    calls(0xf2, 'CALLCODE', callGas(7, false)),
    calls(0xf4, 'DELEGATECALL', callGas(6, false)),
    calls(0xfa, 'STATICCALL', callGas(6, false)),
    {
      opcode: 0xff,
      opcodeName: 'SELFDESTRUCT',
      baseFee: 5_000,
      gasFunction: destroyGas,
      logicFunction: logic(0xff),
    },
  ]
}

/** The opcodes to hand to an EVM of the library whose own loop runs. */
export function libraryOpcodes(common: Common, ruleSet: RuleSet): CustomOpcode[] {
  return ruleSet === 'chain' ? [jumpDestination, ...chainOpcodes(common)] : [jumpDestination]
}
