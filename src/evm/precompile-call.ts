/** Where a native contract is called from, told from the library's message. */
import type { Message as LibraryMessage } from '@ethereumjs/evm'
import type { Address } from '@ethereumjs/util'
import type { Session } from './frame.ts'
import {
  type PrecompileCallKind,
  type PrecompileEnvironment,
  PrecompileFailure,
} from './precompiles/table.ts'

function kindOf(message: LibraryMessage & { readonly to: Address }): PrecompileCallKind {
  if (message.delegatecall) return 'delegatecall'
  if (message.codeAddress.toString() !== message.to.toString()) return 'callcode'
  return message.isStatic ? 'staticcall' : 'call'
}

/** What the contract at the message's code address sees; its storage is that of its own account, whoever calls how. */
export function precompileCall(
  message: LibraryMessage & { readonly to: Address },
  { env, journal }: Session,
  isLocal: boolean,
): PrecompileEnvironment {
  const address = message.codeAddress.toString()
  const isTop = message.depth === 0
  return {
    depth: isTop ? 0 : message.depth - 1,
    caller: message.caller.toString(),
    value: message.value,
    isStatic: message.isStatic,
    kind: kindOf(message),
    isTop,
    isLocal,
    timestamp: env.timestamp,
    storage: {
      get: (slot) => journal.state.storage(address, slot),
      set(slot, value) {
        if (message.isStatic) throw new PrecompileFailure('nothing may be written in a static call')
        journal.state.putStorage(address, slot, value)
      },
    },
    ancestor: (depth) => env.ancestor(depth),
  }
}
