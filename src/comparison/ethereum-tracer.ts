/**
 * Reports each opcode that the library's executor runs. Its `step` events are not used: they copy all memory each time, and
 * read the memory that a REVERT names before its gas is charged.
 */
import type { Common } from '@ethereumjs/common'
import { type EVM, type EVMOpts, getOpcodesForHF } from '@ethereumjs/evm'
import type { Hex } from '../encoding/hex.ts'

/** An opcode that is about to run under Ethereum's rules. Gas in gas. */
export interface EthereumStep {
  /** One that the fork does not know is INVALID, 0xfe. */
  readonly opcode: number
  readonly name: string
  readonly pc: number
  readonly depth: number
  /** The account whose storage it uses. */
  readonly address: Hex
  /** Without the gas passed to a call, and less the stipend of a call with value. */
  readonly cost: number
  readonly gasLeft: number
}

/** Receives the steps of a run under Ethereum's rules. */
export interface EthereumListener {
  /** An opcode is about to run. */
  step(step: EthereumStep): void
  /** It has run; not called for an opcode that its frame failed on. */
  paid(step: EthereumStep): void
  /** Gas that a precompiled contract used. */
  native(gasUsed: bigint): void
  /** Length of the code of a new contract, bytes. */
  deposit(bytes: number): void
}

/** An opcode that replaces one of the library. */
export type EthereumOpcode = Extract<CustomOpcode, { opcodeName: string }>
type CustomOpcode = NonNullable<EVMOpts['customOpcodes']>[number]
type RunState = Parameters<EthereumOpcode['logicFunction']>[0]

/** Gas that a call with value adds to the callee's at no cost. */
const STIPEND = 2300n

function stipendOf({ stack }: RunState, opcode: number): bigint {
  if ((opcode !== 0xf1 && opcode !== 0xf2) || stack.length < 3) return 0n
  return stack.peek(3)[2] === 0n ? 0n : STIPEND
}

interface OpenMessage {
  readonly isPrecompile: boolean
  readonly isCreation: boolean
  /** The last step reported; the frame may still fail on it. */
  last?: EthereumStep
}

/** Did the last opcode of a message run? A creation may also fail after its RETURN, because of the code returned. */
function hasRun({ opcode, cost, gasLeft }: EthereumStep, failure: string | undefined): boolean {
  if (failure === undefined || failure === 'revert') return true
  return opcode === 0xf3 && cost <= gasLeft
}

/** An opcode listener for one run: the EVM is created with its opcodes, then `listen` is called. */
export interface EthereumOpcodeListener {
  readonly opcodes: readonly CustomOpcode[]
  listen(evm: EVM): void
}

/** Creates an opcode listener; `own` are opcodes that are removed, or have logic of our own. */
export function createEthereumOpcodeListener(
  common: Common,
  own: readonly CustomOpcode[],
  listener: EthereumListener,
): EthereumOpcodeListener {
  const library = getOpcodesForHF(common, [...own])
  const messages = new OpenMessages(listener)
  const opcodes = [...library.opcodes].map(([opcode, info]): EthereumOpcode => {
    const gas = info.dynamicGas ? library.dynamicGasHandlers.get(opcode) : undefined
    return {
      opcode,
      opcodeName: info.name,
      baseFee: info.fee,
      async gasFunction(runState, base, rules) {
        let cost = base
        try {
          if (gas !== undefined) cost = await gas(runState, base, rules)
          return cost
        } finally {
          messages.step(stepOf(runState, opcode, info.fullName, cost))
        }
      },
      logicFunction: library.handlers.get(opcode) ?? (() => undefined),
    }
  })
  const removed = own.filter((each) => !('opcodeName' in each))
  return { opcodes: [...removed, ...opcodes], listen: (evm) => messages.listen(evm) }
}

function stepOf(runState: RunState, opcode: number, name: string, cost: bigint): EthereumStep {
  return {
    opcode,
    name,
    pc: runState.programCounter,
    depth: runState.env.depth,
    address: runState.env.address.toString(),
    cost: Number(cost - stipendOf(runState, opcode)),
    gasLeft: Number(runState.gasLeft),
  }
}

/** The messages that are running, outermost first, and the last step of each. */
class OpenMessages {
  readonly #listener: EthereumListener
  readonly #open: OpenMessage[] = []

  constructor(listener: EthereumListener) {
    this.#listener = listener
  }

  step(step: EthereumStep): void {
    const message = this.#open.at(-1)
    if (message?.last) this.#listener.paid(message.last)
    if (message) message.last = step
    this.#listener.step(step)
  }

  listen(evm: EVM): void {
    evm.events.on('beforeMessage', (message) => {
      const isCreation = message.to === undefined
      // The code address of a creation throws.
      const isPrecompile = !isCreation && evm.getPrecompile(message.codeAddress) !== undefined
      this.#open.push({ isCreation, isPrecompile })
    })
    evm.events.on('afterMessage', ({ execResult }) => {
      const ended = this.#open.pop()
      const failure = execResult.exceptionError?.error
      if (ended?.last && hasRun(ended.last, failure)) this.#listener.paid(ended.last)
      if (ended?.isPrecompile) this.#listener.native(execResult.executionGasUsed)
      if (ended?.isCreation && failure === undefined) this.#listener.deposit(execResult.returnValue.length)
    })
  }
}
