/** VMs for tests: the chain's rules or Petersburg's, by our interpreter or by the library's. */

import type { Common } from '@ethereumjs/common'
import {
  EVM,
  type EVMOpts,
  type EVMResult,
  getOpcodesForHF,
  type Message as LibraryMessage,
  NobleBN254,
  type PrecompileInput,
} from '@ethereumjs/evm'
import type { Address } from '@ethereumjs/util'
import { EMPTY_ACCOUNT, EMPTY_CODE_HASH, withBalance } from '../../src/chain/account.ts'
import { libraryAddress } from '../../src/comparison/library-state.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { petersburgCommon } from '../../src/ethereumjs/chain-common.ts'
import { type CalledMessage, ChainEvm, LIBRARY } from '../../src/ethereumjs/chain-evm.ts'
import { evmFailure } from '../../src/ethereumjs/failures.ts'
import { chainEvm, libraryRulesOf } from '../../src/ethereumjs/make-evm.ts'
import { pausingJumpDestination } from '../../src/ethereumjs/opcodes.ts'
import { type Opcode, runOf } from '../../src/ethereumjs/run-state.ts'
import type { CallMessage, CreateMessage, FrameResult } from '../../src/evm/call-message.ts'
import { addressOfCreation } from '../../src/evm/creation.ts'
import { Evm, type EvmRun } from '../../src/evm/evm.ts'
import { FAILURE } from '../../src/evm/failure.ts'
import type { Invocation } from '../../src/evm/invocation.ts'
import { Journal } from '../../src/evm/journal.ts'
import { bytesOf } from '../../src/evm/memory-range.ts'
import { type BlockEnvironment, MAX_GAS, type Message, type MessageResult } from '../../src/evm/message.ts'
import type { Vm } from '../../src/evm/rules.ts'
import { createVm } from '../../src/evm/vm.ts'
import { wordToAddress } from '../../src/evm/word.ts'
import type { Overlay } from '../../src/state/overlay.ts'
import { forgetTouches, isEmpty, PETERSBURG, touchesOn } from './petersburg-rules.ts'

/** The library's loop by Ethereum's rules: its own precompiled contracts, collisions and nonces; touches are noted. */
class EthereumLoopEvm extends ChainEvm {
  async #touching(run: () => Promise<EVMResult>, touched?: Hex): Promise<EVMResult> {
    const touches = touchesOn(this.run.session.journal.state)
    const { length } = touches
    if (touched !== undefined) touches.add(touched)
    const result = await run()
    if (result.execResult.exceptionError !== undefined) touches.revert(length)
    return result
  }

  protected override _executeCall(message: CalledMessage): Promise<EVMResult> {
    const touched = message.delegatecall ? undefined : message.to.toString()
    return this.#touching(() => super._executeCall(message), touched)
  }

  protected override _executeCreate(message: LibraryMessage): Promise<EVMResult> {
    return this.#touching(() => super._executeCreate(message))
  }

  override getPrecompile(address: Address): ReturnType<EVM['getPrecompile']> {
    return LIBRARY.getPrecompile.call(this, address)
  }

  protected override _loadCode(message: LibraryMessage): Promise<void> {
    return LIBRARY._loadCode.call(this, message)
  }

  protected override _generateAddress(message: LibraryMessage): Promise<Address> {
    return LIBRARY._generateAddress.call(this, message)
  }

  protected override _addToBalance(
    ...parts: Parameters<EthereumLoopEvm['_reduceSenderBalance']>
  ): Promise<void> {
    return LIBRARY._addToBalance.call(this, parts[0], parts[1] as CalledMessage)
  }
}

/** A frame that fails takes its touches back. */
function markTouches(journal: Journal): void {
  const touches = touchesOn(journal.state)
  const marks: number[] = []
  journal.checkpoint = () => {
    marks.push(touches.length)
    Journal.prototype.checkpoint.call(journal)
  }
  journal.commit = () => {
    marks.pop()
    Journal.prototype.commit.call(journal)
  }
  journal.revert = () => {
    touches.revert(marks.pop() ?? 0)
    Journal.prototype.revert.call(journal)
  }
}

/** Our loop by Ethereum's rules. */
class EthereumEvm extends Evm {
  readonly #library: EVM

  constructor(run: EvmRun, options: EVMOpts) {
    super(run)
    this.#library = new EVM(options)
    this.#library.common.events.removeAllListeners('hardforkChanged')
    markTouches(run.session.journal)
  }

  /** Calls that compiled code makes in place are not opened here; what they touch has code and is not empty. */
  protected override open(invocation: Invocation): ReturnType<Evm['open']> {
    const { message } = invocation
    const outcome = super.open(invocation)
    if ('target' in message && message.kind !== 'delegatecall')
      touchesOn(this.run.session.journal.state).add(message.address)
    if (!('target' in message)) this.#unmark(invocation.created)
    return outcome
  }

  /** Ethereum's accounts have no mark of a contract before they have code. */
  #unmark(created: Hex | undefined): void {
    const { state } = this.run.session.journal
    const account = created === undefined ? undefined : state.account(created)
    if (created === undefined || account?.codeHash !== EMPTY_CODE_HASH) return
    state.putAccount(created, { ...account, isContract: false })
  }

  protected override async callPrecompile({ target, input, gas }: CallMessage): Promise<FrameResult> {
    const precompile = this.#library.getPrecompile(libraryAddress(target))
    if (precompile === undefined) throw new Error(`the library has no precompile at ${target}`)
    const { common } = this.#library
    const parts = { data: input, gasLimit: BigInt(gas), common, _EVM: this.#library } as PrecompileInput
    const result = await precompile(parts)
    const { executionGasUsed, returnValue, exceptionError: failure } = result
    return { gasUsed: Number(executionGasUsed), output: returnValue, failure: failure && evmFailure(failure) }
  }

  protected override takeAddress(message: CreateMessage): Hex {
    return addressOfCreation(message, this.run.session.journal)
  }

  protected override nonceOfCreated(): bigint {
    return 1n
  }

  protected override get chainCreations(): boolean {
    return false
  }

  protected override keepsReturnData(): boolean {
    return false
  }

  protected override returnDataOfCreation(result: FrameResult): Uint8Array {
    const reverted = result.failure?.reason === FAILURE.REVERT
    return reverted ? bytesOf(result.output) : super.returnDataOfCreation(result)
  }
}

/** `chain`: this chain's own rules; `petersburg`: Ethereum's of that name. */
export type RuleSet = 'chain' | 'petersburg'

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
      touchesOn(runOf(runState).session.journal.state).add(wordToAddress(beneficiary))
      return logic(runState, rules)
    },
  }
}

const touched = new WeakMap<MessageResult, ReadonlySet<Hex>>()

/** The accounts that a message touched in frames that succeeded (EIP-161); by the chain's rules none. */
export function touchedBy(result: MessageResult): ReadonlySet<Hex> {
  return touched.get(result) ?? new Set()
}

/**
 * What Ethereum does at the end of a transaction and the chain does not: the fee goes to the coinbase at once, touched
 * empty accounts go. The VM does it, for `applyTransaction` knows only the chain.
 */
function endTransaction(
  { to, data, gasPrice }: Message,
  result: MessageResult,
  state: Overlay,
  { coinbase }: BlockEnvironment,
): void {
  const { gasUsed, refund, destroyed } = result
  const used = PETERSBURG.intrinsicGas({ to, data }) + gasUsed
  const fee = (used - (refund < used / 2n ? refund : used / 2n)) * gasPrice
  // The fee is lost with a coinbase that is destroyed.
  if (!destroyed.includes(coinbase)) {
    const account = state.account(coinbase) ?? EMPTY_ACCOUNT
    state.putAccount(coinbase, withBalance(account, account.balance + fee))
  }
  for (const address of [...touchedBy(result), coinbase]) {
    const account = state.account(address)
    if (account !== undefined && isEmpty(account)) state.deleteAccount(address)
  }
}

/** Makes a VM. Default: the chain's rules, our interpreter. */
export function createOracleVm(parts: {
  readonly chainId: number
  readonly ruleSet?: RuleSet
  readonly loop?: 'own' | 'library'
  /** As of `createVm`; for our interpreter. */
  readonly hotAfter?: number
}): Vm {
  const { chainId, ruleSet = 'chain', loop = 'own', hotAfter } = parts
  const hot = hotAfter === undefined ? {} : { hotAfter }
  if (ruleSet === 'chain') {
    if (loop === 'own') return createVm({ chainId, ...hot })
    const rulesOf = libraryRulesOf(chainId)
    return createVm({ chainId, makeEvm: (run) => chainEvm(run, rulesOf(run.rules)) })
  }
  const beyond = loop === 'own' ? createOracleVm({ chainId, ruleSet, loop: 'library' }) : undefined
  const common = petersburgCommon(ruleSet, chainId)
  const customOpcodes = loop === 'own' ? [] : [pausingJumpDestination, touchingDestruction(common)]
  const options = { common, bn254: new NobleBN254(), customOpcodes, params: {} } as unknown as EVMOpts
  const vm = createVm({
    chainId,
    ...hot,
    rulesAt: () => PETERSBURG,
    makeEvm: (run) => (loop === 'own' ? new EthereumEvm(run, options) : new EthereumLoopEvm(run, options)),
  })
  return {
    chainId: vm.chainId,
    rulesAt: vm.rulesAt,
    async run(message, state, env, options) {
      // Official tests offer gas that our interpreter does not count.
      if (beyond !== undefined && message.gas > MAX_GAS) return beyond.run(message, state, env, options)
      forgetTouches(state)
      const result = await vm.run(message, state, env, options)
      const touches = touchesOn(state)
      if (message.to !== null && result.status === 'succeeded') touches.add(message.to)
      touched.set(result, touches.all())
      endTransaction(message, result, state, env)
      return result
    },
  }
}
