/** VMs for tests: the chain's rules or Petersburg's, by our interpreter or by the library's. */
import { type EVMResult, type ExecResult, type Message as LibraryMessage, NobleBN254 } from '@ethereumjs/evm'
import { EMPTY_ACCOUNT, withBalance } from '../../src/chain/account.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { RskEvm } from '../../src/evm/evm.ts'
import { FAILURE } from '../../src/evm/frame.ts'
import { LibraryState } from '../../src/evm/library-state.ts'
import { type BlockEnvironment, MAX_GAS, type Message, type MessageResult } from '../../src/evm/message.ts'
import type { CalledMessage } from '../../src/evm/precompile-call.ts'
import type { Vm } from '../../src/evm/rules.ts'
import { createVm } from '../../src/evm/vm.ts'
import type { Overlay } from '../../src/state/overlay.ts'
import { LIBRARY, LibraryLoopEvm, oracleCommon, oracleOpcodes, type RuleSet } from './library-loop.ts'
import { forgetTouches, isEmpty, PETERSBURG, touchesOn } from './petersburg-rules.ts'

/** An EVM by Ethereum's rules: the library's own precompiled contracts, collisions and nonces; touches are noted. */
function withEthereumRules(Base: typeof RskEvm): typeof RskEvm {
  return class extends Base {
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

    protected override _loadCode(message: LibraryMessage): Promise<void> {
      return LIBRARY._loadCode.call(this, message)
    }

    protected override _generateAddress(message: LibraryMessage): ReturnType<RskEvm['_generateAddress']> {
      return LIBRARY._generateAddress.call(this, message)
    }

    protected override _addToBalance(...parts: Parameters<RskEvm['_addToBalance']>): Promise<void> {
      return LIBRARY._addToBalance.call(this, ...parts)
    }

    protected override get chainCreations(): boolean {
      return false
    }

    protected override keepsReturnData(): boolean {
      return false
    }

    protected override returnDataOfCreation({ exceptionError, returnValue }: ExecResult): Uint8Array {
      const reverted = exceptionError?.error === FAILURE.REVERT
      return reverted ? returnValue : super.returnDataOfCreation({ executionGasUsed: 0n, returnValue })
    }
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
}): Vm {
  const { chainId, ruleSet = 'chain', loop = 'own' } = parts
  if (ruleSet === 'chain' && loop === 'own') return createVm({ chainId })
  const beyond = loop === 'own' ? createOracleVm({ chainId, ruleSet, loop: 'library' }) : undefined
  const Loop = loop === 'own' ? RskEvm : LibraryLoopEvm
  const Evm = ruleSet === 'chain' ? Loop : withEthereumRules(Loop)
  const common = oracleCommon(chainId, ruleSet)
  const customOpcodes = loop === 'own' ? [] : oracleOpcodes(common, ruleSet)
  const vm = createVm({
    chainId,
    ...(ruleSet === 'petersburg' && { rulesAt: () => PETERSBURG }),
    makeEvm: (journal) =>
      new Evm({
        common,
        stateManager: new LibraryState(journal),
        bn254: new NobleBN254(),
        customOpcodes,
        params: {},
      }),
  })
  return {
    rulesAt: vm.rulesAt,
    async run(message, state, env, options) {
      // Official tests offer gas that our interpreter does not count.
      if (beyond !== undefined && message.gas > MAX_GAS) return beyond.run(message, state, env, options)
      forgetTouches(state)
      const result = await vm.run(message, state, env, options)
      if (ruleSet === 'chain') return result
      const touches = touchesOn(state)
      if (message.to !== null && result.status === 'succeeded') touches.add(message.to)
      touched.set(result, touches.all())
      endTransaction(message, result, state, env)
      return result
    },
  }
}
