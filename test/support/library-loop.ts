/** The rules of the EVM library's own interpreter when it is the oracle of ours: the chain's or Petersburg's. */
import { type ChainConfig, Common } from '@ethereumjs/common'
import { EVMError, type EVMOpts, getOpcodesForHF, paramsEVM } from '@ethereumjs/evm'
import { EMPTY_CODE_HASH } from '../../src/chain/account.ts'
import { EMPTY } from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { FAILURE, type Session } from '../../src/evm/frame.ts'
import { REFUND } from '../../src/evm/gas-schedule.ts'
import { MAX_CALL_DEPTH } from '../../src/evm/opcodes/calls.ts'
import { MAX_WORD, wordToAddress } from '../../src/evm/word.ts'
import { LibraryLoopEvm } from './library-evm.ts'
import { touchesOn } from './petersburg-rules.ts'

/** `chain`: this chain's own rules; `petersburg`: Ethereum's of that name. */
export type RuleSet = 'chain' | 'petersburg'

type CustomOpcode = NonNullable<EVMOpts['customOpcodes']>[number]
type Opcode = Extract<CustomOpcode, { opcodeName: string }>
type RunState = Parameters<Opcode['logicFunction']>[0]
type GasFunction = NonNullable<Opcode['gasFunction']>

/** Petersburg with the chain's opcodes and limits, as far as the library's interpreter takes them from its Common. */
const CHAIN_FORK = {
  eips: [1716, 1153, 3198, 3541, 3855, 3860, 5656],
  params: {
    /** Deepest frame; the name is the library's. */
    stackLimit: 400,
    /** The caller pays the stipend; `callGas` gives it to the child. */
    callStipendGas: 0,
    chainidGas: 2,
    selfbalanceGas: 5,
  },
}

/** A rule set as the library knows it. */
export function oracleCommon(chainId: number, ruleSet: RuleSet): Common {
  const forks = ['chainstart', 'homestead', 'tangerineWhistle', 'spuriousDragon', 'byzantium']
  forks.push('constantinople', 'petersburg')
  const chain: ChainConfig = {
    name: ruleSet,
    chainId,
    defaultHardfork: 'petersburg',
    genesis: { gasLimit: 10_000_000, difficulty: 1, nonce: '0x0000000000000000', extraData: '0x' },
    hardforks: forks.map((name) => ({ name, block: 0 })),
    ...(ruleSet === 'chain' && { customHardforks: { petersburg: CHAIN_FORK } }),
    bootstrapNodes: [],
    consensus: { type: 'pow', algorithm: 'ethash', ethash: {} },
  }
  const common = new Common({ chain, hardfork: 'petersburg', customCrypto: { keccak256 } })
  common.updateParams(paramsEVM)
  return common
}

const NEW_ACCOUNT_GAS = 25_000n
const VALUE_GAS = 9_000n
const STIPEND = 2_300n

function sessionOf(runState: RunState): Session {
  const evm = runState.interpreter._evm
  if (!(evm instanceof LibraryLoopEvm)) throw new Error('an opcode of the oracle runs outside its EVM')
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

/** CALL, CALLCODE, DELEGATECALL and STATICCALL: `operands` on the stack, of which the last four are memory ranges. */
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
    const { memoryWordCount, highestMemCost } = runState
    gas += memoryGas(runState, inputAt, inputLength) + memoryGas(runState, outputAt, outputLength)
    const { journal, precompiles } = sessionOf(runState)
    const balance = journal.state.account(runState.env.address.toString())?.balance ?? 0n
    const isTooDeep = runState.env.depth >= MAX_CALL_DEPTH
    if (isTooDeep || (precompiles.has(wordToAddress(target)) && balance < value)) {
      // Refused before its input is read: the memory for that is paid and not opened.
      Object.assign(runState, { memoryWordCount, highestMemCost })
      memoryGas(runState, outputAt, outputLength)
    }
    const rest = runState.gasLeft - gas
    const stipend = value === 0n ? 0n : STIPEND
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
  const [beneficiary = 0n] = runState.stack.peek(1)
  return isMissing(runState, beneficiary) ? base + NEW_ACCOUNT_GAS : base
}

/** A jump of the library's loop counts as this many of ours: it is far slower between jumps. */
const TICKS_PER_DESTINATION = 128

/** Yields to the event loop; every loop of code passes a JUMPDEST. */
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

/** What the library keeps of a frame's result while it runs. */
function resultOf(runState: RunState): { readonly selfdestruct: ReadonlyMap<string, string> } {
  return (runState.interpreter as unknown as { _result: ReturnType<typeof resultOf> })._result
}

/** SELFDESTRUCT without balance, which leaves an absent beneficiary absent. */
function destroy(logic: Opcode['logicFunction']): Opcode['logicFunction'] {
  return async (runState, rules) => {
    const [word = 0n] = runState.stack.peek(1)
    const beneficiary = wordToAddress(word)
    const { state } = sessionOf(runState).journal
    const staysAbsent = state.account(beneficiary) === undefined && runState.env.contract.balance === 0n
    if (staysAbsent) state.checkpoint()
    try {
      await logic(runState, rules)
    } finally {
      // Without balance the library writes nothing but the beneficiary.
      if (staysAbsent) state.revert()
    }
  }
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
      const { returnBytes, gasRefund } = runState
      const { nonce } = runState.env.contract
      const { selfdestruct } = resultOf(runState)
      const destroyed = selfdestruct.size
      await logic(opcode)(runState, rules)
      // A creation that is refused keeps the return data; any other leaves none, and no refund of what it cleared.
      if (runState.env.contract.nonce === nonce) runState.returnBytes = returnBytes
      else {
        runState.returnBytes = EMPTY
        runState.gasRefund = gasRefund + BigInt(REFUND.selfDestruct * (selfdestruct.size - destroyed))
      }
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
        if (!sessionOf(runState).precompiles.has(wordToAddress(address))) return logic(0x3b)(runState, rules)
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
        const { precompiles, journal } = sessionOf(runState)
        const account = journal.state.account(address)
        const hash = precompiles.has(address) ? EMPTY_CODE_HASH : account?.codeHash
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
      logicFunction: destroy(logic(0xff)),
    },
  ]
}

/** SELFDESTRUCT of the library, with the beneficiary noted as touched. */
function touchingDestruction(common: Common): Opcode {
  const { handlers, dynamicGasHandlers } = getOpcodesForHF(common)
  const logic = handlers.get(0xff)
  const gas = dynamicGasHandlers.get(0xff)
  if (logic === undefined || gas === undefined) throw new Error('the library has no SELFDESTRUCT')
  return {
    opcode: 0xff,
    opcodeName: 'SELFDESTRUCT',
    baseFee: 5_000,
    gasFunction: gas,
    logicFunction: (runState, rules) => {
      const [beneficiary = 0n] = runState.stack.peek(1)
      touchesOn(sessionOf(runState).journal.state).add(wordToAddress(beneficiary))
      return logic(runState, rules)
    },
  }
}

/** The opcodes to hand to an EVM whose library interpreter runs. */
export function oracleOpcodes(common: Common, ruleSet: RuleSet): CustomOpcode[] {
  return [jumpDestination, ...(ruleSet === 'chain' ? chainOpcodes(common) : [touchingDestruction(common)])]
}
