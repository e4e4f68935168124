/** What a frame asks for, as the message that the library runs. */
import { Message as LibraryMessage } from '@ethereumjs/evm'
import { fromBigIntFixed } from '../encoding/bytes.ts'
import type { ChildRequest, Frame } from './frame.ts'
import { libraryAddress } from './library-state.ts'
import { wordToAddress } from './word.ts'

/** The message of a call or creation one level below `frame`. */
export function childMessage(frame: Frame, child: ChildRequest): LibraryMessage {
  const { address, depth } = frame
  const shared = { value: child.value, gasLimit: BigInt(child.gas), depth: depth + 1 }
  if ('initcode' in child) {
    const salt = child.salt === undefined ? {} : { salt: fromBigIntFixed(child.salt, 32) }
    return new LibraryMessage({ ...shared, ...salt, caller: libraryAddress(address), data: child.initcode })
  }
  const target = libraryAddress(wordToAddress(child.target))
  const { input: data, kind } = child
  switch (kind) {
    case 'call':
    case 'staticcall': {
      const isStatic = kind === 'staticcall' || frame.isStatic
      return new LibraryMessage({ ...shared, caller: libraryAddress(address), to: target, data, isStatic })
    }
    case 'callcode':
    case 'delegatecall': {
      const delegates = kind === 'delegatecall'
      return new LibraryMessage({
        ...shared,
        value: delegates ? frame.value : child.value,
        caller: libraryAddress(delegates ? frame.caller : address),
        to: libraryAddress(address),
        codeAddress: target,
        data,
        isStatic: frame.isStatic,
        delegatecall: delegates,
      })
    }
  }
}
