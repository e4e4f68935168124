/** The EVM library's machine with the chain's precompiled contracts, creations and collisions: the oracle of ours. */
import {
  EVM,
  EVMError,
  type EVMMockBlockchainInterface,
  type EVMOpts,
  type EVMResult,
  type ExecResult,
  Message as LibraryMessage,
  type PrecompileInput,
} from '@ethereumjs/evm'
import type { Account, Address } from '@ethereumjs/util'
import { EMPTY_ACCOUNT, withBalance } from '../../src/chain/account.ts'
import { contractAddress } from '../../src/chain/transaction.ts'
import { LibraryState, libraryAddress } from '../../src/comparison/library-state.ts'
import { EMPTY } from '../../src/encoding/bytes.ts'
import { fromHex, toHex } from '../../src/encoding/hex.ts'
import type { FrameMessage, FrameResult } from '../../src/evm/call-message.ts'
import { analyse } from '../../src/evm/code-analysis.ts'
import type { EvmRun } from '../../src/evm/evm.ts'
import { FAILURE } from '../../src/evm/frame.ts'
import { bytesOf } from '../../src/evm/memory-range.ts'
import type { BlockEnvironment } from '../../src/evm/message.ts'
import { runPrecompile } from '../../src/evm/precompile-call.ts'

/** A message of the library that calls. */
export type CalledMessage = LibraryMessage & { to: Address }

/** The methods of the library that are overridden here. */
export const LIBRARY = EVM.prototype as unknown as {
  _loadCode(this: EVM, message: LibraryMessage): Promise<void>
  _generateAddress(this: EVM, message: LibraryMessage): Promise<Address>
  _addToBalance(this: EVM, account: Account, message: CalledMessage): Promise<void>
  runInterpreter(this: EVM, message: LibraryMessage, options: { pc: number }): Promise<ExecResult>
}

const NO_HASH = new Uint8Array(32)

/** What BLOCKHASH of the library reads. */
function blockHashes(env: BlockEnvironment): EVMMockBlockchainInterface {
  const blockchain = {
    async getBlock(height: number) {
      const hash = env.ancestorHash(height)
      return { hash: () => (hash === undefined ? NO_HASH : fromHex(hash)) }
    },
    async putBlock() {},
    shallowCopy: () => blockchain,
  }
  return blockchain
}

function libraryHeader(env: BlockEnvironment) {
  return {
    number: BigInt(env.number),
    coinbase: libraryAddress(env.coinbase),
    timestamp: BigInt(env.timestamp),
    difficulty: env.difficulty,
    prevRandao: EMPTY,
    gasLimit: env.gasLimit,
    baseFeePerGas: env.minimumGasPrice,
    getBlobGasPrice: () => undefined,
  }
}

/** A message as the library has it. */
function libraryMessage(message: FrameMessage): LibraryMessage {
  const { depth, value } = message
  const shared = { depth, value, caller: libraryAddress(message.caller), gasLimit: BigInt(message.gas) }
  return 'target' in message
    ? new LibraryMessage({ ...shared, to: libraryAddress(message.address), data: bytesOf(message.input) })
    : new LibraryMessage({ ...shared, data: message.initcode })
}

function kindOf(message: CalledMessage): 'call' | 'callcode' | 'delegatecall' {
  if (message.delegatecall) return 'delegatecall'
  return message.codeAddress.toString() === message.to.toString() ? 'call' : 'callcode'
}

/** The library's EVM with the chain's precompiled contracts, creations and collisions; it reports nothing to a tracer. */
export class LibraryLoopEvm extends EVM {
  readonly run: EvmRun
  /** The creation that is being set up. */
  #creation: LibraryMessage | undefined

  constructor(run: EvmRun, options: EVMOpts) {
    const state = new LibraryState(run.session.journal)
    super({ ...options, stateManager: state })
    this.run = run
    this.journal = state as unknown as EVM['journal']
    // Every instance listens on the shared Common and none is ever removed; its fork never changes.
    this.common.events.removeAllListeners('hardforkChanged')
    const { env, gasPrice, origin } = run.session
    this._tx = { gasPrice, origin: libraryAddress(origin) }
    this._block = { header: libraryHeader(env) } as unknown as NonNullable<typeof this._block>
    this.blockchain = blockHashes(env)
  }

  /** Also puts the effects that the library keeps in its result where ours are. */
  async execute(top: FrameMessage): Promise<FrameResult> {
    const { session, directEffects } = this.run
    const { journal } = session
    const message = libraryMessage(top)
    message.selfdestruct = new Map()
    message.createdAddresses = new Set()
    const { createdAddress, execResult } = await this.runCall({ message, skipNonceIncrement: true })
    const { logs = [], selfdestruct = new Map(), gasRefund = 0n, exceptionError } = execResult
    for (const [address, topics, data] of logs) {
      journal.logs.push({ address: toHex(address), topics: topics.map(toHex), data })
    }
    for (const address of selfdestruct.keys()) journal.destroyed.push(address)
    journal.refund = Number(gasRefund)
    if (exceptionError !== undefined) for (const apply of directEffects) apply()
    return {
      gasUsed: Number(execResult.executionGasUsed),
      output: execResult.returnValue,
      failure: exceptionError,
      created: createdAddress?.toString(),
    }
  }

  protected override async runInterpreter(message: LibraryMessage): Promise<ExecResult> {
    const code = message.code as Uint8Array
    const { start } = analyse(code, this.run.rules.codeHeaders)
    // The library refuses to begin at the end, where there is nothing but to stop.
    const body = { ...message, ...(start >= code.length && { code: EMPTY }) } as LibraryMessage
    return LIBRARY.runInterpreter.call(this, body, { pc: start < code.length ? start : 0 })
  }

  protected override async _loadCode(message: LibraryMessage): Promise<void> {
    const { precompiles } = this.run.session
    const target = message.codeAddress.toString()
    const precompile = message.code === undefined ? precompiles.get(target) : undefined
    if (precompile === undefined) return super._loadCode(message)
    const { caller, value, depth, isStatic } = message
    const called = message as CalledMessage
    const kind = kindOf(called)
    const address = called.to.toString()
    message.code = async ({ data, gasLimit }: PrecompileInput): Promise<ExecResult> => {
      const gas = Number(gasLimit)
      const shared = { depth, address, target, value, input: data, gas, isStatic }
      const ended = await runPrecompile(precompile, { ...shared, kind, caller: caller.toString() }, this.run)
      const { failure, gasUsed, output } = ended
      const result = { executionGasUsed: BigInt(gasUsed), returnValue: bytesOf(output) }
      return failure === undefined ? result : { ...result, exceptionError: failure }
    }
    message.isCompiled = true
  }

  protected override async _executeCreate(message: LibraryMessage): Promise<EVMResult> {
    if (message.depth > 0 && (await this.#collidesWithDestroyed(message))) {
      const exceptionError = new EVMError(FAILURE.CREATE_COLLISION)
      return { execResult: { executionGasUsed: message.gasLimit, returnValue: EMPTY, exceptionError } }
    }
    return super._executeCreate(message)
  }

  /** Would the contract take the address of one that an earlier transaction of the list destroyed? */
  async #collidesWithDestroyed(message: LibraryMessage): Promise<boolean> {
    const destroyed = this.run.destroyedEarlier
    if (destroyed === undefined || destroyed.size === 0) return false
    const { caller, salt, gasLimit } = message
    const probe = new LibraryMessage({ caller, gasLimit, code: message.data, ...(salt && { salt }) })
    return destroyed.has((await super._generateAddress(probe)).toString())
  }

  protected override async _generateAddress(message: LibraryMessage): Promise<Address> {
    this.#creation = message
    if (message.depth > 0) return super._generateAddress(message)
    const { state } = this.run.session.journal
    const sender = message.caller.toString()
    const address = contractAddress(sender, (state.account(sender) ?? EMPTY_ACCOUNT).nonce - 1n)
    // A creation transaction checks no collision: an account at the address is replaced, but for its balance (RSKIP-174).
    const replaced = state.account(address)
    if (replaced !== undefined) state.putAccount(address, withBalance(EMPTY_ACCOUNT, replaced.balance))
    return libraryAddress(address)
  }

  /** A message without value writes nothing: the sender exists already. */
  protected override async _reduceSenderBalance(account: Account, message: LibraryMessage): Promise<void> {
    if (message.value !== 0n) await super._reduceSenderBalance(account, message)
  }

  /** Also stores a created account: one made by a transaction keeps nonce 0, which the library has made 1. */
  protected override async _addToBalance(account: Account, message: CalledMessage): Promise<void> {
    if (message === this.#creation && message.depth === 0) account.nonce = 0n
    await super._addToBalance(account, message)
    // A creation transaction without init code makes an account that is no contract.
    if (message === this.#creation && (message.depth > 0 || (message.code as Uint8Array).length > 0)) {
      this.run.session.journal.state.markContract(message.to.toString())
    }
  }
}
